"""How large a TU dataset is, counted without torch and kept in the data folder."""

import json
from contextlib import suppress
from pathlib import Path
from typing import Any

from ssread.common.files import write_json
from ssread.data.kept import kept_path, stamp

__all__ = ["tu_statistics"]


def tu_statistics(source: Path) -> dict[str, Any]:
    """``graphs``, ``mean_nodes``, ``mean_edges`` and ``classes`` of a TU folder or zip, as ``load`` would count them.

    They are kept beside processed datasets, and counted anew when the files change.
    """
    kept, now = kept_path(source, ".json"), stamp(source)
    with suppress(OSError, ValueError, LookupError, TypeError):  # there is none, or it is damaged: it is made anew
        content = json.loads(kept.read_text(encoding="utf-8"))
        if content["stamp"] == now:
            return content["statistics"]
    from ssread.data.tu_structure import read_structure  # pandas takes a second that is spent only here
    from ssread.data.tu_text import TextFiles

    statistics = read_structure(TextFiles(source)).statistics()
    with suppress(OSError):  # a data folder that cannot be written to costs time, not the result
        write_json(kept, {"stamp": now, "statistics": statistics})
    return statistics
