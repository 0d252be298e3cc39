"""What words lock of a molecule, in a cut and in a run."""

from __future__ import annotations

from collections import Counter

import numpy as np
import pytest

pytest.importorskip("gemmi")

import articulon as ar
from articulon.errors import ModelError
from articulon.molecules import build, locked_bodies, peptide, perceive
from articulon.molecules.locked_parts import bodies_of_words

BACKBONE = {"phi", "psi", "omega"}


@pytest.fixture(scope="module")
def zipper():
    structure = peptide("SWTWENGKWTWK")
    articulation = perceive(structure)
    return structure, articulation, build(structure, articulation)


def of(structure, articulation, keep):
    """How many torsions there are for which something is so."""
    return sum(keep(structure.residues[t.residue], t) for t in articulation.torsions)


LOCKS = {
    "side-chains": lambda residue, t: t.name not in BACKBONE,
    "backbone": lambda residue, t: t.name in BACKBONE,
    "A": lambda residue, t: True,
    "A:3-6": lambda residue, t: 3 <= residue.number <= 6,
    "3-6": lambda residue, t: 3 <= residue.number <= 6,
    "A:3-4,6": lambda residue, t: residue.number in (3, 4, 6),
    "residue TRP": lambda residue, t: residue.name == "TRP",
    "domain A:3-6": lambda residue, t: 3 <= residue.number <= 6,
}


@pytest.mark.parametrize("word", LOCKS)
def test_a_word_locks_the_torsions_that_it_says(zipper, word):
    """In a cut by leaving their joints out, and by the names of the bodies that they turn."""
    structure, articulation, model = zipper
    locked = of(structure, articulation, LOCKS[word])
    assert 0 < locked <= len(articulation.torsions)
    cut = perceive(structure, locked=[word])
    assert of(structure, cut, LOCKS[word]) == 0
    assert len(cut.torsions) == len(articulation.torsions) - locked
    names = locked_bodies(structure, articulation, word)
    assert len(names) == locked
    assert bodies_of_words(model, [word], "locked") == names


def test_a_range_holds_the_peptide_bonds_within_it_alone(zipper):
    structure, _, _ = zipper
    free = perceive(structure, omega="free", locked=["A:3-6"])
    left = sorted(structure.residues[t.residue].number for t in free.torsions if t.name == "omega")
    assert left == [1, 2, 6, 7, 8, 9, 10, 11]


def test_words_add_up_and_names_of_bodies_are_themselves(zipper):
    structure, articulation, model = zipper
    both = locked_bodies(structure, articulation, ["side-chains", "A:1-4"])
    expected = of(structure, articulation, lambda r, t: t.name not in BACKBONE or r.number <= 4)
    assert len(both) == expected
    assert bodies_of_words(model, ["A:LYS8:CE-NZ"], "locked") == ("A:LYS8:CE-NZ",)


def test_segments_of_a_domain_are_one_rigid_body(zipper):
    structure, articulation, _ = zipper
    cut = perceive(structure, locked=["domain A:1-3,9-12"])
    atoms = [a for r in structure.residues if r.number <= 3 or r.number >= 9 for a in range(r.start, r.stop)]
    assert len(set(cut.cluster[atoms].tolist())) == 1 and len(cut.loops) == 1
    with pytest.raises(ModelError, match="'domain A:1-3,9-12': no joint holds its segments together"):
        locked_bodies(structure, articulation, "domain A:1-3,9-12")


def test_without_chain_names_ranges_have_none(zipper):
    structure = peptide("AAAAAA", chain="")
    assert len(perceive(structure, locked=["2-4"]).torsions) < len(perceive(structure).torsions)
    cut = perceive(structure, level="domain", domains=("1-2", "5-6"))
    assert len(set(cut.cluster[: structure.residues[2].start].tolist())) == 1
    for call in (
        lambda: perceive(structure, locked=["A:2-4"]),
        lambda: perceive(structure, level="domain", domains=["A:1-2"]),
    ):
        with pytest.raises(ModelError, match=r"there is no chain 'A' .*leave out the chain and the colon"):
            call()


@pytest.mark.parametrize(
    "word, message",
    [
        ("rubbish", "is not a known word: 'side-chains'.*there are the chains 'A'"),
        ("B", "is not a known word"),
        ("B:1-3", "there is no chain 'B' .there are: A"),
        ("A:100-110", "the structure has no such residues"),
        ("A:3-", "is not a known word"),
        ("residue LIG", "no residue of this name .there are: SER, TRP"),
        ("residue GLY", None),
    ],
)
def test_words_that_select_nothing_are_refused_by_name(zipper, word, message):
    structure, articulation, model = zipper
    if message is None:  # it has φ and ψ
        assert len(locked_bodies(structure, articulation, word)) == 2
        return
    for call in (
        lambda: perceive(structure, locked=[word]),
        lambda: locked_bodies(structure, articulation, [word]),
        lambda: ar.simulate(model, 0.01, locked=(word,)),
    ):
        with pytest.raises(ar.ArticulonError, match=f"locked: '{word}'.*{message}"):
            call()


def test_what_a_level_holds_already_is_refused():
    structure = peptide("AKA")
    with pytest.raises(ModelError, match="'side-chains': selects no torsion at the level 'rigid-side-chains'"):
        perceive(structure, level="rigid-side-chains", locked=["side-chains"])
    with pytest.raises(ModelError, match="'backbone': selects no torsion of this model"):
        locked_bodies(structure, perceive(structure, level="side-chains"), "backbone")


@pytest.mark.parametrize("level", ["side-chains", "residue"])
def test_omega_is_refused_where_it_has_no_effect(level):
    structure = peptide("AKA")
    with pytest.raises(ModelError, match=f"omega: 'free' has no effect at the level '{level}': .*; leave it out"):
        perceive(structure, level=level, omega="free")
    free = perceive(structure, level="rigid-side-chains", omega="free")
    assert Counter(t.name for t in free.torsions)["omega"] == 2


@pytest.mark.slow
def test_locked_torsions_stay_from_the_first_step(zipper):
    structure, articulation, model = zipper
    u = np.random.default_rng(1).normal(size=model.nu)
    run = ar.simulate(model, 0.02, rule="friction-implicit", step=0.002, locked=("side-chains",), u=u, frames=2)
    names = locked_bodies(structure, articulation, "side-chains")
    at = [int(model.forest.q_start[model.link[model.names.index(name)]]) for name in names]
    q = np.asarray(run.q)
    assert np.array_equal(q[:, at], np.broadcast_to(q[0, at], (3, len(at))))
    others = np.setdiff1d(np.arange(7, model.nq), at)
    assert np.abs(q[-1, others] - q[0, others]).min() > 0.0
