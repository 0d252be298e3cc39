"""How large a thing is that a case or a call asks for, said before any of it is allocated."""

from __future__ import annotations

import os
from functools import cache
from pathlib import Path

from articulon.errors import ArticulonError, CaseError

BODY, PARTICLE, SITE, NUMBER = 2500, 1000, 300, 8
"""Memory that a jointed body, a free particle or grain, a site and a number in an array take at least while a model is
built [bytes]."""
UNKNOWN = 2**44
"""What is taken for the memory of a machine that does not tell [bytes]: more than nearly all have."""
LIMITS = ("/sys/fs/cgroup/memory.max", "/sys/fs/cgroup/memory/memory.limit_in_bytes")
"""Where Linux says what a group of processes may take."""


@cache
def memory() -> int:
    """Memory that this process may take: that of the machine, or what its group or its shell lets it have [bytes]."""
    found = []
    try:
        found.append(os.sysconf("SC_PAGE_SIZE") * os.sysconf("SC_PHYS_PAGES"))
    except (AttributeError, OSError, ValueError):
        found.append(UNKNOWN)
    for path in LIMITS:
        try:
            found.append(int(Path(path).read_text(encoding="ascii")))
        except (OSError, ValueError):  # there is no such limit
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
    """Raises ``error`` where so many things do not fit into memory.

    Parameters
    ----------
    count, each
        How many there are, and the memory that one takes [bytes].
    what
        What they are called, such as ``"bodies"``.
    where
        The key that asks for them.
    advice
        What to do; to ask for fewer by default.
    """
    needed = float(count) * float(each)
    if needed > memory():
        raise error(
            f"{where}: {number_of(count)} {what} take about {amount(needed)} of memory, and there are "
            f"{amount(memory())}; {advice or 'ask for fewer'}"
        )


def number_of(count: float) -> str:
    """A number of things: ``12,000``, or ``1e+18`` where digits would say nothing."""
    return f"{int(count):,}" if abs(count) < 1e15 else f"{count:.3g}"


def amount(size: float) -> str:
    """A size in words: ``3.2 GB``."""
    for unit in ("bytes", "kB", "MB", "GB", "TB"):
        if size < 1000.0:
            return f"{size:.3g} {unit}"
        size /= 1000.0
    return f"{size:.3g} PB"
