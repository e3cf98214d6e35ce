"""Every model under PyTorch's transforms: replicas by vmap, torch.compile."""

import pytest
import torch
from helpers.small_graphs import ALL, Batch, build, gradients, padded, random_batch, total_loss
from torch.func import functional_call, stack_module_state, vmap

from ssread.aggregate import NAMES
from ssread.models import ARCHITECTURES, make_model

CASES = [(name, readout, None) for name, readout in ALL] + [
    (name, "ssread", aggr) for name in ("gcn", "sagpool") for aggr in NAMES
]


class Loss(torch.nn.Module):
    """A training step's loss as a module, which is what ``functional_call`` takes."""

    def __init__(self, model, num_graphs):
        super().__init__()
        self.model, self.num_graphs = model, num_graphs

    def forward(self, *batch):
        return total_loss(self.model, Batch(*batch), self.num_graphs)


@pytest.mark.parametrize(("name", "readout", "aggr"), CASES)
@pytest.mark.parametrize("shared", [True, False], ids=["same graphs", "own graphs"])
def test_replicas_equal_single_models(name, readout, aggr, shared):
    sizes = (6, 0, 1, 9)
    models = [Loss(build(name, readout, aggr), len(sizes)).double() for _ in range(3)]
    parameters, buffers = stack_module_state(models)
    if shared:  # and without a mask
        batches = [random_batch(sizes)] * 3
        inputs, dims = batches[0], Batch(*[None] * 6)
    else:
        batches = [padded(random_batch(sizes), 20, 110) for _ in models]
        stacked = [
            torch.stack(column) if isinstance(column[0], torch.Tensor) else column[0]
            for column in zip(*batches, strict=True)
        ]
        inputs, dims = Batch(*stacked), Batch(0, 0, 0, 0, None, 0)

    def loss(parameters, buffers, batch):
        return functional_call(models[0], (parameters, buffers), tuple(batch))

    together = vmap(loss, in_dims=(0, 0, dims), randomness="different")(parameters, buffers, inputs)
    together.sum().backward()
    for r, (model, batch) in enumerate(zip(models, batches, strict=True)):
        alone = model(*batch)
        torch.testing.assert_close(together[r], alone)
        alone.backward()
        for key, gradient in gradients(model).items():
            torch.testing.assert_close(parameters[key].grad[r], gradient, msg=lambda text, key=key: f"{key}: {text}")
        for key, buffer in model.named_buffers():
            torch.testing.assert_close(buffers[key][r], buffer)


@pytest.mark.parametrize("name", ["gcn", "diffpool"])
def test_replicas_have_their_own_dropout(name):
    model = Loss(build(name, dropout=0.5), 4)
    parameters, buffers = stack_module_state([model, model])
    batch = random_batch((6, 0, 1, 9), dtype=torch.float32)

    def loss(parameters, buffers):
        return functional_call(model, (parameters, buffers), tuple(batch))

    first, second = vmap(loss, randomness="different")(parameters, buffers)
    assert first != second


@pytest.mark.slow
@pytest.mark.parametrize("name", ARCHITECTURES)
def test_compiles_without_a_break(name):
    model = build(name)
    other = make_model(**model.hyperparameters)
    other.load_state_dict(model.state_dict())
    backend = "inductor" if name == "gcn" else "aot_eager"  # the C++ compiler takes its time
    step = torch.compile(Loss(other, 4), fullgraph=True, backend=backend)
    for edges in (110, 120):
        batch = padded(random_batch((6, 0, 1, 9), dtype=torch.float32), 20, edges)
        ours, expected = step(*batch), total_loss(model, batch, 4)
        torch.testing.assert_close(ours, expected)
        ours.backward()
        expected.backward()
        torch.testing.assert_close(gradients(other), gradients(model), rtol=1e-3, atol=1e-4)


@pytest.mark.skipif(not torch.cuda.is_available(), reason="no GPU")
@pytest.mark.parametrize(("name", "readout"), ALL)
def test_one_cuda_graph_serves_batches_of_any_content(name, readout):
    model = build(name, readout).double().cuda()
    batches = [padded(random_batch((6, 0, 1, 9)), 20, 110) for _ in range(2)]
    batches = [Batch(*[part.cuda() if isinstance(part, torch.Tensor) else part for part in b]) for b in batches]
    static = Batch(*[part.clone() if isinstance(part, torch.Tensor) else part for part in batches[0]])
    stream = torch.cuda.Stream()
    stream.wait_stream(torch.cuda.current_stream())
    with torch.cuda.stream(stream):
        for _ in range(3):
            model.zero_grad()
            total_loss(model, static, 4).backward()
    torch.cuda.current_stream().wait_stream(stream)
    model.zero_grad()
    graph = torch.cuda.CUDAGraph()
    with torch.cuda.graph(graph):  # refuses whatever looks at a value
        loss = total_loss(model, static, 4)
        loss.backward()
    captured = gradients(model)
    for batch in batches:
        for part, new in zip(static, batch, strict=True):
            if isinstance(part, torch.Tensor):
                part.copy_(new)
        graph.replay()
        expected = total_loss(model, batch, 4)
        torch.testing.assert_close(loss, expected)
        expected.backward()
        torch.testing.assert_close(captured, gradients(model))
