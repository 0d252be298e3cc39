"""Contacts at the end of a run: which spheres touch, and with which force."""

from __future__ import annotations

from articulon.analysis.run_models import case_of, check_run
from articulon.errors import ArticulonError
from articulon.simulation.contact_statistics import ContactRecords, contact_records, saved_contacts
from articulon.simulation.results import Run


def contacts(run: Run) -> ContactRecords:
    """Return the contacts at the end of a run, with their forces, arms, overlaps and tangential displacements.

    Parameters
    ----------
    run
        A run of :func:`articulon.run`, :func:`articulon.open_run` or :func:`articulon.simulate`.

    Returns
    -------
    ContactRecords
        Arrays with a row for each contact; spheres are numbered like the sites of the model.

    Raises
    ------
    ArticulonError
        For a run without contact spheres, or one whose checkpoint cannot be read.
    """
    check_run(run)
    if run.memory is not None:
        model, state = run.model, run.memory.state
        if not (model.sites.radius > 0.0).any():
            raise ArticulonError("this run has no contact spheres; give bodies sites with a radius")
        return contact_records(state.contacts.pairs, state.contacts.memory, model.sites.radius)
    model = case_of(run).build_model(run_code=False) if run.known_model is None else run.known_model
    if not (model.sites.radius > 0.0).any():
        raise ArticulonError("this run has no contact spheres; give bodies sites with a radius")
    found = saved_contacts(run.folder, model)
    if found is None:
        raise ArticulonError(f"{run.folder}: there are no contacts of spheres, or no checkpoint that has them")
    return found[1]
