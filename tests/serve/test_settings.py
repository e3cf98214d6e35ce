"""Where a server listens and what it takes."""

import socket

import pytest
from helpers.small_models import graphs, untrained

from ssread.errors import InputError
from ssread.serve.settings import Limits, check_address, is_loopback, name_models, token_for


def test_an_address_that_others_reach_needs_a_token(monkeypatch):
    monkeypatch.delenv("SSREAD_TOKEN", raising=False)
    assert token_for("127.0.0.1") is token_for("::1") is token_for("localhost") is None
    first, second = token_for("0.0.0.0"), token_for("192.168.1.4")
    assert len(first) >= 32
    assert first != second
    monkeypatch.setenv("SSREAD_TOKEN", "a-token-of-my-own")
    assert token_for("127.0.0.1") == token_for("0.0.0.0") == "a-token-of-my-own"


@pytest.mark.parametrize("token", ["", "short", "with blanks in the middle", "x" * 15, "ü" * 20, "line\n" * 5])
def test_a_token_that_could_be_guessed_or_sent_wrongly_is_refused(monkeypatch, token):
    monkeypatch.setenv("SSREAD_TOKEN", token)
    with pytest.raises(InputError, match="SSREAD_TOKEN must have 16 or more"):
        token_for("0.0.0.0")


def test_names_that_only_look_like_this_machine_are_not():
    assert not any(is_loopback(name) for name in ("localhost.evil.example", "127.0.0.1.evil.example", "", "0.0.0.0"))


def test_models_are_named_after_their_folders(tmp_path):
    model = untrained(graphs(4))
    for place in ("a/one", "b/one", "b/two"):
        (tmp_path / place).parent.mkdir(exist_ok=True)
        model.save(tmp_path / place)
    assert list(name_models([tmp_path / "a/one", tmp_path / "b/two"])) == ["one", "two"]
    with pytest.raises(InputError, match="have the same name: rename one of the folders"):
        name_models([tmp_path / "a/one", tmp_path / "b/one"])
    with pytest.raises(InputError, match=r"has no config\.json"):
        name_models([tmp_path])


@pytest.mark.parametrize(
    "wrong", [{"atoms": 0}, {"seconds": -1.0}, {"body": 0}, {"seconds": float("nan")}, {"body": float("inf")}]
)
def test_limits_are_positive(wrong):
    with pytest.raises(InputError, match="must be positive"):
        Limits(**wrong)


@pytest.mark.parametrize("host", ["", "\0", "\udc80", "x" * 300, "a..b", "203.0.113.7"])
def test_an_address_that_is_not_of_this_machine_is_refused(host):
    with pytest.raises(InputError, match="The server cannot listen on host") as caught:
        check_address(host, 0)
    assert str(caught.value).endswith(".")


def test_a_port_that_is_in_use_is_refused():
    with socket.create_server(("127.0.0.1", 0)) as taken:
        port = taken.getsockname()[1]
        with pytest.raises(InputError, match=f"port {port}: Address already in use"):
            check_address("127.0.0.1", port)
    check_address("127.0.0.1", port)
    check_address("localhost", 0)
