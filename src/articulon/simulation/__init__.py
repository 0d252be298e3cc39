"""Simulation of a case or a model: preparation, the loop over the frames, observables and summary."""
