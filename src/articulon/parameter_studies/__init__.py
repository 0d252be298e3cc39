"""Studies of a case's parameters: rank their influence, fit them to measurements, or optimise the end of a run."""
