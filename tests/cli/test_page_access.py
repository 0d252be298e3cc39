"""Who may open a page: what a browser says of where it asks, the token, and what viser would let any page ask for."""

from __future__ import annotations

import urllib.error
import urllib.request
from collections.abc import Iterator
from typing import Any

import pytest
from typer.testing import CliRunner
from viser import _messages
from websockets.datastructures import Headers
from websockets.http11 import Request

import articulon as ar
from articulon.cli import app
from articulon.studio.page_access import SOFTWARE_PATH, Guard
from articulon.studio.page_server import OURS, drawn_by_software, server_at, stop


def guard(token: str | None = None, port: int | None = 8080, *, names: tuple[str, ...] = OURS) -> Guard:
    """One of a server at a port."""
    made = Guard(token, names, addresses=names is not OURS)
    made.port = port
    return made


def asking(*headers: tuple[str, str], path: str = "/") -> Request:
    """What a browser asks."""
    return Request(path, Headers(headers))


@pytest.mark.parametrize("name", ["127.0.0.1:8080", "localhost:8080", "LOCALHOST:8080"])
def test_pages_of_this_server_are_served(name: str) -> None:
    assert guard().is_known_site(asking(("Host", name)))
    assert guard().is_known_site(asking(("Host", name), ("Origin", f"http://{name.lower()}")))


def test_the_usual_port_is_in_no_address() -> None:
    assert guard(port=80).is_known_site(asking(("Host", "localhost"), ("Origin", "http://localhost")))
    assert not guard().is_known_site(asking(("Host", "localhost")))


@pytest.mark.parametrize(
    "headers",
    [
        # Another program of this machine, at another port.
        [("Host", "localhost:8080"), ("Origin", "http://localhost:3000")],
        [("Host", "localhost:8080"), ("Origin", "http://localhost")],
        [("Host", "localhost:8080"), ("Origin", "null")],
        [("Host", "localhost:8080"), ("Origin", "https://example.com")],
        [("Host", "localhost:8080"), ("Origin", "http://127.0.0.1:8080")],
        # A name of another site that has been made to lead here.
        [("Host", "rebound.example.com:8080")],
        [("Host", "rebound.example.com:8080"), ("Origin", "http://rebound.example.com:8080")],
        [("Host", "localhost:3000")],
        [("Host", "localhost:port")],
        [("Host", "[::1")],
        [("Host", "")],
        [],
        [("Host", "localhost:8080"), ("Host", "rebound.example.com:8080")],
        [("Host", "localhost:8080"), ("Origin", "http://localhost:8080"), ("Origin", "https://example.com")],
    ],
)
def test_other_sites_and_other_names_are_refused(headers: list[tuple[str, str]]) -> None:
    assert not guard().is_known_site(asking(*headers))


def test_a_server_for_others_answers_to_its_addresses_and_names_alone() -> None:
    for name in ("192.168.7.5:8080", "[fe80::1]:8080", "lab:8080"):
        assert guard(names=("lab",)).is_known_site(asking(("Host", name), ("Origin", f"http://{name}")))
    assert not guard(names=("lab",)).is_known_site(asking(("Host", "rebound.example.com:8080")))


def test_nothing_is_served_before_the_port_is_known() -> None:
    assert not guard(port=None).is_known_site(asking(("Host", "localhost")))


def test_a_token_is_found_among_whatever_cookies() -> None:
    odd = 'odd[name]="x; {"json": 1}; =; alone; '
    assert guard("a-secret").has_token(asking(("Cookie", f"{odd}articulon_token_8080=a-secret; last=1")))
    assert guard("a-secret").has_token(asking(("Cookie", "first=1"), ("Cookie", "articulon_token_8080=a-secret")))
    assert guard("a-secret").has_token(asking(path="/?token=a-secret"))
    # The cookie of another studio, at another port, is in nobody's way.
    both = "articulon_token_8081=another; articulon_token_8080=a-secret"
    assert guard("a-secret").has_token(asking(("Cookie", both)))
    for cookie in ("articulon_token_8081=a-secret", "articulon_token_8080=", "articulon_token_8080=ÿ", odd):
        assert not guard("a-secret").has_token(asking(("Cookie", cookie)))
    assert not guard("a-secret").has_token(asking())


@pytest.mark.parametrize("token", ["", " ", "a b", "a;b", "a&b", "ä", "a\n", "%41"])
def test_a_token_that_an_address_or_a_cookie_cannot_hold_is_refused(token: str) -> None:
    with pytest.raises(ar.ArticulonError, match="a token has letters"):
        server_at(None, token=token)


def test_the_command_says_what_a_token_may_be() -> None:
    result = CliRunner().invoke(app, ["studio", "double-pendulum", "--no-open", "--token", "a;b"])
    assert result.exit_code == 2
    assert "a token has letters (a-z, A-Z), digits, - and _ alone, and one at least (--token TEXT)" in result.stderr


@pytest.fixture
def server() -> Iterator[object]:
    made = server_at(None)
    yield made
    stop(made)


def test_no_page_is_given_a_public_address(server: object, monkeypatch: pytest.MonkeyPatch) -> None:
    """Whatever viser does when a page asks for one ends without a tunnel."""
    opened: list[object] = []
    monkeypatch.setattr("viser._tunnel.ViserTunnel.__init__", lambda *given: opened.append(given))
    (handler,) = server._websock_server._incoming_handlers[_messages.ShareUrlRequest]  # type: ignore[attr-defined]
    handler(0, _messages.ShareUrlRequest())
    server._thread_executor.shutdown(wait=True)  # type: ignore[attr-defined]
    assert opened == []


@pytest.mark.parametrize("packed", [True, False], ids=["network", "this machine"])
def test_pages_are_compressed_only_where_a_network_lies_between(packed: bool) -> None:
    made = Guard(None, OURS, packed=packed)
    made.port = 8080
    asked: list[list[str]] = []

    def answer(_: Any, request: Request) -> None:
        asked.append(request.headers.get_all("Accept-Encoding"))

    headers = [("Host", "localhost:8080"), ("Accept-Encoding", "gzip"), ("Accept-Encoding", "br")]
    made.around(answer)(None, asking(*headers))
    assert asked == [["gzip", "br"] if packed else []]


def test_the_first_page_of_this_machine_comes_whole_and_not_compressed(server: Any) -> None:
    asked = urllib.request.Request(f"http://127.0.0.1:{server.get_port()}", headers={"Accept-Encoding": "gzip"})
    with urllib.request.urlopen(asked) as answer:
        body = answer.read()
    assert answer.headers["Content-Encoding"] in (None, "identity")
    assert int(answer.headers["Content-Length"]) == len(body) and b"<title>articulon</title>" in body


def test_a_page_says_that_it_draws_by_software(server: Any) -> None:
    address_ = f"http://127.0.0.1:{server.get_port()}{SOFTWARE_PATH}"
    stranger = urllib.request.Request(address_, headers={"Host": "elsewhere.example:80"})
    with pytest.raises(urllib.error.HTTPError, match="403"):
        urllib.request.urlopen(stranger)
    assert not drawn_by_software(server)
    with urllib.request.urlopen(address_) as answer:
        assert answer.status == 204 and answer.read() == b""
    assert drawn_by_software(server)
