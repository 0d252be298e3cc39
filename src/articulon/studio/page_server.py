"""Server of the pages. It is a viser server, which can be reached only from this machine unless a host is given."""

from __future__ import annotations

import contextlib
import errno
import io
import re
import socket
import threading
import time
from collections.abc import Iterator
from typing import TYPE_CHECKING

import rich

from articulon.errors import ArticulonError

if TYPE_CHECKING:
    import viser

LOOPBACK = "127.0.0.1"
"""Default host: pages are served to this machine only."""
OURS = (LOOPBACK, "localhost")
"""Hosts that only programs on this machine can reach; requests may use both names."""
EVERYWHERE = ("0.0.0.0", "::")
"""Hosts that mean all addresses of a machine."""
USUAL_PORT = 8080
"""Port that is tried first by default."""
MISSING = "this needs viser: pip install 'articulon[studio]'"


def check_port(port: int | None, host: str = LOOPBACK) -> None:
    """Raise ArticulonError if viser is not installed, for a port that is taken, and for a host that is not an address
    of this machine. The port None means any free port."""
    try:
        import viser  # noqa: F401
    except ImportError:
        raise ArticulonError(MISSING) from None
    if port is None:
        return
    with socket.socket(socket.AF_INET6 if ":" in host else socket.AF_INET) as probe:
        # With this option, ports of servers that have just ended count as free.
        probe.setsockopt(socket.SOL_SOCKET, socket.SO_REUSEADDR, 1)
        try:
            probe.bind((host, port))
        except PermissionError:
            raise ArticulonError(f"port {port} is for programs of the system; give one above 1023 (port=...)") from None
        except OSError as error:
            if error.errno in (errno.EADDRNOTAVAIL, socket.EAI_NONAME):
                raise ArticulonError(f"host {host} is not an address of this machine (host=...)") from None
            raise ArticulonError(_taken(port)) from None


def check_token(token: str | None) -> None:
    """Raise ArticulonError for a token that is not valid in addresses and cookies."""
    if token is not None and not re.fullmatch(r"[A-Za-z0-9_-]+", token):
        raise ArticulonError("a token has letters (a-z, A-Z), digits, - and _ alone, and one at least (token=...)")


def _taken(port: int) -> str:
    return f"port {port} is in use by another program; give another one (port=...), or none for one that is free"


def server_at(port: int | None, host: str = LOOPBACK, token: str | None = None) -> viser.ViserServer:
    """Start a server for pages. Pages of other sites in the same browser cannot reach it.

    Parameters
    ----------
    port
        Port; None for 8080, or the next free port.
    host
        Address of this machine to listen at; by default only programs on this machine can reach it.
    token
        Token that each page must send; required for a host that other machines can reach.

    Raises
    ------
    ArticulonError
        In the cases of :func:`check_port` and :func:`check_token`, and if no token is given for a host that other
        machines can reach.
    """
    check_token(token)
    if host not in OURS and not token:
        raise ArticulonError(f"host {host}: others reach it, so that pages need a token (token=...)")
    check_port(port, host)
    import viser

    from articulon.studio.page_access import Guard, guarding

    class Server(viser.ViserServer):
        """Server without public addresses. Otherwise any page could ask viser for a public address, which leads to this
        server through a relay on the Internet."""

        guard: Guard
        """Guard that has admitted the pages."""

        def request_share_url(self, verbose: bool = True) -> str | None:
            return None

    own = OURS if host in OURS else (host, socket.gethostname(), socket.getfqdn(), *OURS)
    guard = Guard(token, own, addresses=host in EVERYWHERE, packed=host not in OURS)
    with silent(), guarding(guard):
        server = Server(host=host, port=USUAL_PORT if port is None else port, verbose=False)
    guard.port, server.guard = server.get_port(), guard
    if port is not None and server.get_port() != port:
        stop(server)
        raise ArticulonError(_taken(port))
    return server


def drawn_by_software(server: viser.ViserServer) -> bool:
    """Return whether a page of the server is drawn without a graphics card."""
    guard = getattr(server, "guard", None)
    return guard is not None and guard.by_software


def ticks(closing: threading.Event, rate: float) -> Iterator[float]:
    """Yield the wall time since the last tick [s], ``rate`` times a second on average, until ``closing`` is set. After
    a late tick the next tick comes sooner, but missed ticks are left out."""
    before = due = time.monotonic()
    while True:
        due = max(due + 1.0 / rate, time.monotonic() - 1.0 / rate)
        if closing.wait(max(0.0, due - time.monotonic())):
            return
        now = time.monotonic()
        yield now - before
        before = now


def stop(server: viser.ViserServer) -> None:
    """Stop a server, without its closing message."""
    with silent():
        server.stop()


@contextlib.contextmanager
def silent() -> Iterator[None]:
    """Suppress viser's announcements, because no option turns them off: on the standard output, and in notebooks, which
    get them in another way."""
    console = rich.get_console()
    before, console.quiet = console.quiet, True
    try:
        with contextlib.redirect_stdout(io.StringIO()):
            yield
    finally:
        console.quiet = before


def address(server: viser.ViserServer) -> str:
    """Return the address of the page for a browser."""
    host = server.get_host()
    named = socket.gethostname() if host in EVERYWHERE else f"[{host}]" if ":" in host else host
    return f"http://{named}:{server.get_port()}"
