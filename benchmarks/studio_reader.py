"""A page that draws nothing, as a program: ``python -m benchmarks.studio_reader PORT``.

It receives as fast as it can, and answers each line on its standard input with the number of frames so far. It stands
for a browser that has a graphics card, or is on another machine.
"""

from __future__ import annotations

import sys
import threading

from tests.support.page_client import PageClient, messages_of


def shows(packet: bytes) -> bool:
    """Whether a packet has something new to draw; others have texts and plots alone."""
    return any(message["type"] == "SceneNodeUpdateMessage" for message in messages_of(packet))


class _Count:
    """Counts the frames that a page receives."""

    def __init__(self, page: PageClient) -> None:
        self.frames = 0
        self._page = page

    def go_on(self) -> None:
        """Receive until the connection ends."""
        while True:
            packet = self._page.socket.recv()
            assert isinstance(packet, bytes)
            self.frames += shows(packet)


def main(port: int) -> None:
    """Receive, and answer until the standard input ends."""
    count = _Count(PageClient(port))
    threading.Thread(target=count.go_on, daemon=True).start()
    for _ in sys.stdin:
        print(count.frames, flush=True)


if __name__ == "__main__":
    main(int(sys.argv[1]))
