"""Laws of pairs of sites, one file each: the declaration, and the leaf that is summed over neighbours.

A leaf is ``law(r2, rows, k, charges)`` and returns U(r), g = −U'(r)/r and l = U'' + 2U'/r, the Laplacian of U in the
position of either site. It must be free of branches (a choice is written ``a if condition else b``) and call nothing
but square roots, so that the loop over neighbours stays a vector loop; ``cutoffs.py`` has what laws share.
"""
