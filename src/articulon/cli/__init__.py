"""The command ``articulon``. Heavy modules (kernels, plots, peers) are imported only by the commands that need them."""

import gc

from articulon.cli.advise_command import advise
from articulon.cli.analyse_command import analyse
from articulon.cli.cases_command import bench, cases, cite
from articulon.cli.commands import EXIT_CHECK, EXIT_ERROR, EXIT_INTERRUPTED, app, fail
from articulon.cli.exchange_command import exchange
from articulon.cli.export_command import export
from articulon.cli.run_command import WRITTEN_BY_A_RUN, check_folder, compare, report, run
from articulon.cli.studio_command import studio
from articulon.cli.study_commands import fit, optimise, sensitivities
from articulon.cli.sweep_command import sweep
from articulon.cli.tune import tune
from articulon.cli.view_command import view
from articulon.runs.progress import RunProgress

__all__ = [
    "EXIT_CHECK",
    "EXIT_ERROR",
    "EXIT_INTERRUPTED",
    "WRITTEN_BY_A_RUN",
    "RunProgress",
    "advise",
    "analyse",
    "app",
    "bench",
    "cases",
    "check_folder",
    "cite",
    "compare",
    "exchange",
    "export",
    "fail",
    "fit",
    "main",
    "optimise",
    "report",
    "run",
    "sensitivities",
    "studio",
    "sweep",
    "tune",
    "view",
]


def main() -> None:
    """Entry point of the command."""
    # Imported objects stay in memory; scanning them repeatedly for garbage would take a tenth of a short run.
    gc.set_threshold(100_000, 20, 100)
    app(prog_name="articulon")
