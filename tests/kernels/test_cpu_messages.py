"""What is special to the compiled messages; that they are right is tested in tests/test_neighbours.py."""

from pathlib import Path

import pytest
import torch
from helpers import processes
from test_neighbours import messages_with_features

from ssread import kernels
from ssread.errors import InputError
from ssread.neighbours import Neighbours

pytest.importorskip("numba")


def test_the_same_input_gives_bitwise_the_same():
    (once, gradients), (again, others) = messages_with_features(), messages_with_features()
    assert torch.equal(once, again)
    assert all(torch.equal(one, other) for one, other in zip(gradients, others, strict=True))


def test_single_precision_is_close_to_double_precision():
    single, double = messages_with_features(torch.float32), messages_with_features(torch.float64)
    torch.testing.assert_close(single[0].double(), double[0])
    for one, other in zip(single[1], double[1], strict=True):
        torch.testing.assert_close(one.double(), other, rtol=1e-4, atol=1e-4)


@pytest.mark.parametrize("value", [torch.nan, torch.inf])
def test_what_is_not_a_number_is_passed_on(value):
    x = torch.ones(3, 2)
    x[0, 0] = value
    to = Neighbours(torch.tensor([0, 2]), torch.tensor([1, 1]), 3)
    total = to.messages(x, torch.zeros(2), None, None, None, torch.ones(2, 1), torch.ones(1, 2))
    assert not total[1, 0].isfinite()
    assert total[1, 1] == 4
    assert (total[[0, 2]] == 0).all()


def test_graphs_without_nodes_or_edges():
    for nodes in (0, 2):
        none = torch.empty(0, dtype=torch.long)
        x = torch.ones(nodes, 2, requires_grad=True)
        total = Neighbours(none, none, nodes).messages(
            x, torch.zeros(2), None, torch.ones(2), None, torch.empty(0, 1), torch.ones(1, 2)
        )
        assert torch.equal(total, torch.full((nodes, 2), 2.0))
        total.sum().backward()
        assert torch.equal(x.grad, torch.ones(nodes, 2))


@pytest.mark.parametrize("end", [-1, 3, 4, 10**12])
@pytest.mark.parametrize("side", [0, 1])
def test_an_edge_that_ends_nowhere_is_an_error(end, side):
    edge_index = torch.tensor([[0, 1], [1, 2]])
    edge_index[side, 1] = end
    with pytest.raises((InputError, IndexError, RuntimeError), match=r"node|index|out of"):
        Neighbours(*edge_index, 3).messages(
            torch.ones(3, 2), torch.zeros(2), None, None, None, torch.ones(2, 1), torch.ones(1, 2)
        )


@pytest.mark.parametrize(
    ("changed", "sentence"),
    [
        ({"x": torch.ones(5, 2)}, "x holds 5 node vectors, but the edges are those of 3 nodes"),
        ({"x": torch.ones(2, 2)}, "x holds 2 node vectors, but the edges are those of 3 nodes"),
        ({"shift": torch.zeros(3)}, r"shift must have the shape \[2\], but has the shape \[3\]"),
        ({"scale": torch.ones(2)}, r"scale must have the shape \[3\], but has the shape \[2\]"),
        ({"root": torch.ones(1)}, r"root must have the shape \[2\], but has the shape \[1\]"),
        ({"features": torch.ones(1, 1)}, r"features must have the shape \[2, 1\], but has the shape \[1, 1\]"),
        ({"table": torch.ones(4, 2)}, r"features must have the shape \[2, 4\], but has the shape \[2, 1\]"),
        ({"table": torch.ones(1, 3)}, r"table must have the shape \[1, 2\], but has the shape \[1, 3\]"),
        ({"target": torch.tensor([1, 2, 2])}, "The edges of a node begin or end at edge 3, but there are 2 edges"),
        ({"start": torch.tensor([0, 9, 2, 2])}, "The edges of a node begin or end at edge 9, but there are 2 edges"),
        ({"start": torch.tensor([0, 2])}, "x holds 3 node vectors, but the edges are those of 1 nodes"),
    ],
)
def test_tensors_that_do_not_fit_each_other_are_an_error(changed, sentence):
    """Compiled code would read beyond the end of one of them."""
    edges = {"source": torch.tensor([0, 1]), "target": torch.tensor([1, 2]), "num_nodes": 3}
    parts = {"x": torch.ones(3, 2), "shift": torch.zeros(2), "features": torch.ones(2, 1), "table": torch.ones(1, 2)}
    given = {"scale": None, "root": None, "factor": None, **parts, **edges, **changed}
    to = Neighbours(*(given.pop(name) for name in edges), start=given.pop("start", None))
    with pytest.raises(InputError, match=sentence):
        to.messages(**given)


@pytest.mark.parametrize("shape", [(), (1,)])
def test_the_gradient_of_the_factor_has_its_shape(shape):
    factor = torch.full(shape, 2.0, requires_grad=True)
    to = Neighbours(torch.tensor([0, 1]), torch.tensor([1, 2]), 3)
    to.messages(
        torch.ones(3, 2), torch.zeros(2), None, None, factor, torch.ones(2, 1), torch.ones(1, 2)
    ).sum().backward()
    assert torch.equal(factor.grad, torch.full(shape, 6.0))


def test_where_numba_may_not_compile_plain_code_does_it(monkeypatch):
    """With ``NUMBA_DISABLE_JIT=1``, as in a debugger."""
    monkeypatch.setattr("numba.config.DISABLE_JIT", 1)
    assert kernels.compiled_messages.__wrapped__() is None


def test_rows_need_not_be_contiguous():
    wide = torch.randn(4, 6)
    to = Neighbours(torch.tensor([3, 1, 0]), torch.tensor([0, 0, 2]), 4)
    rest = (torch.randn(3), None, torch.randn(3), None, torch.randn(3, 2), torch.randn(3, 2).T)
    torch.testing.assert_close(to.messages(wide[:, ::2], *rest), to.messages(wide[:, ::2].contiguous(), *rest))


#: Ctrl-C while functions are compiled: in Python code that LLVM calls then, the first time or a later one, and which
#: does not go on before the main thread has got it.
INTERRUPTED = """
import os, signal, sys, threading
import torch
from ssread.neighbours import Neighbours

def interrupt(frame, event, _):
    global calls
    if event == "call" and frame.f_code.co_name.startswith("_raw_object_cache_"):
        calls += 1
        if calls == moment:
            sys.setprofile(None)
            os.kill(os.getpid(), signal.SIGINT)
            assert caught.wait(60)

def interrupted(work, number):
    global calls, moment, caught
    calls, moment, caught = 0, number, threading.Event()
    sys.setprofile(interrupt)
    threading.setprofile(interrupt)
    try:
        work()
    except KeyboardInterrupt:
        print("interrupted", flush=True)
    sys.setprofile(None)
    threading.setprofile(None)
    caught.set()

to = Neighbours(torch.tensor([0, 1]), torch.tensor([1, 2]), 3)
for dtype, number in ((torch.float32, 1), (torch.float64, 4)):
    ones = [torch.ones(size, dtype=dtype) for size in ((2, 1), (1, 2))]
    x, shift = torch.ones(3, 2, dtype=dtype, requires_grad=True), torch.zeros(2, dtype=dtype)
    forward = lambda: to.messages(x, shift, None, None, None, *ones)
    interrupted(forward, number)
    total = forward()
    interrupted(lambda: total.sum().backward(), 1)
    forward().sum().backward()
    print(total.tolist(), x.grad.tolist(), flush=True)
"""


def test_ctrl_c_arrives_while_a_function_is_compiled(tmp_path: Path):
    script = tmp_path / "interrupted.py"
    script.write_text(INTERRUPTED)
    printed = processes.finish(processes.start_script(script, [], tmp_path), tmp_path)
    sums, gradients = [[0.0, 0.0], [2.0, 2.0], [2.0, 2.0]], [[1.0, 1.0], [1.0, 1.0], [0.0, 0.0]]
    assert printed.splitlines() == ["interrupted", "interrupted", f"{sums} {gradients}"] * 2
