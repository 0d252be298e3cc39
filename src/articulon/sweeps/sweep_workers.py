"""Workers of a sweep: processes started on this machine, or the workers of an existing scheduler."""

from __future__ import annotations

import json
import logging
import os
import subprocess
import sys
from collections.abc import Iterator
from contextlib import contextmanager, suppress
from pathlib import Path
from typing import Any

from articulon import __version__
from articulon.errors import ArticulonError
from articulon.sweeps.member_task import worker_report
from articulon.sweeps.worker_host import CERTIFICATES

MISSING = "sweeps run on dask.distributed: pip install 'articulon[ensemble]'"
LOG = "workers.log"
"""File in the folder of the sweep with output of local workers that does not belong to a member."""
CONNECTING = 10.0
"""Time within which a scheduler must answer [s]."""
FIRST_WORKER = 30.0
"""Time within which a scheduler must have a worker [s]."""


class Workers:
    """Client of a scheduler, with information on its workers.

    Parameters
    ----------
    client
        A ``distributed.Client``.
    where
        Name of the workers or the scheduler in messages.
    host
        Process of the scheduler, if it belongs to this sweep.
    """

    def __init__(self, client: Any, where: str, host: subprocess.Popen[str] | None = None) -> None:
        self.client, self.where, self.host = client, where, host

    def count(self) -> int:
        """Return the current number of workers.

        Raises
        ------
        ArticulonError
            If the scheduler has ended, or if a worker has several threads, so that several runs would share a worker.
        """
        self.check()
        try:
            threads: dict[str, int] = self.client.nthreads()
        except Exception:  # a broken connection can give many types of error
            raise self._gone() from None
        for address, number in threads.items():
            if number != 1:
                raise ArticulonError(
                    f"{self.where}: the worker {address} has {number} threads, but each run needs a process of its "
                    "own; start workers with one thread: dask worker ADDRESS --nthreads 1 --nworkers N"
                )
        return len(threads)

    def check(self) -> None:
        """Raise ArticulonError if the scheduler has ended."""
        ended = self.host is not None and self.host.poll() is not None
        if ended or self.client.status != "running":
            raise self._gone()

    def take_back(self, tasks: list[Any]) -> None:
        """Withdraw tasks. Runs that are in progress notice this, save their states and end."""
        with suppress(Exception):  # a scheduler that has ended has no tasks
            self.client.cancel(tasks, force=True)

    def _gone(self) -> ArticulonError:
        return ArticulonError(
            f"{self.where} is gone; members that have ended are complete; continue the others with resume=True"
        )


@contextmanager
def local_workers(count: int, folder: Path) -> Iterator[Workers]:
    """Start workers on this machine; each is a process with one thread. They end when this process ends, even if this
    process is killed.

    Parameters
    ----------
    count
        Number of workers.
    folder
        Folder of the sweep, for the log of the workers.

    Raises
    ------
    ArticulonError
        If Dask is not installed, or the workers cannot be started.
    """
    client_class, security_class = _dask()
    where = "the scheduler of this sweep"
    # Remove the current folder from the import path, because the user has not allowed its code to run.
    command = [sys.executable, "-P", "-m", "articulon.sweeps.worker_host", str(count)]
    # Suppress Python's warning that workers end without cleaning up.
    quiet = {**os.environ, "PYTHONWARNINGS": "ignore::UserWarning:multiprocessing.resource_tracker"}
    with (folder / LOG).open("ab") as log:
        host = subprocess.Popen(
            command,
            stdin=subprocess.PIPE,
            stdout=subprocess.PIPE,
            stderr=log,
            text=True,
            start_new_session=True,
            env=quiet,
        )
    try:
        assert host.stdin is not None and host.stdout is not None
        try:
            answer = json.loads(host.stdout.readline())
        except ValueError:
            raise ArticulonError(f"workers cannot be started; {folder / LOG} says why") from None
        security = security_class(require_encryption=True, **{name: answer[name] for name in CERTIFICATES})
        with _client(client_class, answer["address"], where, security=security) as client:
            yield Workers(client, where, host)
    finally:
        with suppress(OSError):
            host.stdin.close()  # type: ignore[union-attr]
        try:
            host.wait(CONNECTING)
        except subprocess.TimeoutExpired:
            host.kill()
            host.wait()
        host.stdout.close()  # type: ignore[union-attr]


@contextmanager
def remote_workers(address: str, folder: Path) -> Iterator[Workers]:
    """Return the workers of a scheduler.

    Parameters
    ----------
    address
        Address of the scheduler, such as ``tcp://10.0.0.1:8786``.
    folder
        Folder of the sweep, which every worker must see under the same path.

    Raises
    ------
    ArticulonError
        If Dask is not installed, if no scheduler answers, or if the scheduler has no workers. Also if workers have
        another version of articulon or do not see the folder.
    """
    client_class, _ = _dask()
    where = f"the scheduler at {address}"
    with _client(client_class, address, where) as client:
        workers = Workers(client, where)
        try:
            client.wait_for_workers(1, timeout=FIRST_WORKER)
        except (TimeoutError, ValueError):
            raise ArticulonError(
                f"{where} has no workers; start some: dask worker {address} --nthreads 1 --nworkers N"
            ) from None
        workers.count()
        try:
            reports = client.run(worker_report, str(folder.absolute()))
        except Exception as failure:  # loading articulon on a worker can raise any error
            raise ArticulonError(
                f"{where}: its workers cannot run articulon ({failure}); install articulon {__version__} there"
            ) from None
        for worker, report in reports.items():
            if report["articulon"] != __version__:
                raise ArticulonError(
                    f"{where}: the worker {worker} has articulon {report['articulon']}, but this is {__version__}; "
                    "install the same version everywhere: results of other versions may differ in the last digits"
                )
            if not report["sees"]:
                raise ArticulonError(
                    f"{where}: the worker {worker} does not see the folder {folder.absolute()}; choose one on a disk "
                    "that all of them share (out=...)"
                )
        yield workers


@contextmanager
def _client(client_class: Any, address: str, where: str, **options: Any) -> Iterator[Any]:
    """Return a context with a client of a scheduler. The client's log is switched off, because errors are reported in
    another way."""
    logger = logging.getLogger("distributed")
    before = logger.level
    logger.setLevel(logging.CRITICAL)
    client = None
    try:
        try:
            client = client_class(address, set_as_default=False, timeout=CONNECTING, **options)
        except (OSError, TimeoutError, ValueError, RuntimeError) as failure:
            raise ArticulonError(
                f"no scheduler answers at {address} ({failure or type(failure).__name__}); start one with 'dask "
                "scheduler', or leave the scheduler out to run on this machine"
            ) from None
        yield client
    finally:
        if client is not None:
            with suppress(Exception):  # the scheduler may have ended
                client.close(timeout=CONNECTING)
        logger.setLevel(before)


def _dask() -> tuple[Any, Any]:
    """Return the classes of clients and of their security; raise ArticulonError if Dask is not installed."""
    try:
        import cryptography  # noqa: F401 - it makes the certificates
        from distributed import Client
        from distributed.security import Security
    except ImportError:
        raise ArticulonError(MISSING) from None
    return Client, Security
