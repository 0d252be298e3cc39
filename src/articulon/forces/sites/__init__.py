"""Forces that act on sites and depend on their positions alone: potentials of pairs, bonds, angles, dihedrals, walls
and charges.

Every term is data: a table, and functions that add its forces and its measures (energy, virial and Laplacian). A pair
law is one small leaf function; the loop over neighbours, exclusions, boundaries and threads is written once.
"""
