"""The distance to the training graphs: 0 for one of them, about 1 for graphs like them, more for others."""

import numpy as np
import pytest
import torch
from helpers.small_models import graphs, untrained

from ssread.apply import TrainedModel, reference
from ssread.apply.reference import Reference
from ssread.data import from_smiles, planted
from ssread.errors import InputError


def vectors_of(model, data):
    return torch.cat([outputs[0].vectors for _, outputs in model.run(data)])


def test_distances_are_to_the_nearest_in_units_of_the_usual_one():
    data = graphs(40)
    model = untrained(data, members=2)
    known, new = data[:30], data[30:]
    kept, own = vectors_of(model, known).double(), vectors_of(model, new).double()
    between = torch.cdist(kept, kept).fill_diagonal_(torch.inf).min(dim=1).values
    expected = torch.cdist(own, kept).min(dim=1).values / between[between > 0].median()
    found = Reference.of(model, known).distances(own.float())
    np.testing.assert_allclose(found, expected, rtol=0.02)
    np.testing.assert_allclose(Reference.of(model, known).distances(kept.float()), 0, atol=0.02)


def test_graphs_of_another_kind_are_far_and_others_like_those_of_training_near():
    data = graphs(200)
    model = untrained(data)
    kept = Reference.of(model, data[:150])
    near = kept.distances(vectors_of(model, data[150:]))
    far = kept.distances(vectors_of(model, planted(20, nodes=(150, 160), feature_noise=1.0, seed=9)))
    assert 0.3 < float(near.median()) < 2
    assert float(far.median()) > 3 * float(near.median())


def test_at_most_a_thousand_graphs_are_kept_and_the_seed_draws_them(monkeypatch):
    monkeypatch.setattr(reference, "MOST_GRAPHS", 10)
    data = graphs(40)
    model = untrained(data)
    first, again, other = (Reference.of(model, data, seed) for seed in (0, 0, 1))
    assert first.vectors.shape == (10, 24)
    assert first.vectors.dtype == torch.float16
    assert torch.equal(first.vectors, again.vectors)
    assert not torch.equal(first.vectors, other.vectors)


def test_copies_single_graphs_and_huge_vectors_are_no_problem():
    data = graphs(12)
    model = untrained(data)
    for some in (data[:1], data[[3, 3, 3]], data[[3, 3, 3, 5]]):
        assert Reference.of(model, some).distances(vectors_of(model, data)).isfinite().all()
    model.models[0].norm.norm.running_var.fill_(1e-5)  # entries beyond those of float16
    vectors = vectors_of(model, data)
    model.models[0].norm.norm.running_mean.add_(1e6)
    kept = Reference.of(model, data)
    assert kept.vectors.isfinite().all()
    assert kept.distances(vectors).isfinite().all()


@pytest.mark.parametrize(
    ("change", "sentence"),
    [
        (lambda t: t.pop("reference.usual"), "'reference.usual' has the shape None"),
        (lambda t: t.update({"reference.vectors": torch.zeros(3, 2)}), r"'reference.vectors' has the shape \[3, 2\]"),
        (lambda t: t.update({"reference.more": torch.zeros(1)}), "expected None"),
        (lambda t: t["reference.mean"].fill_(torch.nan), "not finite"),
        (lambda t: t["reference.usual"].zero_(), "not positive"),
        (lambda t: t.update({"reference.vectors": torch.zeros(0, 24)}), "no graphs"),
        (lambda t: t.update({"reference.vectors": torch.zeros(())}), r"has the shape \[\]"),
    ],
)
def test_damage_gets_a_sentence(change, sentence):
    tensors = {name: value.clone() for name, value in Reference.of(untrained(graphs(12)), graphs(12)).tensors().items()}
    change(tensors)
    with pytest.raises((ValueError, InputError), match=sentence):
        Reference.from_tensors(tensors, 24)


def test_names_structures_and_labels_of_the_kept_graphs_survive_a_file(tmp_path):
    pytest.importorskip("rdkit")
    data = from_smiles(["CCO", "CCN", "c1ccccc1"], ["yes", "no", "yes"])
    model = untrained(data)
    model.reference = Reference.of(model, data)
    model.save(tmp_path / "model")
    kept = TrainedModel.load(tmp_path / "model").reference
    assert kept.texts() == {"ids": ["0", "1", "2"], "smiles": ["CCO", "CCN", "c1ccccc1"], "known": ["yes", "no", "yes"]}
    distances, numbers = kept.nearest(vectors_of(model, data), 2)
    assert numbers[:, 0].tolist() == [0, 1, 2]
    assert (distances[:, 0] < distances[:, 1]).all()
    with pytest.raises(ValueError, match="not as many names"):
        Reference.from_tensors(kept.tensors(), kept.vectors.size(1), {"ids": ["one"]})


def test_molecules_that_are_known_by_their_labels_have_smiles_too(mutag):
    pytest.importorskip("rdkit")
    kept = Reference.of(untrained(mutag[:5]), mutag[:5])
    assert kept.smiles[0].count("N") == 1
    assert set(kept.known) <= set(mutag.class_names)
