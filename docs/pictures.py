"""Makes the pictures of positions, of the pages and of a served model, in a real browser (Playwright and Chromium).

    python docs/pictures.py [FOLDER] [MODEL] [PAGE]

Trains three GCNs with SSRead (sum, K = 4 from the structure within one hop, seed 0) on the MUTAG molecules in
docs/examples/mutag.csv, or takes a model that `ssread train` wrote from them. Nobody tells it what a position is, and
names are chosen by a test. The verdict is that of `make run`, or of the page of another comparison.
"""

import shutil
import subprocess
import sys
import tempfile
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

from playwright.sync_api import Page, sync_playwright

from ssread.apply import TrainedModel, train
from ssread.commands.compare import compare_dataset
from ssread.explain import describe_positions
from ssread.report import drawing_assets, explain_graphs, write_page
from ssread.report.page import script_json

DOCS = Path(__file__).parent
DATA = DOCS / "examples" / "mutag.csv"
MOLECULES = (0, 4, 9, 12, 30, 141)
OPENED = "mutag-9"
TYPED = "O=[N+]([O-])c1ccc2ccccc2c1"

PLATE = """<!doctype html><meta charset="utf-8"><style>
:root {{ --ink: #1c1e21; --bond: #3c4148; --raised: #fff; --faint: #888; --rule: #ddd; }}
body {{ margin: 18px; width: 1064px; background: #fff; font: 17px system-ui, sans-serif; }}
#plate {{ display: grid; grid-template-columns: repeat(3, 1fr); gap: 8px; }} svg {{ width: 100%; height: 230px; }}
ul {{ display: flex; justify-content: center; gap: 4px 34px; flex-wrap: wrap; list-style: none; padding: 8px 0 0; }}
i {{ display: inline-block; width: .8em; height: .8em; border-radius: 50%; margin-right: .45em; }}
{style}</style><div id="plate"></div><ul id="key"></ul><script>{script}
const {{ graphs, levels }} = {data}, {{ colours, cards }} = levels[0];
for (const graph of graphs) document.getElementById("plate").append(drawGraph(graph, (node) =>
  ({{ colour: colours[graph.positions[node]], strength: 0.6 }})));
cards.forEach((card, k) => document.getElementById("key").append(
  html("li", {{}}, html("i", {{ style: `background:${{colours[k]}}` }}), card.name)));
</script>"""


def main(images: Path, folder: Path | None = None, verdict: Path | None = None) -> None:
    """Trains if need be, draws, writes the files."""
    with tempfile.TemporaryDirectory() as temporary:
        place = Path(temporary)
        if folder is None:
            folder = place / "mutagenic"
            options = {"label": "mutagenic", "quick": True, "ensemble": 3, "seed": 0}
            train(DATA, folder, describe=describe_positions, **options)
        if verdict is None:
            compare_dataset("MUTAG", {"seeds": 1, "positions": 4, "dropout": 0}, out=place)
            verdict = place / "compare-MUTAG-report.html"
        model = TrainedModel.load(folder)
        graphs = model.read(DATA, label="mutagenic", id="name")
        explained = explain_graphs(model, graphs, trained_on=True, what="mutagenic")
        script, style = drawing_assets()
        shown = {"graphs": [explained.graphs[number] for number in MOLECULES], "levels": explained.levels}
        plate = place / "plate.html"
        plate.write_text(PLATE.format(style=style, script=script, data=script_json(shown)), "utf-8")
        page = write_page(place / "page.html", "What the model sees in mutag", explained=explained)
        with sync_playwright() as playwright:
            browser = playwright.chromium.launch(executable_path=shutil.which("chromium"), args=["--no-sandbox"])
            opened = browser.new_page(viewport={"width": 1100, "height": 100})
            opened.goto(plate.as_uri())
            save(opened, images / "positions.png", full_page=True)
            opened = browser.new_page(viewport={"width": 1200, "height": 515})
            opened.goto(verdict.as_uri())
            save(opened, images / "report-verdict.png")
            opened = browser.new_page(viewport={"width": 1180, "height": 980})
            opened.goto(page.as_uri())
            opened.evaluate("document.getElementById('positions').scrollIntoView({ behavior: 'instant' })")
            opened.wait_for_timeout(500)  # the bar at the top follows
            save(opened, images / "report-positions.png")
            opened.goto("about:blank")
            opened.goto(f"{page.as_uri()}#graph={OPENED}")
            opened.locator("dialog .views button").nth(2).click()
            opened.get_by_role("button", name="Numbers").click()
            opened.locator("dialog").evaluate("dialog => dialog.focus()")
            save(opened, images / "report-graph.png")
            with served(folder) as address:
                opened = browser.new_page(viewport={"width": 1000, "height": 100})
                while not opened.request.get(f"{address}/ready").ok:  # its worker is being started
                    opened.wait_for_timeout(100)
                opened.goto(address)
                opened.fill("#smiles", TYPED)
                opened.keyboard.press("Enter")
                opened.locator(".views button").last.click()
                opened.wait_for_selector(".nearest svg")
                save(opened, images / "serve.png", full_page=True)
            browser.close()


@contextmanager
def served(folder: Path) -> Iterator[str]:
    """Serves a model on a free port; yields the address."""
    command = [sys.executable, "-m", "ssread", "serve", str(folder), "--port", "0", "--workers", "1"]
    with subprocess.Popen(command, stdout=subprocess.PIPE, text=True) as process:
        assert process.stdout is not None
        try:
            yield next(word for line in process.stdout for word in line.split() if word.startswith("http://")).rstrip(
                "/"
            )
        finally:
            process.terminate()


def save(page: Page, path: Path, **options: bool) -> None:
    """Takes a picture with few colours, so that the file is small."""
    from PIL import Image

    page.screenshot(path=path, animations="disabled", **options)
    Image.open(path).convert("RGB").quantize(256, Image.Quantize.MAXCOVERAGE, dither=Image.Dither.NONE).save(
        path, optimize=True
    )
    print(f"wrote {path}")


if __name__ == "__main__":
    main(*map(Path, sys.argv[1:] or [DOCS / "images"]))
