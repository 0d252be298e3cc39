"""Cases whose joints lock and release: from the file to the report."""

from __future__ import annotations

import numpy as np
import pytest

import articulon as ar
from articulon.report.activity_figure import active_joints
from articulon.report.figures import figures
from articulon.report.view import View

SHORT = {"model.links": 12, "run.duration": 4, "run.frames": 20, "adaptive.every": 0.2}


def test_the_chain_says_what_was_active_when(tmp_path):
    case = ar.load_case("adaptive-chain", SHORT)
    run = ar.run(case, tmp_path / "chain")
    found, observed = run.summary["adaptive"], run.observables
    assert found["locked"] > 0 and found["released"] > 0
    assert found["locked"] + found["released"] == observed["transitions"][-1]
    assert 0.0 < found["mean_active_part"] < 1.0
    # At the frames, what is not locked has speeds that are not zero, and counts as a degree of freedom.
    assert (run.speeds[:] != 0.0).sum(axis=1).tolist() == observed["active_freedoms"].tolist()
    shown = active_joints(View.of(run))
    assert (3 * shown.sum(axis=1)).tolist() == observed["active_freedoms"].tolist()
    assert "activity" in figures(run)
    # The books close as well as the rule's steps let them: far better than what went through the reservoir.
    through = np.abs(np.diff(observed["reservoir_energy"])).sum()
    assert np.abs(observed["energy_balance"]).max() < 0.02 * through
    assert run.summary["conservative_works"]["conformational"]["relative"] < 0.01


def test_a_run_that_was_broken_off_goes_on_to_the_same_bits(tmp_path, monkeypatch):
    case = ar.load_case("adaptive-chain", SHORT)
    whole = ar.run(case, tmp_path / "whole")
    from articulon.simulate import loop

    taken = []

    def stop_soon(recorder, until, steps):
        taken.append(steps)
        if len(taken) > 7:
            recorder.checkpoint()
            raise ar.ArticulonError("enough")
        return advance(recorder, until, steps)

    advance = loop._advance
    with monkeypatch.context() as patched:
        patched.setattr(loop, "_advance", stop_soon)
        with pytest.raises(ar.ArticulonError, match="enough"):
            ar.run(case, tmp_path / "parts")
    parts = ar.run(case, tmp_path / "parts", resume=True)
    for name in ("coordinates", "speeds"):
        assert np.array_equal(getattr(whole, name)[:], getattr(parts, name)[:])
    assert whole.observables["reservoir_energy"].tolist() == parts.observables["reservoir_energy"].tolist()


def test_the_variant_with_every_joint_free_is_the_case_without_the_section(tmp_path):
    case = ar.load_case("adaptive-chain", SHORT)
    free = ar.run(case.variant("all-active"), tmp_path / "free")
    bare = ar.run(case.with_overrides({"adaptive": None}), tmp_path / "bare")
    assert free.summary["adaptive"] is None and bare.summary["adaptive"] is None
    assert np.array_equal(free.coordinates[:], bare.coordinates[:])


def test_domains_of_the_protein_begin_rigid(tmp_path):
    case = ar.load_case("adaptive-protein", {"run.duration": "2 ps", "run.frames": 4})
    run = ar.run(case, tmp_path / "protein")
    # Sixteen hinge residues of three freedoms, the ends of the two domains' hinges that carry the next rigid part, and
    # the first residue's six.
    assert run.observables["active_freedoms"].tolist() == [645.0, 54.0, 54.0, 54.0, 54.0]
    assert ar.load_case("adaptive-protein").variant("all-active").adaptive.on is False


def test_faults_of_the_section_are_named_by_their_keys():
    with pytest.raises(ar.CaseError, match=r"adaptive\.every"):
        ar.load_case("adaptive-chain", {"adaptive.every": 0})
    with pytest.raises(ar.CaseError, match=r"adaptive\.groups\[0\]\.lock\.when.*'spead'; did you mean 'speed'"):
        ar.load_case("adaptive-chain", {"adaptive.groups[0].lock": {"when": "spead", "below": 1}})
    case = ar.load_case("adaptive-chain", {**SHORT, "adaptive.groups[0].bodies": ["link-13"]})
    from articulon.simulate.preparation import prepare

    with pytest.raises(ar.CaseError, match=r"adaptive\.groups\[0\]\.bodies: there is no body 'link-13'"):
        prepare(case)
