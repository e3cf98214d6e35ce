"""The ground truth of planted graphs and of molecules."""

from dataclasses import replace

import pytest
import torch

from ssread.data import GraphSet, from_smiles, planted
from ssread.errors import InputError
from ssread.explain import with_functional_groups
from ssread.explain.chemical_groups import GROUPS
from ssread.explain.ground_truth import ground_truth

GRAPHS = planted(12, seed=1)


def test_planted_graphs_have_planted_roles_and_motifs():
    truth = ground_truth(GRAPHS)
    assert torch.equal(truth.roles, GRAPHS.node_columns["position"])
    assert torch.equal(truth.deciding.long(), GRAPHS.node_columns["deciding"].long())
    assert truth.graphs_with_motif(GRAPHS).tolist() == list(range(12))


def test_the_truth_about_a_selection_is_that_of_the_selected_graphs():
    ids = torch.tensor([1, 4, 5, 11])
    selected, expected = ground_truth(GRAPHS).select(GRAPHS, ids), ground_truth(GRAPHS[ids])
    assert torch.equal(selected.roles, expected.roles)
    assert torch.equal(selected.deciding, expected.deciding)


def test_graphs_without_a_motif_and_graphs_that_are_one_are_left_out():
    deciding = [torch.zeros(n) if i == 2 else torch.ones(n) for i, n in enumerate(GRAPHS.node_counts.tolist())]
    deciding[5][0] = 0
    columns = {**GRAPHS.node_columns, "deciding": torch.cat(deciding).long()}
    graphs = replace(GRAPHS, node_columns=columns)
    assert ground_truth(graphs).graphs_with_motif(graphs).tolist() == [5]


def test_roles_of_molecules_are_functional_groups_with_and_without_rdkit(tmp_path, monkeypatch):
    pytest.importorskip("rdkit")
    smiles = ["c1ccccc1[N+](=O)[O-]", "CCN", "CCO", "c1ccccc1C"]
    graphs = from_smiles(smiles, ["mutagen", "mutagen", "nonmutagen", "nonmutagen"])
    truth = ground_truth(graphs)
    assert [list(GROUPS)[role] for role in truth.roles[9:12].tolist()] == ["alkyl", "alkyl", "amino"]
    assert truth.deciding.tolist() == [False] * 6 + [True] * 3 + [False, False, True] + [False] * 10
    assert truth.graphs_with_motif(graphs).tolist() == [0, 1]
    with_functional_groups(graphs).save(tmp_path / "groups.safetensors")
    monkeypatch.setitem(__import__("sys").modules, "rdkit", None)
    assert torch.equal(ground_truth(GraphSet.load(tmp_path / "groups.safetensors")).roles, truth.roles)


def test_other_molecules_have_no_known_motif():
    pytest.importorskip("rdkit")
    graphs = from_smiles(["CCN", "CCO"], ["a", "b"])
    truth = ground_truth(graphs)
    assert truth.deciding is None
    assert truth.select(graphs, torch.tensor([1])).deciding is None
    assert len(truth.graphs_with_motif(graphs)) == 0


def test_graphs_without_known_roles_are_refused_with_a_sentence():
    with pytest.raises(InputError, match="Explanations of planted cannot be scored"):
        ground_truth(replace(GRAPHS, node_columns={}))
