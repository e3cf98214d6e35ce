"""Models that need columns of a file: what is read, and what is said where the columns are missing."""

import re

import pandas as pd
import pytest
from helpers.small_models import SMILES
from rdkit import Chem

from ssread.apply import embed, predict

pytestmark = pytest.mark.xdist_group("serve")


def write(path, table):
    """The table as a file of the kind that the name says."""
    if path.suffix == ".parquet":
        table.to_parquet(path)
    elif path.suffix == ".sdf":
        with Chem.SDWriter(str(path)) as writer:
            for row in table.to_dict("records"):
                molecule = Chem.MolFromSmiles(row.pop("smiles"))
                for name, value in row.items():
                    molecule.SetProp(name, str(value))
                writer.write(molecule)
    elif path.suffix == ".smi":
        path.write_text("\n".join(table["smiles"]))
    else:
        table.to_csv(path, index=False, sep="\t" if path.suffix == ".tsv" else ",")
    return path


def ask(server, what, path):
    address = f"/api/models/lengths/file/{what}"
    return server.client.post(address, params={"name": path.name}, content=path.read_bytes())


@pytest.mark.parametrize("name", ["some.csv", "some.tsv", "some.parquet", "some.sdf"])
def test_files_with_the_columns_of_a_model_are_read_like_those_of_ssread_predict(server, with_columns, tmp_path, name):
    path = write(tmp_path / name, pd.DataFrame({"smiles": SMILES[:4], "length": [7.0, 8.0, 900.0, 8.0]}))
    expected, vectors = predict(with_columns, path)["p(yes)"].tolist(), embed(with_columns, path)
    rows = ask(server, "predict", path).json()["rows"]
    assert [row["p(yes)"] for row in rows] == pytest.approx(expected, abs=1e-5)
    explained = ask(server, "explain", path).json()["rows"]
    assert [row["prediction"]["p(yes)"] for row in explained] == pytest.approx(expected, abs=1e-5)
    embedded = ask(server, "embed", path).json()["rows"]
    assert embedded[2]["vector"] == pytest.approx(vectors[2].tolist(), abs=1e-4)


def test_cells_of_such_a_column_are_a_problem_of_their_row_or_not_known(server, tmp_path):
    path = tmp_path / "some.csv"
    path.write_text("smiles,length\nCCO,1\nCCN,long\nCCC,\nC1CC,1\n")
    rows = ask(server, "predict", path).json()["rows"]
    assert [row["problem"] for row in rows] == [
        None,
        "graph 3: its 'length' is 'long', not a number.",
        None,
        "RDKit cannot read it",
    ]
    path.write_text("smiles,length\nCCO,long\n")
    answer = ask(server, "predict", path)
    assert answer.status_code == 422
    assert answer.json()["detail"].startswith("some: its 'length' is 'long', not a number")


def test_many_columns_cost_no_more_than_those_that_the_model_needs(server, tmp_path):
    path = tmp_path / "wide.csv"
    path.write_bytes(b"smiles,length" + b"," * 190_000 + b"\nCCO,3\n")
    answer = ask(server, "predict", path)
    assert answer.status_code == 200, answer.text[:500]
    (row,) = answer.json()["rows"]
    assert row["problem"] is None


SEND = "send a file (.csv, .tsv, .parquet or .sdf) with the column 'length', which it was trained with."


@pytest.mark.parametrize("name", ["some.csv", "some.parquet", "some.sdf", "some.smi"])
def test_a_file_without_the_column_is_told_its_name(server, tmp_path, name):
    path = write(tmp_path / name, pd.DataFrame({"smiles": SMILES[:2], "width": [1.0, 2.0]}))
    for what in ("predict", "embed", "explain"):
        answer = ask(server, what, path)
        assert answer.status_code == 422
        has = "no record has a property" if name.endswith(".sdf") else "has no column"
        assert re.fullmatch(rf"{name}:? {has} 'length'; (its columns|the properties) are .*\.", answer.json()["detail"])


@pytest.mark.parametrize("what", ["predict", "embed", "explain", "change"])
def test_smiles_alone_are_told_the_name_of_the_column(server, what):
    more = {"atom": 0, "element": "N"} if what == "change" else {}
    answer = server.ask(what, model="lengths", smiles="CCO", **more)
    assert answer.status_code == 422
    assert answer.json() == {"detail": f"SMILES alone are not enough for this model: {SEND}"}
