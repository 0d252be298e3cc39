"""Leaf functions on tuples of floats: vectors, rotations, spatial inertias. They compile to registers."""
