"""The folder of compiled kernels, whose keys are the sources that the kernels are compiled from.

Numba notices an edit of the file that defines a cached kernel, but not of the files it calls. The package is therefore
divided into layers, called *floors*, and kernels are stored in folders named after a digest of every file of their
floor and of the floors before it. An edited or upgraded package never runs a stale kernel, and an edit of one floor
keeps the kernels of the floors before it.
"""

import atexit
import hashlib
import os
import shutil
import tempfile
import warnings
from functools import cache
from pathlib import Path
from typing import Any

import numba
from llvmlite.binding import get_host_cpu_features, get_host_cpu_name
from numba.core.caching import _CacheLocator

from articulon.private_folders import private_folder

_PACKAGE = Path(__file__).parent
FLOORS = (
    (
        "kernel_cache.py",
        "leaf_compiler.py",
        "columns.py",
        "kernels.py",
        "kernel_variants.py",
        "lane_functions.py",
        "lane_lookups.py",
        "lane_registers.py",
        "lanes.py",
        "passes.py",
        "rng.py",
    ),
    *(
        (f"{floor}/**/*.py",)
        for floor in ("algebra", "model", "dynamics", "thermostats", "forces", "scaling", "integrate")
    ),
)
"""Files of kernels and of the functions that they call, floor by floor. A kernel calls functions of its own floor and
of those before it; kernels in other folders call functions of all floors and of their own folder."""


@cache
def cache_folder() -> Path:
    """Folder of the compiled kernels for this processor, this compiler and this user.

    ``ARTICULON_CACHE_DIR`` or ``NUMBA_CACHE_DIR`` set the folder; by default it is under the user's cache folder. If
    this folder is not writable, a temporary folder of this process is used, with a warning.

    Raises
    ------
    ArticulonError
        With the name of the folder, if somebody else could have written to it: it holds code that is run.
    """
    # The name contains the processor: Numba would not load a kernel for another processor, but compile it again.
    digest = hashlib.sha256(f"{numba.__version__} {get_host_cpu_name()} {get_host_cpu_features().flatten()}".encode())
    root = cache_root()
    try:
        return private_folder(root / digest.hexdigest()[:16], CACHE_ADVICE)
    except OSError as failure:
        folder = _temporary_cache()
        warnings.warn(
            f"kernels cannot be stored in {root} ({failure.strerror}). They are compiled for this process alone, in "
            f"{folder}, which takes up to a minute at every start; set ARTICULON_CACHE_DIR to a folder that you may "
            "write to",
            RuntimeWarning,
            stacklevel=2,
        )
        return private_folder(folder / digest.hexdigest()[:16], CACHE_ADVICE)


@cache
def _digests() -> dict[str, str]:
    """Digest of all sources of the kernels of each floor, by the floor's name; the last one covers all sources of
    kernels."""
    digest, found = hashlib.sha256(), {}
    for names in FLOORS:
        for path in sorted(path for name in names for path in _PACKAGE.glob(name)):
            digest.update(f"{path.relative_to(_PACKAGE)}\n".encode())
            digest.update(path.read_bytes())
        found[names[0].partition("/")[0]] = digest.hexdigest()[:16]
    return found


def sources() -> str:
    """Digest of all sources of kernels, of the compiler and of the processor: if it is equal, results are equal to the
    last bit."""
    return f"{cache_folder().name}-{_digests()['integrate']}"


@cache
def sources_of(files: tuple[str, ...]) -> str:
    """Digest of all sources of a kernel whose code is in the given files."""
    found = sorted({_sources_of_file(file) for file in files})
    return found[0] if len(found) == 1 else hashlib.sha256(" ".join(found).encode()).hexdigest()[:16]


def files_of(function: Any) -> tuple[str, ...]:
    """The files with a function's code, and with the code that has been inserted into it."""
    function = getattr(function, "py_func", function)
    code = getattr(function, "__code__", None)
    return getattr(function, "made_of", None) or (() if code is None else (code.co_filename,))


def _sources_of_file(file: str) -> str:
    path = Path(file).absolute()
    place = path.relative_to(_PACKAGE).parts[0] if path.is_relative_to(_PACKAGE) else ""
    digests = _digests()
    if place in digests:
        return digests[place]
    if place in FLOORS[0]:
        return digests[FLOORS[0][0]]
    if place and (_PACKAGE / place).is_dir():
        return _digest_of_folder(place)
    return hashlib.sha256(digests["integrate"].encode() + path.read_bytes()).hexdigest()[:16]


@cache
def _digest_of_folder(place: str) -> str:
    """Digest of the sources of kernels outside the floors: the digest covers all floors, and the files of the kernels'
    own folder, which call each other."""
    digest = hashlib.sha256(_digests()["integrate"].encode())
    for path in sorted((_PACKAGE / place).glob("**/*.py")):
        digest.update(f"{path.relative_to(_PACKAGE)}\n".encode())
        digest.update(path.read_bytes())
    return digest.hexdigest()[:16]


CACHE_ADVICE = (
    "It would hold compiled code. Remove it (kernels are then compiled again), or set ARTICULON_CACHE_DIR to a "
    "folder of your own that others may not write to."
)
"""Advice for a cache folder that is not trusted."""


def cache_root() -> Path:
    chosen = os.environ.get("ARTICULON_CACHE_DIR") or os.environ.get("NUMBA_CACHE_DIR")
    return Path(chosen) if chosen else Path(os.environ.get("XDG_CACHE_HOME") or Path.home() / ".cache") / "articulon"


def _temporary_cache() -> Path:
    """A folder that is removed when this process ends; forked processes do not remove it."""
    folder, process = Path(tempfile.mkdtemp(prefix="articulon-kernels-")), os.getpid()

    def remove() -> None:
        if os.getpid() == process:
            shutil.rmtree(folder, ignore_errors=True)

    atexit.register(remove)
    return folder


class PackageLocator(_CacheLocator):
    """Location at which Numba stores a kernel. It depends on the contents of the sources, not on their path: one
    installation finds the kernels that another has compiled from the same sources, and an edited installation never
    runs stale kernels.

    Parameters
    ----------
    function, file
        The kernel, and the file that defines it.
    """

    def __init__(self, function: Any, file: str) -> None:
        self._line = function.__code__.co_firstlineno
        self._folder = str(cache_folder() / sources_of(files_of(function)))

    @classmethod
    def from_function(cls, function: Any, file: str) -> "PackageLocator | None":
        """Creates the locator; called by Numba."""
        return cls(function, file) if Path(file).exists() else None

    def get_cache_path(self) -> str:
        """Folder of the kernels of the file."""
        return self._folder

    def get_source_stamp(self) -> str:
        """Stamp of the sources; the folder already tells them apart."""
        return ""

    def get_disambiguator(self) -> str:
        """Key that distinguishes functions of the same name."""
        return str(self._line)


def ours(function: Any) -> bool:
    """Whether a function's code belongs to the package. Kernels of other code are compiled for this process only:
    nothing would distinguish two functions of the same name, or notice changes in the functions that they call."""
    return all(_is_ours(file) for file in files_of(function))


@cache
def _is_ours(file: str) -> bool:
    return Path(file).is_relative_to(_PACKAGE)
