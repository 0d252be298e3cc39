"""Simulation of a case or model: preparation, the loop from frame to frame, observables and summary."""
