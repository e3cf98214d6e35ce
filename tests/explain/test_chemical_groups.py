"""Functional groups of atoms, against groups assigned by hand."""

import pytest
import torch

from ssread.data import GraphSet, from_smiles
from ssread.explain import functional_groups, with_functional_groups
from ssread.explain.chemical_groups import GROUP_COLUMN, GROUPS

pytest.importorskip("rdkit")


def names(smiles: str, **options: bool) -> list[str]:
    return [list(GROUPS)[number] for number in functional_groups(from_smiles([smiles], **options)).tolist()]


@pytest.mark.parametrize(
    ("smiles", "expected"),
    [
        ("c1ccccc1[N+](=O)[O-]", ["aromatic ring"] * 6 + ["nitro"] * 3),
        ("CN", ["alkyl", "amino"]),
        ("CC(=O)OC", ["alkyl", "ester", "ester", "ester", "alkyl"]),
        ("c1ccncc1", ["heteroaromatic ring"] * 6),
        ("C1CC1Cl", ["aliphatic ring"] * 3 + ["halide"]),
        ("OC=C", ["hydroxyl", "alkene", "alkene"]),
    ],
)
def test_atoms_have_the_group_a_chemist_would_assign(smiles, expected):
    assert names(smiles) == expected


def test_a_hydrogen_has_the_group_of_its_neighbour():
    assert names("CN", hydrogens=True) == ["alkyl", "amino", "alkyl", "alkyl", "alkyl", "amino", "amino"]


def test_saved_groups_need_no_rdkit(tmp_path, monkeypatch):
    graphs = with_functional_groups(from_smiles(["CN", "c1ccccc1"], ["a", "b"]))
    graphs.save(tmp_path / "graphs.safetensors")
    read = GraphSet.load(tmp_path / "graphs.safetensors")
    monkeypatch.setitem(__import__("sys").modules, "rdkit", None)
    assert torch.equal(functional_groups(read), graphs.node_columns[GROUP_COLUMN])
