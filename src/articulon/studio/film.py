"""Films of a run: MP4 files by FFmpeg, or GIF files by Pillow."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from pathlib import Path

import numpy as np

from articulon.errors import ArticulonError
from articulon.report.readable_numbers import suited
from articulon.storage.atomic_writing import replacing
from articulon.studio.picture import MISSING, PictureScene
from articulon.studio.player import LENGTH
from articulon.studio.run_frames import RunFrames
from articulon.studio.scene import scene_of
from articulon.studio.stage import stage_of

FORMATS = (".mp4", ".gif")
"""Suffixes of file names."""
RATES = {".mp4": 30, ".gif": 20}
"""Frames per second."""
SIZES = {".mp4": (1280, 720), ".gif": (640, 360)}
"""Width and height of the film [pixels]."""
QUALITY = 8
"""Quality on the scale of imageio's FFmpeg writer, up to ten."""


def write_film(frames: RunFrames, file: Path, numbers: list[int], shown: Callable[[int, int], None] | None) -> None:
    """Write a film of some frames of a run, at equal intervals of simulated time. It lasts at most ten seconds.

    Parameters
    ----------
    frames
        Frames of the run.
    file
        A new file, ``.mp4`` or ``.gif``.
    numbers
        Numbers of the frames that the film shows.
    shown
        Function that is called with the number of pictures drawn so far and their total number; None for no calls.

    Raises
    ------
    ArticulonError
        For another suffix, and for a file that cannot be written. Also if pyvista or imageio's FFmpeg is not installed.
    """
    ending = file.suffix.lower()
    if ending not in FORMATS:
        raise ArticulonError(f"{file}: expected a name that ends in .mp4 or .gif")
    try:
        import imageio_ffmpeg  # noqa: F401
    except ImportError:
        raise ArticulonError(MISSING) from None
    chosen = spread(frames.times, numbers, round(LENGTH * RATES[ending]))
    with replacing(file, new=True) as stream:
        writer = _write_mp4 if ending == ".mp4" else _write_gif
        writer(Path(stream.name), _pictures(frames, chosen, SIZES[ending], shown))


def spread(times: np.ndarray, numbers: list[int], most: int) -> list[int]:
    """Select at most ``most`` frames at equal intervals of time, for a film.

    Parameters
    ----------
    times
        Times of all frames, ascending [time], shape (frames,).
    numbers
        Numbers of the frames to choose from.
    most
        Largest number of pictures. If there are fewer frames, each frame is shown once.
    """
    if len(numbers) <= most:
        return numbers
    own = np.asarray(times)[numbers]
    moments = np.linspace(own[0], own[-1], most)
    return [numbers[int(k)] for k in np.clip(np.searchsorted(own, moments, side="right") - 1, 0, None)]


def _pictures(
    frames: RunFrames, numbers: list[int], size: tuple[int, int], shown: Callable[[int, int], None] | None
) -> Iterator[np.ndarray]:
    first = frames[numbers[0]]
    scene = scene_of(frames.model, first.positions, first.rotations)
    drawn = PictureScene(scene, stage_of(scene, frames.some()), first, size)
    scale = suited(frames.model.units, "time", float(frames.times[numbers[-1]]))
    try:
        for count, number in enumerate(numbers, start=1):
            yield drawn.show(frames[number], f"t = {scale.text(float(frames.times[number]), 3)}")
            if shown is not None:
                shown(count, len(numbers))
    finally:
        drawn.close()


def _write_mp4(path: Path, pictures: Iterator[np.ndarray]) -> None:
    import imageio_ffmpeg

    width, height = SIZES[".mp4"]
    writer = imageio_ffmpeg.write_frames(
        str(path),
        (width, height),
        fps=RATES[".mp4"],
        codec="libx264",
        quality=QUALITY,
        output_params=["-f", "mp4", "-movflags", "+faststart"],
    )
    writer.send(None)
    try:
        for picture in pictures:
            writer.send(np.ascontiguousarray(picture))
    finally:
        writer.close()


def _write_gif(path: Path, pictures: Iterator[np.ndarray]) -> None:
    from PIL import Image

    images = [Image.fromarray(picture).quantize(128, dither=Image.Dither.NONE) for picture in pictures]
    images[0].save(
        path,
        "GIF",
        save_all=True,
        append_images=images[1:],
        duration=round(1000 / RATES[".gif"]),
        loop=0,
        optimize=True,
    )
