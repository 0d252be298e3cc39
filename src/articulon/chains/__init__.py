"""Statistics of polymer chains from the positions of their beads: size, shape, structure, motion and relaxation.

The functions take arrays, and summaries, analyses and reports share them. Positions must be unwrapped: a chain that
crosses a periodic boundary is not cut there. Lengths and times may have any units; angles are in radians.
"""
