"""Who may open a page, and what a page says where it cannot draw: stands between browsers and viser's server."""

from __future__ import annotations

import contextlib
import gzip
import hmac
import http
import threading
from collections.abc import Callable, Iterator
from http.cookies import CookieError, SimpleCookie
from typing import Any
from urllib.parse import parse_qs, urlsplit

from websockets.datastructures import Headers
from websockets.http11 import Request, Response

COOKIE = "articulon_token"
"""What keeps the token in a browser, so that no address has to."""
NO_TOKEN = "This page needs the token that the command printed: open the address with ?token=... as it stands there.\n"
STRANGER = "Pages of other sites are not served.\n"
NO_WEBGL = (
    "articulon draws with WebGL 2, which this browser does not have, or has switched off. Switch on hardware "
    "acceleration in its settings, or open this address in another browser. The controls work without it."
)
SCRIPT = """<script>
addEventListener("DOMContentLoaded", () => {
  let works = false;
  try { works = !!document.createElement("canvas").getContext("webgl2"); } catch (error) { works = false; }
  if (works) return;
  const note = document.createElement("div");
  note.id = "articulon-no-webgl";
  note.setAttribute("role", "alert");
  note.textContent = "TEXT";
  note.style.cssText = "position:fixed;left:0;right:0;top:0;z-index:9999;padding:1em 1.5em;background:#fff3cd;" +
    "color:#332701;font:16px/1.4 system-ui,sans-serif;border-bottom:1px solid #e0c36a";
  document.body.appendChild(note);
});
</script>""".replace("TEXT", NO_WEBGL)
Answer = Callable[[Any, Request], Response | None]


class Guard:
    """Looks at every request before viser does.

    Parameters
    ----------
    token
        That each page must bring; None for none.
    hosts
        Names of this machine by which pages may have been asked for.
    """

    def __init__(self, token: str | None = None, hosts: tuple[str, ...] | None = None) -> None:
        self.token, self.hosts = token, hosts
        self._pages: dict[bytes, bytes] = {}

    def around(self, answer: Answer) -> Answer:
        """What answers requests, with this before and after it."""

        def guarded(connection: Any, request: Request) -> Response | None:
            if not self.is_known_site(request):
                return _refusal(STRANGER)
            if not self.has_token(request):
                return _refusal(NO_TOKEN)
            response = answer(connection, request)
            if response is not None and "text/html" in response.headers.get("Content-Type", ""):
                self._complete(response)
            return response

        return guarded

    def is_known_site(self, request: Request) -> bool:
        """Whether a request comes from a page of ours: a browser says so where a page opens a connection."""
        origin = request.headers.get("Origin")
        if origin is None:
            return True
        try:
            site, asked = urlsplit(origin).hostname, urlsplit(f"//{request.headers.get('Host', '')}").hostname
        except ValueError:
            return False
        return site in self.hosts if self.hosts is not None else site is not None and site == asked

    def has_token(self, request: Request) -> bool:
        """Whether a request brings the token, in its address or in a cookie."""
        if self.token is None:
            return True
        brought = parse_qs(urlsplit(request.path).query).get("token", [])
        with contextlib.suppress(CookieError):
            cookie = SimpleCookie(request.headers.get("Cookie", "")).get(COOKIE)
            if cookie is not None:
                brought.append(cookie.value)
        return any(hmac.compare_digest(one.encode(), self.token.encode()) for one in brought)

    def _complete(self, response: Response) -> None:
        """The page with our title, and with a note where it cannot draw."""
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
            response.headers["Set-Cookie"] = f"{COOKIE}={self.token}; Path=/; HttpOnly; SameSite=Strict"


def _refusal(text: str) -> Response:
    body = text.encode()
    headers = Headers(
        {"Content-Type": "text/plain; charset=utf-8", "Content-Length": str(len(body)), "Connection": "close"}
    )
    return Response(http.HTTPStatus.FORBIDDEN, "Forbidden", headers, body)


_making = threading.Lock()


@contextlib.contextmanager
def guarding(guard: Guard) -> Iterator[None]:
    """Servers of viser's that are made while this is entered are guarded. viser has no place for this: what it hands to
    the library that listens is changed on its way."""
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
