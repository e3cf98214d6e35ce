import matplotlib as mpl

from ssread.common.figure_style import PALETTE, drawing, save


def picture(folder):
    with drawing(4, 3) as figure:
        axis = figure.subplots()
        axis.errorbar([0, 1], [2, 3], [0.1, 0.2], color=PALETTE[0], label="line")
        axis.legend()
        return [path.read_bytes() for path in save(figure, folder / "picture")]


def test_the_same_data_give_the_same_bytes_whatever_the_user_has_set(tmp_path):
    first = picture(tmp_path)
    with mpl.rc_context({"svg.hashsalt": None, "font.size": 20, "lines.linewidth": 5, "savefig.bbox": "tight"}):
        again = picture(tmp_path)
    assert first == again
    svg, png = first
    assert svg.startswith(b"<?xml")
    assert b"<dc:date>" not in svg
    assert png[1:4] == b"PNG"
    assert {path.name for path in tmp_path.iterdir()} == {"picture.svg", "picture.png"}


def test_the_users_settings_are_theirs_again_afterwards(tmp_path):
    with mpl.rc_context({"font.size": 20}):
        picture(tmp_path)
        assert mpl.rcParams["font.size"] == 20
