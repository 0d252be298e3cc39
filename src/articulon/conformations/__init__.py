"""Conformations of the atoms of a run: torsions, shape, contacts, secondary structure, clusters.

These are functions of arrays, shared by summaries, analyses and reports. Lengths are in nm, times in ps, angles in
radians: the units of molecules.
"""
