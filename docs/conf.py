"""The site: `make docs` builds it into docs/_build from the Markdown pages and the docstrings, without network."""

import os
import re
import sys
from pathlib import Path

from docutils import nodes
from sphinx.application import Sphinx

ROOT = Path(__file__).parents[1]
sys.path.insert(0, str(ROOT))

from ssread.common.versions import VERSION  # noqa: E402

project, author, release = "ssread", "The ssread authors", VERSION
project_copyright = "The ssread authors. MIT license; the structure editor of ssread serve: BSD"
extensions = [
    "myst_nb",
    "sphinx.ext.autodoc",
    "sphinx.ext.autosummary",
    "sphinx.ext.napoleon",
    "sphinx.ext.viewcode",
    "sphinx-mathjax-offline",
]
exclude_patterns = ["_build", "examples", "pyg/[!R]*"]
html_theme = "furo"
html_title = f"ssread {VERSION}"
html_static_path = ["static"]
html_css_files = ["site.css"]
html_show_sphinx = False
smartquotes_action = "qe"  # not of dashes: the option --help has two
pygments_dark_style = "monokai"
highlight_language = "none"  # of blocks that do not say theirs

autodoc_member_order = "bysource"
autodoc_typehints = "description"
autodoc_default_options = {"members": True, "show-inheritance": True}
napoleon_numpy_docstring = False
nb_execution_mode = "cache"  # the notebooks are executed again when they change, and in CI
nb_execution_raise_on_error = True
nb_execution_timeout = 300
nb_output_stderr = "remove"  # progress bars
os.environ.setdefault("OMP_NUM_THREADS", "1")  # small models are quicker on one core
myst_heading_anchors = 4
myst_enable_extensions = ["colon_fence"]


#: Pages of the site that are files of the repository.
FILES = {
    "changes": "CHANGELOG.md",
    "code-of-conduct": "CODE_OF_CONDUCT.md",
    "contributing": "CONTRIBUTING.md",
    "security": "SECURITY.md",
}


def links_within_the_site(app: Sphinx, name: str, content: list[str]) -> None:
    """Fills the pages of :data:`FILES`, and makes links within the repository links within the site.

    The README is the start page. Files that are no page can be downloaded; folders become plain text.
    """
    text = content[0]
    if name in FILES:
        text = re.sub(
            r"\]\((?!http)(docs/)?", lambda m: "](" if m[1] else "](../", (ROOT / FILES[name]).read_text("utf-8")
        )
    for page, file in {**FILES, "index": "README.md"}.items():
        text = re.sub(rf"\]\(\.\./{re.escape(file)}(?=[)#])", f"]({page}.md", text)
    folder = Path(app.srcdir, name).parent
    content[0] = re.sub(r"\[([^\]]+)\]\((\.\./[^)#]+)\)", lambda m: m[1] if (folder / m[2]).is_dir() else m[0], text)


def dashes_of_parameters(app: Sphinx, tree: nodes.document, name: str) -> None:
    """Sphinx writes " -- " between a parameter and what it is."""
    for text in list(tree.findall(nodes.Text)):
        if text == " -- ":
            text.parent.replace(text, nodes.Text(" \N{EN DASH} "))


def setup(app: Sphinx) -> None:
    """Called by Sphinx."""
    app.connect("source-read", links_within_the_site)
    app.connect("doctree-resolved", dashes_of_parameters)
