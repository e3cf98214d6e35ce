"""Odd values, and descriptions with one of them somewhere, for fuzzing."""

import copy
import math
from typing import Any

from hypothesis import strategies as st


def nested(levels: int) -> list:
    value: list = []
    for _ in range(levels):
        value = [value]
    return value


TEXTS = [
    "",
    " ",
    "x",
    "x" * 100_000,
    "\ud800",
    "\0",
    "$\\frac{$",
    "<script>",
    "nan",
    "1e400",
    "~nobody/x",
    "a,b",
    "ü\n",
    "../x",
]
NUMBERS = [0, 1, -1, 2, 10**6, 10**30, -(10**30), 0.5, 1e308, -1e308, 1e-320, math.inf, -math.inf, math.nan]
ODD: list[Any] = [None, True, False, *NUMBERS, *TEXTS, [], {}, [[]], [None], ["x"], {"a": 1}, {"": {}}, nested(500)]

#: Words of a command line that are no ordinary value: paths, numbers, lists, addresses.
WORDS = [
    *("", " ", ".", "/", "..", "./", "~nobody/x", "x" * 300, "x" * 5000, "/dev/null/f", "a/b/c", "x.csv", "x.txt"),
    *("-1", "0", "1", "2", "0.5", "1e308", "-1e308", "1e-320", "nan", "inf", "1" * 5000, "0x10", "1_000"),
    *("auto", "gcn", "gcn,gin", ",", "sum+", "ray", "ray://[::1", "ray://", "here", "cuda:99", "table2", "*", "é"),
    *("$\\frac{$", "random", "groups:", "groups:x", "accuracy", "regression", "\0", "\udc80", "null", "[]", "-", "--x"),
]


def places(value: Any, path: tuple = ()) -> list[tuple]:
    """The paths of all parts of plain data."""
    found = [path]
    if isinstance(value, dict):
        found += [place for key in value for place in places(value[key], (*path, key))]
    elif isinstance(value, list):
        found += [place for index in range(min(len(value), 3)) for place in places(value[index], (*path, index))]
    return found


@st.composite
def mutated(draw: st.DrawFn, value: Any) -> Any:
    """The data with one to three parts replaced by an odd value, removed, wrapped, doubled, or with one added."""
    value = copy.deepcopy(value)
    for _ in range(draw(st.integers(1, 3))):
        paths = places(value)[1:]
        if not paths:
            return value
        *way, last = draw(st.sampled_from(paths))
        parent = value
        for step in way:
            parent = parent[step]
        action = draw(st.sampled_from(["replace", "replace", "replace", "remove", "wrap", "add", "text"]))
        if action == "replace":
            parent[last] = copy.deepcopy(draw(st.sampled_from(ODD)))
        elif action == "text":
            parent[last] = str(parent[last])
        elif action == "wrap":
            parent[last] = [parent[last]]
        elif action == "remove":
            del parent[last]
        elif isinstance(parent, dict):
            parent[draw(st.sampled_from(TEXTS))] = copy.deepcopy(draw(st.sampled_from(ODD)))
        else:
            parent.append(copy.deepcopy(draw(st.sampled_from(ODD))))
    return value
