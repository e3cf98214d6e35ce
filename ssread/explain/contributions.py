"""What every node and every structural position adds to a prediction."""

from typing import Any

import torch
from torch import Tensor

from ssread.data.graphset import GraphSet
from ssread.errors import InputError
from ssread.explain.consensus import stored_matching
from ssread.explain.forward import batches, evaluating, members, opened
from ssread.explain.outputs import outputs_of
from ssread.models.contributions import Contributions, contributions_of, held_fixed, left_over
from ssread.readout import SSRead

__all__ = ["activation", "contributions"]


def contributions(model: Any, graphs: GraphSet) -> Contributions:
    """The scores of graphs as sums: what every node and every position adds, features of whole graphs, and the rest.

    The score is that of a class or label before the softmax or sigmoid, or a predicted number in its unit; of an
    ensemble the mean over its members. :class:`ssread.models.contributions.Contributions` says for every head and
    aggregation in which sense the terms add up.

    Args:
        model: Anything :func:`ssread.explain.classifier` takes.
        graphs: The graphs.
    """
    model = opened(model)
    models = members(model)
    parts, of_features, first_graph = [], [], 0
    with evaluating(models):
        for batch in batches(models[0], graphs):
            part = contributions_of(models, batch, stored_matching(model))
            parts.append([part.nodes, part.positions, part.rest, part.position, part.graph + first_graph])
            if part.graph_features is not None:
                of_features.append(part.graph_features.cpu())
            first_graph += batch.batch_size
    told = held_fixed(models[0]), left_over(models[0])
    if not parts:
        outputs = len(outputs_of(model, graphs).names)
        K = models[0].readout.num_positions if isinstance(models[0].readout, SSRead) else 1
        none = torch.zeros(0, dtype=torch.long)
        return Contributions(
            torch.zeros(0, outputs), torch.zeros(0, K, outputs), torch.zeros(0, outputs), none, none, *told
        )
    nodes, positions, rest, position, graph = (torch.cat(column).cpu() for column in zip(*parts, strict=True))
    features = torch.cat(of_features) if of_features else None
    return Contributions(nodes, positions, rest, position, graph, *told, features)


def activation(model: Any, graphs: GraphSet, target: int | str | Tensor | None = None) -> Tensor:
    r"""The class activation of every node (section V-C of the paper): what it adds to a score.

    .. math:: \mathrm{CAM}_c(n) = \frac{\partial s_c}{\partial h_n} \cdot h_n

    These are the ``nodes`` of :func:`contributions`, for either readout.

    Args:
        model: Anything :func:`ssread.explain.classifier` takes.
        graphs: The graphs.
        target: The class, label or number to explain, by its number or name for all graphs, or one number per graph
            [G]; None for all.

    Returns:
        Activations, [N], or [N, outputs] without ``target``.
    """
    model = opened(model)
    activations = contributions(model, graphs).nodes
    if target is None:
        return activations
    names = outputs_of(model, graphs).names
    if isinstance(target, str):
        if target not in names:
            raise InputError(f"The model does not predict {target!r}. It predicts {', '.join(map(repr, names))}.")
        target = names.index(target)
    chosen = torch.as_tensor(target).cpu().expand(len(graphs))
    if len(graphs) and not 0 <= int(chosen.min()) <= int(chosen.max()) < activations.size(1):
        raise InputError(f"The model has {activations.size(1)} outputs, numbered from 0, but target is {target}.")
    of_node = chosen.repeat_interleave(graphs.node_counts.cpu())
    return activations.gather(1, of_node.unsqueeze(1)).squeeze(1)
