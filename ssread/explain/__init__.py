"""What a trained model sees in a graph: positions, class activation, the meaning of positions, and scores of these."""

from typing import TYPE_CHECKING

from ssread.common.lazy import lazy_exports

if TYPE_CHECKING:
    from ssread.explain.atlas import PositionCard, prototype_atlas
    from ssread.explain.chemical_groups import functional_groups, with_functional_groups
    from ssread.explain.consensus import Consensus, consensus
    from ssread.explain.contributions import activation, contributions
    from ssread.explain.forward import classifier, node_vectors
    from ssread.explain.meanings import describe_positions
    from ssread.explain.outputs import predictions
    from ssread.explain.poolings import diffpool_clusters, poolings_survived, spectral_clusters
    from ssread.explain.positions import Positions, has_positions, positions
    from ssread.explain.pyg_explainer import ActivationExplainer
    from ssread.explain.stability import Stability, match_positions, stability

__all__ = [
    "ActivationExplainer",
    "Consensus",
    "PositionCard",
    "Positions",
    "Stability",
    "activation",
    "classifier",
    "consensus",
    "contributions",
    "describe_positions",
    "diffpool_clusters",
    "functional_groups",
    "has_positions",
    "match_positions",
    "node_vectors",
    "poolings_survived",
    "positions",
    "predictions",
    "prototype_atlas",
    "spectral_clusters",
    "stability",
    "with_functional_groups",
]

lazy_exports(
    __name__,
    {
        "atlas": ["PositionCard", "prototype_atlas"],
        "chemical_groups": ["functional_groups", "with_functional_groups"],
        "consensus": ["Consensus", "consensus"],
        "contributions": ["activation", "contributions"],
        "forward": ["classifier", "node_vectors"],
        "meanings": ["describe_positions"],
        "outputs": ["predictions"],
        "poolings": ["diffpool_clusters", "poolings_survived", "spectral_clusters"],
        "positions": ["Positions", "has_positions", "positions"],
        "pyg_explainer": ["ActivationExplainer"],
        "stability": ["Stability", "match_positions", "stability"],
    },
)
