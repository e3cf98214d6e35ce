"""The page in a real browser: with a mouse, with a keyboard, on a phone."""

import shutil
import time
from dataclasses import replace

import pytest
import torch
from helpers.labelled_graphs import labelled
from helpers.pages import NASTY, written
from helpers.small_models import untrained

from ssread.data import from_smiles
from ssread.models import model_for
from ssread.report import explain_graphs, summarize_curves, write_page

sync_api = pytest.importorskip("playwright.sync_api", reason="playwright is not installed")
BROWSER = shutil.which("chromium") or shutil.which("chromium-browser") or shutil.which("google-chrome")
if BROWSER is None:
    pytest.skip("there is no Chromium here (apt install chromium)", allow_module_level=True)

DESK, PHONE = {"width": 1280, "height": 900}, {"width": 390, "height": 844}


@pytest.fixture(scope="module")
def browser():
    with sync_api.sync_playwright() as playwright:
        opened = playwright.chromium.launch(executable_path=BROWSER, args=["--no-sandbox"])
        yield opened
        opened.close()


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


def test_it_opens_with_all_sections_and_without_errors(browser, tmp_path):
    with Opened(browser, written(tmp_path)) as opened:
        sections = opened.page.eval_on_selector_all("main > section", "all => all.map(section => section.id)")
        assert sections == ["verdict", "learning", "positions", "graphs", "map", "settings"]
        assert opened.page.locator(".card").count() == 4
        assert opened.page.locator(".thumb").count() == 24
        opened.page.locator(".more").click()
        assert opened.page.locator(".thumb").count() == 40
        assert NASTY in opened.page.locator("h1").inner_text()
        assert opened.errors == []


@pytest.mark.slow
@pytest.mark.alone
def test_five_hundred_graphs_open_in_under_two_seconds(browser, tmp_path):
    path = written(tmp_path, num_graphs=500)
    with Opened(browser, path):  # so that the start of the browser does not count
        pass
    with Opened(browser, path) as opened:
        assert opened.seconds < 2
        assert "500 of 500 graphs" in opened.page.locator(".count").inner_text()


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
        page.locator("input[type=range]").evaluate("it => { it.value = 100; it.dispatchEvent(new Event('input')); }")
        assert "at least 100 % confident" in page.locator(".filters").inner_text()
        assert page.locator(".thumb").count() == 0
        assert opened.errors == []


def page_of(task, folder, **options):
    """A page of an untrained model with two labels or numbers; every third graph has an unknown one."""
    graphs = labelled(task, 12)
    model = untrained(graphs, 2, **options)
    if task == "regression":
        for member in model.models:
            member.head[-1].mean.copy_(torch.tensor([-0.5, 170.0]))
            member.head[-1].scale.copy_(torch.tensor([0.5, 12.0]))
    curves = [{"valid_accuracy": [float("nan")] * 2, "valid_score": [-0.2, 0.5], "train_loss": [1.0, 0.5]}]
    explained = explain_graphs(model, graphs, trained_on=True)
    lines = [summarize_curves("model", curves, "a metric")]
    return write_page(folder / "page.html", task, explained=explained, curves=lines), explained


def test_a_label_is_chosen_for_the_gallery_and_the_dialog(browser, tmp_path):
    path, _ = page_of("multilabel", tmp_path)
    with Opened(browser, path) as opened:
        page = opened.page
        lead = page.locator("#graphs .lead")
        assert "Predictions of house, all graphs: area under the ROC curve" in lead.inner_text()
        assert "(these graphs were trained on)" in lead.inner_text()
        assert "the mean over 2 models" in page.locator(".notes").inner_text()
        assert page.locator("#learning figcaption").all_inner_texts() == [
            "a metric, validation after each epoch",
            "training loss after each epoch",
        ]
        page.select_option("select[name=target]", label="weight in kg")
        assert "Predictions of weight in kg" in lead.inner_text()
        assert page.locator(".thumb .unknown").count() == 4
        page.select_option("select[name=known]", "null")
        assert page.locator(".thumb").count() == 4
        page.select_option("select[name=known]", "1")
        assert all(text.endswith("known: yes") for text in page.locator(".thumb .line:last-child").all_inner_texts())
        page.select_option("select[name=known]", "")
        page.select_option("select[name=order]", "probable")
        shares = [int(text.split()[0]) for text in page.locator(".thumb .line:last-child").all_inner_texts()]
        assert shares == sorted(shares, reverse=True)
        page.locator(".thumb").first.click()
        dialog = page.locator("dialog[open]")
        dialog.get_by_text("Activation: house").click()
        assert "for house" in dialog.locator(".key").inner_text()
        assert "activation, house" in dialog.locator("svg circle title").first.text_content()
        assert dialog.locator(".bars.known .value").count() == 4
        page.keyboard.press("Escape")
        assert page.locator("select[name=target]").input_value() == "0"
        assert "Predictions of house" in lead.inner_text()
        assert opened.errors == []


def test_numbers_have_a_unit_an_error_and_their_own_order(browser, tmp_path):
    path, explained = page_of("regression", tmp_path)
    with Opened(browser, path) as opened:
        page = opened.page
        page.select_option("select[name=view]", label="activation: weight in kg")
        assert page.locator("select[name=target]").input_value() == "1"
        lead = page.locator("#graphs .lead").inner_text()
        assert "Predictions of weight in kg, all graphs: mean absolute error" in lead
        assert f"added to {explained.without_nodes[1]:.4g}, the prediction for a graph without nodes" in lead
        page.select_option("select[name=order]", "worst")
        badges = page.locator(".thumb .error").all_inner_texts()
        errors = [float(text.split()[1]) for text in badges[:8]]
        assert errors == sorted(errors, reverse=True)
        assert badges[8:] == ["unknown"] * 4
        page.fill("input[name=error]", str((errors[3] + errors[4]) / 2))
        assert page.locator(".thumb").count() == 4
        page.fill("input[name=error]", "")
        page.select_option("select[name=order]", "high")
        values = [float(text.split()[0]) for text in page.locator(".thumb .line:last-child").all_inner_texts()]
        assert values == sorted(values, reverse=True)
        predicted = sorted(record["predicted"][1] for record in explained.graphs)
        page.fill("input[name=from]", str(predicted[7]))
        assert page.locator(".thumb").count() == sum(value >= predicted[7] for value in predicted)
        page.fill("input[name=from]", "")
        page.select_option("select[name=known]", "false")
        assert page.locator(".thumb").count() == 4
        page.locator(".thumb").first.click()
        facts = page.locator("dialog[open] dl").last.inner_text()
        assert "predicted" in facts
        assert "unknown" in facts
        assert "raises weight in kg" in page.locator("dialog[open] .key").inner_text()
        assert opened.errors == []


@pytest.mark.parametrize("task", ["multilabel", "regression"])
def test_every_task_fits_a_phone_with_either_readout(browser, tmp_path, task):
    path, _ = page_of(task, tmp_path, readout="global")
    with Opened(browser, path, PHONE, has_touch=True) as opened:
        assert opened.page.evaluate("document.documentElement.scrollWidth") == PHONE["width"]
        opened.page.locator(".thumb").first.tap()
        assert opened.page.locator("dialog[open]").bounding_box()["width"] <= PHONE["width"]
        assert opened.page.locator("dialog .views button").all_inner_texts() == [
            "Activation: house",
            "Activation: weight in kg",
        ]
        assert opened.errors == []


def test_of_many_labels_one_is_chosen_from_a_menu(browser, tmp_path):
    graphs = labelled("multilabel", 6)
    names = tuple(f"label {letter}" for letter in "abcdef")
    graphs = replace(graphs, y=graphs.y.repeat(1, 3), target_names=names)
    path = write_page(tmp_path / "page.html", "many", explained=explain_graphs(untrained(graphs), graphs))
    with Opened(browser, path) as opened:
        opened.page.locator(".thumb").first.click()
        opened.page.select_option("select[name=dialog-view]", label="Activation: label e")
        assert "for label e" in opened.page.locator("dialog .key").inner_text()
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


def test_double_bonds_have_two_lines(browser, tmp_path):
    pytest.importorskip("rdkit")
    molecules = from_smiles(["C=CO"], ["a"])
    explained = explain_graphs(model_for(molecules, "gcn", hidden_channels=8), molecules)
    with Opened(browser, write_page(tmp_path / "page.html", "molecule", explained=explained)) as opened:
        picture = opened.page.locator(".thumb svg")
        assert picture.locator("line").count() == 3
        assert picture.locator("text").all_text_contents() == ["OH"]
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
        before = dialog.locator("svg circle").first.get_attribute("fill")
        dialog.locator(".views button").nth(1).click()
        assert dialog.locator("svg circle").first.get_attribute("fill") != before
        assert "activation" in dialog.locator("svg circle title").first.text_content()
        page.keyboard.press("Escape")
        assert page.locator("dialog[open]").count() == 0
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
        assert opened.page.locator("dialog .views button").count() == 2
        assert opened.errors == []
