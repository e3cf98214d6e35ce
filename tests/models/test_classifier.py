"""What must hold for every architecture with either readout and any aggregation."""

import itertools
import json
from dataclasses import replace

import pytest
import torch
from helpers.small_graphs import (
    ALL,
    EDGE_FEATURES,
    FEATURES,
    SIZES,
    build,
    gradients,
    padded,
    permuted,
    random_batch,
    total_loss,
)
from safetensors.torch import load, save
from torch.nn.functional import cross_entropy
from torch_geometric.data import Batch, Data

from ssread import InputError
from ssread.aggregate import NAMES
from ssread.data.planted import planted
from ssread.models import ARCHITECTURES, make_model

READOUTS = ("global", "ssread")
ALL_AGGR = list(itertools.product(ARCHITECTURES, READOUTS, (None, *NAMES)))


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
def test_order_and_company_of_graphs_do_not_matter(name, readout):
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
    # Random features tell the graphs apart for the model that sees no edges, too.
    batch = replace(graphs, x=torch.randn(graphs.x.size(0), 8)).batch(slice(None))
    model = make_model(
        name, batch.x.size(1), 2, readout=readout, aggr=aggr, num_positions=2, hidden_channels=64, dropout=0.0
    )
    optimiser = torch.optim.Adam(model.parameters(), lr=0.002)
    losses = []
    for _ in range(400):
        output = model.run(batch)
        loss = cross_entropy(output.logits, batch.y)
        losses.append(loss.item())
        if losses[-1] < 0.2 and (output.logits.argmax(dim=1) == batch.y).all():
            break
        optimiser.zero_grad()
        (loss + output.alignment_loss() + output.auxiliary_loss()).backward()
        optimiser.step()
    assert losses[-1] < 0.2, f"from {losses[0]:.3f} to {losses[-1]:.3f} in {len(losses)} steps"


@pytest.mark.parametrize(("name", "readout"), ALL)
def test_rebuilds_from_hyperparameters(name, readout):
    model = build(name, readout).eval()
    again = make_model(**json.loads(json.dumps(model.hyperparameters))).eval()
    again.load_state_dict(load(save(model.state_dict())))
    given = random_batch(dtype=torch.float32)
    assert torch.equal(again(*given), model(*given))
    assert again.hyperparameters == json.loads(json.dumps(model.hyperparameters))


@pytest.mark.parametrize("name", ARCHITECTURES)
def test_reset_draws_new_weights(name):
    model = build(name)
    before = {key: value.clone() for key, value in model.state_dict().items() if value.is_floating_point()}
    model.reset_parameters()
    after = model.state_dict()
    same = {key for key, value in before.items() if torch.equal(value, after[key])}
    assert not {key for key in same if before[key].unique().numel() > 1}  # only constants start the same


def test_one_pass_gives_what_the_single_calls_give():
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


def test_alignment_moves_prototypes_alone():
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
    batch = Batch.from_data_list(graphs)
    logits = model(batch)
    expected = model(batch.x, batch.edge_index, batch.batch, batch.edge_attr, batch.num_graphs)
    torch.testing.assert_close(logits, expected)
    torch.testing.assert_close(torch.cat([model(graph) for graph in graphs]), logits)


def test_wrong_input_is_explained():
    model, given = build("gcn"), random_batch(dtype=torch.float32)
    wrong = {
        "two rows, the sources": given._replace(edge_index=given.edge_index.T),
        "built for 5 node features, but x has 4": given._replace(x=given.x[:, 1:]),
        "built for 2 edge features, but edge_attr has 1": given._replace(edge_attr=given.edge_attr[:, 0]),
        "built for 2 edge features, but edge_attr is missing": given._replace(edge_attr=None),
        "floating-point features per node": given._replace(x=given.x.long()),
        "each of the 19 nodes": given._replace(batch=given.batch[1:]),
        "but there are": given._replace(edge_attr=given.edge_attr[1:]),
    }
    for sentence, arguments in wrong.items():
        with pytest.raises(InputError, match=sentence):
            model(*arguments)
    with pytest.raises(InputError, match=r"edge_index .* is missing"):
        model(given.x)
    with pytest.raises(InputError, match="takes tensors"):
        model("graph.json")
    with pytest.raises(InputError, match="takes tensors"):
        model(Data(edge_index=given.edge_index))
