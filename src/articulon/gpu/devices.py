"""Devices that NVIDIA Warp computes on: its own CPU, which every kernel is tested on, and the GPUs that are there.

Warp is loaded on first use, and what it compiles is kept in the folder of our own kernels, for this user alone.
"""

from __future__ import annotations

import os
import re
import sys
import tempfile
from collections.abc import Iterator
from contextlib import contextmanager
from functools import cache
from importlib import import_module
from typing import Any

from articulon.errors import ArticulonError
from articulon.inputs import shown
from articulon.kernel_cache import CACHE_ADVICE, cache_folder
from articulon.private_folders import private_folder

WARP_CPU = "warp-cpu"
"""Warp's own CPU device, which Warp calls "cpu"."""
_CUDA = re.compile(r"cuda(:\d+)?")


@cache
def load_warp() -> Any:
    """The module ``warp``, quiet, with its kernels in our cache.

    Raises
    ------
    ArticulonError
        Where it is not installed, or the cache could have been written to by somebody else.
    """
    try:
        warp = import_module("warp")
    except ImportError as failure:
        raise ArticulonError(
            f"computing on a GPU needs NVIDIA Warp, which cannot be loaded ({failure}); pip install 'articulon[gpu]'"
        ) from None
    if hasattr(warp.config, "log_level"):
        warp.config.log_level = warp.LOG_WARNING
    else:  # before Warp 1.13
        warp.config.quiet = True
    warp.config.kernel_cache_dir = str(private_folder(cache_folder() / "warp", CACHE_ADVICE))
    with _without_line("Could not find or load the NVIDIA CUDA driver"):
        warp.init()
    return warp


@contextmanager
def _without_line(words: str) -> Iterator[None]:
    """Leaves out lines with these words of what is written to standard error. Warp's library says there, also where
    nobody asks, that a machine has no GPU: ``device`` says so where it matters."""
    try:
        kept = os.dup(2)
    except OSError:  # it is closed
        yield
        return
    with tempfile.TemporaryFile() as caught:
        sys.stderr.flush()
        os.dup2(caught.fileno(), 2)
        try:
            yield
        finally:
            os.dup2(kept, 2)
            os.close(kept)
            caught.seek(0)
            lines = caught.read().decode(errors="replace").splitlines(keepends=True)
            sys.stderr.write("".join(line for line in lines if words not in line))


def device(name: Any) -> Any:
    """The device of a name, as Warp knows it.

    Parameters
    ----------
    name
        ``"cuda"``, the first GPU; ``"cuda:1"``, another one; or ``"warp-cpu"``, Warp's own CPU device: the same
        kernels, one state after the other, on one core.

    Raises
    ------
    ArticulonError
        For a name that is none, and for a GPU that is not there, naming the devices that are.
    """
    if not isinstance(name, str) or not (name == WARP_CPU or _CUDA.fullmatch(name)):
        ours = "; what computes on the CPU is articulon's own functions" if name == "cpu" else ""
        raise ArticulonError(f"device: expected 'cuda', 'cuda:1' or '{WARP_CPU}', got {shown(name)}{ours}")
    warp = load_warp()
    wanted = "cuda:0" if name == "cuda" else name
    there = devices()
    if wanted not in there:
        none = "" if len(there) > 1 else "; Warp finds no GPU, or no driver of one, on this machine"
        raise ArticulonError(f"device: there is no {name!r}: there is {', '.join(map(repr, there))}{none}")
    return warp.get_device("cpu" if name == WARP_CPU else wanted)


def devices() -> tuple[str, ...]:
    """Names of the devices that are there, Warp's CPU first."""
    return (WARP_CPU, *(found.alias for found in load_warp().get_cuda_devices()))


def device_words(name: str) -> str:
    """What a device is, for people: ``"NVIDIA H100 80GB HBM3 (cuda:0)"``, ``"Warp on the CPU, one core"``."""
    found = device(name)
    return f"{found.name} ({found.alias})" if found.is_cuda else "Warp on the CPU, one core"
