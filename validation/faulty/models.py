"""Small models, runs and molecules that good calls are made with."""

from __future__ import annotations

import itertools
import tempfile
from functools import cache
from pathlib import Path
from typing import Any

import articulon as ar
from articulon import molecules


@cache
def tree() -> ar.Model:
    """A small tree with an arm, a hand and a ball."""
    builder = ar.ModelBuilder(units="kg-m-s")
    builder.add_body("arm", mass=1.0, inertia=0.1, com=(0, 0, -0.5), joint=ar.Revolute(axis=(0, 1, 0)), q=0.2)
    builder.add_body("hand", parent="arm", mass=0.5, inertia=0.1, joint=ar.Spherical(), position=(0, 0, -1))
    builder.add_body("ball", mass=1.0, inertia=0.1, joint=ar.Free(), q=(1, 1, 1, 1, 0, 0, 0))
    builder.add_site("hand", kind="a", charge=1.0)
    builder.add_site("ball", kind="b", charge=-1.0)
    builder.add_force(ar.forces.Gravity(acceleration=(0, 0, -9.81)))
    builder.add_force(ar.forces.StokesDrag(viscosity=0.1, radius=0.1, bodies=("ball",)))
    return builder.build()


@cache
def looped() -> ar.Model:
    """A crank and a rod whose end slides."""
    builder = ar.ModelBuilder(units="kg-m-s")
    hinge = ar.Revolute(axis=(0, 0, 1))
    builder.add_body("crank", mass=1.0, inertia=0.1, com=(0.5, 0, 0), joint=hinge, q=1.0)
    builder.add_body(
        "rod", parent="crank", mass=1.0, inertia=0.1, com=(1, 0, 0), joint=hinge, position=(1, 0, 0), q=-1.4
    )
    builder.add_loop("slide", joint=ar.Prismatic(axis=(1, 0, 0)), child="rod", child_position=(2, 0, 0))
    return builder.build()


@cache
def gas() -> ar.Model:
    """Three particles in a periodic box."""
    builder = ar.ModelBuilder(units="lj", box=ar.Box(lengths=(10, 10, 10)))
    builder.add_particles(3, mass=1.0, positions=[[1, 1, 1], [2.5, 1, 1], [1, 4, 1]], kind="A")
    builder.add_force(ar.forces.LennardJones(cutoff=2.5, parameters={"A": {"epsilon": 1.0, "sigma": 1.0}}))
    return builder.build()


@cache
def grain_run() -> ar.Run:
    """Three grains that fall, in memory."""
    builder = ar.ModelBuilder(units="kg-m-s")
    builder.add_grains([[0, 0, 0.01], [0.03, 0, 0.01], [0.01, 0, 0.03]], 0.01, density=2500.0)
    builder.add_force(ar.forces.Gravity(acceleration=(0, 0, -9.81)))
    return ar.simulate(builder.build(), 0.01, frames=5)


@cache
def small_run() -> ar.Run:
    """A short run of particles, whose folder goes when the process ends."""
    folder = kept()
    case = folder / "gas.toml"
    case.write_text(
        '[case]\nunits = "lj"\n[model]\nbuilder = "lattice"\nstructure = "simple-cubic"\ncells = 4\nconstant = 1.5\n'
        "species = {A = {mass = 1.0}}\ntemperature = 1.0\n"
        '[[forces]]\nkind = "lennard-jones"\ncutoff = 2.5\nparameters = {A = {epsilon = 1.0, sigma = 1.0}}\n'
        '[integrator]\nrule = "velocity-verlet"\nstep = 0.002\n[run]\nduration = 0.1\nframes = 10\n'
    )
    return ar.run(ar.load_case(case), folder / "run")


@cache
def molecular_run() -> ar.Run:
    """A short run of a peptide without forces, in memory."""
    structure = molecules.peptide(["ALA"] * 6)
    model = molecules.build(structure, molecules.perceive(structure))
    bath = ar.thermostats.Langevin(temperature=300.0, friction=5.0)
    return ar.simulate(model, 0.05, rule="friction-implicit", step=0.005, frames=5, thermostat=bath, speeds="thermal")


fresh = itertools.count()
"""Numbers of folders."""


@cache
def _kept() -> tempfile.TemporaryDirectory[str]:
    return tempfile.TemporaryDirectory()


def kept() -> Path:
    """A folder that goes when the process ends."""
    return Path(_kept().name)


@cache
def chain() -> tuple[Any, Any]:
    """A peptide and how it is cut."""
    structure = molecules.peptide("ACDG")
    return structure, molecules.perceive(structure)


def state() -> dict[str, Any]:
    """Of the tree."""
    return {"model": tree(), "q": tree().q0.copy(), "u": tree().u0.copy()}


def ring() -> dict[str, Any]:
    """Of the loop."""
    return {"model": looped(), "q": looped().q0.copy(), "u": looped().u0.copy()}


def fluid() -> dict[str, Any]:
    """Of the particles."""
    return {"model": gas(), "q": gas().q0.copy()}
