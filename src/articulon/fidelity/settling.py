"""Fraction of a run at its start that counts as equilibration."""

SETTLED = 0.25
"""Fraction of the frames at the start that is left out of means, in summaries, reports, comparisons and analyses."""
