"""Access control for pages, and detection of browsers that draw by software. Requests of browsers pass through it
before they reach viser's server.
"""

from __future__ import annotations

import contextlib
import gzip
import hmac
import http
import threading
from collections.abc import Callable, Iterator
from ipaddress import ip_address
from typing import Any
from urllib.parse import parse_qs, urlsplit

from websockets.datastructures import Headers
from websockets.http11 import Request, Response

COOKIE = "articulon_token"
"""Name of the cookie that keeps the token in a browser, so that addresses need not contain the token. The port is
appended, because browsers send the cookies of one port to all ports."""
NO_TOKEN = "This page needs the token that the command printed: open the whole address, including ?token=...\n"
STRANGER = (
    "Nothing is served to pages of other sites, nor under other names than the command printed: open the address that "
    "it printed.\n"
)
NO_WEBGL = (
    "articulon draws with WebGL 2, which this browser does not have, or has switched off. Switch on hardware "
    "acceleration in its settings, or open this address in another browser. The controls work without it."
)
SOFTWARE_PATH = "/articulon-draws-by-software"
"""Path that a page requests if its browser draws without a graphics card; the answer is empty."""
SCRIPT = """<script>
addEventListener("DOMContentLoaded", () => {
  let gl = null;
  try { gl = document.createElement("canvas").getContext("webgl2"); } catch (error) { gl = null; }
  if (gl) {
    const names = gl.getExtension("WEBGL_debug_renderer_info");
    const drawn = String(gl.getParameter(names ? names.UNMASKED_RENDERER_WEBGL : gl.RENDERER));
    gl.getExtension("WEBGL_lose_context")?.loseContext();
    if (/swiftshader|llvmpipe|softpipe|software|basic render/i.test(drawn)) fetch("PATH").catch(() => {});
    return;
  }
  const note = document.createElement("div");
  note.id = "articulon-no-webgl";
  note.setAttribute("role", "alert");
  note.textContent = "TEXT";
  note.style.cssText = "position:fixed;left:0;right:0;top:0;z-index:9999;padding:1em 1.5em;background:#fff3cd;" +
    "color:#332701;font:16px/1.4 system-ui,sans-serif;border-bottom:1px solid #e0c36a";
  document.body.appendChild(note);
});
</script>""".replace("TEXT", NO_WEBGL).replace("PATH", SOFTWARE_PATH)
HTTP_PORT = 80
"""Port of an address that names no port."""
Answer = Callable[[Any, Request], Response | None]


class Guard:
    """Checks every request before viser sees it.

    Parameters
    ----------
    token
        Token that each page must send; None if no token is required.
    names
        Names and addresses of this machine that requests may use.
    addresses
        Whether requests may use any numeric address. This is safe: another site can make its own name resolve to this
        machine, but cannot make a browser send a numeric address for that name.
    packed
        Whether pages are compressed before they are sent. This takes a tenth of a second for the first page, and is
        useful only if the browser is on another machine.
    """

    def __init__(
        self, token: str | None, names: tuple[str, ...], *, addresses: bool = False, packed: bool = True
    ) -> None:
        self.token, self.names, self.addresses = token, tuple(name.lower() for name in names), addresses
        self.port: int | None = None
        """Port of the server; until it is known, all requests are rejected."""
        self.by_software = False
        """Whether a page has reported that its browser draws without a graphics card."""
        self.packed = packed
        self._pages: dict[bytes, bytes] = {}

    def around(self, answer: Answer) -> Answer:
        """Wrap the function that answers requests with the checks of this guard."""

        def guarded(connection: Any, request: Request) -> Response | None:
            if not self.is_known_site(request):
                return _refusal(STRANGER)
            if not self.has_token(request):
                return _refusal(NO_TOKEN)
            if urlsplit(request.path).path == SOFTWARE_PATH:
                self.by_software = True
                return Response(http.HTTPStatus.NO_CONTENT, "No Content", Headers({"Content-Length": "0"}))
            if not self.packed:
                with contextlib.suppress(KeyError):
                    del request.headers["Accept-Encoding"]
            response = answer(connection, request)
            if response is not None and "text/html" in response.headers.get("Content-Type", ""):
                self._complete(response)
            return response

        return guarded

    def is_known_site(self, request: Request) -> bool:
        """Return whether a request addresses this server by one of its names and comes from a page of this server.
        Browsers state the origin of a page when it opens a connection."""
        asked, origins = request.headers.get_all("Host"), request.headers.get_all("Origin")
        if len(asked) != 1 or len(origins) > 1:
            return False
        try:
            name, port = urlsplit(f"//{asked[0]}").hostname, urlsplit(f"//{asked[0]}").port
            site = urlsplit(origins[0]).netloc if origins else asked[0]
        except ValueError:
            return False
        if name is None or self.port is None or (HTTP_PORT if port is None else port) != self.port:
            return False
        known = name in self.names or (self.addresses and _is_address(name))
        return known and site.lower() == asked[0].lower()

    @property
    def cookie(self) -> str:
        """Name of the cookie with the token."""
        return f"{COOKIE}_{self.port}"

    def has_token(self, request: Request) -> bool:
        """Return whether a request has the token, in its address or in a cookie."""
        if self.token is None:
            return True
        brought = parse_qs(urlsplit(request.path).query).get("token", [])
        # Cookies are parsed here, because libraries drop all cookies if one of them, perhaps of another program, is
        # malformed.
        for cookie in ";".join(request.headers.get_all("Cookie")).split(";"):
            name, _, value = cookie.strip().partition("=")
            if name == self.cookie:
                brought.append(value)
        return any(hmac.compare_digest(one.encode(errors="surrogateescape"), self.token.encode()) for one in brought)

    def _complete(self, response: Response) -> None:
        """Add the title of articulon to the page, and a note for browsers that cannot draw it."""
        packed = response.headers.get("Content-Encoding") == "gzip"
        body = bytes(response.body)
        if body not in self._pages:
            text = (gzip.decompress(body) if packed else body).decode()
            text = text.replace("<title>Viser</title>", "<title>articulon</title>", 1)
            text = text.replace("</head>", f"{SCRIPT}</head>", 1) if "</head>" in text else SCRIPT + text
            whole = text.encode()
            self._pages[body] = gzip.compress(whole) if packed else whole
        response.body = self._pages[body]
        del response.headers["Content-Length"]
        response.headers["Content-Length"] = str(len(response.body))
        response.headers["Referrer-Policy"] = "no-referrer"
        response.headers["X-Frame-Options"] = "SAMEORIGIN"
        if self.token is not None:
            response.headers["Set-Cookie"] = f"{self.cookie}={self.token}; Path=/; HttpOnly; SameSite=Strict"


def _is_address(name: str) -> bool:
    try:
        ip_address(name)
    except ValueError:
        return False
    return True


def _refusal(text: str) -> Response:
    body = text.encode()
    headers = Headers(
        {"Content-Type": "text/plain; charset=utf-8", "Content-Length": str(len(body)), "Connection": "close"}
    )
    return Response(http.HTTPStatus.FORBIDDEN, "Forbidden", headers, body)


_making = threading.Lock()


@contextlib.contextmanager
def guarding(guard: Guard) -> Iterator[None]:
    """Guard all viser servers that are made in this context. viser has no hook for this. So, while the context is
    active, a guarded function replaces the function of the underlying library that starts listening."""
    import websockets.asyncio.server as library

    serve = library.serve

    def guarded(*given: Any, process_request: Any = None, **more: Any) -> Any:
        inside = None if process_request is None else guard.around(process_request)
        return serve(*given, process_request=inside, **more)

    with _making:
        library.serve = guarded  # type: ignore[assignment, misc]
        try:
            yield
        finally:
            library.serve = serve  # type: ignore[misc]
