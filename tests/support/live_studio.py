"""A studio in this process, kept up to date by a thread, as the command does."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

from articulon.studio.case_source import CaseSource
from articulon.studio.editing.case_document import CaseDocument
from articulon.studio.page_server import address, server_at
from articulon.studio.run_session import RunSession
from articulon.studio.workspace import Workspace


@contextmanager
def live_studio(source: CaseSource | CaseDocument, runs: Path, token: str | None = None) -> Iterator[Workspace]:
    """A studio that shows a case, its runs in a folder."""
    with Workspace(server_at(None, token=token), source, RunSession(runs), runs.parent).in_background() as workspace:
        yield workspace


def port_of(workspace: Workspace) -> int:
    """Where its pages are."""
    return int(workspace.server.get_port())


def address_of(workspace: Workspace) -> str:
    """The address of its pages."""
    return address(workspace.server)
