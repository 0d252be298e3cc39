"""Statistics of polymer chains from the positions of their beads: size, shape, structure, motion and relaxation.

These are functions of arrays, shared by summaries, analyses and reports. Positions are unwrapped: a chain that extends
across a periodic boundary is whole. Lengths and times are in any units; angles are in radians.
"""
