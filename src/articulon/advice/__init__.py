"""Advice before a long run: which rule, at which step, at what cost, and how far it can be trusted."""

from articulon.advice.advised_options import Advice, Option, Trust
from articulon.advice.advising import advise

__all__ = ["Advice", "Option", "Trust", "advise"]
