"""A small trajectory whose frames follow from their numbers."""

from __future__ import annotations

from pathlib import Path

import numpy as np

from articulon.storage.trajectory import Frame, TrajectoryLayout, TrajectoryWriter

BODIES = 3
NEVER = float("inf")


def layout(**changes: object) -> TrajectoryLayout:
    """Of three bodies in a case in micrometres and microseconds."""
    values: dict[str, object] = {
        "body_names": ("core", "arm", "hand"),
        "masses": np.array([3.0, 2.0, 1.0]),
        "mass_unit": "fg",
        "nq": 2,
        "nu": 1,
        "coordinate_names": ("core.x", "arm.angle"),
        "coordinate_units": ("um", "rad"),
        "speed_names": ("arm.rate",),
        "speed_units": ("rad/us",),
        "observables": {"kinetic_energy": "fg um^2/us^2", "factor": ""},
        "length_unit": "nm",
        "time_unit": "ns",
        "length_factor": 1e3,
        "time_factor": 1e3,
        "case": "0123abcd",
    }
    return TrajectoryLayout(**{**values, **changes})  # type: ignore[arg-type]


def frame(index: int, bodies: int = BODIES) -> Frame:
    """A frame that follows from its number alone."""
    random = np.random.default_rng(index)
    return Frame(
        step=10 * index,
        time=0.1 * index,
        positions=random.normal(size=(bodies, 3)),
        rotations=random.normal(size=(bodies, 4)),
        q=random.normal(size=2),
        u=random.normal(size=1),
        observables={"kinetic_energy": random.normal(), "factor": random.normal()},
    )


def write(path: Path, frames: int, **changes: object) -> None:
    """A trajectory of so many frames."""
    made = layout(**changes)
    writer = TrajectoryWriter(path, made, interval=NEVER)
    for index in range(frames):
        writer.append(frame(index, len(made.body_names)))
    writer.finish()


def flipped(content: bytes, bit: int) -> bytes:
    """The content with one bit the other way."""
    changed = bytearray(content)
    changed[bit // 8] ^= 1 << bit % 8
    return bytes(changed)
