"""Opening the studio on a case, the folder of a run, or a folder of cases."""

from __future__ import annotations

import re
from collections.abc import Callable, Iterator
from contextlib import ExitStack, contextmanager
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING

from articulon.cases.case import text_of
from articulon.cases.library import built_in_cases
from articulon.errors import ArticulonError, CaseError
from articulon.simulation.results import CASE
from articulon.storage.folder_claim import claimed
from articulon.studio.broken_file import BrokenFile
from articulon.studio.editing.case_document import CaseDocument
from articulon.studio.run_session import RunSession, check_is_run
from articulon.studio.workspace import Workspace

if TYPE_CHECKING:
    import viser

LOCKS = ".articulon-studio"
"""Folder with the lock files of studios. Such a lock means that a studio is open on the parent folder."""


@dataclass(frozen=True)
class Place:
    """The folder and the case on which a studio is opened."""

    home: Path
    """Folder that the studio reads from and writes to."""
    source: BrokenFile | CaseDocument
    """Source of the case: a document that is edited, or a file that cannot be read yet."""
    run: Path | None
    """Folder of a run that is opened too; None if there is no run."""
    allow_code: bool
    """Whether functions that cases name may run."""

    def workspace(self, server: viser.ViserServer) -> Workspace:
        """Return the page."""
        session = RunSession(self.home / "runs", self.allow_code)
        if self.run is not None:
            try:
                case = self.source.case()
                session.open(self.run, case, case.build_model(run_code=case.allow_code))
            except ArticulonError as error:
                session = RunSession(self.home / "runs", self.allow_code)
                session.note("error", f"the run in {self.run} cannot be shown: {error}")
        return Workspace(server, self.source, session, self.home)


@contextmanager
def opened(what: str, allow_code: bool = False) -> Iterator[Place]:
    """Yield the place on which a studio is opened, locked for this studio.

    Parameters
    ----------
    what
        Name of a built-in case, a case file, a URDF or MJCF file, the folder of a run, or a folder of case files.
    allow_code
        Whether functions that cases name may run.

    Raises
    ------
    ArticulonError
        If ``what`` is none of these, and if a studio is already open on the folder.
    """
    path = Path(what)
    source: BrokenFile | CaseDocument
    if path.is_dir():
        home = path.resolve()
        run = home if check_is_run(home) else None
        source = _of_run(home, allow_code) if run is not None else _only_case(home, allow_code)
    else:
        run, own = None, path.is_file() and what not in built_in_cases()
        home = path.resolve().parent if own else Path.cwd()
        source = _document(path.resolve(), allow_code) if own else CaseDocument.open(what, allow_code=allow_code)
    with _alone(home):
        yield Place(home, source, run, allow_code)


def _document(file: Path, allow_code: bool) -> BrokenFile | CaseDocument:
    """Return the document of a case file."""
    return _unless_broken(file, lambda: CaseDocument.open(file, allow_code=allow_code))


def _of_run(folder: Path, allow_code: bool) -> BrokenFile | CaseDocument:
    """Return the case of a run as a document. It is saved to another file, because the run's own file records the case
    with which the run was made."""
    file = folder / CASE
    return _unless_broken(file, lambda: CaseDocument(text_of(file), source=str(file), allow_code=allow_code))


def _unless_broken(file: Path, opened: Callable[[], CaseDocument]) -> BrokenFile | CaseDocument:
    """Return a document, or the broken file if its text is not TOML and cannot be edited."""
    try:
        return opened()
    except CaseError as error:
        return BrokenFile(file, opened, str(error))


def _only_case(home: Path, allow_code: bool) -> BrokenFile | CaseDocument:
    """Return the only case of a folder, or a new case for a folder without cases. If the folder has several cases,
    raise ArticulonError: the user must choose."""
    files = sorted(file for file in home.glob("*.toml") if re.search(r"^\s*\[case\]", _start(file), re.MULTILINE))
    if len(files) == 1:
        return _document(files[0], allow_code)
    if not files:
        return CaseDocument.new()
    names = ", ".join(file.name for file in files[:8])
    raise ArticulonError(f"{home}: there are {len(files)} cases here ({names}); name the case to open")


def _start(file: Path) -> str:
    try:
        with file.open(encoding="utf-8", errors="replace") as lines:
            return lines.read(100_000)
    except OSError:
        return ""


@contextmanager
def _alone(home: Path) -> Iterator[None]:
    """Lock a folder against a second studio. The operating system releases the lock whenever this process ends."""
    with ExitStack() as stack:
        try:
            stack.enter_context(claimed(home / LOCKS, lambda _: None, "studio"))
        except ArticulonError as error:
            who = re.search(r"is active here( \([^()]*\))?;", str(error))
            if who is None:
                raise
            raise ArticulonError(
                f"{home}: a studio is open on this folder already{who[1] or ''}; go to its page, or end it by Ctrl-C "
                "in its terminal"
            ) from None
        yield
