"""The page of every task in a real browser: labels to choose from, numbers with their units."""

from dataclasses import replace

import pytest
import torch
from helpers.browsing import PHONE, Opened, launched
from helpers.labelled_graphs import labelled
from helpers.small_models import untrained

from ssread.report import explain_graphs, summarize_curves, write_page

MINUS = "\N{MINUS SIGN}"


@pytest.fixture(scope="module")
def browser():
    with launched() as opened:
        yield opened


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
        dialog.get_by_text("For and against house").click()
        assert "for house" in dialog.locator(".key").inner_text()
        assert "to house" in dialog.locator("svg circle title").first.text_content()
        assert dialog.locator(".bars.known .value").count() == 4
        page.keyboard.press("Escape")
        assert page.locator("select[name=target]").input_value() == "0"
        assert "Predictions of house" in lead.inner_text()
        assert opened.errors == []


def test_numbers_have_a_unit_an_error_and_their_own_order(browser, tmp_path):
    path, explained = page_of("regression", tmp_path)
    with Opened(browser, path) as opened:
        page = opened.page
        page.select_option("select[name=view]", label="What raises weight in kg")
        assert page.locator("select[name=target]").input_value() == "1"
        lead = page.locator("#graphs .lead").inner_text()
        assert "Predictions of weight in kg, all graphs: mean absolute error" in lead
        assert "Contributions are in the unit of weight in kg" in lead
        assert f"the rest ({explained.same_rest[1]:.4g}, the same for every graph) add up to its prediction" in lead
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
        facts = page.locator("dialog[open] dl").nth(2).inner_text()
        assert "predicted" in facts
        assert "unknown" in facts
        assert "raises weight in kg" in page.locator("dialog[open] .key").inner_text()
        assert opened.errors == []


@pytest.mark.parametrize("task", ["multilabel", "regression"])
def test_every_task_fits_a_phone_with_either_readout(browser, tmp_path, task):
    path, _ = page_of(task, tmp_path, readout="global")
    verb = "What raises" if task == "regression" else "For and against"
    with Opened(browser, path, PHONE, has_touch=True) as opened:
        assert opened.page.evaluate("document.documentElement.scrollWidth") == PHONE["width"]
        opened.page.locator(".thumb").first.tap()
        assert opened.page.locator("dialog[open]").bounding_box()["width"] <= PHONE["width"]
        assert opened.page.locator("dialog .views button").all_inner_texts() == [
            *(f"{verb} {name}" for name in ("house", "weight in kg")),
            "Numbers",
        ]
        assert opened.errors == []


def test_of_many_labels_one_is_chosen_from_a_menu(browser, tmp_path):
    graphs = labelled("multilabel", 6)
    names = tuple(f"label {letter}" for letter in "abcdef")
    graphs = replace(graphs, y=graphs.y.repeat(1, 3), target_names=names)
    path = write_page(tmp_path / "page.html", "many", explained=explain_graphs(untrained(graphs), graphs))
    with Opened(browser, path) as opened:
        opened.page.locator(".thumb").first.click()
        opened.page.select_option("select[name=dialog-view]", label="For and against label e")
        assert "for label e" in opened.page.locator("dialog .key").inner_text()
        assert opened.errors == []
