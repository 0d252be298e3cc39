"""The process that hosts a scheduler and its workers on this machine, and ends with the process that started it.

It is a separate process for two reasons. First, workers then never import the user's program, which may not be written
for such an import. Second, no process is left behind if the program is killed: its end closes the standard input of
this process, and the end of this process closes the pipes on which the workers wait.

Scheduler and workers communicate over the loopback interface, encrypted with certificates that are made for this
process only. This is needed because a scheduler runs any code that it receives, and other users of the machine can
reach the loopback interface.
"""

from __future__ import annotations

import json
import os
import shutil
import sys
import tempfile
from typing import Any

LOOPBACK = "127.0.0.1"
"""Address at which the scheduler listens."""
CERTIFICATES = ("tls_ca_file", "tls_client_cert", "tls_client_key")
"""Credentials that a client needs."""
SETTINGS: dict[str, Any] = {
    # The sweep, not the scheduler, decides whether a run is tried again.
    "distributed.scheduler.allowed-failures": 0,
    # During a compilation, a worker may not answer for a long time.
    "distributed.scheduler.worker-ttl": None,
    "distributed.admin.tick.limit": "1h",
    "distributed.comm.timeouts.connect": "1h",
    "distributed.comm.timeouts.tcp": "1h",
    # Dask must not pause or kill workers because of the memory that a run uses.
    "distributed.worker.memory.target": False,
    "distributed.worker.memory.spill": False,
    "distributed.worker.memory.pause": False,
    "distributed.worker.memory.terminate": False,
    "distributed.worker.profile.enabled": False,
    # Disable Dask's web pages.
    "distributed.scheduler.http.routes": [],
    "distributed.worker.http.routes": [],
}
"""Settings of Dask for runs."""


def main() -> None:
    """Start a scheduler and workers; the first argument is their number. Print the address of the scheduler, and wait
    for the end of standard input."""
    workers = int(sys.argv[1])
    # The parent process reads the standard output, so other output must not go there.
    answer = os.fdopen(os.dup(1), "w", encoding="utf-8")
    os.dup2(2, 1)

    import dask
    from distributed import LocalCluster
    from distributed.security import Security

    dask.config.set(SETTINGS)
    security, scratch = Security.temporary(), tempfile.mkdtemp(prefix="articulon-sweep-")
    cluster = LocalCluster(
        n_workers=workers,
        threads_per_worker=1,
        processes=True,
        host=LOOPBACK,
        protocol="tls://",
        dashboard_address=f"{LOOPBACK}:0",
        memory_limit=0,
        local_directory=scratch,
        security=security,
    )
    json.dump({"address": cluster.scheduler_address, **{n: getattr(security, n) for n in CERTIFICATES}}, answer)
    answer.write("\n")
    answer.flush()
    sys.stdin.read()
    shutil.rmtree(scratch, ignore_errors=True)
    os._exit(0)  # workers notice this at once, even while they compute


if __name__ == "__main__":
    main()
