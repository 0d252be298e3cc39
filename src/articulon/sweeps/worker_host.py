"""The process that holds a scheduler and its workers on this machine, and ends with whoever has started it.

It is a process of its own so that workers never import the program of the user, which need not be made for that, and
so that nothing is left behind when that program is killed: its end closes the standard input of this one, whose end
closes the pipes that its workers listen to.

Scheduler and workers talk over the loopback interface, encrypted and with certificates that are made for this process
alone: a scheduler runs what it is sent, and other users of the machine can reach the loopback interface.
"""

from __future__ import annotations

import json
import os
import shutil
import sys
import tempfile
from typing import Any

LOOPBACK = "127.0.0.1"
"""Where the scheduler listens."""
CERTIFICATES = ("tls_ca_file", "tls_client_cert", "tls_client_key")
"""What a client needs to be let in."""
SETTINGS: dict[str, Any] = {
    # Whoever orders a run decides whether it is tried again, by whether it got further.
    "distributed.scheduler.allowed-failures": 0,
    # Kernels and compilers keep a worker from answering for as long as they take.
    "distributed.scheduler.worker-ttl": None,
    "distributed.admin.tick.limit": "1h",
    "distributed.comm.timeouts.connect": "1h",
    "distributed.comm.timeouts.tcp": "1h",
    # A run keeps its memory; a worker must not be paused, or killed, for that.
    "distributed.worker.memory.target": False,
    "distributed.worker.memory.spill": False,
    "distributed.worker.memory.pause": False,
    "distributed.worker.memory.terminate": False,
    "distributed.worker.profile.enabled": False,
    # Nobody looks at pages of theirs.
    "distributed.scheduler.http.routes": [],
    "distributed.worker.http.routes": [],
}
"""Of Dask, for runs."""


def main() -> None:
    """Start a scheduler and as many workers as the first argument says, print how to reach it, and wait for the end of
    the standard input."""
    workers = int(sys.argv[1])
    # What anything else prints here is no word to whoever reads the standard output.
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
    os._exit(0)  # workers notice, at once and whatever they do


if __name__ == "__main__":
    main()
