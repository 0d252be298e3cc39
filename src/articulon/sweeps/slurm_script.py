"""Output of a sweep as a Slurm job array: the list of its members, and a script that runs one member."""

from __future__ import annotations

from pathlib import Path
from shlex import quote

from articulon.cases.overrides import value_of
from articulon.cases.toml_writing import inline
from articulon.errors import ArticulonError
from articulon.inputs import shown
from articulon.storage.atomic_writing import write_text
from articulon.storage.folder_claim import claimed
from articulon.sweeps.sweep_plan import BASE, Plan, check_plan

MEMBERS = "members.tsv"
"""File with a line for each member: its name and its settings, separated by tabs."""
SCRIPT = "sweep.slurm"
TEMPLATE = """\
#!/bin/bash
# A sweep of {case} with {count} members, each a task that runs on one core and resumes after an interruption:   sbatch
# {script} When all have ended, collect the results with:   {collect}
#SBATCH --job-name={job}
#SBATCH --array=1-{count}
#SBATCH --ntasks=1
#SBATCH --cpus-per-task=1
#SBATCH --requeue
#SBATCH --output={log}
set -euo pipefail

sweep={folder}
line=$(sed -n "${{SLURM_ARRAY_TASK_ID}}p" "$sweep/{members}")
IFS=$'\\t' read -r -a settings <<< "$line"
if [ "${{#settings[@]}}" -eq 0 ]; then
  echo "$sweep/{members} has no line ${{SLURM_ARRAY_TASK_ID}}" >&2
  exit 2
fi

folder="$sweep/${{settings[0]}}"
arguments=(--out "$folder" --set run.threads=1)
for setting in "${{settings[@]:1}}"; do
  arguments+=(--set "$setting")
done
if [ -e "$folder/case.toml" ]; then
  arguments+=(--resume)
fi
exec articulon run "$sweep/{base}" "${{arguments[@]}}"{code}
"""


def setting(key: str, value: object) -> str:
    """Format a key and its value for ``--set``.

    >>> setting("thermostat.temperature", "300 K"), setting("scaling.a2", 0.1), setting("run.stop.label", "1")
    ('thermostat.temperature=300 K', 'scaling.a2=0.1', 'run.stop.label="1"')
    """
    text = value if isinstance(value, str) and value_of(value) == value and value.strip() == value else inline(value)
    return f"{key}={text}"


def write_slurm(plan: Plan, folder: Path, collect: str, resume: bool) -> tuple[Path, Path]:
    """Write the plan of a sweep, the list of its members, and the script of a job array. No member is run.

    Parameters
    ----------
    plan
        The plan of the sweep.
    folder
        Folder of the sweep; it is created if missing.
    collect
        Command that collects the results.
    resume
        Whether the folder may already hold this sweep: additional seeds then extend the list.

    Returns
    -------
    tuple
        Paths of the script and of the list.

    Raises
    ------
    ArticulonError
        For a folder that holds another sweep, for a value that contains a line break or a tab, and for a file that
        cannot be written.
    """
    whole, lines = folder.absolute(), []
    for member in plan.members:
        fields = [member.name, *(setting(key, value) for key, value in member.overrides.items())]
        if any("\t" in one or "\n" in one for one in fields):
            raise ArticulonError(f"{member.name}: a value contains a tab or a line break, and cannot be listed")
        lines.append("\t".join(fields))
    if any(letter in str(whole) for letter in '\n%"'):
        raise ArticulonError(
            f"{shown(str(whole))}: a path of logs must not contain a line break, % or quote; choose another (out=...)"
        )
    text = TEMPLATE.format(
        case=plan.case.name,
        count=len(lines),
        script=quote(str(whole / SCRIPT)),
        collect=collect.replace("\n", " "),  # a line break would end the comment that contains it
        job=f"articulon-{plan.case.name}",
        log=f'"{whole}/slurm-%A_%a.log"',
        folder=quote(str(whole)),
        members=MEMBERS,
        base=BASE,
        code=" --allow-code" if plan.case.allow_code else "",
    )
    with claimed(folder, lambda _: None, "sweep"):
        check_plan(folder, plan, resume)
        # Queued tasks identify their members by line number, so the old lines stay unchanged.
        before = (folder / MEMBERS).read_text(encoding="utf-8").splitlines() if (folder / MEMBERS).is_file() else []
        listed = [line for line in before if line in lines]
        lines = [*listed, *(line for line in lines if line not in listed)]
        plan.write(folder)
        write_text(folder / MEMBERS, "\n".join(lines) + "\n")
        write_text(folder / SCRIPT, text)
    return folder / SCRIPT, folder / MEMBERS
