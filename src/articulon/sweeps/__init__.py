"""Sweeps: many runs of one case with different seeds and values, on all cores, on a cluster, or as a job array."""
