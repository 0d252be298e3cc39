"""Descriptions of robots that come with packages."""

from __future__ import annotations

from importlib.metadata import files
from pathlib import Path

URDF = "example-robot-data"
MJCF = "gymnasium"


def packaged(package: str, name: str) -> Path:
    """The file of an installed package whose path ends so."""
    found = [path for path in files(package) or () if str(path).endswith(f"/{name}")]
    assert len(found) == 1, f"{package} has {len(found)} files {name}"
    return Path(str(found[0].locate()))
