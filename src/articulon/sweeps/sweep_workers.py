"""Who runs the members of a sweep: workers of its own on this machine, or those of a scheduler that is there."""

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
"""What workers of this machine say that is of no member, in the folder of the sweep."""
CONNECTING = 10.0
"""How long a scheduler may take to answer [s]."""
FIRST_WORKER = 30.0
"""How long a scheduler may take to have its first worker [s]."""


class Workers:
    """A client of a scheduler, and what is to be known of its workers.

    Parameters
    ----------
    client
        A ``distributed.Client``.
    where
        For messages: who the scheduler is.
    host
        The process of the scheduler, where it is this sweep's own.
    """

    def __init__(self, client: Any, where: str, host: subprocess.Popen[str] | None = None) -> None:
        self.client, self.where, self.host = client, where, host

    def count(self) -> int:
        """How many there are now.

        Raises
        ------
        ArticulonError
            Where the scheduler is gone, and where a worker has several threads: runs of one process would share them.
        """
        self.check()
        try:
            threads: dict[str, int] = self.client.nthreads()
        except Exception:  # of many kinds, by where the connection breaks
            raise self._gone() from None
        for address, number in threads.items():
            if number != 1:
                raise ArticulonError(
                    f"{self.where}: the worker {address} has {number} threads, and a run takes one process; start "
                    "workers of one thread: dask worker ADDRESS --nthreads 1 --nworkers N"
                )
        return len(threads)

    def check(self) -> None:
        """Raises ArticulonError where the scheduler is gone."""
        ended = self.host is not None and self.host.poll() is not None
        if ended or self.client.status != "running":
            raise self._gone()

    def take_back(self, tasks: list[Any]) -> None:
        """Takes tasks back, which their runs notice: they save their states and end."""
        with suppress(Exception):  # a scheduler that is gone has no tasks
            self.client.cancel(tasks, force=True)

    def _gone(self) -> ArticulonError:
        return ArticulonError(
            f"{self.where} is gone; members that have ended are whole, and the others go on by resume=True"
        )


@contextmanager
def local_workers(count: int, folder: Path) -> Iterator[Workers]:
    """Workers on this machine, each a process of one thread, which end with this process however it ends.

    Parameters
    ----------
    count
        How many.
    folder
        Of the sweep, for what they say.

    Raises
    ------
    ArticulonError
        Where Dask is not installed, or they cannot be started.
    """
    client_class, security_class = _dask()
    where = "the scheduler of this sweep"
    # What lies in the current folder is not ours, and nobody has allowed it to run.
    command = [sys.executable, "-P", "-m", "articulon.sweeps.worker_host", str(count)]
    # Workers end without tidying up, which Python would remark on.
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
    """The workers of a scheduler.

    Parameters
    ----------
    address
        Its address, such as ``tcp://10.0.0.1:8786``.
    folder
        Of the sweep, which every worker must see under the same path.

    Raises
    ------
    ArticulonError
        Where Dask is not installed, no scheduler answers, it has no workers, or they have another articulon or do not
        see the folder.
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
        except Exception as failure:  # whatever keeps a worker from loading articulon
            raise ArticulonError(
                f"{where}: its workers cannot run articulon ({failure}); install articulon {__version__} there"
            ) from None
        for worker, report in reports.items():
            if report["articulon"] != __version__:
                raise ArticulonError(
                    f"{where}: the worker {worker} has articulon {report['articulon']}, and this is {__version__}; "
                    "install the same everywhere, for another version need not end on the same bits"
                )
            if not report["sees"]:
                raise ArticulonError(
                    f"{where}: the worker {worker} does not see the folder {folder.absolute()}; choose one on a disk "
                    "that all of them share (out=...)"
                )
        yield workers


@contextmanager
def _client(client_class: Any, address: str, where: str, **options: Any) -> Iterator[Any]:
    """A client that is closed in the end, and whose own words nobody sees: what they are about is said by errors."""
    logger = logging.getLogger("distributed")
    before = logger.level
    logger.setLevel(logging.CRITICAL)
    client = None
    try:
        try:
            client = client_class(address, set_as_default=False, timeout=CONNECTING, **options)
        except (OSError, TimeoutError, ValueError, RuntimeError) as failure:
            raise ArticulonError(
                f"no scheduler answers at {address} ({failure or type(failure).__name__}); start one by 'dask "
                "scheduler', or leave the scheduler out to run on this machine"
            ) from None
        yield client
    finally:
        if client is not None:
            with suppress(Exception):  # it may be gone
                client.close(timeout=CONNECTING)
        logger.setLevel(before)


def _dask() -> tuple[Any, Any]:
    """The classes of clients and of their security; raises ArticulonError where Dask is not installed."""
    try:
        import cryptography  # noqa: F401 - what makes certificates
        from distributed import Client
        from distributed.security import Security
    except ImportError:
        raise ArticulonError(MISSING) from None
    return Client, Security
