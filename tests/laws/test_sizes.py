"""What a case asks for is measured before any of it is made: what no machine has or does is refused by its key."""

from __future__ import annotations

import time
from typing import Any

import numpy as np
import pytest

import articulon as ar
from articulon import sizes
from articulon.simulation.preparation import checked
from tests.support.run_cases import CHAIN, case_of

GIGABYTE = 10**9


@pytest.fixture
def four_gigabytes(monkeypatch):
    """A machine of a size that is known."""
    monkeypatch.setattr(sizes, "memory", lambda: 4 * GIGABYTE)


def refused_at_once(overrides: dict[str, Any], message: str, name: str) -> None:
    began = time.process_time()
    with pytest.raises(ar.CaseError, match=message):
        checked(ar.load_case(name, overrides))
    assert time.process_time() - began < 5.0


@pytest.mark.parametrize(
    "name, overrides, message",
    [
        ("n-link-chain", {"model.links": 10**9}, r"model\.links: 1,000,000,000 links take about 2\.5 TB of memory"),
        (
            "nanoparticle-docking",
            {"model.receptors": 2**40},
            r"model\.receptors: 1,099,511,627,776 receptors take about",
        ),
        ("nanoparticle-docking", {"model.ligands": 2**40}, r"model\.ligands: .* take about"),
        ("rock-salt", {"model.cells": 2**40}, r"model\.cells: .* particles take about"),
        ("rock-salt", {"model.cells": [1, 10**9, 1]}, r"model\.cells: 8,000,000,000 particles take about 8 TB"),
        ("molten-salt-100", {"model.ions.Na.count": 10**12}, r"model\.ions\.Na\.count: .* ions take about"),
        ("n-four-bar", {"model.loops": 10**10}, r"model\.loops: .* rods take about"),
        ("unfolding-satellite", {"model.booms": 10**6, "model.segments": 10**6}, r"model\.booms, model\.segments: "),
        ("flexible-filament", {"model.links": 10**9}, r"model\.links: .* take about"),
        ("granular-chain", {"model.chains[0].links": 10**10}, r"model\.chains\[0\]\.links: .* spheres take about"),
        ("granular-chain", {"model.fills[0].count": 10**10}, r"model\.fills\[0\]\.count: .* grains take about"),
        (
            "granular-chain",
            {"model.fills[0].radius": "1 nm", "model.fills[0].largest_radius": "1 nm"},
            r"model\.fills\[0\]\.radius: .* places of a grid take about",
        ),
        (
            "granular-chain",
            {"model.fills[0].arrangement": "random", "model.fills[0].count": 100_000},
            r"model\.fills\[0\]: 100000 grains of a radius of .* enlarge the region, or lower count",
        ),
        (
            "lj-melt",
            {"forces.lennard-jones.skin": 1e6},
            r"forces: a cutoff of .* and a skin of 1e\+06: .* images of sites take",
        ),
    ],
)
def test_numbers_that_no_memory_holds_are_refused_before_anything_is_made(four_gigabytes, name, overrides, message):
    refused_at_once(overrides, message, name)


@pytest.mark.parametrize(
    "overrides, message",
    [
        ({"run.frames": 10**8}, r"run\.frames: a run keeps at most 10,000,000 frames, and these are 100,000,000"),
        ({"run.frame_interval": 1e-300}, r"run\.frame_interval: a run keeps at most 10,000,000 frames"),
        (
            {"integrator": {"rule": "rk4", "step": 1e-300}},
            r"integrator\.step: steps of 0|integrator\.step: .* any machine can take",
        ),
        (
            {"integrator": {"rule": "rk4", "step": 1e-16}},
            r"integrator\.step: steps of 1e-16 .* 1e\+15 of them over 10 s",
        ),
    ],
)
def test_times_that_no_machine_has_are_refused(overrides, message):
    refused_at_once(overrides, message, "n-link-chain")


def test_ten_million_frames_and_a_million_steps_each_are_allowed():
    case = ar.load_case("n-link-chain", {"run.frames": 10**7})
    assert case.run.frames == 10**7


def test_a_window_of_noise_is_bounded_as_a_step_is(tmp_path):
    case = case_of(tmp_path, CHAIN, {"forces.brownian": {"temperature": 300, "window": 1e-300}})
    with pytest.raises(ar.CaseError, match=r"forces\.brownian\.window: .* any machine can take"):
        checked(case)


@pytest.mark.parametrize(
    "call, message",
    [
        (
            lambda builder: builder.add_particles(10**12, mass=1.0, positions=np.zeros(3)),
            "add_particles, count: 1,000,0",
        ),
        (lambda builder: builder.add_bodies(10**12, mass=1.0, joint=ar.Xyz()), "add_bodies, count: 1,000,000,000,000"),
    ],
)
def test_a_builder_says_what_does_not_fit(four_gigabytes, call, message):
    with pytest.raises(ar.ModelError, match=message):
        call(ar.ModelBuilder("kg-m-s"))


def test_frames_that_are_kept_in_memory_are_counted(four_gigabytes):
    builder = ar.ModelBuilder("kg-m-s")
    builder.add_body("ball", mass=1, inertia=1, joint=ar.Free())
    with pytest.raises(ar.CaseError, match=r"simulate: frames: 100,000,000 frames take about"):
        ar.simulate(builder.build(), 1.0, frames=10**8)


def test_sizes_are_said_in_words():
    assert [sizes.amount(x) for x in (12, 3.2e3, 4e9, 2.5e12, 1e18)] == [
        "12 bytes",
        "3.2 kB",
        "4 GB",
        "2.5 TB",
        "1e+03 PB",
    ]
    assert sizes.number_of(12000) == "12,000" and sizes.number_of(1e30) == "1e+30"
    assert sizes.memory() > 0
