"""Check of the memory that a case or a call requests, before it is allocated."""

from __future__ import annotations

import os
from functools import cache
from pathlib import Path

from articulon.errors import ArticulonError, CaseError

BODY, PARTICLE, SITE, NUMBER = 2500, 1000, 300, 8
"""Minimum memory while a model is built, for a body with a joint, for a free particle or grain, for a site, and for a
number in an array [bytes]."""
UNKNOWN = 2**44
"""Assumed memory of a machine that does not report its memory [bytes]; nearly all machines have less."""
LIMITS = ("/sys/fs/cgroup/memory.max", "/sys/fs/cgroup/memory/memory.limit_in_bytes")
"""Files in which Linux reports the memory limit of a group of processes."""


@cache
def memory() -> int:
    """Return the memory available to this process [bytes]: the memory of the machine, or the limit of the process group
    or of the shell."""
    found = []
    try:
        found.append(os.sysconf("SC_PAGE_SIZE") * os.sysconf("SC_PHYS_PAGES"))
    except (AttributeError, OSError, ValueError):
        found.append(UNKNOWN)
    for path in LIMITS:
        try:
            found.append(int(Path(path).read_text(encoding="ascii")))
        except (OSError, ValueError):  # this limit does not exist
            continue
    try:
        import resource

        soft, _ = resource.getrlimit(resource.RLIMIT_AS)
        found += [] if soft == resource.RLIM_INFINITY else [soft]
    except ImportError:
        pass
    return min(size for size in found if size > 0)


def check_size(
    count: float, each: float, what: str, where: str, advice: str = "", error: type[ArticulonError] = CaseError
) -> None:
    """Raise ``error`` if this many items do not fit into memory.

    Parameters
    ----------
    count, each
        Number of items, and the memory of each [bytes].
    what
        Name of the items, such as ``"bodies"``.
    where
        Key that requests them.
    advice
        Advice in the message; by default to request fewer items.
    """
    needed = float(count) * float(each)
    if needed > memory():
        raise error(
            f"{where}: {number_of(count)} {what} take about {amount(needed)} of memory, but there are only "
            f"{amount(memory())}; {advice or 'request fewer'}"
        )


def number_of(count: float) -> str:
    """Return a count as text: ``12,000``, or ``1e+18`` for large counts."""
    return f"{int(count):,}" if abs(count) < 1e15 else f"{count:.3g}"


def amount(size: float) -> str:
    """Return a size as text: ``3.2 GB``."""
    for unit in ("bytes", "kB", "MB", "GB", "TB"):
        if size < 1000.0:
            return f"{size:.3g} {unit}"
        size /= 1000.0
    return f"{size:.3g} PB"
