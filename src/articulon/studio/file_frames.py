"""Frames of a file that another program has written, for the page that plays runs."""

from __future__ import annotations

from dataclasses import dataclass
from functools import cached_property

import numpy as np

from articulon.model import Model
from articulon.studio.scene import Scene
from articulon.studio.stage import LOOKED_AT, Frame

ROOM = 256_000_000
"""Memory for the frames of a file [bytes]. If a file is longer, equally spaced frames are shown."""
MOST_FRAMES = 4_000
"""Largest number of frames of a file that are shown."""


@dataclass(frozen=True, eq=False)
class FileFrames:
    """Frames of a file, with the scene that draws them."""

    title: str
    """Title of the page."""
    scene: Scene
    """Scene that is drawn. Its model represents the particles of the file and has no forces."""
    shown: list[Frame]
    """The shown frames. Their times are taken from the file if all frames have a time; otherwise they are the numbers
    of the frames."""
    labels: list[str]
    """Description of each frame."""
    note: str
    """Text of the page about the file."""
    total: int
    """Number of frames in the file."""

    def __len__(self) -> int:
        return len(self.shown)

    def __getitem__(self, number: int) -> Frame:
        return self.shown[number]

    @cached_property
    def times(self) -> np.ndarray:
        """Times of the frames, ascending, shape (frames,)."""
        return np.array([frame.time for frame in self.shown])

    @property
    def model(self) -> Model:
        """The model of the scene."""
        return self.scene.model

    def some(self) -> list[Frame]:
        """Return some of the frames, including the first and the last. They determine the size of the scene."""
        numbers = np.unique(np.linspace(0, len(self) - 1, LOOKED_AT).round().astype(int))
        return [self.shown[int(number)] for number in numbers]

    def words(self, number: int) -> str:
        """Return the text of the page about a frame."""
        return f"{self.labels[number]} ({number + 1} of {len(self)})"

    def label(self, number: int) -> str:
        """Return the text of a replay about a frame."""
        return self.labels[number]

    @property
    def state(self) -> str:
        """Text of the page about the file."""
        return self.note if len(self) == self.total else f"{self.note}; {len(self)} of its {self.total} frames"

    @property
    def going(self) -> bool:
        """Whether more frames may come; this is False, because a file is read once."""
        return False

    def look_again(self) -> bool:
        """Look for new frames; a file never has new frames."""
        return False


def chosen(count: int, size: int) -> list[int]:
    """Return the numbers of the frames that are shown: all frames, or, if they do not fit into memory, as many equally
    spaced frames as fit.

    Parameters
    ----------
    count
        Number of frames in the file.
    size
        Size of a frame in memory [bytes].
    """
    most = int(min(max(ROOM // max(size, 1), 2), MOST_FRAMES, count))
    return [int(number) for number in np.unique(np.linspace(0, count - 1, most).round())]
