"""The interface over HTTP, as programs use it: a real server in a process of its own."""

import io
import json
import socket
from hashlib import sha256

import httpx
import networkx as nx
import pandas as pd
import pytest
from helpers.serving import networks
from helpers.small_models import SMILES

from ssread.apply import embed, predict
from ssread.serve.schemas import ChangedAnswer, Embeddings, Explanations, ModelInfo, Predictions

pytestmark = pytest.mark.xdist_group("serve")

PARQUET = "application/vnd.apache.parquet"
NO_ROWS, MANY_ROWS = (pd.DataFrame({"smiles": pd.Series(["C"] * rows, dtype=str)}).to_parquet() for rows in (0, 61))
SWOLLEN = pd.DataFrame({"smiles": ["C" * 101_000_000]}).to_parquet(compression="zstd")


def test_it_predicts_what_ssread_predict_does(server, models):
    answer = server.ask("predict", smiles=SMILES, coverage=0.9)
    assert answer.status_code == 200
    Predictions.model_validate(answer.json())
    found, expected = answer.json()["rows"], predict(models[0], SMILES, coverage=0.9)
    assert list(found[0]) == list(expected.columns)
    for row, known in zip(found, expected.replace({float("nan"): None}).to_dict("records"), strict=True):
        assert row == {
            name: pytest.approx(value, abs=1e-5) if name != "set" else value for name, value in known.items()
        }


def test_one_molecule_is_a_text_and_a_name_may_follow(server):
    (row,) = server.ask("predict", smiles="CCO ethanol").json()["rows"]
    assert (row["id"], row["smiles"], row["problem"]) == ("ethanol", "CCO", None)
    (row,) = server.ask("predict", smiles=["CCO"], ids=["mine"]).json()["rows"]
    assert row["id"] == "mine"


def test_vectors_are_those_of_ssread_embed_in_json_and_parquet(server, models):
    expected = embed(models[0], SMILES[:5])
    answer = Embeddings.model_validate(server.ask("embed", smiles=SMILES[:5]).json())
    assert pytest.approx(expected[2], abs=1e-5) == answer.rows[2].vector
    sent = server.client.post("/api/models/rings/embed", json={"smiles": SMILES[:5]}, headers={"Accept": PARQUET})
    assert sent.headers["content-type"] == PARQUET
    table = pd.read_parquet(io.BytesIO(sent.content))
    assert pytest.approx(expected[2], abs=1e-5) == table.filter(regex=r"^v\d+$").iloc[2].tolist()


def test_an_explanation_has_picture_positions_and_nearest_training_molecules(server):
    answer = Explanations.model_validate(server.ask("explain", smiles=[SMILES[3], "OCCO"]).json())
    first, second = answer.rows
    assert first.nearest[0].smiles == SMILES[3]
    assert first.nearest[0].distance < 0.05
    assert [example.distance for example in first.nearest] == sorted(example.distance for example in first.nearest)
    assert len(second.picture["positions"]) == 4
    assert len(second.picture["coordinates"]) == 8
    assert first.prediction["class"] in ("yes", "no")


def test_a_changed_atom_gives_both_explanations_at_the_same_places(server):
    answer = server.ask("change", smiles="Oc1ccccc1", atom=1, element="N", coverage=0.9)
    assert answer.status_code == 422
    assert "Atom 1 (C) cannot become N here" in answer.json()["detail"]
    answer = ChangedAnswer.model_validate(server.ask("change", smiles="Oc1ccccc1", atom=2, element="N").json())
    assert answer.after.prediction["smiles"] == "Oc1ncccc1"
    assert answer.after.picture["labels"][str(answer.atom)] == "N"
    assert sorted(answer.before.picture["coordinates"]) == sorted(answer.after.picture["coordinates"])
    for wrong, sentence in (
        ({"atom": 99, "element": "N"}, "There is no atom 99 to change: the SMILES has 7 atoms"),
        ({"atom": 0, "element": "Xx"}, "element: Input should be 'B', 'C'"),
        ({"atom": -1, "element": "N"}, "atom: Input should be greater than or equal to 0"),
    ):
        answer = server.ask("change", smiles="Oc1ccccc1", **wrong)
        assert answer.status_code == 422
        assert sentence in answer.json()["detail"]


def test_a_change_has_the_limits_of_an_explanation(server):
    for smiles, sentence in (
        ("C" * 5001, "The SMILES 0 has 5001 characters; this server takes 5000."),
        ("C" * 61, "it has 61 atoms or nodes; this server takes 60."),
    ):
        answer = server.ask("change", smiles=smiles, atom=0, element="N")
        assert (answer.status_code, sentence in answer.json()["detail"]) == (413, True), answer.text
    assert server.ask("change", smiles="C" * 60, atom=0, element="N").status_code == 200


def test_rows_that_cannot_be_used_say_why_and_do_not_stop_the_others(server):
    rows = server.ask("predict", smiles=["C1CC", "CCO", "C" * 70]).json()["rows"]
    assert [row["problem"] for row in rows] == [
        "RDKit cannot read it",
        None,
        "it has 70 atoms or nodes; this server takes 60",
    ]


@pytest.mark.parametrize(
    ("body", "status", "sentence"),
    [
        ({"smiles": "C1CC"}, 422, "The molecule cannot be used: RDKit cannot read it."),
        ({"smiles": ["", "C"]}, 422, "String should have at least 1 character"),
        ({"smiles": []}, 422, "at least 1 item"),
        ({"smiles": " "}, 422, "The molecule cannot be used: the cell is empty."),
        ({}, 422, "Send either smiles or graphs."),
        ({"smiles": "C", "graphs": [{}]}, 422, "Send either smiles or graphs."),
        ({"smiles": "C", "path": "/etc/passwd"}, 422, "'path' is not known here: send smiles, ids, graphs, coverage."),
        ({"smiles": {"__reduce__": 1}}, 422, "Input should be a valid"),
        pytest.param({"smiles": [1] * 50_000}, 422, "smiles.0: Input should be a valid string.", id="numbers"),
        pytest.param({str(key): 1 for key in range(15_000)}, 422, "'0' is not known here", id="many keys"),
        ({"smiles": ["C", "N"], "ids": ["a"]}, 422, "There are 2 SMILES but 1 ids."),
        ({"smiles": "C" * 70}, 413, "it has 70 atoms or nodes; this server takes 60."),
        ({"smiles": "C" * 6000}, 413, "The SMILES 0 has 6000 characters; this server takes 5000."),
        ({"smiles": ["C"] * 61}, 413, "There are 61 molecules or graphs; this server takes 60 at once here."),
        ({"smiles": "C" * 300_000}, 413, "The request has more than 200000 bytes"),
        ({"smiles": "C", "coverage": 1.5}, 422, "coverage: Input should be less than 1."),
    ],
)
def test_every_limit_and_wrong_request_answers_with_a_sentence(server, body, status, sentence):
    answer = server.ask("predict", **body)
    assert (answer.status_code, sentence in answer.json()["detail"]) == (status, True), answer.text
    assert len(answer.content) < 500
    assert server.client.get("/health").status_code == 200


def test_fewer_are_explained_than_predicted(server):
    path = "/api/models/rings/file"
    for count, status in ((50, 200), (51, 413)):
        for answer in (
            server.ask("explain", smiles=["C"] * count),
            server.client.post(f"{path}/explain?name=some.smi", content=b"C\n" * count),
        ):
            assert (answer.status_code, status == 200 or "50" in answer.json()["detail"]) == (status, True), answer.text
        assert server.ask("predict", smiles=["C"] * count).status_code == 200
        assert server.client.post(f"{path}/predict?name=some.smi", content=b"C\n" * count).status_code == 200


def test_what_is_not_json_and_what_is_nowhere_gets_a_sentence(server):
    client = server.client
    as_json = {"content-type": "application/json"}
    wrong = client.post("/api/models/rings/predict", content=b'{"smiles', headers=as_json)
    assert (wrong.status_code, wrong.json()["detail"].startswith("The body is not valid JSON: ")) == (422, True)
    for content, kind in ((b'{"smiles":"CCO"}', "text/plain"), (b"[1]", as_json["content-type"]), (b"", "")):
        wrong = client.post("/api/models/rings/predict", content=content, headers={"content-type": kind})
        told = "The body must be a JSON object, with the header Content-Type: application/json"
        assert (wrong.status_code, wrong.json()["detail"].startswith(told)) == (422, True)
    pickled = client.post(
        "/api/models/rings/predict", content=b"\x80\x04", headers={"content-type": "application/json"}
    )
    assert (pickled.status_code, "valid JSON" in pickled.json()["detail"]) == (400, True)
    missing = client.post("/api/models/..%2F..%2Fetc/predict", json={"smiles": "C"})
    assert missing.status_code == 404
    assert (
        server.ask("predict", model="nobody", smiles="C")
        .json()["detail"]
        .endswith("The models here are rings, graphs, lengths, labels.")
    )
    for path in ("/static/..%2Fapp.py", "/static/../app.py", "/static/passwd", "/etc/passwd", "//etc/passwd"):
        assert client.get(path).status_code == 404
    assert client.get("/api/models/rings/predict").status_code == 405


def test_files_of_molecules_are_read_like_those_of_ssread_predict(server, models, tmp_path):
    table = pd.DataFrame({"name": [f"m{n}" for n in range(4)], "text": [*SMILES[:3], "C1CC"]})
    table.to_csv(tmp_path / "some.csv", index=False)
    table.to_parquet(tmp_path / "some.parquet")
    expected = predict(models[0], tmp_path / "some.csv", smiles="text", id="name")
    for name in ("some.csv", "some.parquet"):
        query = {"name": name, "smiles": "text", "id": "name"}
        content = (tmp_path / name).read_bytes()
        rows = server.client.post("/api/models/rings/file/predict", params=query, content=content).json()["rows"]
        assert [row["id"] for row in rows] == ["m0", "m1", "m2", "m3"]
        assert rows[3]["problem"] == "RDKit cannot read it"
        assert [row["class"] for row in rows] == [*expected["class"][:3], None]


@pytest.mark.parametrize(
    ("name", "content", "status", "sentence"),
    [
        ("some.csv", b"a,b\n1,2\n", 422, "some.csv has no column 'smiles'"),
        ("some.csv", b"smiles\n" + b"C\n" * 61, 413, "some.csv has more than 60 molecules"),
        pytest.param("some.csv", b"smiles\n" + b"C" * 5001, 413, "of line 2 has 5001 characters", id="long"),
        ("some.csv", b"", 422, "is empty"),
        ("some.csv", b"\xff\xfe\x00", 422, "some.csv"),
        ("some.parquet", b"PAR1", 422, "some.parquet cannot be read as a Parquet file"),
        pytest.param("some.parquet", NO_ROWS, 422, "some.parquet has no molecules", id="no rows"),
        pytest.param("some.parquet", MANY_ROWS, 413, "some.parquet has more than 60 molecules", id="many rows"),
        pytest.param("some.parquet", SWOLLEN, 413, "has 101000000 characters", id="swollen"),
        ("some.sdf", b"nonsense", 422, "some.sdf has no molecule block"),
        ("some.csv.gz", b"", 422, "'some.csv.gz' is not read: send a table of molecules (.csv,"),
        ("model.pkl", b"", 422, "or a graph (.graphml or .json)."),
        ("../../some.csv", b"", 422, "is not that of a file alone: leave out its folders."),
        ("some.json", b"[" * 100_000, 422, "some.json cannot be read as node-link JSON"),
        ("some.graphml", b"<!DOCTYPE x [<!ENTITY a SYSTEM 'file:///etc/passwd'>]><x>&a;</x>", 422, "document type"),
    ],
)
def test_files_that_cannot_be_read_get_a_sentence(server, name, content, status, sentence):
    answer = server.client.post("/api/models/rings/file/predict", params={"name": name}, content=content)
    assert (answer.status_code, sentence in answer.json()["detail"]) == (status, True), answer.text
    assert "/tmp" not in answer.text


@pytest.mark.parametrize("kind", ["application/json", "text/csv", "application/octet-stream", "nonsense", ""])
def test_a_file_is_taken_whatever_its_content_type(server, kind):
    client, headers = server.client, {"Content-Type": kind}
    graph = json.dumps(nx.node_link_data(networks()[0], edges="links")).encode()
    for model, name, content in (("rings", "some.csv", b"smiles\nCCO\n"), ("graphs", "g.json", graph)):
        sent = client.post(f"/api/models/{model}/file/predict?name={name}", content=content, headers=headers)
        assert sent.status_code == 200
        assert sent.json()["rows"][0]["problem"] is None
    large = client.post("/api/models/rings/file/predict?name=a.csv", content=b"C" * 300_000, headers=headers)
    assert large.status_code == 413


def test_sentences_about_graphs_have_the_names_that_the_client_knows(server):
    good, untyped = nx.node_link_data(networks()[0], edges="links"), {"nodes": [{"id": 0}], "links": []}
    reason = "has no value for 'type'; its attributes are none."
    rows = server.ask("predict", model="graphs", graphs=[good, untyped, {}]).json()["rows"]
    assert [row["id"] for row in rows] == ["graph 0", "graph 1", "graph 2"]
    assert rows[1]["problem"] == f"node 0 of graph 1 {reason}"
    assert rows[2]["problem"].startswith("graph 2 cannot be read as node-link JSON")
    for answer, sentence in (
        (server.ask("predict", model="graphs", graphs=[untyped]), f"node 0 of graph 0 {reason}"),
        (server.client.post("/api/models/graphs/file/predict?name=g.json", json=untyped), f"node 0 of g.json {reason}"),
    ):
        assert answer.json() == {"detail": f"The graph cannot be used: {sentence}"}
    none = server.ask("predict", model="graphs", graphs=[untyped] * 2).json()["detail"]
    assert none == f"None of the 2 graphs can be used: node 0 of graph 0 {reason}"
    for graphs, subject in (([good], "graph 0"), ([good, good], "The request")):
        told = server.ask("predict", model="rings", graphs=graphs).json()["detail"]
        assert told.startswith(f"{subject} has no edge features")


def test_other_graphs_are_sent_as_json_or_as_a_file(server):
    graphs = [nx.node_link_data(graph, edges="links") for graph in networks()[:3]]
    rows = server.ask("predict", model="graphs", graphs=graphs).json()["rows"]
    assert [row["problem"] for row in rows] == [None] * 3
    content = json.dumps(graphs[1]).encode()
    sent = server.client.post("/api/models/graphs/file/explain", params={"name": "star.json"}, content=content)
    (row,) = sent.json()["rows"]
    assert row["prediction"]["id"] == "star.json"
    expected = {**rows[1], "id": "star.json"}
    assert row["prediction"].keys() == expected.keys()
    for name, value in row["prediction"].items():  # beside other graphs, numbers are rounded differently
        assert value == (pytest.approx(expected[name], rel=1e-5) if isinstance(value, float) else expected[name])
    wrong = server.ask("predict", model="graphs", smiles="CCO")
    assert wrong.status_code == 422
    assert "feature" in wrong.json()["detail"]


def test_the_models_their_cards_and_the_schema_are_told(server):
    first, second, *_ = [ModelInfo.model_validate(info) for info in server.client.get("/api/models").json()]
    assert (first.name, first.task, first.outputs, first.calibrated) == ("rings", "classification", ["no", "yes"], True)
    assert (second.task, second.molecules, first.molecules) == ("regression", False, True)
    assert "<h1>Model card</h1>" in first.card
    assert [info["columns"] for info in server.client.get("/api/models").json()] == [[], [], ["length"], []]
    schema = server.client.get("/api/openapi.json").json()
    assert {f"/api/models/{{model}}/{what}" for what in ("predict", "embed", "explain", "change")} < set(
        schema["paths"]
    )
    assert schema["components"]["schemas"]["PredictAsk"]["properties"]["coverage"]


def test_health_readiness_and_metrics(server):
    assert server.client.get("/health").json() == {"status": "ok"}
    assert server.client.get("/ready").json() == {"status": "ready"}
    server.ask("predict", smiles="CCO")
    text = server.client.get("/metrics").text
    assert 'ssread_requests_total{route="/api/models/{model}/predict",status="200"}' in text
    assert 'ssread_batch_items_count{model="rings",what="predict"}' in text


def test_answers_have_strict_headers_and_other_sites_and_names_are_refused(server):
    answer = server.client.get("/")
    policy = answer.headers["content-security-policy"]
    assert "default-src 'none'" in policy
    assert "unsafe" not in policy
    assert answer.headers["x-content-type-options"] == "nosniff"
    elsewhere = server.client.post("/api/models/rings/predict", json={}, headers={"Origin": "https://evil.example"})
    assert elsewhere.status_code == 403
    rebound = server.client.get("/api/models", headers={"Host": "evil.example"})
    assert (rebound.status_code, "only to this machine" in rebound.json()["detail"]) == (403, True)


def test_a_chunked_body_is_limited_too(server):
    def endless():
        for _ in range(1000):
            yield b" " * 10_000

    try:
        status = server.client.post("/api/models/rings/predict", content=endless()).status_code
    except httpx.WriteError:  # the server closed the connection, as it should
        status = 413
    assert status == 413


def test_nonsense_instead_of_http_does_not_hurt(server):
    host, port = server.address.removeprefix("http://").split(":")
    with socket.create_connection((host, int(port))) as connection:
        connection.sendall(b"\x16\x03\x01 nonsense\r\n\r\n")
        connection.recv(1000)
    assert server.client.get("/health").status_code == 200


def test_the_editor_is_the_file_of_its_package(server):
    """So that nobody has to trust a compressed file: ``npm pack openchemlib@9.25.0``, dist/openchemlib.js."""
    found = server.client.get("/static/openchemlib.js")
    assert found.headers["content-type"].startswith("text/javascript")
    assert sha256(found.content).hexdigest() == "7c76547bdb940652ce5eb412e305e110065a9b641ebe0ae975509ed573940f5d"
