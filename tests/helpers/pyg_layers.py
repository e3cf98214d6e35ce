"""PyG's layers with the weights of ours, and pooling that really removes nodes."""

import torch
from torch_geometric.nn import GCNConv

from ssread.models.gcn_conv import GCNConv as OurGCNConv


def pyg_conv(conv: OurGCNConv) -> GCNConv:
    """Returns PyG's GCN layer with the weights of ours."""
    layer = GCNConv(conv.lin.in_features, conv.lin.out_features).double()
    layer.load_state_dict(conv.state_dict())
    return layer


def best_nodes(scores: torch.Tensor, batch: torch.Tensor, ratio: float) -> torch.Tensor:
    """Returns the nodes to keep, graph by graph, in ascending order."""
    kept = []
    for graph in batch.unique():
        nodes = (batch == graph).nonzero().squeeze(1)
        count = -(-round(ratio * 10) * len(nodes) // 10)
        kept.append(nodes[scores[nodes].argsort(descending=True)[:count]])
    return torch.cat(kept).sort().values
