"""A node has one position, whoever reports it: that of the consensus of an ensemble."""

import dataclasses

import numpy as np
import pytest
import torch
from helpers.small_models import AROMATIC, SMILES, untrained

from ssread.apply import predict
from ssread.apply.chunks import Rows
from ssread.apply.exporting import Exportable, input_names
from ssread.apply.features import Features
from ssread.data import from_smiles
from ssread.errors import InputError
from ssread.explain import consensus, contributions, describe_positions, positions
from ssread.report import explain_graphs
from ssread.serve.answers import changed, explanations
from ssread.serve.jobs import Edit
from ssread.serve.settings import Limits


@pytest.fixture(scope="module")
def graphs():
    pytest.importorskip("rdkit")
    return from_smiles(SMILES, AROMATIC)


def reported(model, graphs) -> dict[str, torch.Tensor]:
    """The positions of all nodes by everything that reports them."""
    rows = Rows(list(graphs.ids), list(graphs.graph_texts["smiles"]), {}, graphs)
    batch = graphs.batch(slice(None))
    given = {"batch": batch.batch, "graphs": torch.arange(len(graphs)), "edge_attr": batch.edge_attr}
    inputs = [given[name] for name in input_names(model)[2:]]
    pictures = [record["picture"] for record in explanations(model, rows, None)]
    return {
        "consensus": consensus(model, graphs).position,
        "contributions": contributions(model, graphs).position,
        "exported model": Exportable(model)(batch.x, batch.edge_index, *inputs)[1],
        "server": torch.tensor([k for picture in pictures for k in picture["positions"]]),
        "page": torch.tensor([k for record in explain_graphs(model, graphs).graphs for k in record["positions"]]),
    }


def ensemble(graphs, **arguments):
    """Three members that use all their positions, and disagree."""
    model = untrained(graphs, members=3, **arguments)
    for member in model.models:
        member.readout.init_prototypes(member.encoder(graphs.batch(slice(None))).x)
    return model


@pytest.mark.parametrize("arguments", [{}, {"name": "sagpool"}, {"name": "diffpool", "num_clusters": 4}])
def test_a_node_has_the_same_position_everywhere(graphs, arguments):
    model = ensemble(graphs, **arguments)
    model.match_members(graphs)
    model.summary |= describe_positions(model, graphs)
    few = graphs[[3, 17, 20]]
    found = reported(model, few)
    for reporter, position in found.items():
        assert torch.equal(position, found["consensus"]), reporter
    disagreeing = consensus(model, graphs).position != positions(model, graphs).position
    assert disagreeing.any(), "members that disagree"
    table = predict(model, few, workers=1, contributions=True)
    terms = contributions(model, few)
    for row, own in enumerate(found["consensus"].split(few.node_counts.tolist())):
        for k, called in enumerate(model.position_names):
            share = table[called if called == f"position {k}" else f"share({called})"][row]
            np.testing.assert_allclose(share, (own == k).sum() / (own >= 0).sum(), atol=1e-6)
            added = table[f"contribution({called}, yes)"][row]
            np.testing.assert_allclose(added, terms.positions[row, k, model.output_names.index("yes")], atol=1e-5)


def test_an_ensemble_of_an_earlier_version_keeps_the_positions_of_its_first_member(graphs):
    model, few = ensemble(graphs), graphs[[3, 17, 20]]
    found = reported(model, few)
    for reporter in ("contributions", "exported model", "server"):
        assert torch.equal(found[reporter], positions(model, few).position), reporter
    first = dataclasses.replace(model, models=model.models[:1])
    expected = predict(first, few, workers=1).filter(like="position")
    np.testing.assert_array_equal(predict(model, few, workers=1).filter(like="position"), expected)


def test_a_change_keeps_every_atom_at_its_place(graphs):
    told = changed(untrained(graphs), Edit("OCC", 1, "N"), None, Limits())
    before, after = (told[name]["picture"] for name in ("before", "after"))
    assert len(before["coordinates"]) == len(after["coordinates"]) == 6
    assert after["labels"][str(told["atom"])] == "NH"
    assert sorted(before["coordinates"]) == sorted(after["coordinates"])


def test_where_hydrogens_are_nodes_every_node_has_a_place_and_only_other_atoms_change():
    pytest.importorskip("rdkit")
    with_hydrogens = from_smiles(SMILES, AROMATIC, hydrogens=True)
    model = untrained(with_hydrogens)
    model.features = Features.of(with_hydrogens, {"hydrogens": True})
    told = changed(model, Edit("CCO", 0, "N"), None, Limits())
    for name, nodes in (("before", 9), ("after", 8)):  # one hydrogen fewer at the nitrogen
        picture = told[name]["picture"]
        places = list(zip(picture["coordinates"][::2], picture["coordinates"][1::2], strict=True))
        assert len(picture["positions"]) == len(places) == len(set(places)) == nodes
    assert told["after"]["picture"]["labels"][str(told["atom"])] == "N"
    with pytest.raises(InputError, match=r"no atom 5 to change: the SMILES has 3 atoms, .*; hydrogens at these do not"):
        changed(model, Edit("CCO", 5, "N"), None, Limits())
