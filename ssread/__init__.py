"""Structural semantic readout for graph classification."""

from typing import TYPE_CHECKING

from ssread.common.lazy import lazy_exports
from ssread.common.versions import VERSION
from ssread.errors import InputError

if TYPE_CHECKING:
    from ssread.estimator import SSReadClassifier, SSReadRegressor
    from ssread.readout import GlobalReadout, Reading, SSRead

__all__ = ["GlobalReadout", "InputError", "Reading", "SSRead", "SSReadClassifier", "SSReadRegressor", "__version__"]
__version__ = VERSION

lazy_exports(
    __name__, {"estimator": ["SSReadClassifier", "SSReadRegressor"], "readout": ["GlobalReadout", "Reading", "SSRead"]}
)
