"""Laws of pairs of sites, one per file: the declaration, and the *leaf*, the function of one pair that is summed over
neighbours.

A leaf is ``law(r2, rows, k, charges)`` and returns U(r), g = −U'(r)/r and l = U'' + 2U'/r, the Laplacian of U with
respect to the position of either site. It must be free of branches (write a choice as ``a if condition else b``) and
call only square roots, so that the loop over neighbours vectorises. ``cutoffs.py`` holds what laws share.
"""
