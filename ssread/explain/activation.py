"""How much every node contributes to every class: the paper's class activation (section V-C)."""

from typing import Any

import torch
from torch import Tensor

from ssread.data.graphset import GraphSet
from ssread.errors import InputError
from ssread.explain.forward import ForwardPass, classifier, forward_passes

__all__ = ["activation", "class_activations"]


def activation(model: Any, graphs: GraphSet, target: int | Tensor | None = None) -> Tensor:
    r"""The class activation of every node, for either readout.

    .. math:: \mathrm{CAM}_c(n) = \frac{\partial s_c}{\partial h_n} \cdot h_n

    where :math:`s_c` is the score of class c before the softmax and :math:`h_n` the node's vector. With a sum and a
    linear head this is exact: the activations of a graph add up to its score minus that of a graph without nodes, which
    is the bias and the shift of normalised vectors. One backward pass per class is enough for all graphs, since a
    graph's score depends only on its own nodes.

    Args:
        model: Anything :func:`ssread.explain.classifier` takes.
        graphs: The graphs. A node that pooling dropped has activation 0; the activation of a DiffPool cluster is
            divided among its nodes.
        target: The class to explain, one for all graphs or one per graph [G]; None for every class.

    Returns:
        Activations, [N], or [N, C] without ``target``.
    """
    model = classifier(model)
    parts = [class_activations(forward) for forward in forward_passes(model, graphs)]
    activations = torch.cat(parts) if parts else torch.zeros(0, graphs.num_classes)
    if target is None:
        return activations
    classes = torch.as_tensor(target).cpu().expand(len(graphs))
    num_classes = activations.size(1)
    if len(graphs) and not 0 <= int(classes.min()) <= int(classes.max()) < num_classes:
        raise InputError(f"The model has {num_classes} classes, numbered from 0, but target is {target}.")
    node_class = classes.repeat_interleave(graphs.node_counts.cpu())
    return activations.gather(1, node_class.unsqueeze(1)).squeeze(1)


def class_activations(forward: ForwardPass) -> Tensor:
    """Activations of the nodes of one forward pass, [N, C]."""
    with torch.enable_grad():
        x = forward.encoding.x.detach().requires_grad_()
        scores = forward.read(x)[1].sum(dim=0)  # [C]: the gradient of a row comes from its own graph only
        columns = []
        for number, score in enumerate(scores):
            (gradient,) = torch.autograd.grad(score, x, retain_graph=number + 1 < len(scores))
            columns.append((gradient * x).sum(dim=1).detach())
    return forward.rows_to_nodes(torch.stack(columns, dim=1)).cpu()
