"""What a page does without a browser: it connects as viser's page does, keeps what it is told, and presses buttons."""

from __future__ import annotations

import time
from collections.abc import Callable
from typing import Any

import msgspec
import numpy as np
import viser
import zstandard
from websockets.sync.client import connect
from websockets.typing import Origin, Subprotocol

CAMERA = {
    "type": "ViewerCameraMessage",
    "wxyz": [1.0, 0.0, 0.0, 0.0],
    "position": [0.0, 0.0, -20.0],
    "fov": 0.6,
    "near": 0.01,
    "far": 1000.0,
    "image_height": 700,
    "image_width": 1100,
    "look_at": [0.0, 0.0, 0.0],
    "up_direction": [0.0, 1.0, 0.0],
}


class PageClient:
    """A page of a server at a port of this machine.

    Parameters
    ----------
    port
        The port.
    origin
        Where the page says it comes from.
    cookie
        What it has been told to keep.
    """

    def __init__(self, port: int, origin: str | None = None, cookie: str | None = None) -> None:
        protocol = Subprotocol(f"viser-v{viser.__version__}")
        self.socket = connect(
            f"ws://127.0.0.1:{port}",
            subprotocols=[protocol],
            origin=None if origin is None else Origin(origin),
            compression=None,
            max_size=None,
            additional_headers=None if cookie is None else {"Cookie": cookie},
        )
        # A page is known as such when it has said from where it looks.
        self._say(CAMERA)
        self.nodes: dict[str, dict[str, Any]] = {}
        self.controls: dict[str, dict[str, Any]] = {}

    def listen(self, until: Callable[[PageClient], bool], patience: float = 10.0) -> None:
        """Take what comes until something is so; fails after some seconds."""
        end = time.monotonic() + patience
        while not until(self):
            assert time.monotonic() < end, "the page was not told"
            try:
                packet = self.socket.recv(timeout=0.2)
            except TimeoutError:
                continue
            assert isinstance(packet, bytes)
            for message in messages_of(packet):
                self._take(message)

    def _take(self, message: dict[str, Any]) -> None:
        kind = message["type"]
        if kind == "SceneNodeUpdateMessage":
            self.nodes.setdefault(message["name"], {}).update(message["updates"])
        elif kind == "GuiUpdateMessage":
            self.controls[message["uuid"]].update(message["updates"])
        elif kind == "GuiRemoveMessage":
            self._remove(message["uuid"])
        elif kind == "RemoveSceneNodeMessage":
            self.nodes.pop(message["name"], None)
        elif "uuid" in message and "props" in message:
            inside = message.get("container_uuid")
            self.controls[message["uuid"]] = {
                "type": kind,
                **message["props"],
                "value": message.get("value"),
                "inside": inside,
            }
        elif "name" in message and "props" in message:
            self.nodes[message["name"]] = {"type": kind, **message["props"]}

    def _remove(self, uuid: str) -> None:
        """Forget a control and all that is inside of it."""
        self.controls.pop(uuid, None)
        for inner in [inner for inner, control in self.controls.items() if control.get("inside") == uuid]:
            self._remove(inner)

    def control(self, kind: str, label: str | None = None) -> tuple[str, dict[str, Any]]:
        """A control by its kind and label, with its number."""
        return next(
            (uuid, control)
            for uuid, control in self.controls.items()
            if control["type"] == kind and label in (None, control.get("label"))
        )

    def change(self, uuid: str, value: Any) -> None:
        """Do to a control what a user does; it shows what has been put into it."""
        if uuid in self.controls:
            self.controls[uuid]["value"] = value
        self._say({"type": "GuiUpdateMessage", "uuid": uuid, "updates": {"value": value}})

    def text_of(self, kind: str) -> str:
        """All that controls of a kind say."""
        return "\n".join(str(control["content"]) for control in self.controls.values() if control["type"] == kind)

    def drag(self, name: str, wxyz: Any, position: Any, phase: str = "update") -> None:
        """Drag a handle of the scene to a pose, or take hold of it, or let go."""
        if phase != "update":
            self._say({"type": f"TransformControlsDrag{phase.title()}Message", "name": name, "owner": ""})
            return
        at = {"wxyz": [float(x) for x in wxyz], "position": [float(x) for x in position]}
        self._say({"type": "TransformControlsUpdateMessage", "name": name, "owner": "", **at})

    def _say(self, message: dict[str, Any]) -> None:
        self.socket.send(msgspec.msgpack.encode(message))


def messages_of(packet: bytes) -> list[dict[str, Any]]:
    """The messages of a packet, their arrays in place."""
    packed = int.from_bytes(packet[8:16], "little")
    content = msgspec.msgpack.decode(zstandard.ZstdDecompressor().decompress(packet[16 : 16 + packed]))
    found: list[dict[str, Any]] = with_arrays(content, packet, 16 + packed)["messages"]
    return found


def with_arrays(content: dict[str, Any], packet: bytes, at: int) -> dict[str, Any]:
    """What viser has packed, with its arrays in place, which lie in the packet from some byte on."""
    arrays = []
    for length in content["binaryBufferLengths"]:
        at += -at % 8
        arrays.append(packet[at : at + length])
        at += length

    def whole(value: Any) -> Any:
        if isinstance(value, dict):
            if "__binary_index" in value:
                return np.frombuffer(arrays[value["__binary_index"]], dtype=value["dtype"])
            return {key: whole(part) for key, part in value.items()}
        return [whole(part) for part in value] if isinstance(value, list) else value

    found: dict[str, Any] = whole(content)
    return found
