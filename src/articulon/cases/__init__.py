"""Cases: TOML files that describe a run completely."""

from articulon.cases.case import Case
from articulon.cases.loading import load_case

__all__ = ["Case", "load_case"]
