"""Figure 8: seconds per epoch against K."""

import dataclasses

import numpy as np
import pandas as pd
import pytest
from helpers.paper_runs import context, printed
from helpers.remote_runner import RemoteRunner

from ssread.data import planted
from ssread.errors import InputError
from ssread.paper import figure8
from ssread.paper.timing import COLUMNS, GLOBAL, POSITIONS


def timed(*cells: tuple[str, str], rounds: int = 3, device: str = "one CPU thread") -> pd.DataFrame:
    """Random timings."""
    rng = np.random.default_rng(0)
    rows = [
        [dataset, arch, k, number, 1 + rng.random(), device]
        for dataset, arch in cells
        for number in range(rounds)
        for k in (GLOBAL, *POSITIONS)
    ]
    return pd.DataFrame(rows, columns=COLUMNS)


def test_ratios_are_those_of_the_same_round(tmp_path):
    """A machine that is busy in one round slows down all its readouts; the median ratio stays the same."""
    times = timed(("NCI1", "gin"))
    times["seconds"] = np.where(times["num_positions"] == GLOBAL, 2.0, 2.5) * np.where(times["round"] == 1, 10, 1)
    folder = tmp_path / "figure8"
    folder.mkdir()
    times.to_csv(folder / "times.csv", index=False)
    made = context(tmp_path, train=False, datasets=[])
    figure8.run(made)
    text = (folder / "figure8.md").read_text()
    assert "| NCI1 | gin | 2 | 1.25 | 1.25 | 1.25 | 1.25 | 1.25 | 3 |" in text
    assert "| DD | gcn | missing |" in text
    assert figure8.page(folder, {}) == text
    assert "one CPU thread" in (folder / "figure8.svg").read_text()
    assert "1.25" in printed(made)


def test_missing_classifiers_are_named_in_the_picture(tmp_path):
    times = timed(("NCI1", "gcn"), ("NCI1", "gunet"))
    svg, png = figure8.draw(times, tmp_path / "figure8")
    assert ">missing: gin, dgcnn, diffpool, sagpool<" in svg.read_text()
    assert ">missing: gcn, gin, dgcnn, diffpool, sagpool, gunet<" in svg.read_text()
    first = svg.read_bytes(), png.read_bytes()
    assert tuple(path.read_bytes() for path in figure8.draw(times, tmp_path / "figure8")) == first


def test_timings_of_two_devices_are_not_mixed(tmp_path):
    folder = tmp_path / "figure8"
    folder.mkdir()
    both = pd.concat([timed(("NCI1", "gcn"), rounds=1, device="another"), timed(("NCI1", "gcn"))])
    both.to_csv(folder / "times.csv", index=False)
    assert figure8.progress(context(tmp_path, datasets=["NCI1"], rows=["gcn"], settings={})) == (18, 18, "timings")
    assert "another" not in figure8.page(folder, {})


def test_nothing_measured_is_drawn_as_missing(tmp_path):
    files = figure8.run(context(tmp_path, train=False, datasets=[]))
    assert "nothing measured yet" in files[0].read_text()


@pytest.mark.parametrize("text", ["", "a,b\n1,2\n", ",".join(COLUMNS) + "\nNCI1,gcn,one,2,3,cpu\n"])
def test_a_file_without_timings_gets_a_sentence(text, tmp_path):
    (tmp_path / "figure8").mkdir()
    (tmp_path / "figure8" / "times.csv").write_text(text)
    with pytest.raises(InputError, match=r"times\.csv is not a file of timings"):
        figure8.progress(context(tmp_path, datasets=[]))


def test_it_is_measured_on_this_machine(tmp_path):
    with pytest.raises(InputError, match="measured on this machine"):
        figure8.run(context(tmp_path, datasets=[], on="ray"))


def test_it_is_measured_on_the_cpu_of_a_machine_without_a_gpu(tmp_path, monkeypatch):
    monkeypatch.setattr("ssread.evaluate.runners.make_runner", lambda *_: RemoteRunner())
    monkeypatch.setattr(figure8, "paper_dataset", lambda name: dataclasses.replace(planted(20), name=name))
    options = {"datasets": ["NCI1"], "rows": ["gcn"], "settings": {"seeds": 1}}
    figure8.run(context(tmp_path, **options))
    assert figure8.progress(context(tmp_path, **options)) == (6, 6, "timings")


@pytest.mark.slow
def test_measured_and_not_measured_again(mirror, tmp_path):
    options = {"datasets": ["NCI1"], "rows": ["gcn"], "settings": {"seeds": 1}}
    figure8.run(context(tmp_path, **options))
    times = (tmp_path / "figure8" / "times.csv").read_bytes()
    assert figure8.progress(context(tmp_path, **options)) == (6, 6, "timings")
    again = context(tmp_path, **options)
    figure8.run(again)
    assert (tmp_path / "figure8" / "times.csv").read_bytes() == times
    assert "round" not in printed(again).split("Figure 8")[0]
