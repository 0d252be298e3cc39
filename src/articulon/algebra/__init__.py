"""Low-level functions on tuples of floats: vectors, rotations, spatial inertias. The compiler keeps the tuples in
registers."""
