"""The reference of the command line is what the code says."""

import subprocess
import sys
from pathlib import Path

ROOT = Path(__file__).parents[1]


def test_the_reference_is_what_its_script_writes(tmp_path):
    done = subprocess.run(
        [sys.executable, "docs/cli.py", str(tmp_path / "cli.md")], cwd=ROOT, capture_output=True, text=True, timeout=120
    )
    assert done.returncode == 0, done.stderr
    current = (tmp_path / "cli.md").read_text()
    assert current == (ROOT / "docs" / "cli.md").read_text(), "run python docs/cli.py"
    for verb in ("train", "predict", "embed", "export", "compare"):
        assert f"## ssread {verb}\n" in current
