"""The model of a run, and its bodies by name."""

from collections.abc import Sequence

import numpy as np

from articulon.cases.case import Case
from articulon.errors import ArticulonError, CaseError
from articulon.inputs import shown, words
from articulon.model import Model
from articulon.simulation.results import Run


def case_of(run: Run) -> Case:
    """Return the case of a run; it is read from the folder of the run if it is not in memory."""
    check_run(run)
    if run.case is None:
        run.case = Case.read(run.folder / "case.toml")
    return run.case


def check_run(run: object) -> None:
    """Raise ArticulonError if the argument is not a run."""
    if not isinstance(run, Run):
        raise ArticulonError(f"expected a run from articulon.run or articulon.open_run, got {shown(run)}")


def model_of(run: Run) -> Model:
    """Return the model of a run; see :attr:`articulon.simulation.results.Run.model`."""
    check_run(run)
    if run.known_model is None:
        case_of(run)
    return run.model


def case_and_model(given: Case | Run) -> tuple[Case, Model]:
    """Return the case and the model for a case or a run. A model that the run has built already is reused.

    Raises CaseError if the argument is neither a case nor a run.
    """
    if isinstance(given, Run):
        return case_of(given), model_of(given)
    if not isinstance(given, Case):
        raise CaseError(f"expected a case from articulon.load_case, or a run, got {shown(given)}")
    return given, given.build_model()


def chosen_bodies(model: Model, names: str | Sequence[str]) -> np.ndarray:
    """Return the indices of the bodies with the given names. A name that ends in ``*`` matches all names with that
    beginning. Raises ArticulonError if no body matches."""
    found: list[int] = []
    for name in words(names, "bodies", ArticulonError):
        prefix = name.removesuffix("*")
        match = [
            k for k, body in enumerate(model.names) if (body.startswith(prefix) if name.endswith("*") else body == name)
        ]
        if not match:
            raise ArticulonError(f"there is no body '{name}'; the first is called '{model.names[0]}'")
        found += match
    return np.array(sorted(set(found)), dtype=np.int64)
