"""Conformations of the atoms of a run: torsions, shape, contacts, secondary structure, clusters.

The functions take arrays, and summaries, analyses and reports share them. Lengths are in nm, times in ps and angles in
radians.
"""
