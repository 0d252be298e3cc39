"""Devices of NVIDIA Warp: its own CPU device, on which every kernel is tested, and the available GPUs.

Warp is loaded on first use. Its compiled kernels are kept in the private folder of our own kernels.
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
    """Return the module ``warp``, without its messages, with its kernels in our cache.

    Raises
    ------
    ArticulonError
        If Warp is not installed, or other users could have written to the cache.
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
    """Remove lines with these words from standard error. Warp's library reports there, even unasked, that a machine has
    no GPU; ``device`` reports it where it matters."""
    try:
        kept = os.dup(2)
    except OSError:  # standard error is closed
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
    """Return Warp's device of a name.

    Parameters
    ----------
    name
        ``"cuda"``, the first GPU; ``"cuda:1"``, another one; or ``"warp-cpu"``, Warp's own CPU device: the same
        kernels, one state after the other, on one core.

    Raises
    ------
    ArticulonError
        For an unknown name, and for a GPU that does not exist; the message names the available devices.
    """
    if not isinstance(name, str) or not (name == WARP_CPU or _CUDA.fullmatch(name)):
        ours = "; articulon's own functions compute on the CPU" if name == "cpu" else ""
        raise ArticulonError(f"device: expected 'cuda', 'cuda:1' or '{WARP_CPU}', got {shown(name)}{ours}")
    warp = load_warp()
    wanted = "cuda:0" if name == "cuda" else name
    there = devices()
    if wanted not in there:
        none = "" if len(there) > 1 else "; Warp finds no GPU, or no driver of one, on this machine"
        raise ArticulonError(f"device: there is no {name!r}; available: {', '.join(map(repr, there))}{none}")
    return warp.get_device("cpu" if name == WARP_CPU else wanted)


def devices() -> tuple[str, ...]:
    """Names of the available devices, Warp's CPU first."""
    return (WARP_CPU, *(found.alias for found in load_warp().get_cuda_devices()))


def device_words(name: str) -> str:
    """Describe a device: ``"NVIDIA H100 80GB HBM3 (cuda:0)"``, ``"Warp on the CPU, one core"``."""
    found = device(name)
    return f"{found.name} ({found.alias})" if found.is_cuda else "Warp on the CPU, one core"
