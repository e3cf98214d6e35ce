"""The page as a file: its data, and text that cannot escape it."""

import json
import re

import pytest
from helpers.pages import NASTY, page_data, whole_page
from hypothesis import given
from hypothesis import strategies as st

from ssread.data import planted
from ssread.errors import InputError
from ssread.models import model_for
from ssread.report import explain_graphs, render_page, write_page
from ssread.report.page import script_json


@given(st.text())
def test_no_text_can_leave_a_script_element(text):
    script = script_json({text: [text]})
    assert not set("<>&") & set(script)
    assert json.loads(script) == {text: [text]}


def test_text_from_the_data_is_escaped_everywhere():
    text = whole_page()
    assert "<script>alert" not in text
    assert text.count("<script") == 2
    assert text.count("</script>") == 2
    assert "<title>A page about &lt;script&gt;" in text
    assert page_data(text)["explained"]["output_names"] == [NASTY, "</script>"]


def test_it_needs_no_network():
    text = whole_page()
    assert "default-src 'none'" in text
    without_data = re.sub(r'id="data">.*?</script>', "", text, flags=re.DOTALL)
    addresses = set(re.findall(r"https?://[^\s\"'<]+", without_data))
    assert addresses == {"http://www.w3.org/2000/svg"}
    assert not re.search(r"<link|@import|url\(|fetch\(|XMLHttp|innerHTML|eval\(", without_data)


def test_sections_without_data_are_empty():
    data = page_data(render_page("t"))
    assert data["explained"] is data["comparison"] is None
    assert data["curves"] == []
    assert data["settings"] == {}
    assert "torch" in data["versions"]


def test_numbers_that_json_lacks_are_null():
    explained = explain_graphs(model_for(planted(2), "gcn"), planted(2)[:1])
    empty = [
        card
        for card in page_data(render_page("t", explained=explained))["explained"]["levels"][0]["cards"]
        if not card["share"]
    ]
    assert empty
    assert all(card["cost"] is None for card in empty)


def test_the_same_model_and_graphs_give_the_same_page():
    graphs = planted(6, seed=0)
    model = model_for(graphs, "gcn")
    once, again = (render_page("x", explained=explain_graphs(model, graphs)) for _ in range(2))
    assert once == again


def test_a_graph_takes_about_a_kilobyte():
    records = page_data(whole_page())["explained"]["graphs"]
    assert len(script_json(records)) < 1500 * len(records)


def test_a_page_is_written_completely_or_not_at_all(tmp_path):
    path = write_page(tmp_path / "folder" / "page.html", "t")
    assert path.read_text() == render_page("t")
    (tmp_path / "file").write_text("")
    with pytest.raises(InputError, match="cannot be written"):
        write_page(tmp_path / "file" / "page.html", "t")
