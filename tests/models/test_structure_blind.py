"""The baseline is an MLP on every node's own features: edges and other nodes do not matter."""

import torch
from helpers.small_graphs import FEATURES, random_batch
from hypothesis import given, settings
from hypothesis import strategies as st
from torch import nn

from ssread.models.structure_blind import StructureBlind


@settings(max_examples=20)
@given(st.integers(1, 3), st.booleans(), st.integers(0, 2**20))
def test_it_is_torchs_mlp_whatever_the_edges(num_layers, training, seed):
    torch.manual_seed(seed)
    batch = random_batch()
    encoder = StructureBlind(FEATURES, 8, num_layers, dropout=0.0).double().train(training)
    parts = []
    for layer, norm in zip(encoder.layers, encoder.norms, strict=True):
        theirs = nn.BatchNorm1d(8).double()
        theirs.load_state_dict(norm.state_dict())
        parts += [layer, theirs, nn.ReLU()]
    expected = nn.Sequential(*parts).train(training)(batch.x)
    torch.testing.assert_close(encoder(*batch).x, expected)
    other = batch._replace(edge_index=batch.edge_index[:, :1], edge_attr=batch.edge_attr[:1])
    torch.testing.assert_close(encoder(*other).x, expected)


def test_a_node_does_not_depend_on_the_others_in_evaluation():
    batch, encoder = random_batch(), StructureBlind(FEATURES, 8).double().eval()
    vectors = encoder(*batch).x
    for node in range(len(batch.x)):
        alone = encoder(batch.x[node : node + 1], torch.zeros(2, 0, dtype=torch.long)).x
        torch.testing.assert_close(alone[0], vectors[node])


def test_dropout_follows_every_layer():
    encoder = StructureBlind(FEATURES, 64, num_layers=1, dropout=0.5)
    batch = random_batch((200,), density=0.0, dtype=torch.float32)
    share = (encoder(*batch).x == 0).float().mean()  # half by the relu, half of the others by dropout
    assert 0.7 < share < 0.8
