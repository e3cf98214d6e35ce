"""Generated graphs with known structure, to test alignments and explanations and to measure scaling.

Every graph is a random tree (the base) to which motifs are tied by one edge each. One motif determines the class. If
there are more kinds of motifs than classes, every graph gets a second motif, the distractor, which is independent of
the class. A tree has no cycles and every motif consists of cycles, so without noise no motif occurs by accident. No
motif contains another as an induced subgraph. The number of nodes is independent of the class and node ids are
shuffled, so the class depends on the structure alone.
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

#: The kinds of motifs, each as a list of its edges. Kind 1 is the first; position 0 is the base.
MOTIFS: dict[str, tuple[tuple[int, int], ...]] = {
    "house": ((0, 1), (1, 2), (2, 3), (3, 0), (0, 4), (1, 4)),
    "cycle": ((0, 1), (1, 2), (2, 3), (3, 4), (4, 5), (5, 0)),
    "clique": ((0, 1), (0, 2), (0, 3), (0, 4), (1, 2), (1, 3), (1, 4), (2, 3), (2, 4), (3, 4)),
    "ladder": ((0, 1), (1, 2), (3, 4), (4, 5), (0, 3), (1, 4), (2, 5)),
    "wheel": ((0, 1), (1, 2), (2, 3), (3, 4), (4, 0), (5, 0), (5, 1), (5, 2), (5, 3), (5, 4)),
    "bipartite": ((0, 3), (0, 4), (0, 5), (1, 3), (1, 4), (1, 5), (2, 3), (2, 4), (2, 5)),
    "bowtie": ((0, 1), (1, 2), (2, 0), (2, 3), (3, 4), (4, 2)),
}

_MOTIF_NODES = np.array([0] + [1 + max(max(edge) for edge in edges) for edges in MOTIFS.values()])
_MOTIF_EDGES = np.concatenate([np.array(edges) for edges in MOTIFS.values()])
_MOTIF_EDGE_PTR = np.cumsum([0, 0] + [len(edges) for edges in MOTIFS.values()])

#: Graphs generated at a time, so that temporary arrays stay small.
CHUNK_SIZE = 2**15

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
    """Generates graphs in which a planted motif determines the class, with the ground truth for every node.

    The ground truth is in ``node_columns["position"]`` (0 = base, k = motif of kind k in the order of
    :data:`MOTIFS`), ``node_columns["deciding"]`` (1 for the nodes of the motif that determines the class),
    ``graph_columns["motif"]`` (the kind of that motif; without label noise the class is this minus one) and
    ``graph_columns["distractor"]`` (the kind of the other motif, 0 if there is none).

    Args:
        num_graphs: Number of graphs. A million small ones take well under a minute.
        num_motifs: Number of kinds of motifs. The first ``num_classes`` determine the class, the others distract.
        num_classes: Number of classes, each with its own motif and (nearly) the same number of graphs.
        nodes: Number of nodes of a graph, including its motifs: one number, or the smallest and the largest.
        noise: Random edges to add, as a fraction of the edges of a graph on average. They never join two nodes of the
            same motif, so a planted motif stays intact. But they can close cycles in the base, so other motifs can
            arise by accident.
        label_noise: Probability that the class of a graph is replaced by another one.
        feature_noise: ``None`` for the constant feature 1, so that only the structure is informative. A number p for
            a one-hot node type that equals the position, but with probability p is drawn at random instead.
        seed: The same arguments and seed give the same graphs.

    >>> graphs = planted(100, seed=7)
    >>> len(graphs), graphs.class_names
    (100, ('house', 'cycle'))
    """
    smallest, largest = nodes if isinstance(nodes, Sequence) and len(nodes) == 2 else (nodes, nodes)
    counts = {"num_graphs": num_graphs, "num_motifs": num_motifs, "num_classes": num_classes, "seed": seed}
    for option, value in {**counts, "nodes": smallest, "the largest of nodes": largest}.items():
        if not isinstance(value, int | np.integer) or value < 0:
            raise InputError(f"planted: {option} is {value!r}; it must be an integer, 0 or more.")
    _check(num_graphs, num_motifs, num_classes, smallest, largest, noise, label_noise, feature_noise)
    rng = np.random.default_rng(seed)
    chunks = []
    for start in range(0, num_graphs, CHUNK_SIZE):
        count = min(CHUNK_SIZE, num_graphs - start)
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
        chunk = assemble(
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
        chunks.append(chunk)
    return _joined(chunks)


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
    """Raises an ``InputError`` for an argument out of its range."""
    if num_graphs < 1:
        raise InputError(f"planted: num_graphs is {num_graphs}; it must be 1 or more.")
    if not 2 <= num_classes <= num_motifs <= len(MOTIFS):
        raise InputError(
            f"planted: num_classes is {num_classes} and num_motifs is {num_motifs}; "
            f"2 <= num_classes <= num_motifs <= {len(MOTIFS)} must hold (the motifs are {', '.join(MOTIFS)})."
        )
    need = 1 + _MOTIF_NODES[1 : num_classes + 1].max() + _MOTIF_NODES[num_classes + 1 : num_motifs + 1].max(initial=0)
    if not need <= smallest <= largest:
        raise InputError(
            f"planted: nodes is ({smallest}, {largest}); the smallest number must be at least {need} "
            "(the largest motifs and one node of the base) and not above the largest."
        )
    for option, value in {"noise": noise, "label_noise": label_noise, "feature_noise": feature_noise}.items():
        if value is not None and not 0 <= value <= 1:
            raise InputError(f"planted: {option} is {value}; it must be a fraction between 0 and 1.")


def _structure(
    rng: np.random.Generator, num_nodes: Ints, motif: Ints, distractor: Ints, noise: float
) -> tuple[Ints, Ints, Ints]:
    """Returns the graph and the ends of every edge (base, motifs and noise), and the part of every node."""
    base_nodes = num_nodes - _MOTIF_NODES[motif] - _MOTIF_NODES[distractor]
    part_of_node = _parts(base_nodes, motif, distractor)
    graph_of_edge, edges = _planted_edges(rng, base_nodes, motif, distractor)
    noise_graph, noise_edges = _noise_edges(rng, noise, graph_of_edge, num_nodes, part_of_node)
    graph_of_edge, edges = np.concatenate([graph_of_edge, noise_graph]), np.concatenate([edges, noise_edges], axis=1)
    new_id, order = _shuffled_ids(rng, num_nodes)
    edges = new_id[edges + _starts(num_nodes)[graph_of_edge]]
    return *_both_ways(edges, graph_of_edge, num_nodes), part_of_node[order]


def _joined(chunks: list[GraphSet]) -> GraphSet:
    """Concatenates the chunks of a dataset."""
    first = chunks[0]
    if len(chunks) == 1:
        return first

    def pointer(counts: list[Tensor]) -> Tensor:
        return torch.cat([torch.zeros(1, dtype=torch.int64), torch.cat(counts).cumsum(0)])

    return replace(
        first,
        x=torch.cat([chunk.x for chunk in chunks]),
        node_ptr=pointer([chunk.node_counts for chunk in chunks]),
        edge_index=torch.cat([chunk.edge_index for chunk in chunks], dim=1),
        edge_ptr=pointer([chunk.edge_counts for chunk in chunks]),
        y=torch.cat([chunk.y for chunk in chunks if chunk.y is not None]),
        ids=(),
        node_columns={key: torch.cat([chunk.node_columns[key] for chunk in chunks]) for key in first.node_columns},
        graph_columns={key: torch.cat([chunk.graph_columns[key] for chunk in chunks]) for key in first.graph_columns},
    )


def _starts(counts: Ints) -> Ints:
    """Returns where each run begins when runs of these lengths follow each other."""
    return np.cumsum(counts) - counts


def _within(counts: Ints) -> Ints:
    """Returns 0, 1, ... within every run, for runs of these lengths."""
    return np.arange(counts.sum()) - np.repeat(_starts(counts), counts)


def _parts(base_nodes: Ints, motif: Ints, distractor: Ints) -> Ints:
    """Returns the part that every node belongs to, before shuffling: 0 base, 1 deciding motif, 2 distractor."""
    sizes = np.stack([base_nodes, _MOTIF_NODES[motif], _MOTIF_NODES[distractor]], axis=1)
    return np.repeat(np.tile(np.arange(3), len(motif)), sizes.reshape(-1))


def _planted_edges(rng: np.random.Generator, base_nodes: Ints, motif: Ints, distractor: Ints) -> tuple[Ints, Ints]:
    """Returns the graph and the ends, as node ids within the graph, of all edges but the noise."""
    graphs = np.arange(len(motif))
    # A random recursive tree: the parent of node i > 0 is drawn from the nodes before it.
    child = _within(base_nodes - 1) + 1
    parts = [(np.repeat(graphs, base_nodes - 1), (rng.random(len(child)) * child).astype(np.int64), child)]
    first = base_nodes
    for kind in (motif, distractor):
        counts = _MOTIF_EDGE_PTR[kind + 1] - _MOTIF_EDGE_PTR[kind]
        ends = (
            _MOTIF_EDGES[np.repeat(_MOTIF_EDGE_PTR[kind], counts) + _within(counts)] + np.repeat(first, counts)[:, None]
        )
        parts.append((np.repeat(graphs, counts), ends[:, 0], ends[:, 1]))
        tied = np.flatnonzero(kind)
        end = first[tied] + rng.integers(0, _MOTIF_NODES[kind[tied]])
        parts.append((tied, rng.integers(0, base_nodes[tied]), end))
        first = first + _MOTIF_NODES[kind]
    graph_of_edge, row, col = (np.concatenate(column) for column in zip(*parts, strict=True))
    return graph_of_edge, np.stack([row, col])


def _noise_edges(
    rng: np.random.Generator, noise: float, graph_of_edge: Ints, num_nodes: Ints, part_of_node: Ints
) -> tuple[Ints, Ints]:
    """Returns random edges: for every existing edge one with probability ``noise``, none within a motif."""
    graph = graph_of_edge[rng.random(len(graph_of_edge)) < noise]
    row, col = rng.integers(0, num_nodes[graph]), rng.integers(0, num_nodes[graph])
    start = _starts(num_nodes)[graph]
    row_part, col_part = part_of_node[start + row], part_of_node[start + col]
    kept = (row != col) & ((row_part != col_part) | (row_part == 0))
    return graph[kept], np.stack([row, col])[:, kept]


def _shuffled_ids(rng: np.random.Generator, num_nodes: Ints) -> tuple[Ints, Ints]:
    """Permutes the nodes within every graph; returns the new id of every node, and the old row of every new one."""
    # Dividing by 2 keeps rounding from moving a key into the next graph.
    order = np.argsort(np.repeat(np.arange(len(num_nodes)), num_nodes) + rng.random(num_nodes.sum()) / 2)
    new_id = np.empty_like(order)
    new_id[order] = _within(num_nodes)
    return new_id, order


def _both_ways(edges: Ints, graph_of_edge: Ints, num_nodes: Ints) -> tuple[Ints, Ints]:
    """Returns every edge in both directions, sorted, without the duplicates that the noise may have drawn."""
    width, start = num_nodes.max(), _starts(num_nodes)[graph_of_edge]
    key = np.concatenate([(start + edges[0]) * width + edges[1], (start + edges[1]) * width + edges[0]])
    key.sort()
    key = key[np.concatenate([[True], key[1:] != key[:-1]])]
    row, col = np.divmod(key, width)
    return np.repeat(np.arange(len(num_nodes)), num_nodes)[row], np.stack([_within(num_nodes)[row], col])


def _features(
    rng: np.random.Generator, position: Ints, num_motifs: int, feature_noise: float | None
) -> tuple[npt.NDArray[np.float32], tuple[str, ...]]:
    """Returns node features and their names: constant, or noisy one-hot types."""
    if feature_noise is None:
        return np.ones((len(position), 1), dtype=np.float32), ("constant",)
    drawn = rng.integers(0, num_motifs + 1, len(position))
    types = np.where(rng.random(len(position)) < feature_noise, drawn, position)
    x = np.zeros((len(position), num_motifs + 1), dtype=np.float32)
    x[np.arange(len(position)), types] = 1
    return x, ("type=base", *(f"type={kind}" for kind in tuple(MOTIFS)[:num_motifs]))
