"""Parts of public sets of molecules: trained, predicted, explained, exported and read back from the command line."""

import pandas as pd
import pytest
import torch
from typer.testing import CliRunner

from ssread.apply.trained_model import TrainedModel
from ssread.cli import app

TOX21 = [
    "NR-AR",
    "NR-AR-LBD",
    "NR-AhR",
    "NR-Aromatase",
    "NR-ER",
    "NR-ER-LBD",
    "NR-PPAR-gamma",
    "SR-ARE",
    "SR-ATAD5",
    "SR-HSE",
    "SR-MMP",
    "SR-p53",
]
SOLUBILITY = "measured log solubility in mols per litre"
SETS = {
    "tox21": ("multilabel", TOX21, []),
    "clintox": ("multilabel", ["FDA_APPROVED", "CT_TOX"], ["--split", "scaffold"]),
    "esol": ("regression", [SOLUBILITY], ["--with", "descriptors"]),
}


def run(*words: object) -> str:
    result = CliRunner().invoke(app, [str(word) for word in words])
    assert result.exit_code == 0, result.output
    return result.output


@pytest.mark.slow
@pytest.mark.parametrize("name", SETS)
def test_from_the_file_and_back(name, molecule_files, tmp_path):
    pytest.importorskip("rdkit")
    task, labels, options = SETS[name]
    whole = pd.read_csv(molecule_files / f"{name}.csv", dtype=str).map(
        lambda cell: cell.strip() if cell == cell else cell
    )
    part = whole.sample(150, random_state=1)
    if name == "clintox":  # all that are toxic, to have enough of them
        part = pd.concat([part[part["CT_TOX"] == "0"], whole[whole["CT_TOX"] == "1"][:40]])
    part.to_csv(tmp_path / "known.csv", index=False)
    new = whole.drop(part.index).sample(40, random_state=2)
    new.to_csv(tmp_path / "new.csv", index=False)
    model, page = tmp_path / "model", tmp_path / "page.html"
    quick = ["--quick", "--epochs", 2, "--ensemble", 2, "--workers", 1]

    said = run("train", tmp_path / "known.csv", "--label", ",".join(labels), "-o", model, *options, *quick)
    assert "Random forest on Morgan fingerprints" in said
    words = ["--coverage", 0.8, "--contributions", "--workers", 1]
    run("predict", model, tmp_path / "new.csv", "-o", tmp_path / "out.csv", *words)
    table = pd.read_csv(tmp_path / "out.csv", dtype=str)
    assert len(table) == 40
    good = table[table["problem"].isna()] if "problem" in table else table
    assert len(good) >= 38  # ClinTox has molecules that RDKit cannot read
    kept = [f"{name} (input)" if f"{name} (input)" in table else name for name in whole]
    assert kept != whole.columns.tolist()  # what was measured stands beside what is predicted
    kept_values = table[kept].set_axis(whole.columns, axis="columns")
    pd.testing.assert_frame_equal(kept_values, new.reset_index(drop=True))

    trained = TrainedModel.load(model)
    assert (trained.task, trained.output_names) == (task, labels)
    graphs = trained.read(tmp_path / "new.csv", on_error="skip")
    ours = trained.predictions(graphs)
    for number, label in enumerate(labels):
        column = label if f"p({label})" not in good else f"p({label})"
        assert good[column].astype(float).tolist() == pytest.approx(ours[:, number].tolist(), abs=1e-4)

    run("explain", model, tmp_path / "new.csv", "--label", ",".join(labels), "-o", page)
    text = page.read_text()
    assert all(label in text for label in labels)
    assert ("features of the graph" in text) == (name == "esol")

    assert "compared with ours" in run("export", model, "--format", "torch")
    program = torch.export.load(tmp_path / "model.pt2").module()
    batch = graphs.batch(torch.arange(len(graphs)))
    inputs = [batch.x, batch.edge_index, batch.edge_attr, batch.batch, torch.arange(len(graphs))]
    if name == "esol":
        inputs.append(batch.graph_attr)
    torch.testing.assert_close(program(*inputs)[0], ours, atol=1e-4, rtol=1e-4)
