"""A simulation: how it is prepared, the loop from frame to frame, what is observed, and what its summary says."""
