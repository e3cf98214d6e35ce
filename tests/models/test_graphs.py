"""The input and the output of encoders: every way to pass graphs, and rows that are read at several levels."""

import pytest
import torch
from helpers.graph_strategies import graph_sets
from helpers.small_graphs import random_batch
from hypothesis import assume, given
from hypothesis import strategies as st
from torch_geometric.data import Batch, Data

from ssread import InputError
from ssread.data import GraphSet
from ssread.models.graphs import Encoder, Encoding, Graphs


def assert_same(ours: Graphs, theirs: Graphs) -> None:
    for name in ("x", "edge_index", "edge_attr", "batch", "batch_size", "mask"):
        one, other = getattr(ours, name), getattr(theirs, name)
        assert torch.equal(one, other) if isinstance(one, torch.Tensor) else one == other, name


@given(graph_sets(min_nodes=1))
def test_tensors_pyg_batches_and_our_batches_are_the_same(graphs: GraphSet) -> None:
    batch = graphs.batch(slice(None))
    expected = Graphs.of(batch.x, batch.edge_index, batch.batch, batch.edge_attr, batch.batch_size)
    assert_same(Graphs.of(batch), expected)
    assert_same(Graphs.of(Batch.from_data_list(graphs.to_pyg())), expected)
    assert_same(Graphs.of(batch.x, batch.edge_index, batch.batch, batch.edge_attr), expected)  # no graph is empty
    assert Graphs.of(expected) is expected
    assert torch.equal(torch.stack([expected.source, expected.target]), batch.edge_index)


def test_without_batch_all_nodes_are_one_graph() -> None:
    data = Data(x=torch.rand(3, 2), edge_index=torch.tensor([[0, 1], [1, 2]]), edge_attr=torch.rand(2))
    for graphs in (Graphs.of(data), Graphs.of(data.x, data.edge_index, edge_attr=data.edge_attr)):
        assert (graphs.batch_size, graphs.num_nodes) == (1, 3)
        assert graphs.batch.tolist() == [0, 0, 0]
        assert graphs.edge_attr.shape == (2, 1)
    assert (
        Graphs.of(torch.rand(0, 2), torch.zeros(2, 0, dtype=torch.long), torch.zeros(0, dtype=torch.long)).batch_size
        == 0
    )


@given(st.integers(1, 4), st.integers(1, 5), st.integers(0, 6), st.integers(0, 2**20))
def test_groups_of_several_levels_are_summed_graph_by_graph(levels: int, size: int, rows: int, seed: int) -> None:
    generator = torch.Generator().manual_seed(seed)
    batch = torch.randint(size, (levels * rows,), generator=generator)
    values = torch.rand(levels * rows, 2, generator=generator, dtype=torch.float64)
    encoding = Encoding(values, batch, heights=levels)
    groups = encoding.groups(size)
    per_group = torch.zeros(levels * size, 2, dtype=torch.float64).index_add(0, groups, values)
    expected = torch.zeros(size, 2, dtype=torch.float64).index_add(0, batch, values)
    torch.testing.assert_close(encoding.added_up(per_group), expected)
    for row, group in enumerate(groups.tolist()):
        assert (group // size, group % size) == (row // rows, int(batch[row]))


def test_an_encoding_shows_what_it_holds() -> None:
    x, batch = torch.zeros(4, 3), torch.zeros(4, dtype=torch.long)
    assert repr(Encoding(x, batch)) == "Encoding(x=[4, 3])"
    losses = {"link": torch.zeros(1), "entropy": torch.zeros(1)}
    assert repr(Encoding(x, batch, losses, dropped=True)) == "Encoding(x=[4, 3], some rows dropped, link, entropy)"


class Identity(Encoder):
    def encode(self, graphs: Graphs) -> Encoding:
        return Encoding(graphs.x, graphs.batch)


@given(st.integers(1, 5), st.integers(0, 3), st.integers(1, 5), st.integers(0, 3))
def test_an_encoder_takes_the_features_it_was_built_for(built: int, edges: int, given: int, given_edges: int) -> None:
    encoder = Identity(built, built, edges)
    x, edge_index = torch.rand(2, given), torch.tensor([[0], [1]])
    edge_attr = torch.rand(1, given_edges) if given_edges else None
    if given == built and edges in (0, given_edges):
        assert torch.equal(encoder(x, edge_index, edge_attr=edge_attr).x, x)
        return
    assume(given == built or edges in (0, given_edges))
    sentence = (
        f"{built} node features, but x has {given}" if given != built else f"{edges} edge features, but edge_attr"
    )
    with pytest.raises(InputError, match=f"The model was built for {sentence}"):
        encoder(x, edge_index, edge_attr=edge_attr)


def test_wrong_input_is_explained() -> None:
    batch = random_batch(dtype=torch.float32)
    wrong = {
        r"two rows, the sources and the targets of the edges; it has shape \[": batch._replace(
            edge_index=batch.edge_index.T
        ),
        r"floating-point features per node, but it is torch.int64": batch._replace(x=batch.x.long()),
        r"each of the 19 nodes, but it is \[18\]": batch._replace(batch=batch.batch[1:]),
        r"edge_attr has \d+ rows, but there are \d+ edges": batch._replace(edge_attr=batch.edge_attr[1:]),
    }
    for sentence, arguments in wrong.items():
        with pytest.raises(InputError, match=sentence):
            Graphs.of(*arguments)
    with pytest.raises(InputError, match=r"edge_index must have two rows.* it is missing"):
        Graphs.of(batch.x)
    for other in ("graph.json", Data(edge_index=batch.edge_index), None):
        with pytest.raises(InputError, match=r"A model takes tensors \(x, edge_index, ...\) or a PyG Data or Batch"):
            Graphs.of(other)
    for name, value in (("in_channels", 0), ("edge_channels", -1)):
        with pytest.raises(InputError, match=f"{name} must be .* but {value} was given"):
            Identity(**{"in_channels": 1, "out_channels": 1, name: value})
