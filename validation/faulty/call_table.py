"""Public functions that take arguments, each with arguments that it takes."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from typing import Any

import numpy as np

import articulon as ar
from articulon import molecules
from validation.faulty.models import (
    chain,
    fluid,
    fresh,
    gas,
    grain_run,
    kept,
    looped,
    molecular_run,
    ring,
    small_run,
    state,
    tree,
)


@dataclass(frozen=True)
class Call:
    """A public function with arguments that it takes."""

    function: Callable[..., Any]
    good: Callable[[], dict[str, Any]]
    """Made anew for each call."""
    long: tuple[str, ...] = ()
    """Arguments whose size is how much work is asked for: large numbers there are no fault."""
    fixed: tuple[str, ...] = ()
    """Arguments that stay as they are, since another one that is right would take long."""


def with_builder(method: str, **good: Any) -> Call:
    """A call of a builder's method, and the model that it makes."""

    def call(**arguments: Any) -> None:
        builder = ar.ModelBuilder(units="kg-m-s")
        builder.add_body("arm", mass=1.0, inertia=0.1, joint=ar.Revolute(axis=(0, 1, 0)))
        builder.add_body("hand", parent="arm", mass=0.5, inertia=0.1, joint=ar.Spherical(), position=(0, 0, -1))
        getattr(builder, method)(**arguments)
        builder.build()

    return Call(call, lambda: dict(good), ("count",))


ON_MOLECULES: dict[str, dict[str, Any]] = {
    "rmsd": {"reference": None},
    "rmsf": {},
    "radius_of_gyration": {},
    "end_to_end_distance": {},
    "native_contacts": {"reference": None},
    "secondary_structure": {},
    "hydrogen_bonds": {},
    "backbone_torsions": {},
    "torsion_correlation": {},
    "ramachandran": {"residues": "all", "bins": 10, "blocks": 2, "temperature": 300.0},
    "clusters": {"by": "rmsd", "cutoff": 0.1, "number": None, "frames": 5},
    "mean_temperature": {},
    "universe": {},
    "analyse_molecules": {"reference": None},
}
"""Analyses of runs of molecules, with what each takes besides the run and ``skip``."""


def calls() -> dict[str, Call]:
    """Every public function that takes arguments."""
    nine, six = np.zeros(tree().nu), np.zeros((tree().bodies, 6))
    down = (0.0, 0.0, -9.81)
    still = ar.lock(tree(), tree().q0, tree().u0 + 0.1, "hand")
    positions = np.random.default_rng(1).normal(size=(8, 3))
    return {
        "ModelBuilder": Call(ar.ModelBuilder, lambda: {"units": "kg-m-s", "box": ar.Box(lengths=(1, 1, 1))}),
        "ModelBuilder.add_body": with_builder(
            "add_body",
            name="leg",
            mass=1.0,
            inertia=(1, 1, 1),
            parent="arm",
            com=down,
            position=down,
            rotation=(1, 0, 0, 0),
            q=(1.0, 0.0, 0.0, 0.0),
            u=(0, 0, 0),
            joint=ar.Spherical(),
            node=None,
            modes=None,
        ),
        "ModelBuilder.add_bodies": with_builder(
            "add_bodies",
            count=2,
            mass=[1.0, 2.0],
            joint=ar.Xyz(),
            inertia=1.0,
            parents=[-1, 0],
            com=down,
            position=down,
            rotation=(1, 0, 0, 0),
            q=np.zeros(6),
            u=np.zeros(6),
            names="leg",
        ),
        "ModelBuilder.add_site": with_builder(
            "add_site", body="arm", position=down, charge=1.0, kind="a", group="b", radius=0.1, node=None
        ),
        "ModelBuilder.add_particles": with_builder(
            "add_particles",
            count=2,
            mass=1.0,
            positions=np.eye(3)[:2],
            velocities=np.eye(3)[:2],
            charge=[1.0, -1.0],
            kind="A",
            group="B",
            names="p",
        ),
        "ModelBuilder.add_grain": with_builder(
            "add_grain",
            name="g",
            radius=0.1,
            position=down,
            kind="a",
            density=1.0,
            velocity=down,
            spin=down,
            charge=0.0,
            group="g",
            mass=None,
        ),
        "ModelBuilder.add_grains": with_builder(
            "add_grains",
            positions=np.eye(3),
            radius=[0.1, 0.2, 0.1],
            kind=["a", "b", "a"],
            mass=1.0,
            velocities=np.eye(3),
            spins=np.eye(3),
            name="g",
            charge=0.0,
            group="c",
            density=None,
        ),
        "ModelBuilder.add_loop": with_builder(
            "add_loop",
            name="loop",
            joint=ar.Spherical(),
            child="hand",
            parent=None,
            position=(0, 0, -1.0),
            rotation=(1, 0, 0, 0),
            child_position=(0, 0, 0),
            child_rotation=(1, 0, 0, 0),
        ),
        "ModelBuilder.add_drive": with_builder(
            "add_drive", body="arm", component=0, times=[0, 1, 2, 3], values=[0, 1, 0, 1], name="drive", function=None
        ),
        "ModelBuilder.add_force": with_builder("add_force", force=ar.forces.Gravity(acceleration=down)),
        "Box": Call(ar.Box, lambda: {"lengths": (1, 1, 1), "tilts": (0, 0, 0), "origin": (0, 0, 0)}),
        "Revolute": Call(ar.Revolute, lambda: {"axis": (0, 0, 1)}),
        "Prismatic": Call(ar.Prismatic, lambda: {"axis": (0, 0, 1)}),
        "cartesian": Call(ar.cartesian, state),
        "close_loops": Call(ar.close_loops, lambda: ring() | {"time": 0.0}),
        "loop_jacobian": Call(ar.loop_jacobian, lambda: {"model": looped(), "q": looped().q0}),
        "loop_residuals": Call(ar.loop_residuals, lambda: {"model": looped(), "q": looped().q0, "time": 0.0}),
        "forward_dynamics": Call(
            ar.forward_dynamics,
            lambda: state() | {"tau": nine, "wrenches": six, "gravity": down, "solver": "articulated", "time": 0.0},
        ),
        "forward_dynamics with loops": Call(
            ar.forward_dynamics, lambda: ring() | {"gravity": down, "solver": "kane", "time": 0.0, "tau": np.zeros(2)}
        ),
        "inverse_dynamics": Call(
            ar.inverse_dynamics, lambda: state() | {"udot": nine, "wrenches": six, "gravity": down}
        ),
        "mass_matrix": Call(ar.mass_matrix, lambda: {"model": tree(), "q": tree().q0.copy()}),
        "kinetic_energy": Call(ar.kinetic_energy, state),
        "body_poses": Call(ar.body_poses, lambda: {"model": tree(), "q": tree().q0.copy()}),
        "potential_energy": Call(ar.potential_energy, fluid),
        "generalized_forces": Call(ar.generalized_forces, lambda: state() | {"channels": ["external", "damping"]}),
        "virial": Call(ar.virial, fluid),
        "configurational_laplacian": Call(ar.configurational_laplacian, fluid),
        "pressure": Call(ar.pressure, lambda: fluid() | {"u": gas().u0.copy()}),
        "minimise": Call(
            ar.minimise, lambda: fluid() | {"energy_tolerance": 1e-2, "largest_move": 0.01, "steps": 20}, ("steps",)
        ),
        "lock": Call(ar.lock, lambda: state() | {"axes": "hand", "locked": None, "time": 0.0}),
        "release": Call(
            ar.release,
            lambda: (
                state()
                | {
                    "axes": "hand",
                    "choice": "nearest",
                    "metric": "euclidean",
                    "energy": 3.0,
                    "reference": nine,
                    "locked": "hand",
                    "seed": 1,
                    "draw": 0,
                }
            ),
        ),
        "release from a reservoir": Call(
            ar.release,
            lambda: {
                "model": tree(),
                "q": tree().q0,
                "u": still.speeds,
                "axes": "hand",
                "reservoir": still.kept,
                "choice": "canonical",
                "seed": 1,
                "draw": 2,
            },
        ),
        "release at a temperature": Call(
            ar.release, lambda: state() | {"axes": "hand", "temperature": 1e21, "choice": "published"}
        ),
        "release of a share": Call(ar.release, lambda: state() | {"axes": ["hand"], "share": 300.0, "seed": 1}),
        "sensitivity": Call(
            ar.sensitivity,
            lambda: {
                "model": tree(),
                "objective": "kinetic_energy",
                "parameters": ["u", "forces.gravity.acceleration"],
                "method": "adjoint",
                "checkpoints": 3,
                "duration": 0.01,
                "rule": "rk4",
                "frames": 2,
                "q": tree().q0.copy(),
                "u": nine,
                "stop": None,
                "allow_code": False,
                "step": 0.001,
            },
            ("duration", "checkpoints", "frames", "step"),
            ("method",),
        ),
        "simulate": Call(
            ar.simulate,
            lambda: {
                "model": tree(),
                "duration": 0.01,
                "rule": "dormand-prince",
                "frames": 2,
                "solver": "articulated",
                "rotations": "speeds",
                "coordinates": "relative",
                "scaling": None,
                "thermostat": None,
                "barostat": None,
                "adaptive": None,
                "seed": 1,
                "q": tree().q0.copy(),
                "u": tree().u0.copy(),
                "rtol": 1e-5,
                "atol": 1e-8,
            },
            ("duration", "frames", "rtol", "atol", "q", "u"),
        ),
        "simulate in steps": Call(
            ar.simulate,
            lambda: {
                "model": gas(),
                "duration": 0.01,
                "rule": "velocity-verlet",
                "step": 0.002,
                "frames": 2,
                "seed": 1,
            },
            ("duration", "frames", "step"),
        ),
        "replica_exchange": Call(
            ar.replica_exchange,
            lambda: {
                "model": tree(),
                "duration": 0.02,
                "every": 0.01,
                "temperatures": (1e21, 2e21),
                "locked": None,
                "thermostat": ar.thermostats.Langevin(temperature=1e21, friction=1.0),
                "seed": 1,
                "rule": "friction-implicit",
                "step": 0.01,
            },
            ("duration", "every", "step"),
        ),
        "Modes": Call(
            _modes,
            lambda: {
                "positions": [[0, 0, 0], [1, 0, 0]],
                "masses": [1.0, 1.0],
                "shapes": [[[0], [0], [0]], [[0], [0], [1]]],
                "stiffness": [2.0],
                "damping": 0.1,
                "rotations": None,
                "boundary": "clamped",
                "handle": 0,
                "largest": 0.1,
                "units": "kg-m-s",
            },
        ),
        "modes.beam": Call(
            ar.modes.beam,
            lambda: {
                "length": 1.0,
                "mass": 1.0,
                "bending": 2,
                "bending_stiffness": 1.0,
                "torsion": 1,
                "stretch": 1,
                "torsional_stiffness": 1.0,
                "axial_stiffness": 1.0,
                "gyration": 0.01,
                "boundary": "clamped",
                "nodes": 12,
                "masses": "consistent",
                "handle": 0,
                "damping_ratio": 0.1,
                "largest": 0.1,
                "units": "kg-m-s",
            },
        ),
        "modes.elastic_network": Call(
            ar.modes.elastic_network,
            lambda: {
                "positions": positions,
                "masses": np.ones(8),
                "cutoff": 9.0,
                "spring_constant": 1.0,
                "modes": 2,
                "handle": 0,
                "damping_ratio": 0.1,
                "largest": 0.1,
                "units": "kg-m-s",
            },
        ),
        "modes.from_matrices": Call(
            ar.modes.from_matrices,
            lambda: {
                "positions": [[0, 0, 0], [1, 0, 0], [2, 0, 0]],
                "mass": np.ones(3),
                "stiffness": np.eye(9),
                "modes": 2,
                "handle": 0,
                "clamped": [0],
                "damping_ratio": 0.1,
                "largest": 0.1,
                "units": "kg-m-s",
            },
        ),
        "adaptive.locked_model": Call(
            ar.adaptive.locked_model, lambda: {"model": tree(), "q": tree().q0.copy(), "locked": ["hand"]}
        ),
        "load_case": Call(
            ar.load_case, lambda: {"name_or_path": "double-pendulum", "overrides": {"run.duration": 1.0}}
        ),
        "run": Call(
            ar.run,
            lambda: {
                "case": small_run().folder / "case.toml",
                "out": kept() / f"run-{next(fresh)}",
                "resume": False,
                "overrides": {"run.duration": 0.01},
            },
        ),
        "open_run": Call(ar.open_run, lambda: {"folder": small_run().folder}),
        "compare": Call(
            ar.compare,
            lambda: {
                "case": ar.load_case("double-pendulum"),
                "against": ["no-such-variant"],
                "vary": {"run.seed": [1]},
                "out": None,
            },
            fixed=("against",),
        ),
        "ensemble": Call(
            ar.ensemble,
            lambda: {
                "case": ar.load_case("double-pendulum", {"run.duration": 0.5}),
                "seeds": [1],
                "vary": {"run.no_such_key": [1]},
                "out": None,
                "workers": 1,
                "scheduler": None,
                "skip": 0.0,
            },
            fixed=("vary",),
        ),
        "advise": Call(
            ar.advise,
            lambda: {
                "case": ar.load_case("double-pendulum", {"run.duration": 0.5}),
                "probe": 0.5,
                "seconds": 1.0,
                "tolerance": 0.02,
            },
            ("seconds",),
        ),
        "molecules.peptide": Call(
            molecules.peptide,
            lambda: {
                "sequence": "ACD",
                "phi": -57.0,
                "psi": -47.0,
                "omega": 180.0,
                "chi": {1: [60.0]},
                "chain": "A",
                "accept": (),
            },
        ),
        "molecules.perceive": Call(
            molecules.perceive,
            lambda: {
                "structure": chain()[0],
                "level": "all-atom-torsion",
                "omega": "rigid",
                "disulfides": "loops",
                "domains": (),
                "rings": "refuse",
            },
        ),
        "molecules.perceive by domains": Call(
            molecules.perceive, lambda: {"structure": chain()[0], "level": "domain", "domains": ("A:1-2",)}
        ),
        "molecules.build": Call(
            molecules.build,
            lambda: {
                "structure": chain()[0],
                "articulation": chain()[1],
                "force_field": None,
                "solvent": "vacuum",
                "cutoff": None,
                "charges": 0.0,
                "kinds": None,
                "forces": (),
            },
        ),
        "molecules.stokes_drag": Call(
            molecules.stokes_drag,
            lambda: {"structure": chain()[0], "articulation": chain()[1], "viscosity": "0.89 mPa s"},
        ),
        "molecules.heavier_hydrogens": Call(
            molecules.heavier_hydrogens, lambda: {"structure": chain()[0], "mass": "3 Da"}
        ),
        "molecules.write_structure": Call(
            molecules.write_structure,
            lambda: {"structure": chain()[0], "path": kept() / "a.pdb", "positions": chain()[0].positions},
        ),
        "molecules.site_positions": Call(molecules.site_positions, fluid),
        "analysis.average": Call(
            ar.analysis.average, lambda: {"run": small_run(), "observable": "temperature_kinetic", "skip": 0.2}
        ),
        "analysis.statistical_inefficiency": Call(
            ar.analysis.statistical_inefficiency, lambda: {"values": np.arange(5.0)}
        ),
        "analysis.radial_distribution": Call(
            ar.analysis.radial_distribution,
            lambda: {"run": small_run(), "kinds": ("A", "A"), "cutoff": 2.0, "bins": 10, "skip": 0.2},
            ("bins",),
        ),
        **{
            f"analysis.{name}": Call(
                getattr(ar.analysis, name), lambda more=more: {"run": molecular_run(), **more, "skip": 0.2}
            )
            for name, more in ON_MOLECULES.items()
        },
        "analysis.write_clusters": Call(
            ar.analysis.write_clusters,
            lambda: {
                "run": molecular_run(),
                "found": ar.analysis.clusters(molecular_run()),
                "folder": kept() / f"clusters-{next(fresh)}",
            },
        ),
        "analysis.mean_square_displacement": Call(
            ar.analysis.mean_square_displacement, lambda: {"run": small_run(), "bodies": "*", "skip": 0.0}
        ),
        "analysis.velocity_autocorrelation": Call(
            ar.analysis.velocity_autocorrelation, lambda: {"run": small_run(), "bodies": "*", "skip": 0.0}
        ),
        "analysis.configurational_temperature": Call(
            ar.analysis.configurational_temperature, lambda: {"run": small_run(), "skip": 0.2}
        ),
        "analysis.temperature_spread": Call(ar.analysis.temperature_spread, lambda: {"run": small_run(), "skip": 0.2}),
        "analysis.isokinetic_spread": Call(
            ar.analysis.isokinetic_spread,
            lambda: {"run": small_run(), "derivative_gain": 1.0, "mass": 1.0, "skip": 0.2},
        ),
        "analysis.heap_angle": Call(
            ar.analysis.heap_angle, lambda: {"run": grain_run(), "along": "x", "floor": 0.0, "skip": 0.2}
        ),
        "analysis.drum_angle": Call(
            ar.analysis.drum_angle,
            lambda: {"run": grain_run(), "centre": (0.0, 0.0, 1.0), "axis": "y", "skip": 0.2},
        ),
        "analysis.contacts": Call(ar.analysis.contacts, lambda: {"run": small_run()}),
        "analysis.load_for_analysis": Call(
            ar.analysis.load_for_analysis, lambda: {"name_or_path": "bounce", "overrides": {"run.duration": 1.0}}
        ),
    }


def _modes(**arguments: Any) -> None:
    builder = ar.ModelBuilder(units="kg-m-s")
    builder.add_body("rod", joint=ar.Free(), modes=ar.Modes(**arguments))
