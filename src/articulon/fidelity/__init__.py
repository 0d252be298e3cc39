"""Whether a scaled run can be trusted: how wrong it is, by what the run shows and by unscaled runs beside it."""
