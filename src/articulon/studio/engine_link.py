"""Connection between the page's process and the engine's process: JSON objects through a socket. Neither side waits for
the other.
"""

from __future__ import annotations

import json
import select
import socket
import threading
import time
from typing import Any

MOST_WAITING = 4_000_000
"""Limit of unsent data [bytes]. Above this limit, only messages that must arrive are kept."""
_HEAD = 4
_PIECE = 1 << 16


class Link:
    """One end of the connection. Its methods may be called from several threads.

    Parameters
    ----------
    end
        A connected socket.
    """

    def __init__(self, end: socket.socket) -> None:
        self._end = end
        end.setblocking(False)
        self._lock = threading.Lock()
        self._waiting, self._heard = bytearray(), bytearray()
        self.closed = False
        """Whether the other end has closed the connection."""

    def say(self, kind: str, /, *, must: bool = True, **what: Any) -> None:
        """Send a message without waiting for the receiver. If much data is unsent, the message is dropped, unless it
        ``must`` arrive."""
        text = json.dumps({"kind": kind, **what}).encode()
        with self._lock:
            if must or len(self._waiting) < MOST_WAITING:
                self._waiting += len(text).to_bytes(_HEAD, "little") + text
            self._send()

    def _send(self) -> None:
        while self._waiting and not self.closed:
            try:
                sent = self._end.send(self._waiting[:_PIECE])
            except BlockingIOError:
                return
            except OSError:
                self.closed = True
                return
            del self._waiting[:sent]

    def hear(self, patience: float = 0.0) -> list[dict[str, Any]]:
        """Return the messages of the other end, after waiting for at most ``patience`` [s]. ``closed`` then says
        whether the other end has closed the connection."""
        try:
            ready, _, _ = select.select([self._end], [], [], patience)
        except (OSError, ValueError):
            self.closed = True
            return []
        with self._lock:
            self._send()
            while ready:
                try:
                    piece = self._end.recv(_PIECE)
                except BlockingIOError:
                    break
                except OSError:
                    piece = b""
                if not piece:
                    self.closed = True
                    break
                self._heard += piece
            return self._whole()

    def _whole(self) -> list[dict[str, Any]]:
        found = []
        while len(self._heard) >= _HEAD:
            end = _HEAD + int.from_bytes(self._heard[:_HEAD], "little")
            if len(self._heard) < end:
                break
            found.append(json.loads(self._heard[_HEAD:end]))
            del self._heard[:end]
        return found

    def finish(self, patience: float) -> None:
        """Wait until all messages have been sent, for at most ``patience`` [s]."""
        end = time.monotonic() + patience
        while self._waiting and not self.closed and time.monotonic() < end:
            select.select([], [self._end], [], 0.05)
            with self._lock:
                self._send()

    def close(self) -> None:
        """Close the connection."""
        self.closed = True
        self._end.close()
