"""A scene on a viser server. All solids of one kind are one batch of instances, so that a frame needs only a few
arrays."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import numpy as np

from articulon.studio import colours
from articulon.studio.box_corners import BOX_LINES, box_corners
from articulon.studio.drawing_choice import Drawing, Points, by_fineness
from articulon.studio.page_server import drawn_by_software
from articulon.studio.scene import Scene
from articulon.studio.solids import Solids
from articulon.studio.stage import FIELD, Frame, Stage, shown_places
from articulon.studio.traces import Trace
from articulon.studio.unit_meshes import Mesh, ball, brick, rod

if TYPE_CHECKING:
    import viser

BALLS = ("/balls", "/large_balls")
"""Names of the balls on the page."""


class ViserScene:
    """A scene on a viser server.

    Parameters
    ----------
    server
        Server of the page.
    scene, stage
        The scene, and its scale and camera.
    first
        Initial frame.
    grain
        Grid to which positions are rounded, in units of the page; None for no rounding.
    drawing
        Choices for the drawing of the scene; None for the choices that suit the open pages.
    """

    def __init__(
        self,
        server: viser.ViserServer,
        scene: Scene,
        stage: Stage,
        first: Frame,
        grain: float | None = None,
        drawing: Drawing | None = None,
    ) -> None:
        self.server, self.scene, self.stage = server, scene, stage
        self._batches: list[tuple[Solids, Any, bool]] = []
        self._points: Points | None = None
        self._grain, self._frame = grain, first
        self._locked = first.locked
        drawing = Drawing(by_software=drawn_by_software(server)) if drawing is None else drawing
        self._divisions, self._material = drawing.divisions(scene.balls.number), drawing.material
        _light(server, stage)
        self._add_solids(first)
        self._add_lines(first)
        self._add_walls(first)
        self.show(first)

    def _add_solids(self, first: Frame) -> None:
        self._add_balls(first)
        self._add_batch("/rods", self.scene.rods, rod(), first)
        self._add_batch("/boxes", self.scene.boxes, brick(), first)
        for k, part in enumerate(self.scene.meshes):
            self._add_batch(f"/meshes/{k}", part.solids, part.mesh, first)

    def _add_balls(self, first: Frame) -> None:
        balls = self.scene.balls
        if self._divisions is not None:
            parts = by_fineness(balls, self._divisions, self.stage.factor)
            for name, (part, divisions) in zip(BALLS, parts, strict=False):
                self._add_batch(name, part, ball(divisions), first)
        elif balls.number:
            places, painted = self._centres(balls, first), balls.colours(first.locked, colours.LOCKED)
            self._points = Points(self.server, balls, self.stage, places, painted)

    def suit(self, drawing: Drawing) -> bool:
        """Change the drawing of the scene to new choices. Return whether this has replaced the balls and their
        handles."""
        if drawing.material != self._material:
            self._material = drawing.material
            with self.server.atomic():
                for handle in (*self.batches, *(handle for _, handle in self._walls)):
                    handle.material = drawing.material
        divisions = drawing.divisions(self.scene.balls.number)
        if divisions == self._divisions:
            return False
        self._divisions = divisions
        with self.server.atomic():
            if self._points is not None:
                self._points.remove()
                self._points = None
            for own in [own for own in self._batches if own[1].name in BALLS]:
                self._batches.remove(own)
                own[1].remove()
            self._add_balls(self._frame)
        return True

    def _add_batch(self, name: str, solids: Solids, mesh: Mesh, first: Frame) -> None:
        if not solids.number:
            return
        places, turns = self._placed(solids, first)
        handle = self.server.scene.add_batched_meshes_simple(
            name,
            mesh.vertices,
            mesh.triangles,
            turns,
            places,
            batched_scales=np.asarray(self.stage.factor * solids.size, dtype=np.float32),
            batched_colors=colours.linear(solids.colours(first.locked, colours.LOCKED)),
            lod="off",
            material=self._material,
            cast_shadow=False,
            receive_shadow=False,
        )
        # Balls look the same in any orientation.
        round_all = bool(name in BALLS and (np.ptp(solids.size, axis=1) == 0.0).all())
        self._batches.append((solids, handle, not round_all))

    def _add_lines(self, first: Frame) -> None:
        self._springs = self._box = None
        self._traces = [
            (
                trace,
                self.server.scene.add_line_segments(
                    f"/traces/{k}",
                    self._trace_ends(trace, first),
                    np.repeat(trace.colour[:, None], 2, axis=1),
                    thickness=float(trace.width * self.stage.factor),
                ),
            )
            for k, trace in enumerate(self.scene.traces)
        ]
        if self.scene.springs.number:
            self._springs = self.server.scene.add_line_segments(
                "/springs",
                self._spring_ends(first),
                colours.SPRING,
                thickness=float(0.04 * self.scene.link * self.stage.factor),
            )
        if first.edges is not None:
            self._box = self.server.scene.add_line_segments(
                "/box", self._box_lines(first), colours.EDGE, thickness=1.5, thickness_units="screen"
            )

    def _add_walls(self, first: Frame) -> None:
        self._walls: list[tuple[Any, Any]] = []
        for k, wall in enumerate(self.scene.walls):
            place, turn = wall.pose(first.time)
            handle = self.server.scene.add_mesh_simple(
                f"/walls/{k}",
                np.asarray(self.stage.factor * wall.vertices, dtype=np.float32),
                wall.triangles.astype(np.uint32),
                color=colours.WALL,
                opacity=0.35,
                side="double",
                material=self._material,
                cast_shadow=False,
                receive_shadow=False,
                position=self.stage.places(place),
                wxyz=turn,
            )
            self._walls.append((wall, handle))

    def show(self, frame: Frame) -> None:
        """Show a frame."""
        repaints = frame.locked is not None and (self._locked is None or bool((frame.locked != self._locked).any()))
        self._locked, self._frame = frame.locked, frame
        with self.server.atomic():
            for solids, handle, turns in self._batches:
                if turns:
                    handle.batched_positions, handle.batched_wxyzs = self._placed(solids, frame)
                else:
                    handle.batched_positions = self._centres(solids, frame)
                if repaints:
                    handle.batched_colors = colours.linear(solids.colours(frame.locked, colours.LOCKED))
            if self._points is not None:
                balls = self.scene.balls
                painted = balls.colours(frame.locked, colours.LOCKED) if repaints else None
                self._points.show(self._centres(balls, frame), painted)
            for trace, handle in self._traces:
                handle.points = self._trace_ends(trace, frame)
            if self._springs is not None:
                self._springs.points = self._spring_ends(frame)
            if self._box is not None:
                self._box.points = self._box_lines(frame)
            for wall, handle in self._walls:
                if wall.moves:
                    place, turn = wall.pose(frame.time)
                    handle.position, handle.wxyz = self.stage.places(place), turn

    def remove(self) -> None:
        """Remove the scene from the pages, except for its lights."""
        moving = [*self.batches, *(handle for _, handle in (*self._walls, *self._traces))]
        for handle in (*moving, self._points, self._springs, self._box):
            if handle is not None:
                handle.remove()

    def pick(self, handle: Any, instance: int) -> int:
        """Return the body that carries an instance of a batch, −1 for the ground."""
        solids = next(solids for solids, own, _ in self._batches if own is handle)
        return int(solids.body[instance])

    def middle(self, handle: Any, instance: int, frame: Frame) -> np.ndarray:
        """Return the centre of an instance of a batch on the page, in a frame, shape (3,)."""
        solids = next(solids for solids, own, _ in self._batches if own is handle)
        return np.asarray(self._placed(solids, frame)[0][instance], dtype=float)

    @property
    def batches(self) -> list[Any]:
        """Return the handles of all batches of solids; solids can be clicked on."""
        return [handle for _, handle, _ in self._batches]

    def _centres(self, solids: Solids, frame: Frame) -> np.ndarray:
        """Return centres of solids on the page, in single precision."""
        places = solids.centres(shown_places(self.scene, frame), frame.rotations)
        return self._rounded(self.stage.places(places))

    def _placed(self, solids: Solids, frame: Frame) -> tuple[np.ndarray, np.ndarray]:
        """Return centres and Euler parameters of solids on the page, in single precision."""
        places, turns = solids.placed(shown_places(self.scene, frame), frame.rotations)
        return self._rounded(self.stage.places(places)), self._rounded(np.asarray(turns, dtype=np.float32))

    def _rounded(self, numbers: np.ndarray) -> np.ndarray:
        """Return numbers for the page, rounded if they must be compact."""
        return numbers if self._grain is None else np.round(numbers / self._grain) * np.float32(self._grain)

    def _trace_ends(self, trace: Trace, frame: Frame) -> np.ndarray:
        ends = trace.placed(shown_places(self.scene, frame), frame.rotations, frame.q)
        return self._rounded(self.stage.places(ends))

    def _spring_ends(self, frame: Frame) -> np.ndarray:
        return self.stage.places(self.scene.spring_ends(frame.edges, shown_places(self.scene, frame), frame.rotations))

    def _box_lines(self, frame: Frame) -> np.ndarray:
        box = self.scene.model.box
        assert box is not None and frame.edges is not None
        return self.stage.places(box_corners(frame.edges, box)[BOX_LINES])


def _light(server: viser.ViserServer, stage: Stage) -> None:
    """Set up the camera, and light from the side of the camera."""
    scene = server.scene
    scene.set_up_direction(tuple(stage.up))
    scene.configure_default_lights(enabled=False)
    scene.add_light_hemisphere("/light/sky", sky_color=(255, 255, 255), ground_color=(150, 150, 165), intensity=1.6)
    side = np.cross(stage.up, stage.camera)
    lamp = stage.camera + 0.5 * side + 1.2 * np.linalg.norm(stage.camera) * stage.up
    scene.add_light_directional("/light/lamp", color=(255, 255, 255), intensity=2.2, position=tuple(lamp))
    camera = server.initial_camera
    camera.position, camera.look_at = tuple(stage.camera), (0.0, 0.0, 0.0)
    camera.up, camera.fov = tuple(stage.up), float(FIELD)
