"""Text from data cannot break a Markdown table, or be read as markup."""

import re

from hypothesis import given
from hypothesis import strategies as st

from ssread.common.markdown import escape_markdown, markdown_table

texts = st.text(alphabet="ab |\\`*_[]<>\n\t\r-", max_size=12)


def unescaped(text: str) -> str:
    return re.sub(r"\\(.)", r"\1", text)


@given(texts)
def test_escaping_changes_nothing_but_whitespace(text):
    escaped = escape_markdown(text)
    assert unescaped(escaped) == " ".join(text.split())
    assert "\n" not in escaped
    assert not re.sub(r"\\.", "", escaped).strip("ab >-")  # every other character has a backslash


@given(st.integers(1, 4).flatmap(lambda n: st.lists(st.lists(texts, min_size=n, max_size=n), min_size=1, max_size=5)))
def test_every_row_has_as_many_cells_as_the_heading(rows):
    lines = markdown_table(rows[0], rows[1:]).split("\n")
    assert lines.pop() == ""
    assert lines.pop(1) == "|" + "---|" * len(rows[0])
    for line, row in zip(lines, rows, strict=True):
        hidden = re.sub(r"\\.", lambda found: f"\0{ord(found[0][1])}\0", line)  # no escaped bar is left to split at
        cells = [re.sub("\0(\\d+)\0", lambda found: chr(int(found[1])), cell) for cell in hidden.split("|")]
        assert [cell.strip() for cell in cells[1:-1]] == [" ".join(cell.split()) for cell in row]


def test_values_need_not_be_text():
    assert markdown_table(["a", "b"], [[1, None], [0.5, "x"]]).splitlines()[2:] == ["| 1 | None |", "| 0.5 | x |"]
    assert markdown_table(["a"], []) == "| a |\n|---|\n"
