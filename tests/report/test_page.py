"""The page as a file: what is in it, what cannot get out of it."""

import json
import re
import time

import numpy as np
import pytest
import torch
from helpers.pages import NASTY, whole_page
from hypothesis import given
from hypothesis import strategies as st

from ssread.data import planted
from ssread.errors import InputError
from ssread.models import model_for
from ssread.report import band, explained, page, write_page
from ssread.report.explained_graphs import MOST_GRAPHS, MOST_NODES, sampled
from ssread.report.page import as_script


def data_of(text: str) -> dict:
    return json.loads(re.search(r'id="data">(.*?)</script>', text, re.DOTALL)[1])


@given(st.text())
def test_any_text_inside_a_script_element_stays_there(text):
    script = as_script({text: [text]})
    assert not set("<>&") & set(script)
    assert json.loads(script) == {text: [text]}


def test_texts_from_data_are_escaped_everywhere():
    text = whole_page()
    assert "<script>alert" not in text
    assert text.count("<script") == 2
    assert text.count("</script>") == 2
    assert "<title>A page about &lt;script&gt;" in text
    assert data_of(text)["explained"]["class_names"] == [NASTY, "</script>"]


def test_it_needs_no_network():
    text = whole_page()
    assert "default-src 'none'" in text
    without_data = re.sub(r'id="data">.*?</script>', "", text, flags=re.DOTALL)
    found = set(re.findall(r"https?://[^\s\"'<]+", without_data))
    assert found <= {"http://www.w3.org/2000/svg"}
    assert not re.search(r"<link|@import|url\(|fetch\(|XMLHttp|innerHTML|eval\(", without_data)


def test_the_records_say_what_the_model_says():
    graphs = planted(5, seed=0)
    model = model_for(graphs, "gcn").eval()
    view = explained(model, graphs)
    logits = model(graphs.batch(range(5)))
    for number, record in enumerate(view.graphs):
        assert record["p"] == (1000 * logits[number].softmax(0)).round().int().tolist()
        assert len(record["xy"]) == 2 * int(graphs.node_counts[number]) == 2 * len(record["k"])
        assert len(record["b"]) == 3 * int(graphs.edge_counts[number]) // 2
        assert max(abs(value) for column in record["a"] for value in column) == 100
    assert view.right == {"all graphs": pytest.approx(float((logits.argmax(1) == graphs.y).double().mean()))}


@pytest.mark.slow
@pytest.mark.alone
def test_many_graphs_are_sampled_and_the_page_says_so():
    graphs = planted(10_000, seed=0)
    ids = sampled(graphs)
    assert len(ids) == MOST_GRAPHS
    assert torch.equal(ids, sampled(graphs))
    assert len(set(ids.tolist())) == MOST_GRAPHS
    model = model_for(graphs, "gcn", hidden_channels=8).eval()
    view = explained(model, graphs)
    assert (len(view.graphs), view.total) == (MOST_GRAPHS, 10_000)
    text = page("many", explained=view)
    assert len(text) < 4_000_000


@pytest.mark.slow
@pytest.mark.alone
def test_large_graphs_are_fewer():
    graphs = planted(12, nodes=5000, noise=0.0)
    started = time.perf_counter()
    view = explained(model_for(graphs, "gcn", hidden_channels=8), graphs)
    assert len(view.graphs) == MOST_NODES // 5000
    assert time.perf_counter() - started < 60


def test_a_model_without_ssread_shows_activations_and_says_what_is_missing():
    graphs = planted(4, seed=0)
    view = explained(model_for(graphs, "gcn", readout="global"), graphs)
    assert view.atlas == view.colours == []
    assert "no positions" in view.missing[0]
    assert "k" not in view.graphs[0]
    assert len(view.graphs[0]["a"]) == 2


@pytest.mark.parametrize("name", ["diffpool", "sagpool", "gunet", "dgcnn"])
def test_every_architecture_has_a_page(name):
    graphs = planted(6, seed=0)
    assert data_of(page("x", explained=explained(model_for(graphs, name), graphs)))["explained"]["total"] == 6


def test_no_graphs_and_no_labels_and_a_class_never_predicted():
    graphs = planted(4, seed=0, num_classes=3, num_motifs=4)
    model = model_for(graphs, "gcn")
    view = explained(model, graphs[:0])
    assert view.graphs == []
    assert "There are no graphs here." in view.missing
    unlabelled = graphs.__class__(**{**vars(graphs), "y": None})
    view = explained(model, unlabelled)
    assert view.right == {}
    assert {record["y"] for record in view.graphs} == {-1}
    with torch.no_grad():
        model.head.bias[:] = torch.tensor([100.0, 0, 0])
    assert {record["p"].index(max(record["p"])) for record in explained(model, graphs).graphs} == {0}


def test_curves_of_different_lengths_are_averaged_over_those_that_got_so_far():
    short, long = {"valid_accuracy": [0.0, 1.0]}, {"valid_accuracy": [1.0, 1.0, 0.5]}
    found = band("x", [short, long])["measures"]["valid_accuracy"]
    assert found == {"pass": [1, 2, 3], "mean": [0.5, 1.0, 0.5], "sd": [0.5, 0.0, 0.0], "left": [2, 2, 1]}
    thin = band("x", [{"train_loss": np.arange(10_000.0)}])["measures"]["train_loss"]
    assert len(thin["pass"]) <= 250


def test_a_page_is_written_wholly_or_not_at_all(tmp_path):
    path = write_page(tmp_path / "folder" / "page.html", "t")
    assert path.read_text().startswith("<!doctype html>")
    (tmp_path / "file").write_text("")
    with pytest.raises(InputError, match="cannot be written"):
        write_page(tmp_path / "file" / "page.html", "t")


def test_the_same_model_and_graphs_give_the_same_page():
    graphs = planted(6, seed=0)
    model = model_for(graphs, "gcn")
    assert page("x", explained=explained(model, graphs)) == page("x", explained=explained(model, graphs))
