"""Sums of messages with edge features on a CPU, in one pass over the edges, compiled by Numba.

Plain torch code writes a row for every edge and reads it again, several times over. Here a message exists only while it
is added up. One thread computes every sum in a fixed order: the same input gives bitwise the same output.
"""

from __future__ import annotations

import threading
from collections.abc import Callable
from concurrent.futures import ThreadPoolExecutor
from typing import TYPE_CHECKING, Any

import numpy as np
import torch
from numba import njit
from torch import Tensor

from ssread.errors import InputError

if TYPE_CHECKING:
    from ssread.sorted_edges import SortedEdges

__all__ = ["Messages"]

#: What a node adds of itself: nothing, a scaled relu, or a multiple of its vector.
NONE, RELU, MULTIPLE = range(3)


class Messages(torch.autograd.Function):
    """See :meth:`ssread.neighbours.Neighbours.messages`; ``features`` and ``scale`` get no gradient."""

    @staticmethod
    def forward(
        ctx: Any,
        x: Tensor,
        shift: Tensor,
        scale: Tensor | None,
        root: Tensor | None,
        factor: Tensor | None,
        features: Tensor,
        table: Tensor,
        entering: SortedEdges,
        leaving: SortedEdges,
    ) -> Tensor:
        """Returns the sum of the messages to every node and its own part, [N, d]."""
        for edges in (entering, leaving):
            _check_shapes(edges, x, shift, scale, root, features, table)
            _check_numbers(edges)
        scale = x.new_ones(len(x)) if scale is None else scale
        own, form = x.new_empty(0), NONE
        if root is not None:
            own, form = root, RELU
        elif factor is not None:
            own, form = factor.view(1), MULTIPLE
            ctx.shape_of_factor = factor.shape
        ctx.save_for_backward(x, shift, features, table, scale, own)
        ctx.leaving, ctx.form = leaving, form
        total = torch.zeros_like(x, memory_format=torch.contiguous_format)
        _add_up(*_arrays(x, shift, features, table, *_ends(entering), scale, own), form, total.numpy())
        return total

    @staticmethod
    @torch.autograd.function.once_differentiable
    def backward(ctx: Any, grad: Tensor) -> tuple[Tensor | None, ...]:
        """Returns the gradients; the messages are computed again, since reading them would take longer."""
        x, shift, features, table, scale, own = ctx.saved_tensors
        gradients = [torch.zeros_like(t, memory_format=torch.contiguous_format) for t in (x, shift, table, own)]
        arrays = _arrays(grad, x, shift, features, table, *_ends(ctx.leaving), scale, own)
        _hand_back(*arrays, ctx.form, *(gradient.numpy() for gradient in gradients))
        of_x, of_shift, of_table, of_own = gradients
        of_root = of_own if ctx.form == RELU else None
        of_factor = None
        if ctx.form == MULTIPLE:
            of_factor = torch.dot(grad.reshape(-1), x.reshape(-1)).view(ctx.shape_of_factor)
        return of_x, of_shift, None, of_root, of_factor, None, of_table, None, None


def _check_shapes(
    edges: SortedEdges,
    x: Tensor,
    shift: Tensor,
    scale: Tensor | None,
    root: Tensor | None,
    features: Tensor,
    table: Tensor,
) -> None:
    """Raises an error for a tensor that does not fit the others: compiled code would read beyond its end."""
    nodes, channels = x.shape
    if len(edges.start) != nodes + 1:
        raise InputError(f"x holds {nodes} node vectors, but the edges are those of {len(edges.start) - 1} nodes.")
    expected = (
        ("shift", shift, [channels]),
        ("scale", scale, [nodes]),
        ("root", root, [channels]),
        ("features", features, [len(edges.other), len(table)]),
        ("table", table, [len(table), channels]),
    )
    for name, tensor, shape in expected:
        if tensor is not None and [*tensor.shape] != shape:
            raise InputError(f"{name} must have the shape {shape}, but has the shape {[*tensor.shape]}.")


def _check_numbers(edges: SortedEdges) -> None:
    """Raises an error for the number of a node or an edge that there is not, for the same reason."""
    nodes, count = len(edges.start) - 1, len(edges.other)
    if (number := _outside(edges.other, nodes)) is not None:
        raise InputError(f"An edge ends at node {number}, but there are {nodes} nodes.")
    if (number := _outside(edges.start, count + 1)) is not None:
        raise InputError(f"The edges of a node begin or end at edge {number}, but there are {count} edges.")


def _outside(numbers: Tensor, size: int) -> int | None:
    """A number below 0, or else one not below ``size``; None if there is none."""
    low, high = (int(bound) for bound in numbers.aminmax()) if numbers.numel() else (0, -1)
    return low if low < 0 else high if high >= size else None


def _ends(edges: SortedEdges) -> tuple[Tensor, Tensor, Tensor]:
    order = torch.arange(len(edges.other)) if edges.order is None else edges.order
    return edges.start, edges.other, order


def _arrays(*tensors: Tensor) -> tuple[np.ndarray, ...]:
    return tuple(tensor.detach().contiguous().numpy() for tensor in tensors)


def _compiled(function: Callable[..., None]) -> Any:
    """Compiles a function at its first call with arguments of some types, in about a second.

    Numba would keep the machine code in pickles on disk; we read none. Sums may be rearranged, but NaN stays NaN.

    The main thread lets another one compile. It alone gets Ctrl-C, and LLVM calls Python while it compiles: what is
    raised in there is printed and lost. A call whose types are compiled never comes here.
    """
    dispatcher: Any = njit(nogil=True, fastmath={"reassoc", "contract", "nsz"})(function)
    compile_here = dispatcher.compile

    def compile_aside(signature: Any) -> Any:
        if threading.current_thread() is not threading.main_thread():
            return compile_here(signature)  # also a function that a compiled one calls: Numba's lock is held already
        thread = ThreadPoolExecutor(1)
        try:
            return thread.submit(compile_here, signature).result()
        finally:
            thread.shutdown(wait=False)  # after Ctrl-C it ends by itself, at the latest when Python waits for it

    dispatcher.compile = compile_aside
    return dispatcher


@_compiled
def _term(edge, shift, features, table, term):
    """What is added to the vector of the node that sends along an edge."""
    for c in range(len(shift)):
        term[c] = shift[c]
    for k in range(len(table)):
        share = features[edge, k]
        if share != 0:
            for c in range(len(shift)):
                term[c] += share * table[k, c]


@_compiled
def _add_up(x, shift, features, table, start, other, order, scale, own, form, total):
    channels, zero = x.shape[1], x.dtype.type(0)
    term = np.empty_like(shift)
    for target in range(len(x)):
        for place in range(start[target], start[target + 1]):
            source = other[place]
            weight = scale[target] * scale[source]
            _term(order[place], shift, features, table, term)
            for c in range(channels):
                message = x[source, c] + term[c]
                total[target, c] += weight * (zero if message < 0 else message)
        if form == RELU:
            weight = scale[target] * scale[target]
            for c in range(channels):
                message = x[target, c] + own[c]
                total[target, c] += weight * (zero if message < 0 else message)
        elif form == MULTIPLE:
            for c in range(channels):
                total[target, c] += own[0] * x[target, c]


@_compiled
def _hand_back(
    grad, x, shift, features, table, start, other, order, scale, own, form, of_x, of_shift, of_table, of_own
):
    channels, zero = x.shape[1], x.dtype.type(0)
    term, through = np.empty_like(shift), np.empty_like(shift)
    for source in range(len(x)):
        for place in range(start[source], start[source + 1]):
            target = other[place]
            weight = scale[target] * scale[source]
            _term(order[place], shift, features, table, term)
            for c in range(channels):
                through[c] = zero if x[source, c] + term[c] <= 0 else weight * grad[target, c]
                of_x[source, c] += through[c]
            for k in range(len(table)):
                share = features[order[place], k]
                if share != 0:
                    for c in range(channels):
                        of_table[k, c] += share * through[c]
        for c in range(channels):
            of_shift[c] += of_x[source, c]
        if form == RELU:
            weight = scale[source] * scale[source]
            for c in range(channels):
                through[c] = zero if x[source, c] + own[c] <= 0 else weight * grad[source, c]
                of_x[source, c] += through[c]
                of_own[c] += through[c]
        elif form == MULTIPLE:
            for c in range(channels):
                of_x[source, c] += own[0] * grad[source, c]
