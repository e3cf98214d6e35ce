"""The report: verdict, learning curves, what positions mean, graphs to browse, on one page that needs no network."""

from ssread.report.curves import band
from ssread.report.explained_graphs import Explained, explained
from ssread.report.page import page, write_page

__all__ = ["Explained", "band", "explained", "page", "write_page"]
