"""The page in a real browser: type, see, compare, change, upload, wrong input; on a desk and on a phone."""

import pytest
from helpers.browsing import DESK, PHONE, launched, sync_api
from helpers.serving import served
from helpers.small_models import SMILES

pytestmark = pytest.mark.xdist_group("serve")

REFUSED = "Failed to load resource: the server responded with a status of 4"


@pytest.fixture(scope="module")
def browser():
    sync_api.expect.set_options(timeout=20_000)
    with launched() as opened:
        yield opened


@pytest.fixture(params=[DESK, PHONE], ids=["desk", "phone"])
def page(request, browser, server):
    with browser.new_context(viewport=request.param) as context:
        page = context.new_page()
        page.set_default_timeout(20_000)
        page.errors, page.addresses = [], set()
        page.on("console", lambda message: page.errors.append(message.text))
        page.on("pageerror", lambda error: page.errors.append(str(error)))
        page.on("dialog", lambda dialog: page.errors.append(f"text ran as a script: {dialog.message}"))
        page.on("request", lambda request: page.addresses.add(request.url.split("/")[2]))
        page.goto(server.address)
        sync_api.expect(page.locator("#about")).to_contain_text("The model rings predicts")
        yield page
        assert [text for text in page.errors if not text.startswith(REFUSED)] == []
        assert page.addresses == {server.address.removeprefix("http://")}, "nothing comes from elsewhere"
        assert page.evaluate("document.documentElement.scrollWidth <= innerWidth"), "it fits the width of the screen"


def show(page, smiles):
    page.fill("#smiles", smiles)
    page.keyboard.press("Enter")
    page.wait_for_selector(".panel")


def test_a_typed_molecule_is_predicted_drawn_and_compared_with_its_neighbours(page):
    show(page, SMILES[0])
    assert page.locator(".picture > svg circle[role=button]").count() == 7
    assert page.inner_text(".headline").split()[0] in ("yes", "no")
    assert "Set that holds the true class in 90 % of cases" in page.inner_text(".panel")
    assert "one of the training molecules" in page.inner_text(".trust")
    assert page.locator(".nearest li").count() == 4
    page.wait_for_selector(".nearest svg")
    page.locator(".views").get_by_text("Contributions to yes").click()
    assert "What adds up to the score of yes" in page.inner_text(".picture")
    page.locator(".nearest button").nth(1).click()
    page.wait_for_selector(".panels.two")
    assert page.locator(".panel").count() == 2
    assert "→" in page.inner_text("#difference")
    assert page.input_value("#other") in SMILES


def test_an_example_is_offered_and_a_comparison_can_be_ended(page):
    page.get_by_text("Show an example").click()
    page.wait_for_selector(".panel")
    assert page.locator(".hint").count() == 0
    assert page.input_value("#smiles") == "O=[N+]([O-])c1ccccc1"
    page.locator("#compare").click()
    page.fill("#other", "CCO")
    page.keyboard.press("Enter")
    page.wait_for_selector(".panels.two")
    page.locator("#compare").click()
    assert page.locator(".panel").count() == 1
    assert page.locator("#other").is_hidden()
    assert page.input_value("#other") == ""


def test_an_atom_is_changed_by_mouse_or_keyboard_and_what_cannot_be_is_told(page):
    show(page, "Oc1ccccc1")
    page.locator('[aria-label="change atom 2"]').click()
    assert page.locator("circle.chosen").get_attribute("aria-label") == "change atom 2"
    page.locator(".edit").get_by_text("N", exact=True).click()
    page.wait_for_selector(".panels.two")
    assert page.input_value("#other") == "Oc1ncccc1"
    assert page.locator(".focus").count() == 1
    page.locator(".panel").nth(1).locator('[aria-label="change atom 1"]').focus()
    page.keyboard.press("Enter")
    page.locator(".edit:not([hidden])").get_by_text("F", exact=True).click()
    page.wait_for_selector("#message:not([hidden])")
    assert "cannot become F here" in page.inner_text("#message")
    assert page.locator(".panel").count() == 2


def wait_for_drawing(page, atoms):
    for _ in range(200):  # a function to wait for would be a text that runs, which the page forbids
        if page.evaluate("sketcher?.getMolecule().getAllAtoms()") == atoms:
            return
        page.wait_for_timeout(100)
    raise AssertionError(f"no drawing of {atoms} atoms")


def test_a_molecule_is_drawn(page):
    page.fill("#smiles", "c1ccccc1")
    page.locator("#draw").click()
    wait_for_drawing(page, 6)
    box = page.locator("#sketcher").bounding_box()
    page.mouse.click(box["x"] + box["width"] - 30, box["y"] + box["height"] / 2)  # a bond, apart from the ring
    wait_for_drawing(page, 8)
    page.locator("#sketch-use").click()
    page.wait_for_selector(".panel")
    assert sorted(page.input_value("#smiles").split(".")) == ["CC", "c1ccccc1"]
    page.fill("#smiles", "((")
    page.locator("#draw").click()
    wait_for_drawing(page, 0)
    page.locator("#sketch-use").click()
    assert "Nothing was drawn" in page.inner_text("#message")


def test_wrong_input_gets_a_sentence_and_text_stays_text(page):
    page.keyboard.press("Tab")
    page.locator("button[type=submit]").click()
    assert "Type or paste a SMILES first" in page.inner_text("#message")
    for text, sentence in (("C1CC", "RDKit"), ("<img src=x onerror=alert(1)>", "RDKit"), ("C" * 70, "it has 70 atoms")):
        page.fill("#smiles", text)
        page.keyboard.press("Enter")
        sync_api.expect(page.locator("#message")).to_contain_text(f"The molecule cannot be used: {sentence}")
        assert page.locator(".panel").count() == 0
    show(page, "CCO <b>bold</b>")
    assert page.locator("#message").is_hidden()


def test_files_are_uploaded_and_their_rows_opened(page, tmp_path):
    (tmp_path / "some.csv").write_text(f"smiles,name\n{SMILES[1]},<script>alert(1)</script>\nC1CC,bad\n")
    page.set_input_files("#file", tmp_path / "some.csv")
    page.wait_for_selector("#rows table")
    assert "2 rows, 1 of them could not be used." in page.inner_text("#rows")
    assert "RDKit cannot read it" in page.inner_text(".unusable")
    with page.expect_download() as download:
        page.get_by_text("Save all as CSV").click()
    assert download.value.path().read_text().startswith("id,smiles,class,p(no),p(yes)")
    page.locator("#rows button.link").click()
    page.wait_for_selector(".panel")
    (tmp_path / "wrong.csv").write_text("a,b\n1,2\n")
    page.set_input_files("#file", tmp_path / "wrong.csv")
    sync_api.expect(page.locator("#message")).to_contain_text("wrong.csv has no column 'smiles'")


def held_back(page, pattern):
    """Requests that wait in this list until they are let through."""
    waiting = []
    page.route(pattern, lambda route: waiting.append(route))
    return waiting


def let_through(page, waiting):
    while not waiting:
        page.wait_for_timeout(20)
    route = waiting.pop()
    with page.expect_response(route.request.url):
        route.continue_()
    page.wait_for_timeout(200)


def test_a_late_answer_for_a_file_is_not_shown_under_another_model_or_molecule(page, tmp_path):
    waiting = held_back(page, "**/file/predict*")
    (tmp_path / "some.csv").write_text("smiles\nCCO\n")
    page.set_input_files("#file", tmp_path / "some.csv")
    page.wait_for_selector("#busy:not([hidden])")
    page.select_option("#model", "labels")
    assert page.locator("#busy").is_hidden()
    let_through(page, waiting)
    assert page.locator("#rows").is_hidden()
    assert page.locator(".hint").count() == 1
    page.set_input_files("#file", tmp_path / "some.csv")
    show(page, SMILES[0])
    let_through(page, waiting)
    assert page.locator("#rows").is_hidden()
    assert page.locator(".panel h2").inner_text() == SMILES[0]


def test_another_view_keeps_the_pictures_of_the_neighbours(page):
    asked = []
    page.on("request", lambda request: asked.append(request.url.split("/")[-1]))
    show(page, SMILES[0])
    page.wait_for_selector(".nearest svg")
    assert asked == ["explain", "explain"]
    page.locator(".views").get_by_text("Contributions to yes").click()
    sync_api.expect(page.locator(".nearest svg")).to_have_count(4)
    assert asked == ["explain", "explain"]


def test_a_model_that_needs_columns_takes_files_and_offers_nothing_else(page, tmp_path):
    page.click("#compare")
    page.select_option("#model", "lengths")
    for control in ("#smiles", "#other", "#draw", "#compare"):
        assert page.locator(control).is_hidden()
    assert "it needs the column “length”, with which the model was trained." in page.inner_text(".hint")
    (tmp_path / "some.csv").write_text("smiles,length\nCCO,3\n")
    page.set_input_files("#file", tmp_path / "some.csv")
    page.wait_for_selector("#rows table")
    assert page.inner_text("#rows .lead") == "1 row."
    assert page.locator("#rows .link").count() == 0
    page.select_option("#model", "rings")
    assert page.locator("#smiles").is_visible()


def test_columns_whose_names_are_taken_are_told_apart(page):
    said = page.evaluate(
        """() => {
            useModel({ ...explained, task: "regression", outputs: ["distance", "id"] });
            const row = { id: "a", distance: 90, "id (predicted)": 7, "distance (predicted)": 0.5 };
            const numbers = [...intervals(row).querySelectorAll("dd")].map((number) => number.innerText);
            return [trust(row).innerText, numbers, differenceText(row, { ...row, distance: 91 })];
        }"""
    )
    assert said[0].startswith("Like the training molecules: 0.5 times")
    assert said[1] == ["90", "7"]
    assert said[2] == "distance: 90 → 91; id: 7 → 7"


def test_a_server_with_a_token_is_opened_with_it_in_the_address(browser, models):
    token = "a-token-of-sixteen-signs"
    with served(models[:1], token=token) as server:
        for part in ("", "#token=another-token-than-that"):
            with browser.new_context() as context:
                page = context.new_page()
                page.goto(f"{server.address}/{part}")
                told = f"open {server.address}/#token=TOKEN, the address"
                sync_api.expect(page.locator("#message")).to_contain_text(told)
                page.goto(f"{server.address}/#token={token}")
                sync_api.expect(page.locator("#about")).to_contain_text("The model rings predicts")
                assert page.url == f"{server.address}/", "it does not stay in the history"
                page.reload()
                sync_api.expect(page.locator("#about")).to_contain_text("The model rings predicts")
                show(page, SMILES[0])


def test_with_a_token_the_interface_is_saved_since_a_link_sends_none(page):
    page.evaluate("sessionStorage.setItem('token', 'a-token-of-sixteen-signs')")
    with page.expect_download() as download:
        page.click("#interface")
    assert '"openapi"' in download.value.path().read_text()


def test_another_model_and_a_dropped_graph(page):
    page.select_option("#model", "graphs")
    assert page.locator("#smiles").is_hidden()
    assert "predicts numbers" in page.inner_text("#about")
    graph = '{"nodes":[{"id":0,"type":"end"},{"id":1,"type":"inner"}],"links":[{"source":0,"target":1}]}'
    page.evaluate(
        """(text) => {
            const moved = new DataTransfer();
            moved.items.add(new File([text], "two.json"));
            dispatchEvent(new DragEvent("drop", { dataTransfer: moved, cancelable: true }));
        }""",
        graph,
    )
    page.wait_for_selector(".panel")
    assert page.locator(".picture > svg circle").count() == 2
    page.locator("#card summary").click()
    assert page.locator("#card h1").inner_text() == "Model card"


def test_of_labels_the_sets_are_told_as_programs_get_them(page, server):
    page.select_option("#model", "labels")
    answers = {"1": "yes", "0": "no", "0; 1": "yes or no", "": "neither is likely enough"}
    for smiles in (SMILES[0], "CCO", "C"):
        (row,) = server.ask("predict", model="labels", smiles=smiles, coverage=0.9).json()["rows"]
        show(page, smiles)
        sync_api.expect(page.locator(".panel h2")).to_have_text(smiles)
        told = page.locator(".panel > .note").inner_text()
        start, _, groups = told.partition(": ")
        assert start == "Answers that hold the truth about a label in 90 % of cases"
        found = dict(group.removesuffix(")").split(" (") for group in groups.removesuffix(".").split("; "))
        for name in ("aromatic", "amine"):
            assert name in found[answers[row[f"set({name})"]]].split(", ")
        assert sum(len(names.split(", ")) for names in found.values()) == 2
    show(page, SMILES[1])
    sync_api.expect(page.locator(".panel h2")).to_have_text(SMILES[1])
    assert page.locator(".nearest strong").first.inner_text() == "aromatic, amine"
