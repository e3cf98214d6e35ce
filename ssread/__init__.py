"""Structural semantic readout for graph classification."""

from ssread.errors import InputError
from ssread.readout import GlobalReadout, Reading, SSRead

__all__ = ["GlobalReadout", "InputError", "Reading", "SSRead", "__version__"]
__version__ = "0.1.0"
