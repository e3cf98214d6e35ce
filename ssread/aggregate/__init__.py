"""The aggregation functions phi of Equation 3, for whole graphs and for each structural position.

All are PyG aggregations: they take ``index`` in any order or ``ptr``, leading dimensions, ``dim`` and ``dim_size``. An
empty group is exactly zero. All but :class:`Foreign` compile, export and can be vmapped with ``torch.func.vmap``.
"""

from ssread.aggregate.attention import Attention
from ssread.aggregate.basic import Max, Mean, Sum
from ssread.aggregate.concat import Concat
from ssread.aggregate.factory import NAMES, Aggr, make_aggregation
from ssread.aggregate.foreign import Foreign
from ssread.aggregate.set2set import Set2Set
from ssread.aggregate.sort import Sort

__all__ = [
    "NAMES",
    "Aggr",
    "Attention",
    "Concat",
    "Foreign",
    "Max",
    "Mean",
    "Set2Set",
    "Sort",
    "Sum",
    "make_aggregation",
]
