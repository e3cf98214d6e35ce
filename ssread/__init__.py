"""Structural semantic readout for graph classification."""

from typing import TYPE_CHECKING, Any

from ssread.common.versions import VERSION
from ssread.errors import InputError
from ssread.readout import GlobalReadout, Reading, SSRead

if TYPE_CHECKING:
    from ssread.estimator import SSReadClassifier

__all__ = ["GlobalReadout", "InputError", "Reading", "SSRead", "SSReadClassifier", "__version__"]
__version__ = VERSION


def __getattr__(name: str) -> Any:  # whoever needs the layer alone does not wait for scikit-learn
    if name != "SSReadClassifier":
        raise AttributeError(f"module {__name__!r} has no attribute {name!r}")
    from ssread.estimator import SSReadClassifier

    return SSReadClassifier
