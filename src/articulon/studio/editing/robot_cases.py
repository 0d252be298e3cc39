"""Cases for robot descriptions: the text of a case that names the description, so that it can be run and edited."""

from __future__ import annotations

from pathlib import Path

from articulon.cases.toml_writing import inline

BUILDERS = {".urdf": "urdf", ".xml": "mjcf", ".mjcf": "mjcf"}
"""Builders by the suffixes of description files."""
GRAVITY = """
[[forces]]
kind = "gravity"
acceleration = [0, 0, "-9.81 m/s^2"]
"""
"""Text of a case with gravity, for a format that does not specify gravity."""


def is_description(file: Path) -> bool:
    """Whether a file is a robot description, according to its suffix."""
    return file.suffix.lower() in BUILDERS


def robot_case(file: Path) -> str:
    """Return the text of a case that runs the robot description in the same folder."""
    builder = BUILDERS[file.suffix.lower()]
    return (
        f'[case]\ntitle = {inline(file.stem)}\nunits = "kg-m-s"\n\n'
        f"[model]\nbuilder = {inline(builder)}\nfile = {inline(file.name)}\n"
        f"{GRAVITY if builder == 'urdf' else ''}\n"
        '[integrator]\nrule = "dormand-prince"\nrtol = 1e-6\natol = 1e-6\n\n'
        '[run]\nduration = "5 s"\nframes = 500\n'
    )
