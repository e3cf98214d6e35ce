import dataclasses
import importlib.util

import pytest
import torch

from ssread.data import GraphSet, load
from ssread.data.properties import PROPERTIES, with_properties
from ssread.errors import InputError

pytestmark = pytest.mark.skipif(importlib.util.find_spec("rdkit") is None, reason="RDKit is not installed")


def columns(graphs: GraphSet) -> list[tuple[int, ...]]:
    return list(zip(*(graphs.graph_columns[name].tolist() for name in PROPERTIES), strict=True))


def test_known_molecules():
    from ssread.data import from_smiles

    biphenyl, decalin, ethanol, ether = "c1ccccc1-c1ccccc1", "C1CCC2CCCCC2C1", "CCO", "CCOCC"
    graphs = with_properties(from_smiles([biphenyl, decalin, ethanol, ether]))
    assert columns(graphs) == [(2, 2, 1), (2, 0, 0), (0, 0, 0), (0, 0, 2)]


def test_rings_of_rebuilt_molecules_are_those_of_the_graph(mutag):
    """A connected graph has as many rings as edges minus nodes plus one, which needs no chemistry."""
    said = []
    graphs = with_properties(mutag, say=said.append)
    rings = graphs.graph_columns["rings"]
    known = rings >= 0
    by_counting = mutag.edge_counts // 2 - mutag.node_counts + 1
    assert torch.equal(rings[known], by_counting[known])
    assert int(known.sum()) >= 179
    left_out = 188 - int(known.sum())
    assert (left_out == 0 and not said) or said[0].startswith(f"{left_out} of 188 molecules are left out because RDKit")
    for name in PROPERTIES:
        assert torch.equal(graphs.graph_columns[name] >= 0, known)
    assert (graphs.graph_columns["aromatic_rings"] <= rings).all()


def test_molecules_that_rdkit_rejects_are_left_out_and_reported(mutag):
    """A molecule of fluorine atoms with several bonds each is not valid."""
    x = mutag.x.clone()
    x[: mutag.node_counts[0]] = 0
    x[: mutag.node_counts[0], list(mutag.node_feature_names).index("F")] = 1
    said = []
    graphs = with_properties(dataclasses.replace(mutag, x=x), ["rings"], said.append)
    assert graphs.graph_columns["rings"][0] == -1
    assert "molecules are left out because RDKit rejects them: 0" in said[0]


def test_existing_columns_stay(mutag):
    given = torch.arange(188)
    graphs = with_properties(dataclasses.replace(mutag, graph_columns={"rings": given}), ["rings"])
    assert graphs.graph_columns["rings"] is given


def test_other_graphs_and_other_properties_get_a_sentence():
    with pytest.raises(InputError, match="neither SMILES nor labels of atoms and bonds: rings can be counted"):
        with_properties(load("planted", num_graphs=5), ["rings"])
    with pytest.raises(InputError, match=r"no property 'charge'. Choose from rings, aromatic_rings, rotatable_bonds"):
        with_properties(load("planted", num_graphs=5), ["charge"])
