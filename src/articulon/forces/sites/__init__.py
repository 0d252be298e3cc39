"""Forces that act on sites and depend on their positions alone: potentials of pairs, bonds, angles, dihedrals, walls
and charges.

Every term is given by a table, and by functions that add its forces and its measures (energy, virial and Laplacian). A
pair law is one small function; the loop over neighbours, with exclusions, boundaries and threads, is shared by all
laws.
"""
