"""Cases of robots that others have described: a text that names the description, to be run and edited."""

from __future__ import annotations

from pathlib import Path

from articulon.cases.toml_writing import inline

BUILDERS = {".urdf": "urdf", ".xml": "mjcf", ".mjcf": "mjcf"}
"""Builders by what the names of descriptions end in."""
GRAVITY = """
[[forces]]
kind = "gravity"
acceleration = [0, 0, "-9.81 m/s^2"]
"""
"""Of a format that says nothing about it."""


def is_description(file: Path) -> bool:
    """Whether a file is a description of a robot by its name."""
    return file.suffix.lower() in BUILDERS


def robot_case(file: Path) -> str:
    """The text of a case that runs a description, which lies beside it."""
    builder = BUILDERS[file.suffix.lower()]
    return (
        f'[case]\ntitle = {inline(file.stem)}\nunits = "kg-m-s"\n\n'
        f"[model]\nbuilder = {inline(builder)}\nfile = {inline(file.name)}\n"
        f"{GRAVITY if builder == 'urdf' else ''}\n"
        '[integrator]\nrule = "dormand-prince"\nrtol = 1e-6\natol = 1e-6\n\n'
        '[run]\nduration = "5 s"\nframes = 500\n'
    )
