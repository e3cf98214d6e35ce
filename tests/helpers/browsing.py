"""A real browser for tests of pages; where there is none, these are skipped."""

import shutil
import time
from collections.abc import Iterator
from contextlib import contextmanager
from typing import Any

import pytest

sync_api = pytest.importorskip("playwright.sync_api", reason="playwright is not installed")
BROWSER = shutil.which("chromium") or shutil.which("chromium-browser") or shutil.which("google-chrome")

DESK, PHONE = {"width": 1280, "height": 900}, {"width": 390, "height": 844}


@contextmanager
def launched() -> Iterator[Any]:
    """Starts a browser, or skips the test that asks for it."""
    if BROWSER is None:
        pytest.skip("there is no Chromium here (apt install chromium)")
    with sync_api.sync_playwright() as playwright:
        browser = playwright.chromium.launch(executable_path=BROWSER, args=["--no-sandbox"])
        yield browser
        browser.close()


class Opened:
    """An open page, and all errors and messages of its console."""

    def __init__(self, browser, path, size=DESK, **options):
        self.context = browser.new_context(viewport=size, offline=True, **options)
        self.page = self.context.new_page()
        self.errors = []
        self.page.on("console", lambda message: self.errors.append(message.text))
        self.page.on("pageerror", lambda error: self.errors.append(str(error)))
        self.page.on("dialog", lambda dialog: self.errors.append(f"text ran as a script: {dialog.message}"))
        started = time.perf_counter()
        self.page.goto(path.as_uri())
        self.page.wait_for_selector("#settings")
        self.seconds = time.perf_counter() - started

    def __enter__(self):
        return self

    def __exit__(self, *_):
        self.context.close()
