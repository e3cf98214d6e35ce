"""How much every node contributes to every class, label or number: the paper's class activation (section V-C)."""

from typing import Any

import torch
from torch import Tensor

from ssread.data.graphset import GraphSet
from ssread.errors import InputError
from ssread.explain.forward import ForwardPass, forward_passes, members, opened
from ssread.explain.outputs import outputs_of

__all__ = ["activation", "class_activations"]


def activation(model: Any, graphs: GraphSet, target: int | str | Tensor | None = None) -> Tensor:
    r"""The class activation of every node, for either readout.

    .. math:: \mathrm{CAM}_c(n) = \frac{\partial s_c}{\partial h_n} \cdot h_n

    where :math:`s_c` is the score of class or label c before the softmax or sigmoid, or a predicted number in its unit,
    and :math:`h_n` the node's vector. With a sum or a mean and a linear head this is exact: the activations of a graph
    add up to its score minus that of a graph without nodes, which is the bias and the shift of normalised vectors. One
    backward pass per output is enough for all graphs, since a graph's score depends only on its own nodes.

    Args:
        model: Anything :func:`ssread.explain.classifier` takes. Of an ensemble it is the activation for the mean score:
            the mean over the members.
        graphs: The graphs. A node that pooling dropped has activation 0; the activation of a DiffPool cluster is
            divided among its nodes.
        target: The class, label or number to explain, by its number or name for all graphs, or one number per graph
            [G]; None for all.

    Returns:
        Activations, [N], or [N, outputs] without ``target``.
    """
    model = opened(model)
    names = outputs_of(model, graphs).names
    of_members = []
    for member in members(model):
        parts = [class_activations(forward) for forward in forward_passes(member, graphs)]
        of_members.append(torch.cat(parts) if parts else torch.zeros(0, len(names)))
    activations = torch.stack(of_members).mean(dim=0)
    if target is None:
        return activations
    if isinstance(target, str):
        if target not in names:
            raise InputError(f"The model does not predict {target!r}. It predicts {', '.join(map(repr, names))}.")
        target = names.index(target)
    chosen = torch.as_tensor(target).cpu().expand(len(graphs))
    if len(graphs) and not 0 <= int(chosen.min()) <= int(chosen.max()) < activations.size(1):
        raise InputError(f"The model has {activations.size(1)} outputs, numbered from 0, but target is {target}.")
    of_node = chosen.repeat_interleave(graphs.node_counts.cpu())
    return activations.gather(1, of_node.unsqueeze(1)).squeeze(1)


def class_activations(forward: ForwardPass) -> Tensor:
    """Activations of the nodes of one forward pass of one model, [N, outputs]."""
    with torch.enable_grad():
        x = forward.encoding.x.detach().requires_grad_()
        scores = forward.read(x)[1].sum(dim=0)  # [C]: the gradient of a row comes from its own graph only
        columns = []
        for number, score in enumerate(scores):
            (gradient,) = torch.autograd.grad(score, x, retain_graph=number + 1 < len(scores))
            columns.append((gradient * x).sum(dim=1).detach())
    return forward.rows_to_nodes(torch.stack(columns, dim=1)).cpu()
