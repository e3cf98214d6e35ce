"""The code blocks of docs/serve.md run against a server."""

import re
from pathlib import Path

import pytest

pytestmark = pytest.mark.xdist_group("serve")

PAGE = Path(__file__).parents[2] / "docs" / "serve.md"


def test_the_client_of_the_page_works(server, capsys):
    pytest.importorskip("requests")
    names: dict[str, object] = {}
    for block in re.findall(r"^```python\n(.*?)^```$", PAGE.read_text(), re.DOTALL | re.MULTILINE):
        exec(block.replace("http://127.0.0.1:8000", server.address).replace("mutagenic", "rings"), names)
    printed = capsys.readouterr().out
    assert "('ethanol', '" in printed
    assert "uncertainty" in printed
