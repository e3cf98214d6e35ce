"""Views of a batch against the same done graph by graph in plain Python, and what never happens to a graph."""

import random
from collections import Counter

import networkx as nx
import pytest
import torch
from hypothesis import given
from hypothesis import strategies as st
from torch.func import vmap

from ssread.data import GraphSet, assemble, load
from ssread.errors import InputError
from ssread.models import make_model
from ssread.models.graphs import Graphs
from ssread.train.views import (
    AUGMENTATIONS,
    check_augmentations,
    drop_nodes,
    mask_attributes,
    masked_last,
    perturb_edges,
    views,
    walk,
    without_masked,
)

COPIES, RATIO, STEPS = 4000, 0.3, 4
EDGES = [(0, 1), (1, 2), (2, 0), (2, 3), (3, 4)]  # a triangle with a tail
NEIGHBOURS = {node: [b if a == node else a for a, b in EDGES if node in (a, b)] for node in range(5)}


def graph_set(sizes: list[int], edges: list[list[tuple[int, int]]], **options: object) -> GraphSet:
    owner = [graph for graph, of_graph in enumerate(edges) for _ in of_graph]
    flat = torch.tensor([edge for of_graph in edges for edge in of_graph]).reshape(-1, 2).T.numpy()
    x = torch.arange(1.0, sum(sizes) + 1).unsqueeze(1).numpy()
    return assemble(name="graphs", num_nodes=sizes, x=x, graph_of_edge=owner, edges=flat, **options)


def copies(count: int = COPIES) -> Graphs:
    return Graphs.of(graph_set([5] * count, [EDGES] * count).batch(slice(None)))


@st.composite
def batches(draw: st.DrawFn) -> Graphs:
    """Graphs of no, one and several nodes, with loops, with and without edge features."""
    rng = random.Random(draw(st.integers(0, 2**32)))
    sizes = draw(st.lists(st.integers(0, 6), min_size=1, max_size=6))
    edges = [[(rng.randrange(n), rng.randrange(n)) for _ in range(rng.randrange(8))] if n else [] for n in sizes]
    edges = [[(min(edge), max(edge)) for edge in dict.fromkeys(map(frozenset, of_graph))] for of_graph in edges]
    features = torch.rand(sum(map(len, edges)), 2).numpy() if draw(st.booleans()) else None
    return Graphs.of(graph_set(sizes, edges, edge_attr=features).batch(slice(None)))


def distance(one: Counter, other: Counter) -> float:
    """Half the sum of the differences of two distributions: 0 if equal, 1 if apart."""
    return sum(abs(one[key] / one.total() - other[key] / other.total()) for key in one | other) / 2


def sets_of(kept: torch.Tensor) -> Counter:
    return Counter(tuple(row) for row in kept.view(-1, 5).tolist())


def slow_drop(rng: random.Random) -> tuple[bool, ...]:
    luck = [rng.random() for _ in range(5)]
    return tuple(value >= RATIO or value == max(luck) for value in luck)


def slow_walk(rng: random.Random) -> tuple[bool, ...]:
    place = rng.randrange(5)
    seen = {place}
    for _ in range(STEPS):
        place = rng.choice(NEIGHBOURS[place])
        seen.add(place)
    return tuple(node in seen for node in range(5))


def slow_perturb(rng: random.Random) -> tuple[tuple[int, int], ...]:
    moved = [tuple(rng.sample(range(5), 2)) if rng.random() < RATIO else edge for edge in EDGES]
    return tuple(sorted((min(edge), max(edge)) for edge in moved))


def test_dropped_nodes_have_the_distribution_of_the_slow_way():
    rng = random.Random(0)
    slow = Counter(slow_drop(rng) for _ in range(COPIES))
    assert distance(sets_of(drop_nodes(copies(), RATIO)), slow) < 0.06


def test_walks_have_the_distribution_of_the_slow_way():
    rng = random.Random(0)
    slow = Counter(slow_walk(rng) for _ in range(COPIES))
    assert distance(sets_of(walk(copies(), STEPS)), slow) < 0.06
    assert distance(sets_of(walk(copies(), STEPS + 2)), slow) > 0.1, "the measure can tell"


def test_moved_edges_have_the_distribution_of_the_slow_way():
    rng = random.Random(0)
    moved = perturb_edges(copies(), RATIO)
    rows = [(int(a) // 5, (int(a) % 5, int(b) % 5)) for a, b in moved.T if a < b]
    by_graph: dict[int, list[tuple[int, int]]] = {graph: [] for graph in range(COPIES)}
    for graph, edge in rows:
        by_graph[graph].append(edge)
    ours = Counter(len(set(EDGES_SORTED) & set(edges)) for edges in by_graph.values())
    slow = Counter(len(set(EDGES_SORTED) & set(slow_perturb(rng))) for _ in range(COPIES))
    assert distance(ours, slow) < 0.05
    ends = Counter(edge for edges in by_graph.values() for edge in edges)
    slow_ends = Counter(edge for _ in range(COPIES) for edge in slow_perturb(rng))
    assert distance(ends, slow_ends) < 0.03


EDGES_SORTED = [(min(edge), max(edge)) for edge in EDGES]


@given(batches(), st.integers(0, 2**32))
def test_a_moved_edge_stays_an_edge_of_its_graph_in_both_directions(graphs, seed):
    torch.manual_seed(seed)
    source, target = perturb_edges(graphs, 0.5)
    assert torch.equal(graphs.batch[source], graphs.batch[graphs.source])
    assert torch.equal(graphs.batch[target], graphs.batch[graphs.source])
    assert Counter(zip(source.tolist(), target.tolist(), strict=True)) == Counter(
        zip(target.tolist(), source.tolist(), strict=True)
    )
    untouched = perturb_edges(graphs, 0.0)
    assert torch.equal(untouched, graphs.edge_index)


def test_directed_edges_are_moved_each_on_its_own():
    graphs = graph_set([4] * 500, [[(0, 1), (1, 2), (2, 3)]] * 500, undirected=False).batch(slice(None))
    moved = perturb_edges(Graphs.of(graphs), 0.5)
    changed = (moved != graphs.edge_index).any(dim=0).float().mean()
    assert 0.4 < changed < 0.5, "a twelfth of those that move lands where it was"


@given(batches(), st.integers(0, 2**32))
def test_walks_see_connected_parts_and_no_graph_is_left_empty(graphs, seed):
    torch.manual_seed(seed)
    for kept in (walk(graphs, 3), drop_nodes(graphs, 0.99)):
        counts = torch.zeros(graphs.batch_size).index_add(0, graphs.batch, kept.float())
        sizes = torch.bincount(graphs.batch, minlength=graphs.batch_size)
        assert ((counts > 0) == (sizes > 0)).all()
    seen = walk(graphs, 3)
    network = nx.Graph()
    network.add_nodes_from(seen.nonzero().squeeze(1).tolist())
    network.add_edges_from((a, b) for a, b in graphs.edge_index.T.tolist() if seen[a] and seen[b])
    assert nx.number_connected_components(network) == len(graphs.batch[seen].unique())


def test_masked_features_are_a_share_of_the_nodes():
    assert mask_attributes(copies(), RATIO).float().mean().item() == pytest.approx(1 - RATIO, abs=0.02)


@given(batches(), st.sampled_from([*AUGMENTATIONS, "all"]), st.integers(0, 2**32))
def test_two_views_in_one_batch(graphs, name, seed):
    """What holds of every view: sizes, no edge between graphs or to a dropped node, features kept or masked."""
    torch.manual_seed(seed)
    pair = views(graphs, AUGMENTATIONS if name == "all" else [name], ratio=0.5, steps=2)
    nodes, size = graphs.num_nodes, graphs.batch_size
    assert (pair.num_nodes, pair.batch_size, pair.edge_index.size(1)) == (
        2 * nodes,
        2 * size + 1,
        2 * graphs.edge_index.size(1),
    )
    dropped = pair.batch == 2 * size
    assert torch.equal(dropped, pair.mask.squeeze(1) == 0)
    whole = torch.cat([graphs.batch, graphs.batch + size])
    assert torch.equal(pair.batch[~dropped], whole[~dropped])
    assert torch.equal(pair.batch[pair.source], pair.batch[pair.target]), "no edge leaves a graph"
    assert ((pair.x == graphs.x.repeat(2, 1)) | (pair.x == 0)).all()
    there = set(pair.batch.unique().tolist())
    assert there >= {g + v * size for g in graphs.batch.unique().tolist() for v in range(2)}, "no view is empty"
    if graphs.edge_attr is not None:
        assert torch.equal(pair.edge_attr, graphs.edge_attr.repeat(2, 1))
    if name == "identity":
        assert not dropped.any()
        assert torch.equal(pair.edge_index[:, : graphs.edge_index.size(1)], graphs.edge_index)


def test_every_graph_draws_its_augmentation_on_its_own():
    """Of the augmentations of this choice only one drops nodes, and only one moves edges: each in a third of all."""
    graphs = copies(3000)
    pair = views(graphs, ["nodes", "edges", "identity"], ratio=0.999, steps=1)
    kept = (pair.batch < 6000).view(2, 3000, 5).all(dim=2)
    assert (~kept).float().mean(dim=1).tolist() == pytest.approx([1 / 3, 1 / 3], abs=0.05)
    assert (~kept).all(dim=0).float().mean().item() == pytest.approx(1 / 9, abs=0.03), "views are independent"
    both = (pair.edge_index == torch.cat([graphs.edge_index, graphs.edge_index + graphs.num_nodes], dim=1)).all(dim=0)
    same = both.view(2, 3000, 10).all(dim=2) & kept
    assert same.float().mean(dim=1).tolist() == pytest.approx([1 / 3, 1 / 3], abs=0.05)


@given(batches(), st.integers(0, 2**32))
def test_taking_dropped_nodes_out_changes_nothing_for_the_others(graphs, seed):
    """Node vectors, graph vectors and what batch norm learns are the same with a mask and without the nodes."""
    torch.manual_seed(seed)
    pair = views(graphs, ratio=0.5, steps=2)
    smaller = without_masked(pair)
    kept = pair.mask.squeeze(1) > 0
    assert smaller.num_nodes == int(kept.sum())
    edges = 0 if graphs.edge_attr is None else 2
    models = [make_model("gin", 1, 1, edge_channels=edges, hidden_channels=4, dropout=0.0).double() for _ in range(2)]
    models[1].load_state_dict(models[0].state_dict())
    one, other = (model.run(_double(which)) for model, which in zip(models, (pair, smaller), strict=True))
    torch.testing.assert_close(one.encoding.x[kept], other.encoding.x)
    torch.testing.assert_close(one.vectors[:-1], other.vectors[:-1])
    for name, value in models[0].state_dict().items():
        if smaller.num_nodes > 1:
            torch.testing.assert_close(models[1].state_dict()[name], value)


@given(batches(), st.integers(0, 2**32))
def test_masked_nodes_put_last_are_the_same_graphs_as_without_them(graphs, seed):
    torch.manual_seed(seed)
    pair = views(graphs, ratio=0.5, steps=2)
    smaller, same = without_masked(pair), masked_last(pair)
    kept = smaller.num_nodes
    assert same.num_nodes == pair.num_nodes
    assert torch.equal(same.x[:kept], smaller.x)
    assert torch.equal(same.batch[:kept], smaller.batch)
    assert torch.equal(same.mask.squeeze(1) > 0, torch.arange(pair.num_nodes) < kept)
    assert (same.batch[kept:] == pair.batch_size - 1).all()
    members = torch.bincount(smaller.batch, minlength=pair.batch_size)
    assert torch.equal(same.ptr.diff(), members)
    inside = (same.source < kept) & (same.target < kept)
    assert torch.equal(same.edge_index[:, inside], smaller.edge_index)
    assert ((same.source < kept) == (same.target < kept)).all()


def _double(graphs: Graphs) -> Graphs:
    features = None if graphs.edge_attr is None else graphs.edge_attr.double()
    return Graphs.of(graphs.x.double(), graphs.edge_index, graphs.batch, features, graphs.batch_size, graphs.mask)


def test_replicas_draw_views_of_their_own():
    graphs = load("planted", num_graphs=20, seed=0)
    ids = torch.arange(20).repeat(3, 1)
    batch = graphs.padded_batch(ids, graphs.bounds(ids))

    def view(x, edge_index, index, mask):
        pair = views(Graphs.of(x, edge_index, index, None, batch.batch_size, mask), ratio=0.3, steps=5)
        return pair.batch, pair.mask, pair.edge_index

    owners, masks, _ = vmap(view, randomness="different")(batch.x, batch.edge_index, batch.batch, batch.node_mask)
    assert not torch.equal(owners[0], owners[1])
    padding = ~batch.node_mask.repeat(1, 2)
    assert (masks.squeeze(-1)[padding] == 0).all()
    for replica in owners:
        real = {graph + view * 21 for graph in range(20) for view in range(2)}
        assert set(replica.tolist()) >= real, "no view is empty"


def test_unknown_augmentations_get_a_sentence():
    with pytest.raises(InputError, match=r"no augmentation 'noise'. Choose from nodes, edges"):
        check_augmentations(["noise"])
    with pytest.raises(InputError, match="at least one augmentation"):
        check_augmentations([])
