"""Cases whose joints lock and release: from the file to the report."""

from __future__ import annotations

from pathlib import Path

import numpy as np
import pytest
import scipy.signal

import articulon as ar
from articulon.comparisons import comparison as comparing
from articulon.comparisons import reference_cache
from articulon.comparisons.resolution_comparison import _means, with_all_active
from articulon.comparisons.variant_runs import entries
from articulon.report.activity_figure import active_joints, activity_words
from articulon.report.figures import figures
from articulon.report.html import report
from articulon.report.view import View

SHORT = {"model.links": 12, "run.duration": 4, "run.frames": 20, "adaptive.every": 0.2}


@pytest.mark.slow
def test_the_chain_says_what_was_active_when(tmp_path):
    case = ar.load_case("adaptive-chain", SHORT)
    run = ar.run(case, tmp_path / "chain", report=False)
    found, observed = run.summary["adaptive"], run.observables
    assert found["locked"] > 0 and found["released"] > 0
    assert found["locked"] + found["released"] == observed["transitions"][-1]
    assert 0.0 < found["active_mean"] < 1.0
    # At the frames, what is not locked has speeds that are not zero, and counts as a degree of freedom.
    assert (run.u[:] != 0.0).sum(axis=1).tolist() == observed["active_freedoms"].tolist()
    shown = active_joints(View.of(run))
    assert (3 * shown.sum(axis=1)).tolist() == observed["active_freedoms"].tolist()
    assert "activity" in figures(run)
    words = activity_words(found)
    assert f"; {found['locked']} locked and {found['released']} released; a step took" in words
    assert f"<td>{words}</td>" in report(View.of(run))
    # The books close as well as the rule's steps let them: far better than what went through the reservoir.
    through = np.abs(np.diff(observed["reservoir_energy"])).sum()
    assert np.abs(observed["energy_balance"]).max() < 0.02 * through
    assert run.summary["conservative_works"]["conformational"]["relative"] < 0.01


@pytest.mark.slow
def test_a_run_that_was_broken_off_goes_on_to_the_same_bits(tmp_path, monkeypatch):
    case = ar.load_case("adaptive-chain", SHORT)
    whole = ar.run(case, tmp_path / "whole", report=False)
    from articulon.simulation import loop

    taken = []

    def stop_soon(recorder, until, steps, interruption):
        taken.append(steps)
        if len(taken) > 7:
            recorder.checkpoint()
            raise ar.ArticulonError("enough")
        return advance(recorder, until, steps, interruption)

    advance = loop._advance
    with monkeypatch.context() as patched:
        patched.setattr(loop, "_advance", stop_soon)
        with pytest.raises(ar.ArticulonError, match="enough"):
            ar.run(case, tmp_path / "parts", report=False)
    parts = ar.run(case, tmp_path / "parts", resume=True, report=False)
    for name in ("q", "u"):
        assert np.array_equal(getattr(whole, name)[:], getattr(parts, name)[:])
    assert whole.observables["reservoir_energy"].tolist() == parts.observables["reservoir_energy"].tolist()


@pytest.mark.slow
def test_the_variant_with_every_joint_free_is_the_case_without_the_section(tmp_path):
    case = ar.load_case("adaptive-chain", SHORT)
    free = ar.run(case.variant("all-active"), tmp_path / "free", report=False)
    bare = ar.run(case.with_overrides({"adaptive": None}), tmp_path / "bare", report=False)
    assert free.summary["adaptive"] is None and bare.summary["adaptive"] is None
    assert np.array_equal(free.q[:], bare.q[:])


@pytest.mark.slow
def test_domains_of_the_protein_begin_rigid(tmp_path):
    case = ar.load_case("adaptive-protein", {"run.duration": "2 ps", "run.frames": 4})
    run = ar.run(case, tmp_path / "protein", report=False)
    # Sixteen hinge residues of three degrees of freedom, the ends of the two domains' hinges that carry the next rigid
    # part, and the first residue's six.
    assert run.observables["active_freedoms"].tolist() == [645.0, 54.0, 54.0, 54.0, 54.0]
    assert ar.load_case("adaptive-protein").variant("all-active").adaptive.on is False


def test_faults_of_the_section_are_named_by_their_keys():
    with pytest.raises(ar.CaseError, match=r"adaptive\.every"):
        ar.load_case("adaptive-chain", {"adaptive.every": 0})
    with pytest.raises(ar.CaseError, match=r"adaptive\.groups\[0\]\.lock\.when.*'spead'; did you mean 'speed'"):
        ar.load_case("adaptive-chain", {"adaptive.groups[0].lock": {"when": "spead", "below": 1}})
    case = ar.load_case("adaptive-chain", {**SHORT, "adaptive.groups[0].bodies": ["link-13"]})
    from articulon.simulation.preparation import prepare

    with pytest.raises(ar.CaseError, match=r"adaptive\.groups\[0\]\.bodies: there is no body 'link-13'"):
        prepare(case)


@pytest.mark.slow
def test_a_comparison_has_a_run_with_everything_active_and_states_the_error_against_it(tmp_path, monkeypatch):
    """Also where the case names no such variant. A chain let go in its springs, without a thermostat: paths are held
    against each other."""
    monkeypatch.setattr(reference_cache, "references_folder", lambda: tmp_path / "none")
    monkeypatch.setattr(comparing, "write_report", lambda folder: folder)
    changes = {**SHORT, "thermostat": None, "forces.fixman": False, "run.speeds": "given"}
    changes |= {"checks": []}
    lock = {"bodies": ["link-4", "link-9"], "lock": {"when": "schedule", "times": [1]}}
    text = (Path(ar.__file__).parent / "cases" / "adaptive-chain.toml").read_text(encoding="utf-8")
    (tmp_path / "chain.toml").write_text(text[: text.index("[compare]")], encoding="utf-8")
    case = ar.load_case(tmp_path / "chain.toml", {**changes, "adaptive.groups": [lock]})
    done = comparing.compare(case, out=tmp_path / "runs")
    assert [row["name"] for row in done.rows] == ["all-active", "case"]
    assert done.row("all-active")["is_reference"] and done.row("all-active")["adaptive"] is None
    found, summary = done.row("case")["adaptive"], ar.open_run(tmp_path / "runs" / "case").summary["adaptive"]
    # Six of 36 speeds are locked for three quarters of the run.
    assert summary["active_mean"] == pytest.approx(1.0 - 0.75 * 6 / 36, rel=1e-3)
    assert summary["saved"] == 1.0 / summary["active_mean"] and summary["transitions"] == 2
    assert found["against"] == "all-active" and found["saved"] == summary["saved"]
    ours, theirs = (ar.open_run(tmp_path / "runs" / name) for name in ("case", "all-active"))
    ends = [np.linalg.norm(run.positions[:, -1] - run.positions[:, 0], axis=1) for run in (ours, theirs)]
    by_name = {error["observable"]: error for error in found["errors"]}
    error = by_name["distance of the first and the last body"]
    assert error["largest"] == pytest.approx(np.abs(ends[0] - ends[1]).max(), rel=1e-12)
    assert error["rms"] == pytest.approx(np.sqrt(np.mean((ends[0] - ends[1]) ** 2)), rel=1e-12)
    assert error["size"] == pytest.approx(ends[1].max(), rel=1e-12)
    assert error["largest"] > 1e-6 and np.abs(ends[0] - ends[1])[:6].max() < 1e-12  # the same run until then
    assert by_name["place of link-1"]["largest"] > 0.0 and "kinetic energy" in by_name
    # A run that takes the same steps and moves less in them saves something.
    assert done.row("case")["saving_friction_implicit"]["against"] == "all-active"
    assert done.row("case")["saving_friction_implicit"]["saving"] is not None
    assert "times" in done.sentences[-1] and "largest error" in done.sentences[-1]
    page = (done.folder / "comparison.html").read_text(encoding="utf-8")
    assert "Error of the resolution" in page and 'id="resolution"' in page
    varied = entries(case, None, {"adaptive.every": [0.1, 0.2]})
    assert [(e.name, e.group, e.is_reference) for e in with_all_active(varied)] == [
        ("all-active", 0, True),
        ("case", 0, False),
        ("every=0.1", 0, False),
    ]


def test_means_have_intervals_that_hold_the_truth():
    """Of the mean of a process that forgets in τ: standard error √(2 τ/t) σ, here for two of equal length."""
    random, count, kept = np.random.default_rng(3), 4000, np.exp(-1.0 / 5.0)
    exact = 1.96 * np.sqrt(2 * (1.0 + kept) / (1.0 - kept) / (0.8 * count))
    inside, widths = 0, []
    for _ in range(200):
        noise = random.normal(size=(2, count)) * np.sqrt(1.0 - kept**2)
        x = scipy.signal.lfilter([1.0], [1.0, -kept], noise, axis=1)
        found = _means("x", (x[0], "length"), (x[1], "length"))
        widths.append(found["interval"] / exact)
        inside += abs(found["difference"]) < found["interval"]
    # The autocorrelation is summed to its first zero, whose place is a matter of chance: a tenth of the width.
    assert np.mean(widths) == pytest.approx(1.0, abs=0.1)
    # Of 200 intervals of 95 %, at least those less four standard deviations of a binomial count.
    assert inside > 200 * 0.95 - 4 * np.sqrt(200 * 0.95 * 0.05)
