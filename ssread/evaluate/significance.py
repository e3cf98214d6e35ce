"""What a difference must be to count: the level of tests, the margin of equality, the ratio that corrects a test."""

__all__ = ["ALPHA", "MARGIN", "fold_ratio"]

ALPHA = 0.05  # the paper's bold face, and one minus the level of every interval
MARGIN = 0.01  # differences up to one point count as equal


def fold_ratio(num_folds: int, validation: float = 0.1) -> float:
    """Graphs in the test part of a fold over graphs that are trained on; NaN where there is nothing to train on.

    Args:
        num_folds: Of the cross-validation.
        validation: The share of the rest that is held out to choose by; 0 where the final fit sees it, too.

    >>> round(fold_ratio(10), 4)  # 0.1 / (0.9 * 0.9)
    0.1235
    """
    return 1 / (num_folds - 1) / (1 - validation) if num_folds > 1 else float("nan")
