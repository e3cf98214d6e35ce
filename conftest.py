"""What holds for all tests: one thread, kernels in Triton's interpreter, examples in docstrings where they can run."""

import os
from importlib.util import find_spec

import torch

torch.set_num_threads(1)  # as workers have: another number of threads adds up in another order

if not torch.cuda.is_available():  # Triton looks when it is first imported, and torch_geometric imports it
    os.environ.setdefault("TRITON_INTERPRET", "1")

collect_ignore = (
    [] if find_spec("rdkit") else [f"ssread/data/{name}.py" for name in ("molecules", "properties", "scaffold")]
)
if find_spec("triton") is None:
    collect_ignore += [f"ssread/kernels/{name}.py" for name in ("adam", "messages", "norm", "products", "read")]
