"""Cache of reference runs, so that a comparison need not repeat them.

A run is found by the digest of its resolved case and the digest of the engine's own source: an edited or upgraded
engine makes new references.
"""

from __future__ import annotations

import hashlib
import json
import os
import shutil
import tempfile
from functools import cache
from pathlib import Path

from articulon import __version__
from articulon.cases.case import Case
from articulon.forces.sites.pair_loops import VARIABLE
from articulon.kernel_cache import cache_folder, sources
from articulon.private_folders import private_folder
from articulon.storage.atomic_writing import replacing, write_text
from articulon.storage.folder_claim import claimed

KEPT = ("case.toml", "trajectory.h5", "summary.json", "topology.pdb")
"""Files of a run in the cache."""
MEASURED = "measured.json"
"""File with the measurements of the run."""


def references_folder() -> Path:
    """Folder of the cache: ``references`` in ``ARTICULON_CACHE_DIR``, or in the user's cache folder.

    Raises ArticulonError, naming the folder, if other users could have written to it.
    """
    advice = "Remove it (references will be made again), or set ARTICULON_CACHE_DIR to a folder of your own."
    return private_folder(cache_folder().parent / "references", advice)


def place(case: Case) -> Path:
    """Folder of a case's reference, whether it exists or not."""
    return references_folder() / f"{case.digest()[:32]}-{engine()}"


MAKERS = (
    *("adaptive", "building", "cases", "modes", "molecules"),
    *("simulation", "storage", "time_scales", "transitions"),
)
"""Source folders, besides the kernels' own, that make models or that decide and write during a run."""


@cache
def engine() -> str:
    """Version of the package and digest of the source that determines what a run writes."""
    digest = hashlib.sha256(f"{sources()} {os.environ.get(VARIABLE, '')}".encode())
    package = Path(__file__).parent.parent
    # The kernels' sources are included above; these folders make the model and write its results.
    for path in sorted([*package.glob("*.py"), *(path for part in MAKERS for path in (package / part).glob("*.py"))]):
        digest.update(path.read_bytes())
    return f"{__version__}-{digest.hexdigest()[:16]}"


def can_be_kept(case: Case) -> bool:
    """Whether the digest of a case identifies it completely; it cannot see the content of a user's function."""
    return not case.code and not any(callable(getattr(force, "function", None)) for force in case.forces)


def kept_wall_seconds(case: Case) -> float | None:
    """Measured wall time of the cached reference [s]; None if there is none."""
    folder = place(case)
    if not can_be_kept(case) or not all((folder / name).is_file() for name in KEPT):
        return None
    try:
        return float(json.loads((folder / MEASURED).read_text(encoding="utf-8"))["wall_seconds"])
    except (OSError, ValueError, KeyError, TypeError):
        return None


def take_out(case: Case, out: Path) -> None:
    """Copy the cached reference of a case into the folder of a run."""
    with claimed(out, lambda text: None):
        for name in KEPT:
            with (place(case) / name).open("rb") as source, replacing(out / name) as stream:
                shutil.copyfileobj(source, stream)
        # The cached description may have another title or other notes, which do not affect the numbers.
        write_text(out / "case.toml", case.to_toml())


def keep(case: Case, run_folder: Path, wall_seconds: float) -> None:
    """Store a finished run as a reference, completely or not at all."""
    folder = place(case)
    if not can_be_kept(case) or kept_wall_seconds(case) is not None:
        return
    folder.parent.mkdir(parents=True, exist_ok=True)
    new = Path(tempfile.mkdtemp(dir=folder.parent, prefix="new-"))
    try:
        for name in KEPT:
            shutil.copyfile(run_folder / name, new / name)
        write_text(new / MEASURED, json.dumps({"wall_seconds": wall_seconds}) + "\n")
        # An unreadable entry is useless and is removed; another process may have been faster.
        shutil.rmtree(folder, ignore_errors=True)
        os.rename(new, folder)
    except OSError:
        shutil.rmtree(new, ignore_errors=True)
