"""Tables in Markdown, with text from data escaped."""

import re
from collections.abc import Iterable, Sequence

__all__ = ["escape_markdown", "markdown_table"]


def markdown_table(headings: Sequence[str], rows: Iterable[Sequence[object]]) -> str:
    r"""A Markdown table; bars, line ends and what would be read as HTML or emphasis are escaped.

    >>> print(markdown_table(["a"], [["x|y"]]), end="")
    | a |
    |---|
    | x\|y |
    """
    lines = [_line(headings), "|" + "---|" * len(headings), *(_line(row) for row in rows)]
    return "\n".join(lines) + "\n"


def escape_markdown(value: object, characters: str = "\\|`*_[]<") -> str:
    r"""A value as one line of text in which these characters stay what they are.

    >>> escape_markdown("a|b\nc")
    'a\\|b c'
    """
    return re.sub(f"([{re.escape(characters)}])", r"\\\1", " ".join(str(value).split()))


def _line(values: Iterable[object]) -> str:
    return "| " + " | ".join(escape_markdown(value) for value in values) + " |"
