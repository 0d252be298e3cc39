"""The contacts in which a run ended: who touches whom, with which force."""

from __future__ import annotations

from articulon.analysis.models import check_run
from articulon.cases.case import Case
from articulon.errors import ArticulonError
from articulon.simulate.contact_statistics import ContactRecords, contact_records, saved_contacts
from articulon.simulate.results import Run
from articulon.simulate.simulation import Trajectory


def contacts(run: Run | Trajectory) -> ContactRecords:
    """The contacts at the end of a run, with their forces, arms, overlaps and tangential displacements.

    Parameters
    ----------
    run
        What :func:`articulon.run`, :func:`articulon.open_run` or :func:`articulon.simulate` returns.

    Returns
    -------
    ContactRecords
        Arrays with a row for each contact; spheres are numbered as the model's sites are.

    Raises
    ------
    ArticulonError
        For a run without contact spheres, or one whose checkpoint cannot be read.
    """
    if isinstance(run, Trajectory):
        if not (run.model.sites.radius > 0.0).any():
            raise ArticulonError("this run has no contact spheres; give bodies sites with a radius")
        return contact_records(run.state.contact_pairs, run.state.contact_memory, run.model.sites.radius)
    check_run(run)
    case: Case = Case.read(run.folder / "case.toml") if run.case is None else run.case
    found = saved_contacts(run.folder, case.build_model(run_code=False))
    if found is None:
        raise ArticulonError(f"{run.folder}: there are no contacts of spheres, or no checkpoint that has them")
    return found[1]
