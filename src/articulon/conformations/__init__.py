"""What the atoms of a run do, from their positions: torsions, shape, contacts, secondary structure, clusters.

Functions of arrays, which summaries, analyses and reports share. Lengths are in nm, times in ps, angles in radians: the
units that molecules are built in.
"""
