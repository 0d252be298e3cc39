"""A simulation: its preparation, the loop from frame to frame, its observables and its summary."""
