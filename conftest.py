"""The examples in docstrings run as tests, save those of modules that need a package that is not installed."""

from importlib.util import find_spec

collect_ignore = [] if find_spec("rdkit") else ["ssread/data/molecules.py", "ssread/data/scaffold.py"]
