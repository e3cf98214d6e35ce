"""Graphs with a planted, known structure: the exam for alignments and explanations, the load for scaling tests.

Every graph is a random tree (the base) to which motifs are tied by one edge each. One motif decides the class;
where there are more kinds of motifs than classes, one more motif distracts: its kind says nothing about the class.
A tree has no cycle and every motif is built of cycles, so without noise no motif occurs by accident; no motif holds
another as an induced subgraph. The number of nodes is drawn without regard to the class and node ids are shuffled, so
neither the size of a graph nor the order of its nodes tells anything: the structure alone decides.
"""

from collections.abc import Sequence
from dataclasses import replace

import numpy as np
import numpy.typing as npt
import torch
from torch import Tensor

from ssread.data.assemble import assemble
from ssread.data.graphset import GraphSet
from ssread.errors import InputError

MOTIFS: dict[str, tuple[tuple[int, int], ...]] = {
    "house": ((0, 1), (1, 2), (2, 3), (3, 0), (0, 4), (1, 4)),
    "cycle": ((0, 1), (1, 2), (2, 3), (3, 4), (4, 5), (5, 0)),
    "clique": ((0, 1), (0, 2), (0, 3), (0, 4), (1, 2), (1, 3), (1, 4), (2, 3), (2, 4), (3, 4)),
    "ladder": ((0, 1), (1, 2), (3, 4), (4, 5), (0, 3), (1, 4), (2, 5)),
    "wheel": ((0, 1), (1, 2), (2, 3), (3, 4), (4, 0), (5, 0), (5, 1), (5, 2), (5, 3), (5, 4)),
    "bipartite": ((0, 3), (0, 4), (0, 5), (1, 3), (1, 4), (1, 5), (2, 3), (2, 4), (2, 5)),
    "bowtie": ((0, 1), (1, 2), (2, 0), (2, 3), (3, 4), (4, 2)),
}
"""The kinds of motifs, each as the list of its edges; kind 1 is the first, position 0 is the base."""

_MOTIF_NODES = np.array([0] + [1 + max(max(edge) for edge in edges) for edges in MOTIFS.values()])
_MOTIF_EDGES = np.concatenate([np.array(edges) for edges in MOTIFS.values()])
_MOTIF_EDGE_PTR = np.cumsum([0, 0] + [len(edges) for edges in MOTIFS.values()])

_PIECE = 2**15  # graphs made at once: temporary arrays stay small, whatever the number of graphs

Ints = npt.NDArray[np.int64]


def planted(
    num_graphs: int = 1000,
    num_motifs: int = 4,
    num_classes: int = 2,
    nodes: int | tuple[int, int] = (15, 30),
    noise: float = 0.1,
    label_noise: float = 0.0,
    feature_noise: float | None = None,
    seed: int = 0,
) -> GraphSet:
    """Generate graphs whose class is decided by a planted motif, with the ground truth of every node.

    The truth stands beside the graphs: ``node_columns["position"]`` (0 = base, k = motif of kind k in the order of
    :data:`MOTIFS`), ``node_columns["deciding"]`` (1 where the node belongs to the motif that decides),
    ``graph_columns["motif"]`` (the kind that decides: the class without label noise is this less one) and
    ``graph_columns["distractor"]`` (the kind of the other motif, 0 where there is none).

    Args:
        num_graphs: How many graphs. A million small ones take well under a minute.
        num_motifs: How many kinds of motifs. The first ``num_classes`` decide, the others distract.
        num_classes: How many classes, each with one deciding motif and (nearly) the same number of graphs.
        nodes: Nodes of a graph, base and motifs together: a number, or the smallest and the largest.
        noise: Random edges added, as a fraction of the edges of a graph on average. Their ends are any two nodes
            that are not of the same motif, so a planted motif stays what it is; with noise, cycles in the base and
            therefore accidental motifs become possible.
        label_noise: Probability that the class of a graph is replaced by another one.
        feature_noise: ``None``: every node has the constant feature 1, only structure tells. A number p: a one-hot
            node type that tells the position, replaced by a uniformly drawn one with probability p (with p = 1
            the types say nothing).
        seed: The same arguments and seed give the same graphs.

    >>> graphs = planted(100, seed=7)
    >>> len(graphs), graphs.class_names
    (100, ('house', 'cycle'))
    """
    smallest, largest = nodes if isinstance(nodes, Sequence) and len(nodes) == 2 else (nodes, nodes)
    counts = {"num_graphs": num_graphs, "num_motifs": num_motifs, "num_classes": num_classes, "seed": seed}
    for option, value in {**counts, "nodes": smallest, "the largest of nodes": largest}.items():
        if not isinstance(value, int | np.integer) or value < 0:
            raise InputError(f"planted: {option} is {value!r}; it is a whole number, 0 or more.")
    _check(num_graphs, num_motifs, num_classes, smallest, largest, noise, label_noise, feature_noise)
    rng = np.random.default_rng(seed)
    pieces = []
    for start in range(0, num_graphs, _PIECE):
        count = min(_PIECE, num_graphs - start)
        motif = rng.permutation(count) % num_classes + 1
        distractor = np.zeros_like(motif)
        if num_motifs > num_classes:
            distractor = rng.integers(num_classes + 1, num_motifs + 1, count)
        num_nodes = rng.integers(smallest, largest + 1, count)
        y = np.where(rng.random(count) < label_noise, motif + rng.integers(0, num_classes - 1, count), motif - 1)
        graph_of_edge, edges, part_of_node = _structure(rng, num_nodes, motif, distractor, noise)
        kinds = np.stack([np.zeros_like(motif), motif, distractor], axis=1)
        position = kinds[np.repeat(np.arange(count), num_nodes), part_of_node]
        x, names = _features(rng, position, num_motifs, feature_noise)
        piece = assemble(
            name="planted",
            num_nodes=num_nodes,
            x=x,
            graph_of_edge=graph_of_edge,
            edges=edges,
            y=y % num_classes,
            class_names=tuple(MOTIFS)[:num_classes],
            node_feature_names=names,
            node_columns={"position": position, "deciding": (part_of_node == 1).astype(np.int64)},
            graph_columns={"motif": motif, "distractor": distractor},
        )
        pieces.append(piece)
    return _joined(pieces)


def _check(
    num_graphs: int,
    num_motifs: int,
    num_classes: int,
    smallest: int,
    largest: int,
    noise: float,
    label_noise: float,
    feature_noise: float | None,
) -> None:
    """Every argument in its range, else a sentence."""
    if num_graphs < 1:
        raise InputError(f"planted: num_graphs is {num_graphs}; ask for at least 1 graph.")
    if not 2 <= num_classes <= num_motifs <= len(MOTIFS):
        raise InputError(
            f"planted: num_classes is {num_classes} and num_motifs is {num_motifs}; "
            f"2 <= num_classes <= num_motifs <= {len(MOTIFS)} is needed (the motifs are {', '.join(MOTIFS)})."
        )
    need = 1 + _MOTIF_NODES[1 : num_classes + 1].max() + _MOTIF_NODES[num_classes + 1 : num_motifs + 1].max(initial=0)
    if not need <= smallest <= largest:
        raise InputError(
            f"planted: nodes is ({smallest}, {largest}); the smallest number must be at least {need} "
            "(the largest motifs and one node of the base) and not above the largest."
        )
    for option, value in {"noise": noise, "label_noise": label_noise, "feature_noise": feature_noise}.items():
        if value is not None and not 0 <= value <= 1:
            raise InputError(f"planted: {option} is {value}; it is a fraction between 0 and 1.")


def _structure(
    rng: np.random.Generator, num_nodes: Ints, motif: Ints, distractor: Ints, noise: float
) -> tuple[Ints, Ints, Ints]:
    """The edges of base, motifs and noise (graph and graph-local ends), and the part of every node."""
    base_nodes = num_nodes - _MOTIF_NODES[motif] - _MOTIF_NODES[distractor]
    part_of_node = _parts(base_nodes, motif, distractor)
    graph_of_edge, edges = _clean_edges(rng, base_nodes, motif, distractor)
    extra_graph, extra = _noise_edges(rng, noise, graph_of_edge, num_nodes, part_of_node)
    graph_of_edge, edges = np.concatenate([graph_of_edge, extra_graph]), np.concatenate([edges, extra], axis=1)
    new_id, order = _shuffled_ids(rng, num_nodes)
    edges = new_id[edges + _starts(num_nodes)[graph_of_edge]]
    return *_both_ways(edges, graph_of_edge, num_nodes), part_of_node[order]


def _joined(pieces: list[GraphSet]) -> GraphSet:
    """Pieces of one dataset as one."""
    first = pieces[0]
    if len(pieces) == 1:
        return first

    def pointer(counts: list[Tensor]) -> Tensor:
        return torch.cat([torch.zeros(1, dtype=torch.int64), torch.cat(counts).cumsum(0)])

    return replace(
        first,
        x=torch.cat([piece.x for piece in pieces]),
        node_ptr=pointer([piece.node_counts for piece in pieces]),
        edge_index=torch.cat([piece.edge_index for piece in pieces], dim=1),
        edge_ptr=pointer([piece.edge_counts for piece in pieces]),
        y=torch.cat([piece.y for piece in pieces if piece.y is not None]),
        ids=(),
        node_columns={key: torch.cat([piece.node_columns[key] for piece in pieces]) for key in first.node_columns},
        graph_columns={key: torch.cat([piece.graph_columns[key] for piece in pieces]) for key in first.graph_columns},
    )


def _starts(counts: Ints) -> Ints:
    """The first place of every run when runs of these lengths are laid one after the other."""
    return np.cumsum(counts) - counts


def _within(counts: Ints) -> Ints:
    """0, 1, ... inside every run, for runs of these lengths."""
    return np.arange(counts.sum()) - np.repeat(_starts(counts), counts)


def _parts(base_nodes: Ints, motif: Ints, distractor: Ints) -> Ints:
    """The part every node belongs to, before shuffling: 0 base, 1 deciding motif, 2 distractor."""
    sizes = np.stack([base_nodes, _MOTIF_NODES[motif], _MOTIF_NODES[distractor]], axis=1)
    return np.repeat(np.tile(np.arange(3), len(motif)), sizes.reshape(-1))


def _clean_edges(rng: np.random.Generator, base_nodes: Ints, motif: Ints, distractor: Ints) -> tuple[Ints, Ints]:
    """The edges of base, motifs and the ties between them: (graph of every edge, graph-local ends)."""
    graphs = np.arange(len(motif))
    # A random recursive tree: node i > 0 hangs on a node drawn from those before it.
    child = _within(base_nodes - 1) + 1
    pieces = [(np.repeat(graphs, base_nodes - 1), (rng.random(len(child)) * child).astype(np.int64), child)]
    first = base_nodes
    for kind in (motif, distractor):
        counts = _MOTIF_EDGE_PTR[kind + 1] - _MOTIF_EDGE_PTR[kind]
        ends = (
            _MOTIF_EDGES[np.repeat(_MOTIF_EDGE_PTR[kind], counts) + _within(counts)] + np.repeat(first, counts)[:, None]
        )
        pieces.append((np.repeat(graphs, counts), ends[:, 0], ends[:, 1]))
        there = np.flatnonzero(kind)
        tie = first[there] + rng.integers(0, _MOTIF_NODES[kind[there]])
        pieces.append((there, rng.integers(0, base_nodes[there]), tie))
        first = first + _MOTIF_NODES[kind]
    graph_of_edge, row, col = (np.concatenate(column) for column in zip(*pieces, strict=True))
    return graph_of_edge, np.stack([row, col])


def _noise_edges(
    rng: np.random.Generator, noise: float, graph_of_edge: Ints, num_nodes: Ints, part_of_node: Ints
) -> tuple[Ints, Ints]:
    """Random edges, for every edge there is one with probability ``noise``, none inside a motif."""
    graph = graph_of_edge[rng.random(len(graph_of_edge)) < noise]
    row, col = rng.integers(0, num_nodes[graph]), rng.integers(0, num_nodes[graph])
    start = _starts(num_nodes)[graph]
    row_part, col_part = part_of_node[start + row], part_of_node[start + col]
    kept = (row != col) & ((row_part != col_part) | (row_part == 0))
    return graph[kept], np.stack([row, col])[:, kept]


def _shuffled_ids(rng: np.random.Generator, num_nodes: Ints) -> tuple[Ints, Ints]:
    """A permutation inside every graph: (new graph-local id of every node, old place of every new node)."""
    # Half of the unit interval: rounding can then never carry a key over to the next graph.
    order = np.argsort(np.repeat(np.arange(len(num_nodes)), num_nodes) + rng.random(num_nodes.sum()) / 2)
    new_id = np.empty_like(order)
    new_id[order] = _within(num_nodes)
    return new_id, order


def _both_ways(edges: Ints, graph_of_edge: Ints, num_nodes: Ints) -> tuple[Ints, Ints]:
    """Every edge in both directions, sorted, and once even where the noise drew one that was there."""
    width, start = num_nodes.max(), _starts(num_nodes)[graph_of_edge]
    key = np.concatenate([(start + edges[0]) * width + edges[1], (start + edges[1]) * width + edges[0]])
    key.sort()
    key = key[np.concatenate([[True], key[1:] != key[:-1]])]
    row, col = np.divmod(key, width)
    return np.repeat(np.arange(len(num_nodes)), num_nodes)[row], np.stack([_within(num_nodes)[row], col])


def _features(
    rng: np.random.Generator, position: Ints, num_motifs: int, feature_noise: float | None
) -> tuple[npt.NDArray[np.float32], tuple[str, ...]]:
    """Node features and their names: constant, or noisy one-hot types."""
    if feature_noise is None:
        return np.ones((len(position), 1), dtype=np.float32), ("constant",)
    drawn = rng.integers(0, num_motifs + 1, len(position))
    types = np.where(rng.random(len(position)) < feature_noise, drawn, position)
    x = np.zeros((len(position), num_motifs + 1), dtype=np.float32)
    x[np.arange(len(position)), types] = 1
    return x, ("type=base", *(f"type={kind}" for kind in tuple(MOTIFS)[:num_motifs]))
