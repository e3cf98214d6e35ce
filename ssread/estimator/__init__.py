"""Graph neural networks as scikit-learn estimators."""

from ssread.estimator.classifier import SSReadClassifier
from ssread.estimator.regressor import SSReadRegressor

__all__ = ["SSReadClassifier", "SSReadRegressor"]
