"""Pictures of a scene, drawn by VTK without a window. As on a page, all solids of one kind are instances of one mesh
(VTK's glyphs)."""

from __future__ import annotations

import os
import sys
from ctypes.util import find_library
from typing import Any

import numpy as np

from articulon.errors import ArticulonError
from articulon.model.array_rotations import matrices
from articulon.studio import colours
from articulon.studio.box_corners import BOX_LINES, box_corners
from articulon.studio.drawing_choice import FINENESS
from articulon.studio.scene import Scene
from articulon.studio.solids import Solids
from articulon.studio.stage import FIELD, Frame, Stage, shown_places
from articulon.studio.traces import Trace
from articulon.studio.unit_meshes import Mesh, ball, brick, rod
from articulon.studio.walls import WallShape

MISSING = "this needs pyvista: pip install 'articulon[video]'"
BACKGROUND = "white"
GREY = "#333333"
"""Colour of the displayed time."""
SHARPNESS = 8
"""Number of samples per pixel."""


def drawing_library() -> Any:
    """Return pyvista, set up to draw without a window or a display server.

    Raises
    ------
    ArticulonError
        If pyvista is not installed.
    """
    # Without a display, VTK first searches for one and prints a warning.
    if sys.platform == "linux" and not os.environ.get("DISPLAY"):
        window = "vtkEGLRenderWindow" if find_library("EGL") else "vtkOSOpenGLRenderWindow"
        os.environ.setdefault("VTK_DEFAULT_OPENGL_WINDOW", window)
    try:
        import pyvista
    except ImportError:
        raise ArticulonError(MISSING) from None
    return pyvista


class PictureScene:
    """Draws a scene as pictures.

    Parameters
    ----------
    scene, stage
        The scene, and its scale and camera.
    first
        Initial frame.
    size
        Width and height of a picture [pixels].
    """

    def __init__(self, scene: Scene, stage: Stage, first: Frame, size: tuple[int, int]) -> None:
        self.scene, self.stage = scene, stage
        self._pv = drawing_library()
        self._plotter = self._pv.Plotter(off_screen=True, window_size=size, lighting="none")
        self._height = size[1]
        self._glyphs: list[tuple[Solids, Any]] = []
        self._lines: list[tuple[Any, Any]] = []
        self._walls: list[tuple[Any, Any]] = []
        self._text: Any = None
        self._prepare()
        self._add_solids(first)
        self._add_lines(first)
        self._add_walls(first)

    def _prepare(self) -> None:
        """Set up the light and the camera."""
        plotter, stage = self._plotter, self.stage
        plotter.set_background(BACKGROUND)
        plotter.enable_anti_aliasing("msaa", multi_samples=SHARPNESS)
        side = np.cross(stage.up, stage.camera)
        high = np.linalg.norm(stage.camera) * stage.up
        for place, intensity in (
            (stage.camera + 0.5 * side + 1.2 * high, 0.7),
            (stage.camera - side - 0.4 * high, 0.4),
        ):
            plotter.add_light(self._pv.Light(position=tuple(place), focal_point=(0, 0, 0), intensity=intensity))
        camera = plotter.camera
        camera.position, camera.focal_point = tuple(stage.camera), (0.0, 0.0, 0.0)
        camera.up, camera.view_angle = tuple(stage.up), float(np.degrees(FIELD))

    def _add_solids(self, first: Frame) -> None:
        balls = self.scene.balls
        fine = next((parts for most, parts in FINENESS if balls.number <= most), 0)
        own = ((balls, ball(fine)), (self.scene.rods, rod()), (self.scene.boxes, brick()))
        for solids, mesh in (*own, *((part.solids, part.mesh) for part in self.scene.meshes)):
            if solids.number:
                self._add_glyphs(solids, mesh, first, smooth=solids is balls)

    def _add_glyphs(self, solids: Solids, mesh: Mesh, first: Frame, smooth: bool) -> None:
        from vtkmodules.vtkRenderingCore import vtkActor, vtkGlyph3DMapper

        points = self._pv.PolyData(np.zeros((solids.number, 3)))
        points["size"] = self.stage.factor * solids.size
        points["turn"] = np.zeros((solids.number, 4))
        points["colour"] = solids.colour
        source = self._pv.make_tri_mesh(mesh.vertices, mesh.triangles)
        source.compute_normals(inplace=True, split_vertices=not smooth, feature_angle=40.0)
        mapper = vtkGlyph3DMapper()
        mapper.SetInputData(points)
        mapper.SetSourceData(source)
        mapper.SetScaleModeToScaleByVectorComponents()
        mapper.SetScaleArray("size")
        mapper.SetOrientationModeToQuaternion()
        mapper.SetOrientationArray("turn")
        mapper.SetScalarModeToUsePointFieldData()
        mapper.SelectColorArray("colour")
        mapper.SetColorModeToDirectScalars()
        actor = vtkActor()
        actor.SetMapper(mapper)
        finish = actor.GetProperty()
        finish.SetAmbient(0.35)
        finish.SetDiffuse(0.75)
        finish.SetSpecular(0.12)
        finish.SetSpecularPower(20.0)
        self._plotter.add_actor(actor, reset_camera=False)
        self._glyphs.append((solids, points))
        self._place(solids, points, first)

    def _place(self, solids: Solids, points: Any, frame: Frame) -> None:
        if frame.locked is not None:
            points["colour"] = solids.colours(frame.locked, colours.LOCKED)
        places, turns = solids.placed(shown_places(self.scene, frame), frame.rotations)
        points.points = self.stage.places(places)
        points["turn"] = turns

    def _add_lines(self, first: Frame) -> None:
        if self.scene.springs.number:
            self._add_segments(lambda frame: self._spring_ends(frame), colours.SPRING, 3.0, first)
        for trace in self.scene.traces:
            self._add_trace(trace, first)
        if first.edges is not None:
            self._add_segments(lambda frame: self._box_lines(frame), colours.EDGE, 1.5, first)

    def _add_segments(self, ends: Any, colour: np.ndarray, width: float, first: Frame) -> None:
        lines = self._pv.line_segments_from_points(ends(first).reshape(-1, 3))
        width *= self._height / 720.0
        self._plotter.add_mesh(lines, color=tuple(colour / 255.0), line_width=width, lighting=False, reset_camera=False)
        self._lines.append((ends, lines))

    def _add_trace(self, trace: Trace, first: Frame) -> None:
        """Add the lines of a trace, shaded as tubes."""

        def ends(frame: Frame) -> np.ndarray:
            return self.stage.places(trace.placed(shown_places(self.scene, frame), frame.rotations, frame.q))

        lines = self._pv.line_segments_from_points(ends(first).reshape(-1, 3))
        lines.cell_data["colour"] = trace.colour
        distance = float(np.linalg.norm(self.stage.camera))
        pixels = trace.width * self.stage.factor * self._height / (2.0 * distance * np.tan(0.5 * FIELD))
        self._plotter.add_mesh(
            lines,
            scalars="colour",
            rgb=True,
            line_width=max(pixels, 2.0),
            render_lines_as_tubes=True,
            reset_camera=False,
        )
        self._lines.append((ends, lines))

    def _spring_ends(self, frame: Frame) -> np.ndarray:
        return self.stage.places(self.scene.spring_ends(frame.edges, shown_places(self.scene, frame), frame.rotations))

    def _box_lines(self, frame: Frame) -> np.ndarray:
        box = self.scene.model.box
        assert box is not None and frame.edges is not None
        return self.stage.places(box_corners(frame.edges, box)[BOX_LINES])

    def _add_walls(self, first: Frame) -> None:
        for wall in self.scene.walls:
            mesh = self._pv.make_tri_mesh(self.stage.factor * wall.vertices, wall.triangles)
            actor = self._plotter.add_mesh(
                mesh, color=tuple(colours.WALL / 255.0), opacity=0.35, ambient=0.4, reset_camera=False
            )
            self._walls.append((wall, actor))
            actor.user_matrix = self._pose(wall, first.time)

    def _pose(self, wall: WallShape, time: float) -> np.ndarray:
        """Return the pose of a wall on the page, shape (4, 4)."""
        place, turn = wall.pose(time)
        pose = np.eye(4)
        pose[:3, :3], pose[:3, 3] = matrices(turn[None])[0], self.stage.places(place)
        return pose

    def show(self, frame: Frame, words: str = "") -> np.ndarray:
        """Return the picture of a frame.

        Parameters
        ----------
        frame
            The frame.
        words
            Text below the picture.

        Returns
        -------
        np.ndarray
            Red, green and blue, 0 to 255, shape (height, width, 3), uint8.
        """
        for solids, points in self._glyphs:
            self._place(solids, points, frame)
        for ends, lines in self._lines:
            lines.points = ends(frame).reshape(-1, 3)
        for wall, actor in self._walls:
            if wall.moves:
                actor.user_matrix = self._pose(wall, frame.time)
        if self._text is not None:
            self._plotter.remove_actor(self._text, reset_camera=False, render=False)
        self._text = self._plotter.add_text(
            words, position="lower_edge", font_size=max(self._height // 72, 6), color=GREY, render=False
        )
        self._plotter.renderer.ResetCameraClippingRange()
        self._plotter.render()
        return np.asarray(self._plotter.screenshot(return_img=True))[:, :, :3]

    def close(self) -> None:
        """Release the resources of the drawing."""
        self._plotter.close()
