"""Cache of reference runs, which comparisons reuse.

A run is identified by the digest of its resolved case and the digest of the source code of the engine. References are
therefore made anew after the engine is edited or upgraded.
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
    """Return the folder of the reference of a case, which need not exist."""
    return references_folder() / f"{case.digest()[:32]}-{engine()}"


MAKERS = (
    *("adaptive", "building", "cases", "modes", "molecules"),
    *("simulation", "storage", "time_scales", "transitions"),
)
"""Source folders, other than those of the kernels, that build models, take decisions during a run, or write its
results."""


@cache
def engine() -> str:
    """Return the version of the package and the digest of the source that determines what a run writes."""
    digest = hashlib.sha256(f"{sources()} {os.environ.get(VARIABLE, '')}".encode())
    package = Path(__file__).parent.parent
    # The sources of the kernels are included above; these folders build the model and write its results.
    for path in sorted([*package.glob("*.py"), *(path for part in MAKERS for path in (package / part).glob("*.py"))]):
        digest.update(path.read_bytes())
    return f"{__version__}-{digest.hexdigest()[:16]}"


def can_be_kept(case: Case) -> bool:
    """Return whether the digest of a case identifies it completely. It does not if the case calls a user's function,
    whose content the digest does not include."""
    return not case.code and not any(callable(getattr(force, "function", None)) for force in case.forces)


def kept_wall_seconds(case: Case) -> float | None:
    """Return the measured wall time of the cached reference of a case [s]; None if there is none."""
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
        # The cached case file may have another title or other notes, which do not affect the results.
        write_text(out / "case.toml", case.to_toml())


def keep(case: Case, run_folder: Path, wall_seconds: float) -> None:
    """Store a finished run as a reference, atomically."""
    folder = place(case)
    if not can_be_kept(case) or kept_wall_seconds(case) is not None:
        return
    folder.parent.mkdir(parents=True, exist_ok=True)
    new = Path(tempfile.mkdtemp(dir=folder.parent, prefix="new-"))
    try:
        for name in KEPT:
            shutil.copyfile(run_folder / name, new / name)
        write_text(new / MEASURED, json.dumps({"wall_seconds": wall_seconds}) + "\n")
        # The folder may hold an unreadable entry, which is removed, or one that another process has just stored.
        shutil.rmtree(folder, ignore_errors=True)
        os.rename(new, folder)
    except OSError:
        shutil.rmtree(new, ignore_errors=True)
