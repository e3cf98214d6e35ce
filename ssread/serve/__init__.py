"""``ssread serve``: models behind a page and an HTTP interface."""

from typing import TYPE_CHECKING

from ssread.common.lazy import lazy_exports

if TYPE_CHECKING:
    from ssread.serve.app import make_app
    from ssread.serve.server import serve
    from ssread.serve.settings import Limits

__all__ = ["Limits", "make_app", "serve"]

lazy_exports(__name__, {"app": ["make_app"], "server": ["serve"], "settings": ["Limits"]})
