"""Many runs of one case, seed by seed and value by value: on all cores, on a cluster, or as a job array."""
