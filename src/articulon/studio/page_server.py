"""What serves pages: viser, for this machine alone unless a host is named."""

from __future__ import annotations

import contextlib
import errno
import io
import re
import socket
from collections.abc import Iterator
from typing import TYPE_CHECKING

import rich

from articulon.errors import ArticulonError

if TYPE_CHECKING:
    import viser

LOOPBACK = "127.0.0.1"
"""Pages are for this machine alone."""
OURS = (LOOPBACK, "localhost")
"""Hosts whose pages may ask for what is shown."""
EVERYWHERE = ("0.0.0.0", "::")
"""All addresses of a machine."""
USUAL_PORT = 8080
"""The first that is tried where none is asked for."""
MISSING = "this needs viser: pip install 'articulon[studio]'"


def check_port(port: int | None, host: str = LOOPBACK) -> None:
    """Raises ArticulonError where viser is not installed, and for a port that is taken or a host that is none of
    this machine's; None is for any port that is free."""
    try:
        import viser  # noqa: F401
    except ImportError:
        raise ArticulonError(MISSING) from None
    if port is None:
        return
    with socket.socket(socket.AF_INET6 if ":" in host else socket.AF_INET) as probe:
        # Ports of servers that have just ended are free.
        probe.setsockopt(socket.SOL_SOCKET, socket.SO_REUSEADDR, 1)
        try:
            probe.bind((host, port))
        except PermissionError:
            raise ArticulonError(f"port {port} is for programs of the system; give one above 1023 (port=...)") from None
        except OSError as error:
            if error.errno in (errno.EADDRNOTAVAIL, socket.EAI_NONAME):
                raise ArticulonError(f"host {host} is no address of this machine (host=...)") from None
            raise ArticulonError(_taken(port)) from None


def check_token(token: str | None) -> None:
    """Raises ArticulonError for a token that is none in addresses and cookies."""
    if token is not None and not re.fullmatch(r"[A-Za-z0-9_-]+", token):
        raise ArticulonError("a token has letters (a-z, A-Z), digits, - and _ alone, and one at least (token=...)")


def _taken(port: int) -> str:
    return f"port {port} is in use by another program; give another one (port=...), or none for one that is free"


def server_at(port: int | None, host: str = LOOPBACK, token: str | None = None) -> viser.ViserServer:
    """A server for pages, which other sites' pages in the same browser cannot reach.

    Parameters
    ----------
    port
        Its port; None for 8080, or the next that is free.
    host
        The address of this machine at which it listens; by default only programs on this machine reach it.
    token
        That each page must bring; a host that others reach is refused without one.

    Raises
    ------
    ArticulonError
        As :func:`check_port` and :func:`check_token`, and for a host that others reach without a token.
    """
    check_token(token)
    if host not in OURS and not token:
        raise ArticulonError(f"host {host}: others reach it, so that pages need a token (token=...)")
    check_port(port, host)
    import viser

    from articulon.studio.page_access import Guard, guarding

    class Server(viser.ViserServer):
        """Any page may ask a server of viser's for a public address, which leads here past a relay on the Internet."""

        def request_share_url(self, verbose: bool = True) -> str | None:
            return None

    own = OURS if host in OURS else (host, socket.gethostname(), socket.getfqdn(), *OURS)
    guard = Guard(token, own, addresses=host in EVERYWHERE)
    with silent(), guarding(guard):
        server = Server(host=host, port=USUAL_PORT if port is None else port, verbose=False)
    guard.port = server.get_port()
    if port is not None and server.get_port() != port:
        stop(server)
        raise ArticulonError(_taken(port))
    return server


def stop(server: viser.ViserServer) -> None:
    """End a server, without its farewell."""
    with silent():
        server.stop()


@contextlib.contextmanager
def silent() -> Iterator[None]:
    """viser announces itself, whatever it is asked: on the standard output, and in a notebook past it."""
    console = rich.get_console()
    before, console.quiet = console.quiet, True
    try:
        with contextlib.redirect_stdout(io.StringIO()):
            yield
    finally:
        console.quiet = before


def address(server: viser.ViserServer) -> str:
    """Where a browser finds its page."""
    host = server.get_host()
    named = socket.gethostname() if host in EVERYWHERE else f"[{host}]" if ":" in host else host
    return f"http://{named}:{server.get_port()}"
