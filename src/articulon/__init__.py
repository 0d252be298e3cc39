"""articulon: the dynamics of articulated molecules, nanoparticles, polymers and grains across scales.

The public names are attributes of this package and load on first use. Therefore ``import articulon`` is quick, and a
script that only builds models does not load the compiler or the plotting library.
"""

from __future__ import annotations

from importlib import import_module
from typing import TYPE_CHECKING, Any

__version__ = "0.2.0"

if TYPE_CHECKING:
    from articulon import adaptive as adaptive
    from articulon import analysis as analysis
    from articulon import barostats as barostats
    from articulon import forces as forces
    from articulon import gpu as gpu
    from articulon import lammps as lammps
    from articulon import modes as modes
    from articulon import molecules as molecules
    from articulon import scaling as scaling
    from articulon import thermostats as thermostats
    from articulon.advice.advising import advise as advise
    from articulon.building import ModelBuilder as ModelBuilder
    from articulon.building import cartesian as cartesian
    from articulon.building import close_loops as close_loops
    from articulon.cases import load_case as load_case
    from articulon.cases.plugins import load_plugin as load_plugin
    from articulon.comparisons.comparison import compare as compare
    from articulon.dynamics import body_poses as body_poses
    from articulon.dynamics import derivatives as derivatives
    from articulon.dynamics import force_derivatives as force_derivatives
    from articulon.dynamics import jacobian_vector as jacobian_vector
    from articulon.dynamics import kinetic_energy as kinetic_energy
    from articulon.dynamics import loop_jacobian as loop_jacobian
    from articulon.dynamics import loop_residuals as loop_residuals
    from articulon.dynamics import mass_matrix as mass_matrix
    from articulon.dynamics import vector_jacobian as vector_jacobian
    from articulon.ensembles import Ensemble as Ensemble
    from articulon.errors import ArticulonError as ArticulonError
    from articulon.errors import CaseError as CaseError
    from articulon.errors import CheckpointError as CheckpointError
    from articulon.errors import DivergenceError as DivergenceError
    from articulon.errors import ModelError as ModelError
    from articulon.errors import TransitionError as TransitionError
    from articulon.forces.accelerations import forward_dynamics as forward_dynamics
    from articulon.forces.accelerations import inverse_dynamics as inverse_dynamics
    from articulon.forces.evaluation import configurational_laplacian as configurational_laplacian
    from articulon.forces.evaluation import generalized_forces as generalized_forces
    from articulon.forces.evaluation import potential_energy as potential_energy
    from articulon.forces.evaluation import virial as virial
    from articulon.forces.pressure import pressure as pressure
    from articulon.model import Free as Free
    from articulon.model import Model as Model
    from articulon.model import Prismatic as Prismatic
    from articulon.model import Revolute as Revolute
    from articulon.model import Spherical as Spherical
    from articulon.model import State as State
    from articulon.model import Weld as Weld
    from articulon.model import Workspace as Workspace
    from articulon.model import Xyz as Xyz
    from articulon.model import shapes as shapes
    from articulon.model.box import Box as Box
    from articulon.model.joints.swing import Swing as Swing
    from articulon.model.joints.universal import Universal as Universal
    from articulon.model.modes import Modes as Modes
    from articulon.parameter_studies.fitting import fit as fit
    from articulon.parameter_studies.optimising import optimise as optimise
    from articulon.parameter_studies.ranking import rank_parameters as rank_parameters
    from articulon.robots.robot_entry import read_mjcf as read_mjcf
    from articulon.robots.robot_entry import read_urdf as read_urdf
    from articulon.robots.urdf_writing import write_urdf as write_urdf
    from articulon.runs.entry import open_run as open_run
    from articulon.runs.entry import resume as resume
    from articulon.runs.entry import run as run
    from articulon.runs.entry import simulate as simulate
    from articulon.runs.replica_exchange import replica_exchange as replica_exchange
    from articulon.runs.run import Run as Run
    from articulon.sensitivities.sensitivity_functions import sensitivity as sensitivity
    from articulon.simulation.minimisation import minimise as minimise
    from articulon.sweeps.ensemble_entry import ensemble as ensemble
    from articulon.transitions import Reservoir as Reservoir
    from articulon.transitions import Transition as Transition
    from articulon.transitions import lock as lock
    from articulon.transitions import release as release

_HOMES = {
    "articulon.building": ("ModelBuilder", "cartesian", "close_loops"),
    "articulon.model": (
        "Model",
        "State",
        "Workspace",
        "Weld",
        "Revolute",
        "Prismatic",
        "Spherical",
        "Xyz",
        "Free",
        "shapes",
    ),
    "articulon.model.box": ("Box",),
    "articulon.model.joints.swing": ("Swing",),
    "articulon.model.joints.universal": ("Universal",),
    "articulon.model.modes": ("Modes",),
    "articulon.dynamics": (
        "mass_matrix",
        "kinetic_energy",
        "loop_jacobian",
        "loop_residuals",
        "body_poses",
        "derivatives",
        "force_derivatives",
        "jacobian_vector",
        "vector_jacobian",
    ),
    "articulon.forces.accelerations": ("forward_dynamics", "inverse_dynamics"),
    "articulon.forces.evaluation": (
        "potential_energy",
        "generalized_forces",
        "virial",
        "configurational_laplacian",
    ),
    "articulon.forces.pressure": ("pressure",),
    "articulon.cases": ("load_case",),
    "articulon.cases.plugins": ("load_plugin",),
    "articulon.ensembles": ("Ensemble",),
    "articulon.robots.robot_entry": ("read_mjcf", "read_urdf"),
    "articulon.robots.urdf_writing": ("write_urdf",),
    "articulon.runs.entry": ("simulate", "resume", "run", "open_run"),
    "articulon.runs.replica_exchange": ("replica_exchange",),
    "articulon.runs.run": ("Run",),
    "articulon.comparisons.comparison": ("compare",),
    "articulon.parameter_studies.fitting": ("fit",),
    "articulon.parameter_studies.optimising": ("optimise",),
    "articulon.parameter_studies.ranking": ("rank_parameters",),
    "articulon.advice.advising": ("advise",),
    "articulon.sensitivities.sensitivity_functions": ("sensitivity",),
    "articulon.simulation.minimisation": ("minimise",),
    "articulon.sweeps.ensemble_entry": ("ensemble",),
    "articulon.transitions": ("lock", "release", "Transition", "Reservoir"),
    "articulon.errors": (
        "ArticulonError",
        "CaseError",
        "ModelError",
        "DivergenceError",
        "CheckpointError",
        "TransitionError",
    ),
}
_HOME_OF = {name: home for home, names in _HOMES.items() for name in names}
_SUBPACKAGES = {
    "adaptive": "adaptive",
    "analysis": "analysis",
    "barostats": "barostats",
    "forces": "forces",
    "gpu": "gpu",
    "lammps": "lammps",
    "modes": "modes",
    "molecules": "molecules",
    "scaling": "scaling",
    "thermostats": "thermostats",
}

__all__ = sorted([*_HOME_OF, *_SUBPACKAGES, "__version__"])


def __getattr__(name: str) -> Any:
    if name in _HOME_OF:
        value = getattr(import_module(_HOME_OF[name]), name)
    elif name in _SUBPACKAGES:
        value = import_module(f"{__name__}.{_SUBPACKAGES[name]}")
    else:
        raise AttributeError(f"module {__name__!r} has no attribute {name!r}")
    globals()[name] = value
    return value


def __dir__() -> list[str]:
    return sorted({*globals(), *__all__})
