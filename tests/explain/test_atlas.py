"""What positions mean: facts about nodes, cards of positions."""

import networkx as nx
import pytest
import torch
from helpers.explained_models import trained

from ssread.data import from_networkx, from_smiles, planted
from ssread.explain import positions, prototype_atlas
from ssread.explain.node_facts import in_ring, node_facts
from ssread.models import model_for


def test_ring_membership_is_that_of_the_cycles():
    lollipop = nx.lollipop_graph(4, 3)
    barbell = nx.barbell_graph(3, 2)  # the nodes between two rings are in none
    graphs = from_networkx([lollipop, barbell, nx.path_graph(4)], labels=["a", "b", "a"])
    expected = [
        any(node in cycle for cycle in nx.cycle_basis(graph))
        for graph in (lollipop, barbell, nx.path_graph(4))
        for node in graph
    ]
    assert in_ring(graphs).tolist() == expected


def test_facts_are_true_of_some_nodes_and_not_of_others():
    facts = node_facts(planted(20, seed=1, feature_noise=0.1))
    assert {"type base", "1 neighbour", "in a ring"} <= {name.replace("type=", "") for name in facts}
    assert all(0 < int(true.sum()) < len(true) for true in facts.values())


def test_molecules_have_groups_and_do_without_them_where_rdkit_is_missing(monkeypatch):
    pytest.importorskip("rdkit")
    graphs = from_smiles(["CCN", "c1ccccc1C"], ["a", "b"])
    assert "amino group" in node_facts(graphs)
    monkeypatch.setitem(__import__("sys").modules, "rdkit", None)
    assert not any(name.endswith("group") for name in node_facts(graphs))


def test_a_card_for_every_position_that_sums_up_its_nodes():
    model, test = trained("ssread")
    found = positions(model, test).position
    cards = prototype_atlas(model, test)
    assert [card.position for card in cards] == list(range(5))
    assert sum(card.share for card in cards) == pytest.approx(1)
    for card in cards:
        assert card.share == pytest.approx(float((found == card.position).float().mean()))
        assert len({exemplar.graph for exemplar in card.exemplars}) == len(card.exemplars)
        for exemplar in card.exemplars:
            assert found[test.node_ptr[exemplar.graph] + exemplar.node] == card.position
            assert exemplar.node in exemplar.neighbourhood
        effects = [mark.effect for mark in card.marks]
        assert effects == sorted(effects, reverse=True)
        assert all(mark.inside > mark.outside and mark.p <= 0.05 for mark in card.marks)


def test_the_types_that_mark_planted_roles_are_found():
    model, test = trained("ssread")
    marks = {mark.statement for card in prototype_atlas(model, test) for mark in card.marks}
    assert {"type house", "type cycle"} <= {mark.replace("type=", "") for mark in marks}


def test_chance_marks_nothing():
    """Positions of an untrained model say nothing about a property that is drawn at random."""
    graphs = planted(40, seed=2)
    coin = (torch.rand(graphs.x.size(0), 1) < 0.5).float()
    noisy = graphs.__class__(
        **{**vars(graphs), "x": torch.cat([graphs.x, coin], 1), "node_feature_names": ("one", "coin")}
    )
    model = model_for(graphs, "gcn").eval()
    blind = model_for(noisy, "gcn").eval()
    with torch.no_grad():
        blind.load_state_dict(
            {
                name: torch.cat([value, 0 * value], 1) if name == "encoder.node_encoder.weight" else value
                for name, value in model.state_dict().items()
            }
        )
    assert not any(mark.statement == "type coin" for card in prototype_atlas(blind, noisy) for mark in card.marks)


def test_no_graphs_and_a_single_node():
    model = model_for(planted(2), "gcn")
    assert all(card.share == 0 and not card.exemplars for card in prototype_atlas(model, planted(2)[:0]))
    single = from_networkx([nx.empty_graph(1)], labels=["a"])
    assert sum(card.share for card in prototype_atlas(model_for(planted(2), "gcn"), single)) == 1
