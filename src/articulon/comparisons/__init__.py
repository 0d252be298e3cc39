"""Comparison of variants of a case: their costs, and their deviations from the unscaled motion."""
