"""What holds for all tests: one thread, kernels in Triton's interpreter, examples in docstrings where they can run."""

import os
import re
from importlib.util import find_spec
from pathlib import Path

import torch

torch.set_num_threads(1)  # as workers have: another number of threads adds up in another order

if not torch.cuda.is_available():  # Triton looks when it is first imported, and torch_geometric imports it
    os.environ.setdefault("TRITON_INTERPRET", "1")

collect_ignore = (
    [] if find_spec("rdkit") else [f"ssread/data/{name}.py" for name in ("molecules", "properties", "scaffold")]
)
for extra in ("numba", "triton"):
    if find_spec(extra) is None:
        collect_ignore += [
            str(path)
            for path in Path(__file__).parent.glob("ssread/kernels/*.py")
            if re.search(rf"^(import|from) {extra}\b", path.read_text(encoding="utf-8"), re.MULTILINE)
        ]
