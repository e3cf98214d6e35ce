"""Properties of every architecture with either readout and any aggregation, also of stacks of models."""

import itertools
from dataclasses import replace

import pytest
import torch
from helpers.small_graphs import (
    ALL,
    EDGE_FEATURES,
    FEATURES,
    SIZES,
    Batch,
    build,
    gradients,
    padded,
    permuted,
    random_batch,
    total_loss,
)
from torch.func import functional_call, stack_module_state, vmap
from torch.nn.functional import cross_entropy
from torch_geometric.data import Batch as PyGBatch
from torch_geometric.data import Data

from ssread.aggregate import NAMES
from ssread.data.planted import planted
from ssread.models import ARCHITECTURES, make_model

READOUTS = ("global", "ssread")
ALL_AGGR = list(itertools.product(ARCHITECTURES, READOUTS, (None, *NAMES)))
STACKED = [(name, readout, None) for name, readout in ALL] + [
    (name, "ssread", aggr) for name in ("gcn", "sagpool") for aggr in NAMES
]


@pytest.mark.parametrize(("name", "readout", "aggr"), ALL_AGGR)
def test_shapes_gradients_and_empty_graphs(name, readout, aggr):
    model = build(name, readout, aggr).double()
    given = random_batch()
    output = model.run(*given)
    assert output.logits.shape == (len(SIZES), 2)
    assert output.vectors.shape == (len(SIZES), model.readout.out_channels)
    empty = [g for g, size in enumerate(SIZES) if size == 0]
    assert (output.vectors[empty] == 0).all()
    assert (output.alignment_costs()[empty] == 0).all()
    assert (output.auxiliary_costs()[empty] == 0).all()
    assert (output.alignment_loss() > 0) == (readout == "ssread")
    assert (output.auxiliary_loss() > 0) == (name == "diffpool")
    total_loss(model, given, given.batch_size).backward()
    for parameter, gradient in gradients(model).items():
        assert gradient is not None, parameter
        assert gradient.isfinite().all(), parameter


@pytest.mark.parametrize(("name", "readout", "aggr"), ALL_AGGR)
def test_order_of_nodes_and_edges_does_not_matter(name, readout, aggr):
    model = build(name, readout, aggr).double().eval()
    given = random_batch()
    torch.testing.assert_close(model(*permuted(given)), model(*given))


@pytest.mark.parametrize(("name", "readout"), ALL)
def test_a_graph_does_not_depend_on_the_others_in_its_batch(name, readout):
    model = build(name, readout).double().eval()
    sizes = (6, 4, 9)
    together = random_batch(sizes)
    output = model.run(*together)
    for graph in range(len(sizes)):
        nodes = (together.batch == graph).nonzero().squeeze(1)
        edges = together.batch[together.edge_index[0]] == graph
        alone = model.run(
            together.x[nodes], together.edge_index[:, edges] - nodes[0], edge_attr=together.edge_attr[edges]
        )
        torch.testing.assert_close(alone.logits[0], output.logits[graph])
        torch.testing.assert_close(alone.alignment_costs()[0], output.alignment_costs()[graph])
        torch.testing.assert_close(alone.auxiliary_costs()[0], output.auxiliary_costs()[graph])


@pytest.mark.parametrize(("name", "readout", "aggr"), ALL_AGGR)
def test_padding_changes_nothing(name, readout, aggr):
    given, model = random_batch(), build(name, readout, aggr).double()
    other = make_model(**model.hyperparameters).double()
    other.load_state_dict(model.state_dict())
    filled = padded(given, nodes=30, edges=given.edge_index.size(1) + 7)
    torch.testing.assert_close(other.run(*filled).first(len(SIZES)).logits, model.run(*given).logits)
    total_loss(model, given, len(SIZES)).backward()
    total_loss(other, filled, len(SIZES)).backward()
    torch.testing.assert_close(gradients(other), gradients(model))
    torch.testing.assert_close(dict(other.named_buffers()), dict(model.named_buffers()))  # running statistics
    model.eval(), other.eval()
    torch.testing.assert_close(other.run(*filled).first(len(SIZES)).logits, model.run(*given).logits)


@pytest.mark.parametrize(("name", "readout"), ALL)
@pytest.mark.parametrize("sizes", [(), (0,), (0, 0), (1,), (1, 1), (2, 0)], ids=str)
def test_tiny_batches(name, readout, sizes):
    model = build(name, readout)
    given = random_batch(sizes, dtype=torch.float32)
    for density in (0.0, 1.0):
        given = random_batch(sizes, density, dtype=torch.float32)
        loss = total_loss(model, given, len(sizes))
        loss.backward()
        assert loss.isfinite()
        assert all(gradient.isfinite().all() for gradient in gradients(model).values() if gradient is not None)
    assert model.eval()(*given).isfinite().all()


@pytest.mark.parametrize(("name", "readout", "aggr"), ALL_AGGR)
def test_ten_planted_graphs_are_memorised(name, readout, aggr):
    graphs = planted(10, seed=1)
    # With random features even the model without edges can distinguish the graphs.
    batch = replace(graphs, x=torch.randn(graphs.x.size(0), 8)).batch(slice(None))
    model = make_model(
        name, batch.x.size(1), 2, readout=readout, aggr=aggr, num_positions=2, hidden_channels=64, dropout=0.0
    )
    optimizer = torch.optim.Adam(model.parameters(), lr=0.002)
    losses = []
    for _ in range(400):
        output = model.run(batch)
        loss = cross_entropy(output.logits, batch.y)
        losses.append(loss.item())
        if losses[-1] < 0.2 and (output.logits.argmax(dim=1) == batch.y).all():
            break
        optimizer.zero_grad()
        (loss + output.alignment_loss() + output.auxiliary_loss()).backward()
        optimizer.step()
    assert losses[-1] < 0.2, f"from {losses[0]:.3f} to {losses[-1]:.3f} in {len(losses)} steps"


@pytest.mark.parametrize("name", ARCHITECTURES)
def test_reset_draws_new_weights(name):
    model = build(name)
    before = {key: value.clone() for key, value in model.state_dict().items() if value.is_floating_point()}
    model.reset_parameters()
    after = model.state_dict()
    same = {key for key, value in before.items() if torch.equal(value, after[key])}
    assert not {key for key in same if before[key].unique().numel() > 1}  # only constants are the same again


def test_one_forward_pass_equals_the_single_calls():
    model, given = build("gcn").double().eval(), random_batch()
    output = model.run(*given)
    assert torch.equal(model(*given), output.logits)
    assert torch.equal(model.embed(*given), output.vectors)
    assert torch.equal(model.encode(*given), output.encoding.x)
    assert torch.equal(model.encoder(*given).x, output.encoding.x)
    assert torch.equal(model.readout.align(output.encoding.x), output.reading.positions)
    expected = model.readout.alignment_loss(output.encoding.x, given.batch, given.batch_size)
    torch.testing.assert_close(output.alignment_loss(), expected)
    assert repr(output) == "Output(logits=[6, 2], vectors=[6, 24], Encoding(x=[19, 8]))"


@pytest.mark.parametrize(("name", "readout"), ALL)
def test_the_alignment_loss_has_one_definition(name, readout):
    """Summed over the nodes of a graph, averaged over graphs: padding and nodes dropped by pooling do not count."""
    given, model = random_batch(), build(name, readout).double().eval()
    filled = padded(given, nodes=30, edges=given.edge_index.size(1) + 7)
    for output in (model.run(*given), model.run(*filled).first(len(SIZES))):
        costs = output.logits.new_zeros(len(SIZES))
        for row, graph in enumerate(output.encoding.batch.tolist()):
            if graph < len(SIZES) and readout == "ssread":
                costs[graph] += output.reading.node_costs[row]
        torch.testing.assert_close(output.alignment_costs(), costs)
        torch.testing.assert_close(output.alignment_loss(), costs.sum() / len(SIZES))
        torch.testing.assert_close(output.reading.alignment_loss(), output.alignment_loss())
        assert output.reading.vectors is output.vectors


def test_only_prototypes_get_the_gradient_of_the_alignment_loss():
    model, given = build("gin"), random_batch(dtype=torch.float32)
    model.run(*given).alignment_loss().backward()
    assert {name for name, gradient in gradients(model).items() if gradient is not None} == {"readout.prototypes"}
    model(*given).sum().backward()
    assert gradients(model)["readout.prototypes"] is None


@pytest.mark.parametrize("name", ARCHITECTURES)
def test_takes_pyg_data_and_batches(name):
    model = build(name).eval()
    ring = torch.tensor([[0, 1, 2, 1, 2, 0], [1, 2, 0, 0, 1, 2]])
    graphs = [
        Data(x=torch.randn(3, FEATURES), edge_index=ring, edge_attr=torch.randn(6, EDGE_FEATURES)) for _ in range(4)
    ]
    batch = PyGBatch.from_data_list(graphs)
    logits = model(batch)
    expected = model(batch.x, batch.edge_index, batch.batch, batch.edge_attr, batch.num_graphs)
    torch.testing.assert_close(logits, expected)
    torch.testing.assert_close(torch.cat([model(graph) for graph in graphs]), logits)


class Loss(torch.nn.Module):
    """The loss of a training step as a module, for ``functional_call``."""

    def __init__(self, model, num_graphs):
        super().__init__()
        self.model, self.num_graphs = model, num_graphs

    def forward(self, *batch):
        return total_loss(self.model, Batch(*batch), self.num_graphs)


@pytest.mark.parametrize(("name", "readout", "aggr"), STACKED)
@pytest.mark.parametrize("shared", [True, False], ids=["same graphs", "own graphs"])
def test_a_stack_of_models_equals_single_models(name, readout, aggr, shared):
    sizes = (6, 0, 1, 9)
    models = [Loss(build(name, readout, aggr), len(sizes)).double() for _ in range(3)]
    parameters, buffers = stack_module_state(models)
    if shared:  # without a mask
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
def test_every_model_of_a_stack_has_its_own_dropout(name):
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
    backend = "inductor" if name == "gcn" else "aot_eager"  # the C++ compiler is slow
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
def test_a_captured_cuda_graph_works_for_other_batches(name, readout):
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
    with torch.cuda.graph(graph):  # raises an error if a value is read
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
