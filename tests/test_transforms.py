"""The readout under PyTorch's transforms: compile, vmap, export, ONNX, autocast, determinism."""

import pytest
import torch
from torch import Tensor, nn
from torch.export import Dim
from torch.func import functional_call, grad, stack_module_state, vmap

from ssread import SSRead
from ssread.aggregate import NAMES

D, K = 4, 3


class Small(nn.Module):
    """A linear encoder, the readout and a linear head, with both losses from one pass."""

    def __init__(self, aggr: str):
        super().__init__()
        self.encoder = nn.Linear(D, D)
        self.readout = SSRead(D, K, aggr)
        self.head = nn.Linear(self.readout.out_channels, 2)

    def forward(self, x: Tensor, index: Tensor, graphs: int) -> tuple[Tensor, Tensor]:
        reading = self.readout.read(self.encoder(x), index, dim_size=graphs)
        return self.head(reading.vectors), reading.alignment_loss()


class Exported(nn.Module):
    """The form for export, where the number of graphs must come from the shape of an input."""

    def __init__(self, aggr: str):
        super().__init__()
        self.small = Small(aggr)

    def forward(self, x: Tensor, index: Tensor, graphs: Tensor) -> Tensor:
        return self.small(x, index, graphs.numel())[0]


def batch(nodes: int, graphs: int, device: str = "cpu") -> tuple[Tensor, Tensor, Tensor]:
    """Node vectors, the graph of every node (the last graph is empty if there are several), the graphs' numbers."""
    index = torch.arange(nodes, device=device) * max(graphs - 1, 1) // nodes
    return torch.randn(nodes, D, device=device), index, torch.arange(graphs, device=device)


@pytest.mark.slow
@pytest.mark.parametrize("aggr", NAMES)
def test_compiles_without_a_break(aggr, device):
    torch.compiler.reset()  # every aggregation is a recompilation of the same code, and those are limited
    model = Small(aggr).to(device)
    backend = "inductor" if aggr == "sum" or device == "cuda" else "aot_eager"  # the C++ compiler takes its time
    compiled = torch.compile(model, fullgraph=True, backend=backend)
    for nodes, graphs in ((12, 3), (20, 5)):
        x, index, _ = batch(nodes, graphs, device)
        for ours, expected in zip(compiled(x, index, graphs), model(x, index, graphs), strict=True):
            torch.testing.assert_close(ours, expected)
    sum(part.sum() for part in compiled(x, index, graphs)).backward()
    ours = [p.grad.clone() for p in model.parameters()]
    model.zero_grad()
    sum(part.sum() for part in model(x, index, graphs)).backward()
    for one, other in zip(ours, model.parameters(), strict=True):
        torch.testing.assert_close(one, other.grad)


@pytest.mark.parametrize("aggr", NAMES)
@pytest.mark.parametrize("shared", [True, False], ids=["same nodes", "own nodes"])
def test_vmapped_over_models(aggr, shared, device):
    models = [Small(aggr).to(device) for _ in range(3)]
    parameters, buffers = stack_module_state(models)
    batches = [batch(12, 4, device) for _ in models]
    x, index = torch.stack([b[0] for b in batches]), batches[0][1]

    def losses(parameters, buffers, x):
        logits, alignment = functional_call(models[0], (parameters, buffers), (x, index, 4))
        return logits.square().sum() + alignment

    x = x[0] if shared else x
    dims = (0, 0, None if shared else 0)
    together = vmap(losses, dims)(parameters, buffers, x)
    gradients = vmap(grad(losses), dims)(parameters, buffers, x)
    for r, model in enumerate(models):
        logits, alignment = model(x if shared else x[r], index, 4)
        loss = logits.square().sum() + alignment
        torch.testing.assert_close(together[r], loss)
        loss.backward()
        for name, parameter in model.named_parameters():
            torch.testing.assert_close(gradients[name][r], parameter.grad, atol=1e-5, rtol=1e-4)


def test_vmapped_over_prototypes_alone():
    readout, (x, index, _) = SSRead(D, K), batch(12, 4)
    prototypes = torch.randn(5, K, D)
    together = vmap(lambda p: functional_call(readout, {"prototypes": p}, (x, index), {"dim_size": 4}))(prototypes)
    for p, out in zip(prototypes, together, strict=True):
        torch.testing.assert_close(out, functional_call(readout, {"prototypes": p}, (x, index), {"dim_size": 4}))


def test_vmapped_over_batches():
    readout = SSRead(D, K, "max")
    x, index = torch.randn(5, 12, D), torch.randint(4, (5, 12))
    together = vmap(lambda x, index: readout(x, index, dim_size=4))(x, index)
    torch.testing.assert_close(together, torch.stack([readout(x[r], index[r], dim_size=4) for r in range(5)]))


SIZES = {"x": {0: Dim("nodes")}, "index": {0: Dim("nodes")}, "graphs": {0: Dim("graphs")}}


@pytest.mark.parametrize("aggr", NAMES)
def test_exports_for_any_size(aggr):
    model = Exported(aggr).eval()
    exported = torch.export.export(model, batch(12, 4), dynamic_shapes=SIZES).module()
    for nodes, graphs in ((12, 4), (30, 7), (3, 2), (1, 1)):
        inputs = batch(nodes, graphs)
        torch.testing.assert_close(exported(*inputs), model(*inputs))


@pytest.mark.slow
@pytest.mark.parametrize("aggr", NAMES)
def test_runs_in_onnxruntime_at_any_size(aggr, tmp_path):
    runtime = pytest.importorskip("onnxruntime")
    pytest.importorskip("onnxscript")
    model = Exported(aggr).eval()
    path = tmp_path / "model.onnx"
    torch.onnx.export(model, batch(12, 4), path, dynamo=True, dynamic_shapes=SIZES, verbose=False)
    session = runtime.InferenceSession(path)
    names = [entry.name for entry in session.get_inputs()]
    for nodes, graphs in ((12, 4), (30, 7), (3, 2), (1, 1)):
        inputs = batch(nodes, graphs)
        (out,) = session.run(
            None, {n: t.numpy() for n, t in zip(["x", "index", "graphs"], inputs, strict=True) if n in names}
        )
        torch.testing.assert_close(torch.from_numpy(out), model(*inputs), atol=1e-5, rtol=1e-4)


@pytest.mark.parametrize("aggr", NAMES)
def test_bfloat16_autocast_aligns_in_full_precision(aggr, device):
    model, (x, index, _) = Small(aggr).to(device), batch(40, 4, device)
    with torch.autocast(device, torch.bfloat16):
        h = model.encoder(x)
        assert h.dtype == torch.bfloat16
        reading = model.readout.read(h, index, dim_size=4)
        loss = model.head(reading.vectors).square().mean() + reading.alignment_loss()
    assert torch.equal(reading.positions, model.readout.align(h.float()))
    assert reading.costs.dtype == torch.float32
    loss.backward()
    for name, parameter in model.named_parameters():
        assert bool(torch.isfinite(parameter.grad).all()), name
    exact = model.readout.read(h.float(), index, dim_size=4)
    torch.testing.assert_close(reading.vectors.float(), exact.vectors, atol=0.05, rtol=0.05)


@pytest.mark.parametrize("dtype", [torch.bfloat16, torch.float64])
def test_runs_in_other_precisions(dtype, device):
    for aggr in NAMES:
        readout, (x, index, _) = SSRead(D, K, aggr).to(device, dtype), batch(12, 4, device)
        reading = readout.read(x.to(dtype), index, dim_size=4)
        assert reading.vectors.dtype == dtype
        reading.alignment_loss().backward()
        assert readout.prototypes.grad.abs().max() > 0


@pytest.fixture
def deterministic():
    torch.use_deterministic_algorithms(True)
    yield
    torch.use_deterministic_algorithms(False)


@pytest.mark.parametrize("aggr", NAMES)
@pytest.mark.usefixtures("deterministic")
def test_gives_the_same_twice(aggr, device, monkeypatch):
    monkeypatch.setenv("CUBLAS_WORKSPACE_CONFIG", ":4096:8")
    model, (x, index, _) = Small(aggr).to(device), batch(3000, 40, device)

    def step() -> list[Tensor]:
        model.zero_grad()
        logits, alignment = model(x, index, 40)
        (logits.square().sum() + alignment).backward()
        return [logits, alignment, *(p.grad for p in model.parameters())]

    assert all(torch.equal(one, other) for one, other in zip(step(), step(), strict=True))
