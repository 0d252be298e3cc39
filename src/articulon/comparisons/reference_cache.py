"""Reference runs that are kept, so that a comparison need not make them again.

A run is found again by the digest of its resolved case and the digest of the engine's own source: an edited or upgraded
engine makes its references anew.
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
"""Files of a run that are kept."""
MEASURED = "measured.json"
"""Beside them: what was measured when the run was made."""


def references_folder() -> Path:
    """Where references are kept: ``references`` in ``ARTICULON_CACHE_DIR``, or in the user's cache folder.

    Raises ArticulonError, naming the folder, where somebody else could have written to it.
    """
    advice = "Remove it, for references are made again, or set ARTICULON_CACHE_DIR to a folder of your own."
    return private_folder(cache_folder().parent / "references", advice)


def place(case: Case) -> Path:
    """Folder of a case's reference, whether there is one or not."""
    return references_folder() / f"{case.digest()[:32]}-{engine()}"


MAKERS = (
    *("adaptive", "building", "cases", "modes", "molecules"),
    *("simulation", "storage", "time_scales", "transitions"),
)
"""Folders of what makes a model, and what decides and writes while it runs, beside the kernels' own."""


@cache
def engine() -> str:
    """Version of the package and digest of the source that determines what a run writes."""
    digest = hashlib.sha256(f"{sources()} {os.environ.get(VARIABLE, '')}".encode())
    package = Path(__file__).parent.parent
    # Kernels are in the name of their folder; these make the model that they run on, and what is written of it.
    for path in sorted([*package.glob("*.py"), *(path for part in MAKERS for path in (package / part).glob("*.py"))]):
        digest.update(path.read_bytes())
    return f"{__version__}-{digest.hexdigest()[:16]}"


def can_be_kept(case: Case) -> bool:
    """Whether the digest of a case says all about it; it does not know what is inside a user's function."""
    return not case.code and not any(callable(getattr(force, "function", None)) for force in case.forces)


def kept_wall_seconds(case: Case) -> float | None:
    """Wall time that the kept reference took when it was made [s]; None where there is none."""
    folder = place(case)
    if not can_be_kept(case) or not all((folder / name).is_file() for name in KEPT):
        return None
    try:
        return float(json.loads((folder / MEASURED).read_text(encoding="utf-8"))["wall_seconds"])
    except (OSError, ValueError, KeyError, TypeError):
        return None


def take_out(case: Case, out: Path) -> None:
    """Copy the kept reference of a case into the folder of a run."""
    with claimed(out, lambda text: None):
        for name in KEPT:
            with (place(case) / name).open("rb") as source, replacing(out / name) as stream:
                shutil.copyfileobj(source, stream)
        # The kept description may have another title or other notes; these do not change the numbers.
        write_text(out / "case.toml", case.to_toml())


def keep(case: Case, run_folder: Path, wall_seconds: float) -> None:
    """Keep a run that has ended as a reference, whole or not at all."""
    folder = place(case)
    if not can_be_kept(case) or kept_wall_seconds(case) is not None:
        return
    folder.parent.mkdir(parents=True, exist_ok=True)
    new = Path(tempfile.mkdtemp(dir=folder.parent, prefix="new-"))
    try:
        for name in KEPT:
            shutil.copyfile(run_folder / name, new / name)
        write_text(new / MEASURED, json.dumps({"wall_seconds": wall_seconds}) + "\n")
        # What cannot be read there is of no use to anyone; another process may have been quicker.
        shutil.rmtree(folder, ignore_errors=True)
        os.rename(new, folder)
    except OSError:
        shutil.rmtree(new, ignore_errors=True)
