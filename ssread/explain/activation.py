"""How much every node contributes to every class: the paper's class activation map (section V-C)."""

from typing import Any

import torch
from torch import Tensor

from ssread.data.graphset import GraphSet
from ssread.errors import InputError
from ssread.explain.forward import Pass, classifier, passes

__all__ = ["activation", "of_pass"]


def activation(model: Any, graphs: GraphSet, target: int | Tensor | None = None) -> Tensor:
    r"""The class activation of every node, for either readout.

    .. math:: \mathrm{CAM}_c(n) = \frac{\partial s_c}{\partial h_n} \cdot h_n

    where :math:`s_c` is the score of class c before the softmax and :math:`h_n` the node's vector. With a sum and a
    linear head this is exact: the activations of a graph add up to its score less the bias. One backward pass per
    class serves all graphs at once, since no graph's score depends on another's nodes.

    Args:
        model: What :func:`ssread.explain.classifier` takes.
        graphs: The graphs. Where pooling dropped a node, its activation is 0; what a cluster of DiffPool gets is
            shared among its nodes.
        target: The class to explain, one for all graphs or one for each [G]; None for every class.

    Returns:
        Activations, [N], or [N, C] without ``target``.
    """
    model = classifier(model)
    found = [of_pass(part) for part in passes(model, graphs)]
    every = torch.cat(found) if found else torch.zeros(0, graphs.num_classes)
    if target is None:
        return every
    classes = torch.as_tensor(target).cpu().expand(len(graphs))
    if len(graphs) and not 0 <= int(classes.min()) <= int(classes.max()) < every.size(1):
        raise InputError(f"The model tells {every.size(1)} classes apart, numbered from 0; {target} is none of them.")
    node_class = classes.repeat_interleave(graphs.node_counts.cpu())
    return every.gather(1, node_class.unsqueeze(1)).squeeze(1)


def of_pass(part: Pass) -> Tensor:
    """Activations of the nodes of one pass, [N, C]."""
    with torch.enable_grad():
        x = part.encoding.x.detach().requires_grad_()
        scores = part.read(x)[1].sum(dim=0)  # [C]: a row's gradient comes from its own graph alone
        columns = []
        for number, score in enumerate(scores):
            (slope,) = torch.autograd.grad(score, x, retain_graph=number + 1 < len(scores))
            columns.append((slope * x).sum(dim=1).detach())
    return part.shared_out(torch.stack(columns, dim=1)).cpu()
