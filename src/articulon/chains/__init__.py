"""What polymer chains do, from the positions of their beads: size, shape, structure, motion and relaxation.

Functions of arrays, which summaries, analyses and reports share. Positions are unwrapped: a chain that reaches across a
periodic box is whole. Lengths and times are in any units; angles are in radians.
"""
