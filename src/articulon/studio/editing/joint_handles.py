"""The scene of a case that is edited: bodies, names, the selected joint, and a handle that drags it."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import replace
from typing import TYPE_CHECKING, Any, Literal

import numpy as np

from articulon.dynamics import body_poses
from articulon.model import Model
from articulon.model.array_rotations import matrices
from articulon.model.joints.axis import AxisJoint
from articulon.studio import colours
from articulon.studio.drawing_choice import Drawing
from articulon.studio.editing.joint_dragging import Handle, joint_handle
from articulon.studio.page_server import drawn_by_software
from articulon.studio.scene import scene_of
from articulon.studio.stage import SIZE, Frame, Stage, stage_of
from articulon.studio.viser_scene import ViserScene

if TYPE_CHECKING:
    import viser

Drag = Literal["motion", "joint", "off"]
Drop = Callable[[str, Handle, tuple[str, Drag], int | None], Any]
CHOSEN = (224, 0, 96)
"""Colour of the axis of the selected joint; it is not in the palette, so that it differs from all other colours."""
NAMED = 12
"""Largest number of bodies for which all names are shown. With more bodies, only the name of the selected body is
shown."""
FILLED = 0.7
"""Fraction of the page that the model fills initially; the rest is space for the model to grow."""
ROOM = 0.35, 1.3
"""Range of the model's size, relative to its usual size on the page. Outside this range, the view is scaled again."""
HANDLE_NODE = "/joint handle"
"""Scene node of the handle."""
HANDLE, AXIS = 2.0, 1.6
"""Size of a handle, and half the length of the axis of the selected joint [units of the page]."""


class EditedScene:
    """The scene of a case that is edited.

    Parameters
    ----------
    server
        Server of the page.
    pick
        Function that is called with the index of a body that is clicked on.
    drag
        Function that is called with the phase of a drag (``start``, ``update`` or ``end``), the pose of the handle, the
        name of its body together with the kind of drag, and the number of the page.
    """

    def __init__(self, server: viser.ViserServer, pick: Callable[[int], Any], drag: Drop) -> None:
        self._server, self._pick, self._drag = server, pick, drag
        self._view: ViserScene | None = None
        self._model: Model | None = None
        self._stage: Stage | None = None
        self._names: list[Any] = []
        self._chosen: list[Any] = []
        self._handle: Any = None
        self._choice: Any = None
        self._handles = 0

    def show(self, model: Model, q: np.ndarray) -> None:
        """Show a model at coordinates (nq,)."""
        frame = frame_at(model, q)
        if model is not self._model:
            self._rebuild(model, frame)
        assert self._view is not None and self._stage is not None
        if self._view.suit(Drawing(by_software=drawn_by_software(self._server))):
            self._listen(self._view)
        self._view.show(frame)
        for body, name in enumerate(self._names):
            name.position = self._stage.places(self._middle(model, frame, body))

    def _rebuild(self, model: Model, frame: Frame) -> None:
        scene = scene_of(model, frame.positions, frame.rotations)
        stage = stage_of(scene, [frame])
        stage = replace(stage, factor=FILLED * stage.factor)
        # The view must not jump while the model is edited.
        if self._stage is not None and _has_room(self._stage, stage):
            stage = replace(self._stage, up=stage.up)
        with self._server.atomic():
            self._clear()
            self._view = ViserScene(self._server, scene, stage, frame)
            self._stage, self._model = stage, model
            self._names = (
                [_name(self._server, f"/names/{body}", name, np.zeros(3)) for body, name in enumerate(model.names)]
                if model.bodies <= NAMED
                else []
            )
        self._listen(self._view)

    def _listen(self, view: ViserScene) -> None:
        """Register clicks on bodies."""
        for batch in view.batches:

            @batch.on_click
            def _(event: viser.SceneNodePointerEvent) -> None:
                if event.instance_index is not None:
                    self._pick(view.pick(event.target, event.instance_index))

    def _middle(self, model: Model, frame: Frame, body: int) -> np.ndarray:
        return np.asarray(frame.positions[body] + matrices(frame.rotations[body]) @ model.centres[body])

    def choose(self, model: Model, q: np.ndarray, body: int | None, what: Drag) -> None:
        """Show the axis of a body's joint, and a handle that drags either the joint's motion or the joint frame."""
        choice = (id(model), body, what, q.tobytes())
        if choice == self._choice:
            return
        with self._server.atomic():
            self._unchoose()
            self._choice = choice
            if body is None or self._stage is None:
                return
            joint, stage = model.joints[body], self._stage
            if not self._names:
                middle = stage.places(self._middle(model, frame_at(model, q), body))
                self._chosen.append(_name(self._server, "/chosen name", model.names[body], middle))
            if not joint.nu and what != "joint":
                return
            at = joint_handle(model, body, q)
            place = stage.places(at.position)
            if isinstance(joint, AxisJoint):
                axis = AXIS * matrices(at.rotation)[:, 2]
                self._chosen.append(
                    self._server.scene.add_arrows(
                        "/chosen joint",
                        np.array([[place - axis, place + axis]], dtype=np.float32),
                        colours.linear(CHOSEN),
                        shaft_radius=0.03,
                        head_radius=0.09,
                        head_length=0.28,
                    )
                )
            options = drag_options(joint, what)
            if options is None:
                return
            # Another body may be selected before a drag is handled, so the body is stored here.
            held = (model.names[body], what)
            # Pages remember the place of a handle by its name, so each handle gets a new name.
            self._handles += 1
            self._handle = self._server.scene.add_transform_controls(
                f"{HANDLE_NODE}/{self._handles}",
                scale=HANDLE,
                line_width=4.0,
                depth_test=False,
                position=tuple(place),
                wxyz=tuple(at.rotation),
                **options,
            )

            @self._handle.on_update
            async def _(event: viser.TransformControlsEvent) -> None:
                place = np.asarray(event.target.position, dtype=float) / stage.factor + stage.middle
                self._drag(
                    event.phase, Handle(place, np.asarray(event.target.wxyz, dtype=float)), held, event.client_id
                )

    def forget_handle(self) -> None:
        """Remove the handle, so that a new one is made at its joint; the joint may not have followed the whole drag."""
        self._choice = None

    def _unchoose(self) -> None:
        for handle in (*self._chosen, self._handle):
            if handle is not None:
                handle.remove()
        self._chosen, self._handle, self._choice = [], None, None

    def _clear(self) -> None:
        self._unchoose()
        if self._view is not None:
            self._view.remove()
        for name in self._names:
            name.remove()
        self._view, self._model, self._names = None, None, []

    def hide(self) -> None:
        """Remove everything from the page."""
        with self._server.atomic():
            self._clear()


def _name(server: viser.ViserServer, node: str, name: str, place: np.ndarray) -> Any:
    """Add a name to the scene."""
    return server.scene.add_label(node, name, font_size_mode="screen", anchor="bottom-left", position=tuple(place))


def frame_at(model: Model, q: np.ndarray) -> Frame:
    """Return the poses of a model at coordinates (nq,)."""
    positions, rotations = body_poses(model, q)
    return Frame(positions, rotations, 0.0, None if model.box is None else np.asarray(model.box.vectors))


def drag_options(joint: Any, what: Drag) -> dict[str, Any] | None:
    """Return the directions in which a handle can be dragged, as arguments for viser; None if it cannot be dragged."""
    if what == "joint":
        return {"disable_sliders": True}
    if what == "off" or not joint.nu:
        return None
    if isinstance(joint, AxisJoint):
        if joint.translations:
            return {"active_axes": (False, False, True), "disable_sliders": True, "disable_rotations": True}
        return {"active_axes": (True, True, False), "disable_axes": True, "disable_sliders": True}
    turns = joint.nu > joint.translations
    return {"disable_axes": not joint.translations, "disable_sliders": True, "disable_rotations": not turns}


def _has_room(old: Stage, new: Stage) -> bool:
    """Whether the old stage shows the contents of a new stage at a suitable size."""
    size = old.factor / new.factor
    away = float(np.linalg.norm(new.middle - old.middle)) * old.factor
    return ROOM[0] <= size <= ROOM[1] and away < 0.5 * SIZE and bool(np.allclose(old.up, new.up))
