"""scikit-learn's own checks of estimators."""

import pytest
from sklearn.base import is_classifier, is_regressor
from sklearn.utils import estimator_checks

from ssread import SSReadClassifier, SSReadRegressor

# Those that pass no array of numbers as data; older versions lack some.
CHECKS = [
    "check_estimator_cloneable",
    "check_do_not_raise_errors_in_init_or_set_params",
    "check_estimator_repr",
    "check_estimator_tags_renamed",
    "check_get_params_invariance",
    "check_mixin_order",
    "check_no_attributes_set_in_init",
    "check_parameters_default_constructible",
    "check_set_params",
    "check_valid_tag_types",
]


@pytest.mark.parametrize("estimator", [SSReadClassifier, SSReadRegressor])
@pytest.mark.parametrize("check", [name for name in CHECKS if hasattr(estimator_checks, name)])
def test_scikit_learns_own_checks_pass(check, estimator):
    getattr(estimator_checks, check)(estimator.__name__, estimator())


def test_kinds_are_told_apart():
    assert is_classifier(SSReadClassifier())
    assert is_regressor(SSReadRegressor())


def test_both_have_the_same_settings_but_weights_of_classes():
    classifier, regressor = SSReadClassifier().get_params(), SSReadRegressor().get_params()
    assert classifier.pop("class_weight") is None
    assert classifier == regressor
