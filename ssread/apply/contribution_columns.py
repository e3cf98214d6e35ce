"""What every structural position adds to the predictions, as columns of a table."""

from typing import Any

import pyarrow
import torch

from ssread.apply.trained_model import TrainedModel
from ssread.data.graphset import GraphSet
from ssread.models.contributions import contributions_of

__all__ = ["contribution_columns"]

#: Graphs per batch.
BATCH = 256


def contribution_columns(model: TrainedModel, graphs: GraphSet | None) -> dict[str, tuple[Any, pyarrow.DataType]]:
    """The terms of every score, as :func:`ssread.apply.predict` describes them; ``None`` stands for no graphs."""
    names = [*(model.position_names or ["all nodes"]), *["graph features"] * (model.features.graph.count > 0), "rest"]
    terms = [torch.empty(0, len(names), len(model.output_names))]
    for ids in torch.arange(0 if graphs is None else len(graphs)).split(BATCH):
        if graphs is not None and len(ids):
            parts = contributions_of(model.models, graphs.batch(ids).to(model.device), model.matching)
            features = [] if parts.graph_features is None else [parts.graph_features.unsqueeze(1)]
            terms.append(torch.cat([parts.positions, *features, parts.rest.unsqueeze(1)], dim=1).cpu())
    values = torch.cat(terms).numpy()
    columns = {}
    for output, output_name in enumerate(model.output_names):
        of = f", {output_name}" if len(model.output_names) > 1 else ""
        for number, name in enumerate(names):
            columns[f"contribution({name}{of})"] = values[:, number, output], pyarrow.float32()
    return columns
