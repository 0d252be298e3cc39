"""Faulty input by the thousand: case files, overrides, structures, particles, meshes and calls with something wrong in
them, none of which may end in a traceback, a hang of ten seconds, or the end of the process.

    python -m validation.faults [--count 10000] [--seed 1] [--workers 2] [--only cases,calls] [--save faults]

prints a table by kind, keeps what is at fault in a folder, and exits with 1 where anything is. It rewrites its section
of docs/validation.md where nothing is left out. `tests/cases/test_faults.py` reads some of each kind. What a run has
written, its checkpoints and trajectories, is damaged by a command of its own, `python -m validation.damage`: there
every input is a resumption, and what is accepted must end on the bits of an unbroken run.
"""

from __future__ import annotations

import argparse
import sys
import time
from collections import Counter
from pathlib import Path

from validation.faulty.registry import KINDS, tasks
from validation.faulty.workers import FAULTS, LIMIT, OUTCOMES, PATIENCE, Result, made, results, write
from validation.page import table, write_section

TITLES = {"unnamed": "refused, unnamed", "traceback": "tracebacks", "hang": "hangs", "crash": "crashes"}


def keep(result: Result, seed: int, folder: Path) -> None:
    """Writes down an input that is at fault, with what was said."""
    place = folder / f"{result.outcome}-{result.kind}-{result.index}"
    place.mkdir(parents=True, exist_ok=True)
    faulty = made(KINDS[result.kind], seed, result.index)
    write(faulty, place)
    (place / "what.txt").write_text(f"{faulty.what}\n\n{result.said}\n", encoding="utf-8", errors="replace")


def main(arguments: list[str] | None = None) -> int:
    parser = argparse.ArgumentParser(prog="python -m validation.faults")
    parser.add_argument("--count", type=int, default=10_000)
    parser.add_argument("--seed", type=int, default=1)
    parser.add_argument("--workers", type=int, default=2)
    parser.add_argument("--only", type=lambda text: tuple(text.split(",")), default=())
    parser.add_argument("--save", type=Path, default=Path("faults"))
    options = parser.parse_args(arguments)
    unknown = [name for name in options.only if name not in KINDS]
    if unknown:
        parser.error(f"--only: there is no kind {unknown[0]!r} (known: {', '.join(KINDS)})")
    began, found = time.perf_counter(), Counter[tuple[str, str]]()
    longest = Result("none", 0, "accepted", "", 0.0)
    for result in results(tasks(options.count, options.only), options.seed, options.workers):
        found[result.kind, result.outcome] += 1
        longest = max(longest, result, key=lambda one: one.seconds)
        if result.outcome in FAULTS:
            keep(result, options.seed, options.save)
            sys.stderr.write(f"{result.outcome}: {result.kind} {result.index}, kept in {options.save}\n")
    sys.stderr.write(f"the longest: {longest.kind} {longest.index}, {longest.seconds:.1f} s\n")
    kinds = [name for name in KINDS if not options.only or name in options.only]
    rows = [[name, *(str(n) for n in _numbers(found, (name,)))] for name in kinds]
    rows.append(["**all**", *(str(n) for n in _numbers(found, tuple(kinds)))])
    command = f"python -m validation.faults --count {options.count} --seed {options.seed}"
    text = f"""
## Faulty input

`{command}`, {time.perf_counter() - began:.0f} s. The slowest input takes {longest.seconds:.1f} s of processor time.
Each input is a valid input into which one to three faults were put. The faults concern keys, values, units, types,
nesting, sizes and bytes of case files; settings of the command; lines and bytes of structures, particles and meshes;
sequences of amino acids; and arguments of every public function. Each case is loaded, its model is built, and
everything that needs no compiled kernel is prepared. A refusal counts as unnamed if its message lacks the file's name
or is longer than {LINES_SAID}. An input counts as a hang if it takes more than {LIMIT:g} s of processor time, or waits
for {PATIENCE * LIMIT / 60:.0f} minutes. The section above covers damage to the files of runs.

{table(["input", "inputs", *(TITLES.get(name, name) for name in OUTCOMES)], rows)}
"""
    if options.only:
        sys.stdout.write(text)
    else:
        write_section("faults", text)
    return int(any(outcome in FAULTS for _, outcome in found))


LINES_SAID = "forty lines"


def _numbers(found: Counter[tuple[str, str]], kinds: tuple[str, ...]) -> list[int]:
    counts = [sum(found[kind, outcome] for kind in kinds) for outcome in OUTCOMES]
    return [sum(counts), *counts]


if __name__ == "__main__":
    sys.exit(main())
