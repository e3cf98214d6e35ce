"""Markdown tables, with text from data escaped."""

import re
from collections.abc import Iterable, Sequence

__all__ = ["escape_markdown", "markdown_table"]


def markdown_table(headings: Sequence[str], rows: Iterable[Sequence[object]]) -> str:
    r"""Returns a Markdown table; bars, line breaks and what Markdown would take for markup are escaped.

    >>> print(markdown_table(["a"], [["x|y"]]), end="")
    | a |
    |---|
    | x\|y |
    """
    lines = [_row(headings), "|" + "---|" * len(headings), *(_row(row) for row in rows)]
    return "\n".join(lines) + "\n"


def escape_markdown(value: object, characters: str = "\\|`*_[]<") -> str:
    r"""Returns a value as one line of text, with these characters escaped.

    >>> escape_markdown("a|b\nc")
    'a\\|b c'
    """
    return re.sub(f"([{re.escape(characters)}])", r"\\\1", " ".join(str(value).split()))


def _row(values: Iterable[object]) -> str:
    return "| " + " | ".join(escape_markdown(value) for value in values) + " |"
