"""What the command says of contacts before anything is run."""

from __future__ import annotations

from pathlib import Path

import pytest
from typer.testing import CliRunner

import articulon as ar
from articulon.analysis import analyse_contacts
from articulon.cli import app
from articulon.errors import CaseError


def test_analyse_recommends_a_step_by_material_and_speed() -> None:
    result = CliRunner().invoke(app, ["analyse", "two-spheres", "--speed", "0.1 m/s"])
    assert result.exit_code == 0
    # π R √(ρ/G)/(0.1631 ν + 0.8766) and 2.8683 (m*²/(R* E*² v))^{1/5} of glass spheres of 10 mm.
    for words in ("1.016e-05", "9.532e-05", "Recommended step: 5.08e-07 s", "is the recommended one"):
        assert words in result.stdout


def test_analyse_warns_of_a_material_that_is_too_soft() -> None:
    soft = ["--set", "forces.contact.materials.grain.young='10 kPa'"]
    result = CliRunner().invoke(app, ["analyse", "two-spheres", *soft])
    assert result.exit_code == 0
    assert "use a stiffer material" in result.stdout


def test_analyse_says_how_much_stiffer_a_material_must_be() -> None:
    found = analyse_contacts(ar.load_case("rotating-drum"))
    pair = max(found.scales.pairs, key=lambda one: one.overlap)
    assert pair.overlap > 0.05
    stiffer = float(15e6 * (pair.overlap / 0.05) ** 2.5 * (1.0 + 1e-9))
    changes = {f"forces.contact.materials.{kind}.young": stiffer for kind in ("grain", "drum")}
    again = analyse_contacts(ar.load_case("rotating-drum", changes))
    # By Hertz's law depths go with E^(-2/5).
    assert max(one.overlap for one in again.scales.pairs) == pytest.approx(0.05, rel=1e-8)
    assert not any("stiffer" in note for note in again.notes)


def test_analyse_needs_no_step(tmp_path: Path) -> None:
    text = (Path(ar.__file__).parent / "cases" / "bounce.toml").read_text(encoding="utf-8")
    (tmp_path / "new.toml").write_text(text.replace('step = "4 us"\n', ""), encoding="utf-8")
    result = CliRunner().invoke(app, ["analyse", str(tmp_path / "new.toml")])
    assert result.exit_code == 0
    assert "Recommended step" in result.stdout and "has no step yet" in result.stdout
    with pytest.raises(
        CaseError, match=r"integrator\.step: is required: .*; articulon.analysis.analyse_contacts recommends one"
    ):
        ar.load_case(tmp_path / "new.toml")


@pytest.mark.slow
def test_a_run_says_where_its_step_is_much_longer_than_recommended(tmp_path: Path) -> None:
    run = ar.run(
        "two-spheres",
        tmp_path / "run",
        overrides={"integrator.step": "5 us", "run.frames": 4, "checks": []},
        report=False,
    )
    (note,) = [note for note in run.summary["notes"] if note.startswith("contacts: the step")]
    assert "9.8 times the recommended one, 5.08e-07 s" in note and "takes 2 steps instead of 20" in note


def test_a_step_beyond_the_limit_is_refused_before_anything_runs(tmp_path: Path) -> None:
    with pytest.raises(CaseError, match=r"stack.*integrator\.step: 0\.001 s is beyond .*force_step = true"):
        ar.run("stack", tmp_path / "run", overrides={"integrator.step": "1 ms"})
    assert not (tmp_path / "run").exists()


@pytest.mark.parametrize(
    ("key", "value", "words"),
    [
        ("forces.contact.materials.grain.poisson", 0.5, "poisson: 0.5 is not in"),
        ("forces.contact.materials.grain.poisson", -1.0, "poisson: -1 is not in"),
        ("forces.contact.materials.grain.restitution", 0.0, "restitution: 0 is not in"),
        ("forces.contact.materials.grain.restitution", 1.1, "restitution: 1.1 is not in"),
    ],
)
def test_impossible_materials_are_refused_by_key(key: str, value: float, words: str) -> None:
    with pytest.raises(CaseError, match=words):
        ar.load_case("two-spheres", {key: value})


def test_spheres_that_begin_in_each_other_are_named(tmp_path: Path) -> None:
    closer = {"model.grains": [{"name": n, "radius": 0.01, "mass": 0.01, "position": [x, 0, 0]} for n, x in PLACES]}
    with pytest.raises(CaseError, match=r"'a' and 'b' overlap by 0\.002 m at the start, 20\.0% of the smaller radius"):
        ar.run("two-spheres", tmp_path / "run", overrides={**closer, "checks": []})


PLACES = (("a", 0.0), ("b", 0.018))
