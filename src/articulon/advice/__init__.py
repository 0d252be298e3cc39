"""Advice before a long run: which integrator and step to use, what the run costs, and how far to trust it."""

from articulon.advice.advised_options import Advice, Option, Trust
from articulon.advice.advising import advise

__all__ = ["Advice", "Option", "Trust", "advise"]
