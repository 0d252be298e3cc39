"""Part of the model builder for flexible bodies: their modes, and the nodes that carry sites or joints."""

from collections.abc import Sequence
from typing import Any

import numpy as np

from articulon.building.handles import BodyRegister
from articulon.errors import ModelError
from articulon.inputs import one_word, shown
from articulon.model.mode_tables import RIGID, Flexibility
from articulon.model.modes import Modes, ModeShapes


class FlexibleBuilder(BodyRegister):
    """Builder mixin for modes and nodes."""

    def __init__(self) -> None:
        self._modes: dict[int, ModeShapes] = {}
        self._resolved: dict[Modes, ModeShapes] = {}
        self._seats: dict[int, int] = {}
        self._site_nodes: dict[int, int] = {}
        super().__init__()

    def _resolved_modes(self, modes: Modes | None, where: str) -> ModeShapes | None:
        if modes is None:
            return None
        if not isinstance(modes, Modes):
            raise ModelError(f"{where}, modes: expected ar.Modes, got {shown(modes)}")
        for name in ("units", "boundary"):  # a comparison of arrays would be element-wise
            if getattr(modes, name) is not None:
                one_word(getattr(modes, name), f"{where}, modes, {name}")
        # Bodies with the same modes share their tables.
        if modes not in self._resolved:
            self._resolved[modes] = modes.resolved(self.units, where)
        return self._resolved[modes]

    def _check_node(self, node: int | None, carrier: int, where: str, frame: bool) -> None:
        """Raise ModelError for a node that the carrier does not have, or for a node without a frame if a frame is
        needed."""
        if node is None:
            return
        name = "the ground" if carrier < 0 else f"body '{self._names[carrier]}'"
        if carrier not in self._modes:
            raise ModelError(f"{where}, node: {name} has no nodes; give it modes, or leave the node out")
        shapes = self._modes[carrier]
        count = shapes.masses.size
        if isinstance(node, bool) or not isinstance(node, (int, np.integer)) or not 0 <= node < count:
            raise ModelError(
                f"{where}, node: {name} has no node {shown(node)}; its nodes are numbered 0 to {count - 1}"
            )
        if frame:
            shapes.rotation(int(node), f"{where}, node of {name}")

    def _flexibility(self, sites: int) -> Flexibility:
        """Return the tables of flexible bodies collected so far, for a given number of sites."""
        if not self._modes:
            return RIGID
        nodes = np.full(sites, -1)
        nodes[list(self._site_nodes)] = list(self._site_nodes.values())
        return Flexibility(dict(self._modes), dict(self._seats), nodes)


def with_modes(start: Any, size: int, modes: int) -> Any:
    """Return the initial values of a joint and of modes, with zeros for modes that are left out."""
    listed = isinstance(start, Sequence | np.ndarray) and np.shape(start) != () and not isinstance(start, str)
    return (*start, *(0.0,) * modes) if modes and listed and len(start) == size else start


def with_nodes(
    mass: np.ndarray, com: np.ndarray, inertia: np.ndarray, shapes: ModeShapes
) -> tuple[np.ndarray, np.ndarray, np.ndarray]:
    """Return the mass (1,), centre of mass (1, 3) and inertia about it (1, 6) of a rigid part together with the
    undeformed nodes."""
    masses = np.concatenate([mass, shapes.masses])
    places = np.concatenate([com, shapes.positions])
    total = masses.sum()
    centre = masses @ places / total
    x, y, z = (places - centre).T
    spread = np.stack([y * y + z * z, -x * y, -x * z, x * x + z * z, -y * z, x * x + y * y], axis=1)
    return np.array([total]), centre[None], inertia + (masses @ spread)[None]
