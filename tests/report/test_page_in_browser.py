"""The page in a real browser: with a mouse, with a keyboard, on a phone."""

import json
import time
from dataclasses import replace

import numpy as np
import pandas as pd
import pytest
from helpers.browsing import PHONE, Opened, launched, sync_api
from helpers.labelled_graphs import labelled
from helpers.pages import NASTY, written
from helpers.small_models import graphs as small_graphs
from helpers.small_models import untrained

from ssread.data import from_smiles
from ssread.draw import draw_molecule
from ssread.models import model_for
from ssread.report import explain_graphs, summarize_curves, write_page
from ssread.report.graph_records import picture
from ssread.report.page import drawing_assets

expect = sync_api.expect

MINUS = "\N{MINUS SIGN}"


@pytest.fixture(scope="module")
def browser():
    with launched() as opened:
        yield opened


def test_it_opens_with_all_sections_and_without_errors(browser, tmp_path):
    with Opened(browser, written(tmp_path)) as opened:
        sections = opened.page.eval_on_selector_all("main > section", "all => all.map(section => section.id)")
        assert sections == ["verdict", "learning", "positions", "graphs", "map", "settings"]
        assert "the mean of all 2 cells" in opened.page.locator(".verdict").first.inner_text()
        assert opened.page.locator(".verdict").count() == 3
        assert opened.page.locator(".card").count() == 4
        assert opened.page.locator(".thumb").count() == 24
        assert opened.page.locator(".pager").inner_text().split("\n")[1] == "page 1 of 2"
        opened.page.get_by_label("next page").click()
        assert opened.page.locator(".thumb").count() == 16
        assert opened.page.get_by_label("next page").is_disabled()
        assert NASTY in opened.page.locator("h1").inner_text()
        assert opened.errors == []


@pytest.mark.slow
def test_ten_thousand_graphs_open_and_turn_without_lag(browser, tmp_path):
    """Of 30 graphs repeated, since what counts is the page."""
    explained = explain_graphs(untrained(small_graphs(30)), small_graphs(30))
    many = [{**record, "id": f"{n}-{record['id']}"} for n in range(334) for record in explained.graphs][:10_000]
    path = write_page(tmp_path / "page.html", "many", explained=replace(explained, graphs=many, total=10_000))
    assert path.stat().st_size < 15e6
    with Opened(browser, path):  # so that the start of the browser does not count
        pass
    with Opened(browser, path) as opened:
        assert opened.seconds < 5
        page = opened.page
        assert "10,000 of 10,000 graphs" in page.locator(".count").inner_text()
        started = time.perf_counter()
        page.select_option("select[name=order]", "unsure")
        page.fill("input[type=search]", "33-1")
        page.get_by_label("next page").click()
        page.locator(".thumb").first.click()
        page.keyboard.press("ArrowRight")
        assert time.perf_counter() - started < 5
        assert page.evaluate("document.querySelectorAll('*').length") < 20_000
        assert opened.errors == []


def test_filters_leave_the_graphs_they_name(browser, tmp_path):
    with Opened(browser, written(tmp_path)) as opened:
        page = opened.page
        page.select_option("select[name=outcome]", "wrong")
        outcomes = page.locator(".thumb .line:nth-of-type(1)").all_inner_texts()
        assert outcomes
        assert all(text.endswith("wrong") for text in outcomes)
        page.select_option("select[name=outcome]", "")
        page.select_option("select[name=part]", "1")
        assert "20 of 40 graphs" in page.locator(".count").inner_text()
        page.fill("input[type=search]", "no such graph")
        assert page.locator(".thumb").count() == 0
        assert "0 of 40 graphs" in page.locator(".count").inner_text()
        assert opened.errors == []


def test_graphs_are_ordered_and_filtered_by_confidence(browser, tmp_path):
    with Opened(browser, written(tmp_path)) as opened:
        page = opened.page
        page.select_option("select[name=order]", "confident")
        shares = [int(text.split()[-2]) for text in page.locator(".thumb .line:nth-of-type(2)").all_inner_texts()]
        assert len(shares) == 24
        assert shares == sorted(shares, reverse=True)
        page.locator(".filters input[type=range]").evaluate(
            "it => { it.value = 100; it.dispatchEvent(new Event('input')); }"
        )
        assert "at least 100 % confident" in page.locator(".filters").inner_text()
        assert page.locator(".thumb").count() == 0
        assert opened.errors == []


@pytest.mark.parametrize("value", [0.0, 0.25, 1.0])
@pytest.mark.parametrize("epochs", [1, 2])
def test_a_flat_curve_has_a_few_ticks(browser, tmp_path, value, epochs):
    values = {"valid_accuracy": [value] * epochs, "valid_score": [-value] * epochs, "train_loss": [value] * epochs}
    curve = summarize_curves("flat", [values])
    with Opened(browser, write_page(tmp_path / "page.html", "flat", curves=[curve], settings={"a": "b"})) as opened:
        for chart in opened.page.locator("#learning svg").all():
            levels = [text for text in chart.locator("text.tick").all_text_contents() if "epoch" not in text]
            assert 2 <= len(levels) <= 6
            assert len(set(levels)) == len(levels)
            assert "NaN" not in chart.inner_html()
        assert opened.errors == []


def test_a_molecule_is_drawn_as_a_chemist_would(browser, tmp_path):
    pytest.importorskip("rdkit")
    molecules = from_smiles(["C=CO", "C[C@H](N)C(=O)[O-]", "c1ccccc1[N+](=O)[O-]"], ["a", "b", "a"])
    explained = explain_graphs(model_for(molecules, "gcn", hidden_channels=8), molecules)
    with Opened(browser, write_page(tmp_path / "page.html", "molecule", explained=explained)) as opened:
        enol, alanine, nitrobenzene = (opened.page.locator(".thumb svg").nth(number) for number in range(3))
        assert enol.locator("line:not(.halo)").count() == 3
        assert sorted(enol.locator("text").all_text_contents()) == ["H", "O"]
        assert alanine.locator(".wedge, .thin").count() > 0
        assert "⁻" in alanine.locator("text.charge").all_text_contents()
        assert nitrobenzene.locator("line:not(.halo)").count() == 9 + 3 + 1
        assert nitrobenzene.locator("line.halo").count() == 2 * 9
        assert nitrobenzene.locator("text.el-N.charge").all_text_contents() == ["⁺"]
        assert opened.errors == []


@pytest.mark.parametrize(
    ("hops", "said"),
    [(None, "which it learnt without being told"), (0, "(their own features)"), (1, "(features within 1 hop)")],
)
def test_the_page_says_where_positions_come_from(browser, tmp_path, hops, said):
    graphs = small_graphs(6)
    settings = {} if hops is None else {"position_hops": hops}
    explained = explain_graphs(model_for(graphs, "gcn", hidden_channels=8, **settings), graphs)
    with Opened(browser, write_page(tmp_path / "page.html", "positions", explained=explained)) as opened:
        assert said in opened.page.locator("#positions .lead").inner_text()
        assert opened.errors == []


def test_the_keyboard_opens_a_graph_and_turns_to_the_next(browser, tmp_path):
    with Opened(browser, written(tmp_path)) as opened:
        page = opened.page
        page.locator(".thumb").first.focus()
        page.keyboard.press("Enter")
        dialog = page.locator("dialog[open]")
        first = dialog.locator("h3").inner_text()
        assert NASTY in first
        page.keyboard.press("ArrowRight")
        assert dialog.locator("h3").inner_text() != first
        page.keyboard.press("ArrowLeft")
        assert dialog.locator("h3").inner_text() == first
        before = dialog.locator("svg circle").first.get_attribute("style")
        dialog.locator(".views button").nth(1).click()
        assert dialog.locator("svg circle").first.get_attribute("style") != before
        assert f"to {NASTY}" in dialog.locator("svg circle title").first.text_content()
        page.keyboard.press("Escape")
        page.locator("dialog[open]").wait_for(state="detached")
        assert opened.errors == []


def test_hovering_over_the_map_shows_a_graph_and_a_click_opens_it(browser, tmp_path):
    with Opened(browser, written(tmp_path)) as opened:
        page = opened.page
        page.locator("#map").scroll_into_view_if_needed()
        dot = page.locator("#map circle[data-i]").last
        dot.hover()
        assert page.locator("#tip svg").is_visible()
        dot.click()
        assert page.locator("dialog[open]").count() == 1
        assert opened.errors == []


@pytest.mark.parametrize("scheme", ["light", "dark"])
def test_it_fits_a_phone(browser, tmp_path, scheme):
    with Opened(browser, written(tmp_path), PHONE, color_scheme=scheme, has_touch=True) as opened:
        page = opened.page
        assert page.evaluate("document.documentElement.scrollWidth") == PHONE["width"]
        page.locator(".thumb").first.tap()
        box = page.locator("dialog[open]").bounding_box()
        assert box["width"] <= PHONE["width"]
        assert opened.errors == []


def test_a_model_with_the_global_readout_has_a_page_too(browser, tmp_path):
    with Opened(browser, written(tmp_path, readout="global")) as opened:
        assert opened.page.locator("#positions").count() == 0
        assert "no positions" in opened.page.locator("main").inner_text()
        opened.page.locator(".thumb").first.click()
        assert opened.page.locator("dialog .views button").count() == 3
        assert opened.errors == []


def test_positions_are_merged_and_split_everywhere_at_once(browser, tmp_path):
    with Opened(browser, written(tmp_path)) as opened:
        page = opened.page
        assert page.locator(".card").count() == 4
        page.locator("#level").focus()
        page.keyboard.press("ArrowLeft")
        page.keyboard.press("ArrowLeft")
        assert page.locator(".level output").inner_text() == "2 groups of the 4 positions"
        assert page.locator(".card").count() == 2
        names = page.locator(".card h3").all_inner_texts()
        assert set(page.locator("#map aside button").all_inner_texts()) <= set(names)
        fills = page.locator(".thumb circle").evaluate_all("all => all.map(it => it.getAttribute('style'))")
        assert len(set(fills)) <= 2
        page.locator(".thumb").first.click()
        assert page.locator("dialog .key li").all_inner_texts() == names
        assert page.locator("dialog .terms th").all_inner_texts() == [*names, "rest", "score"]
        page.keyboard.press("Escape")
        page.locator("#level").press("End")
        assert page.locator(".card").count() == 4
        assert opened.errors == []


def test_terms_and_numbers_of_nodes_add_up_to_the_score(browser, tmp_path):
    with Opened(browser, written(tmp_path)) as opened:
        page = opened.page
        page.locator(".thumb").first.click()
        values = [float(text.replace(MINUS, "-")) for text in page.locator("dialog .terms .num").all_inner_texts()]
        assert sum(values[:-1]) == pytest.approx(values[-1], rel=0.02, abs=0.01)
        page.get_by_role("button", name="Numbers").click()
        numbers = page.locator("dialog text.number").all_text_contents()
        assert numbers
        assert all(text[0] in f"+{MINUS}" for text in numbers)
        page.locator("dialog summary").click()
        rows = page.locator("dialog .nodes tbody tr")
        assert rows.count() == 13
        sizes = [abs(float(text.replace(MINUS, "-"))) for text in rows.locator("td.num").all_inner_texts()]
        assert sizes == sorted(sizes, reverse=True)
        assert opened.errors == []


def test_a_link_opens_a_graph_and_follows_it(browser, tmp_path):
    path = written(tmp_path)
    with Opened(browser, path) as opened:
        page = opened.page
        page.locator(".thumb").nth(3).click()
        assert page.evaluate("decodeURIComponent(location.hash)") == f"#graph={NASTY} 3"
        link = page.url
        page.keyboard.press("ArrowRight")
        assert page.evaluate("decodeURIComponent(location.hash)") == f"#graph={NASTY} 4"
        page.keyboard.press("Escape")
        page.wait_for_url(lambda url: "#" not in url)  # a dialog says that it was closed a moment later
        page.goto("about:blank")
        page.goto(link)
        assert page.locator("dialog[open] h3").inner_text() == f"Graph {NASTY} 3"
        page.evaluate("location.hash = '#graph=%E0%A4%A'")  # not valid: nothing happens
        page.evaluate("location.hash = '#graph=unknown'")
        assert opened.errors == []


def test_tables_are_downloaded_with_text_that_no_spreadsheet_runs(browser, tmp_path):
    graphs = labelled("regression", 6)
    graphs = replace(graphs, ids=('=HYPERLINK("x")', "+1", "a,b", 'say "hi"', "line\nbreak", "plain"))
    path = write_page(tmp_path / "page.html", "table", explained=explain_graphs(untrained(graphs), graphs))
    with Opened(browser, path) as opened:
        page = opened.page
        page.fill("input[name=from]", "-1e9")
        with page.expect_download() as download:
            page.locator(".tools button").click()
        table = pd.read_csv(download.value.path())
        assert table["id"].tolist() == ['\'=HYPERLINK("x")', "'+1", "a,b", 'say "hi"', "line\nbreak", "plain"]
        terms = table[[name for name in table if name.startswith("contribution(") and name.endswith("house)")]]
        assert np.allclose(terms.sum(axis=1), table["predicted(house)"], atol=1e-4)
        assert np.allclose(table[[name for name in table if name.startswith("share(")]].sum(axis=1), 1)
        page.locator(".thumb").nth(2).click()
        with page.expect_download() as download:
            page.get_by_role("dialog").get_by_text("Download as CSV").click()
        nodes = pd.read_csv(download.value.path())
        assert len(nodes) == int(graphs.node_counts[2])
        assert {"node", "position", "contribution(house)"} <= set(nodes)
        assert opened.errors == []


def test_the_dialog_keeps_the_focus_and_gives_it_back(browser, tmp_path):
    with Opened(browser, written(tmp_path)) as opened:
        page = opened.page
        thumb = page.locator(".thumb").nth(1)
        thumb.focus()
        page.keyboard.press("Enter")
        dialog = page.get_by_role("dialog", name=f"Graph {NASTY} 1")
        assert dialog.count() == 1
        for _ in range(30):
            page.keyboard.press("Tab")
            assert page.evaluate(
                "document.activeElement === document.body || document.activeElement.closest('dialog') !== null"
            )
        page.get_by_role("button", name="next graph").click()
        assert page.evaluate("document.activeElement.getAttribute('aria-label')") == "next graph"
        page.keyboard.press("Escape")
        expect(thumb).to_be_focused()
        unnamed = "all => all.filter(it => !(it.innerText.trim() || it.ariaLabel || it.labels?.length)).length"
        assert page.locator("button, select, input").evaluate_all(unnamed) == 0
        assert opened.errors == []


def test_the_drawing_alone_works_on_another_page(browser, tmp_path):
    pytest.importorskip("rdkit")
    script, style = drawing_assets()
    from rdkit.Chem import MolFromSmiles

    record = picture(draw_molecule(MolFromSmiles("NCC(=O)O")))
    paint = "node => ({ colour: '#0072B2', strength: 0.5 })"
    page = f"<style>{style}</style><div id=settings>.</div><script>{script}; document.body.append(drawGraph("
    (tmp_path / "page.html").write_text(f"<!doctype html>{page}{json.dumps(record)}, {paint}));</script>", "utf-8")
    with Opened(browser, tmp_path / "page.html") as opened:
        assert opened.page.locator("svg line:not(.halo)").count() == 5
        assert opened.errors == []
