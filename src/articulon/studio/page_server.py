"""What serves pages: viser, for this machine alone."""

from __future__ import annotations

import contextlib
import io
import socket
from typing import TYPE_CHECKING, Any
from urllib.parse import urlsplit

from articulon.errors import ArticulonError

if TYPE_CHECKING:
    import viser

LOOPBACK = "127.0.0.1"
"""Pages are for this machine alone."""
OURS = (LOOPBACK, "localhost")
"""Hosts whose pages may ask for what is shown."""
USUAL_PORT = 8080
"""The first that is tried where none is asked for."""
MISSING = "this needs viser: pip install 'articulon[studio]'"
REFUSED = 1008
"""Why a connection is closed, as WebSockets number it: it is against a policy."""


def check_port(port: int | None) -> None:
    """Raises ArticulonError where viser is not installed, and for a port that is taken; None is for any that is
    free."""
    try:
        import viser  # noqa: F401
    except ImportError:
        raise ArticulonError(MISSING) from None
    if port is None:
        return
    with socket.socket() as probe:
        # Ports of servers that have just ended are free.
        probe.setsockopt(socket.SOL_SOCKET, socket.SO_REUSEADDR, 1)
        try:
            probe.bind((LOOPBACK, port))
        except PermissionError:
            raise ArticulonError(f"port {port} is for programs of the system; give one above 1023 (port=...)") from None
        except OSError:
            raise ArticulonError(_taken(port)) from None


def _taken(port: int) -> str:
    return f"port {port} is in use by another program; give another one (port=...), or none for one that is free"


def server_at(port: int | None) -> viser.ViserServer:
    """A server for pages on this machine, which other sites' pages in the same browser cannot reach.

    Parameters
    ----------
    port
        Its port; None for 8080, or the next that is free.

    Raises
    ------
    ArticulonError
        As :func:`check_port`.
    """
    check_port(port)
    import viser

    # It announces itself on the standard output, whatever it is asked.
    with contextlib.redirect_stdout(io.StringIO()):
        server = viser.ViserServer(host=LOOPBACK, port=USUAL_PORT if port is None else port, verbose=False)
    _refuse_strangers(server)
    if port is not None and server.get_port() != port:
        stop(server)
        raise ArticulonError(_taken(port))
    return server


def _refuse_strangers(server: viser.ViserServer) -> None:
    """Closes connections of pages that come from elsewhere, before anything is sent: a browser lets every site open a
    connection to this machine, and tells where it comes from."""
    sockets = server._websock_server

    async def check(client: Any) -> None:
        connection = sockets._live_connections[client.client_id]
        request = connection.request
        origin = None if request is None else request.headers.get("Origin")
        if origin is not None and urlsplit(origin).hostname not in OURS:
            await connection.close(REFUSED, "pages of other sites are not served")

    sockets.on_client_connect(check)


def stop(server: viser.ViserServer) -> None:
    """End a server, without its farewell."""
    with contextlib.redirect_stdout(io.StringIO()):
        server.stop()


def address(server: viser.ViserServer) -> str:
    """Where a browser finds its page."""
    return f"http://{LOOPBACK}:{server.get_port()}"
