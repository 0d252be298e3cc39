"""What the studio is opened on: a case, the folder of a run, or a folder of cases."""

from __future__ import annotations

import re
from collections.abc import Iterator
from contextlib import ExitStack, contextmanager
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING

from articulon.cases.library import built_in_cases
from articulon.errors import ArticulonError
from articulon.simulation.results import CASE
from articulon.storage.folder_claim import claimed
from articulon.studio.case_source import CaseSource, FileSource, NoSource
from articulon.studio.run_session import RunSession, check_is_run
from articulon.studio.workspace import Workspace

if TYPE_CHECKING:
    import viser

LOCKS = ".articulon-studio"
"""Folder whose lock says that a studio is open on the folder that it is in."""


@dataclass(frozen=True)
class Place:
    """Where a studio is open."""

    home: Path
    """The folder that it reads from and writes to."""
    source: CaseSource
    """Where the case comes from."""
    run: Path | None
    """The folder of a run that is opened with it."""
    allow_code: bool
    """Whether functions that cases name may run."""

    def workspace(self, server: viser.ViserServer) -> Workspace:
        """The page."""
        session = RunSession(self.home / "runs" if self.run is None else self.run.parent, self.allow_code)
        if self.run is not None:
            case = self.source.case()
            session.open(self.run, case, case.build_model(run_code=case.allow_code))
        return Workspace(server, self.source, session)


@contextmanager
def opened(what: str, allow_code: bool = False) -> Iterator[Place]:
    """The place that a studio is opened on, held for it alone.

    Parameters
    ----------
    what
        Name of a built-in case, a case file, the folder of a run, or a folder of case files.
    allow_code
        Whether functions that cases name may run.

    Raises
    ------
    ArticulonError
        For what is none of these, and where a studio is open on the folder already.
    """
    path = Path(what)
    source: CaseSource
    if what in built_in_cases() and not path.exists():
        home, source, run = Path.cwd(), FileSource(what, allow_code), None
    elif path.is_dir():
        home = path.resolve()
        run = home if check_is_run(home) else None
        source = FileSource(home / CASE, allow_code) if run is not None else _only_case(home, allow_code)
    else:
        source = FileSource(what if not path.exists() else path.resolve(), allow_code)
        home, run = (path.resolve().parent if path.exists() else Path.cwd()), None
        if not path.exists():
            source.case()  # which says what is wrong with the name
    with _alone(home):
        yield Place(home, source, run, allow_code)


def _only_case(home: Path, allow_code: bool) -> CaseSource:
    """The case of a folder that holds one; where it holds several, a person must say which."""
    files = sorted(file for file in home.glob("*.toml") if re.search(r"^\s*\[case\]", _start(file), re.MULTILINE))
    if len(files) == 1:
        return FileSource(files[0], allow_code)
    if not files:
        return NoSource(f"{home}: there is no case in this folder; name one: articulon studio CASE")
    names = ", ".join(file.name for file in files[:8])
    raise ArticulonError(f"{home}: there are {len(files)} cases here ({names}); name the one that is to be shown")


def _start(file: Path) -> str:
    try:
        with file.open(encoding="utf-8", errors="replace") as lines:
            return lines.read(100_000)
    except OSError:
        return ""


@contextmanager
def _alone(home: Path) -> Iterator[None]:
    """Holds a folder against a second studio, whatever becomes of this one: the system lets go of a lock by itself."""
    with ExitStack() as stack:
        try:
            stack.enter_context(claimed(home / LOCKS, lambda _: None, "studio"))
        except ArticulonError as error:
            who = re.search(r"is going on here( \([^()]*\))?;", str(error))
            if who is None:
                raise
            raise ArticulonError(
                f"{home}: a studio is open on this folder already{who[1] or ''}; go to its page, or end it by Ctrl-C "
                "in its terminal"
            ) from None
        yield
