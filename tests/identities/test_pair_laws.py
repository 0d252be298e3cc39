"""Pair laws against their own energies: derivatives, what happens at the cutoff, and what lies beyond it."""

import math
from functools import cache

import mpmath
import numba
import numpy as np
import pytest
from scipy.integrate import quad

import articulon as ar
from articulon.forces.sites.laws.exponential import exponential

CUT = 2.5


def model_of(*forces, kinds=("A", "B"), count=3, length=8.0, charges=(1.0, -2.0), box=True):
    """Some particles of two kinds on a line, in a periodic box."""
    periodic = ar.Box(lengths=(length,) * 3) if box else None
    builder = ar.ModelBuilder(units="lj", box=periodic)
    for k, (kind, charge) in enumerate(zip(kinds, charges, strict=True)):
        positions = np.arange(count)[:, None] * np.array([0.7, 0.3, 0.2]) + k * np.array([0.0, 2.0, 1.0])
        builder.add_particles(count, mass=1.0, positions=positions, charge=charge, kind=kind)
    for force in forces:
        builder.add_force(force)
    return builder.build()


def evaluated(term, r, k=1, charges=-2.0):
    """U, g and l of a term at distances r, without the cutoff that the loop makes."""
    out = np.zeros((3, np.size(r)))
    compiled(term.law)(np.square(np.atleast_1d(r)), term.rows, k, charges, out)
    return out


@cache
def compiled(law):
    @numba.njit
    def call(r2, rows, k, charges, out):
        for n in range(r2.size):
            out[0, n], out[1, n], out[2, n] = law(r2[n], rows, k, charges)

    return call


A, B, C = 3.0, 2.0, 1.5
EPSILON, SIGMA = math.sqrt(0.5), 1.1
WELLS = {"A": {"epsilon": 1.0, "sigma": 1.0}, "B": {"epsilon": 0.5, "sigma": 1.2}}
TABLE = [{"kinds": pair, "A": A, "B": B, "C": C} for pair in (("A", "A"), ("A", "B"), ("B", "B"))]
ALPHA = 1.1


def lennard_jones(r):
    s6 = (mpmath.mpf(SIGMA) / r) ** 6
    return 4 * mpmath.sqrt(mpmath.mpf("0.5")) * (s6 * s6 - s6)


def twelve_six(r):
    return A / r**12 - B / r**6 + C / r


def bare(r):
    return -2 / r


def damped(r):
    return -2 * mpmath.erfc(mpmath.mpf(ALPHA) * r) / r


def truncated(u):
    return u


def shifted(u):
    return lambda r: u(r) - u(mpmath.mpf(CUT))


def force_shifted(u):
    rc = mpmath.mpf(CUT)
    return lambda r: u(r) - u(rc) - (r - rc) * mpmath.diff(u, rc)


def switched(u, start=2.0):
    def law(r):
        x = (r - start) / (CUT - mpmath.mpf(start))
        return u(r) if x < 0 else u(r) * (1 - 10 * x**3 + 15 * x**4 - 6 * x**5)

    return law


def reaction_field(u, outside=10.0):
    rc, k = mpmath.mpf(CUT), (mpmath.mpf(outside) - 1) / (2 * mpmath.mpf(outside) + 1)
    return lambda r: u(r) * (1 + k * (r / rc) ** 3) - u(rc) * (1 + k)


def wells(**fields):
    return ar.forces.LennardJones(parameters=WELLS, cutoff=CUT, **fields)


def powers(**fields):
    return ar.forces.TwelveSix(table=TABLE, cutoff=CUT, **fields)


def charges(**fields):
    return ar.forces.Coulomb(cutoff=CUT, **fields)


LAWS = {
    "lj": (wells(), truncated(lennard_jones)),
    "lj shifted": (wells(truncation="shifted"), shifted(lennard_jones)),
    "lj force-shifted": (wells(truncation="force-shifted"), force_shifted(lennard_jones)),
    "lj switched": (wells(truncation="switched", switch_start=2.0), switched(lennard_jones)),
    "abc": (powers(), truncated(twelve_six)),
    "abc shifted": (powers(truncation="shifted"), shifted(twelve_six)),
    "abc force-shifted": (powers(truncation="force-shifted"), force_shifted(twelve_six)),
    "abc switched": (powers(truncation="switched", switch_start=2.0), switched(twelve_six)),
    "charges": (charges(), truncated(bare)),
    "charges shifted": (charges(truncation="shifted"), shifted(bare)),
    "reaction field": (charges(truncation="reaction-field", reaction_permittivity=10.0), reaction_field(bare)),
    "conducting field": (charges(truncation="reaction-field"), reaction_field(bare, 1e30)),
    "charges force-shifted": (charges(truncation="force-shifted"), force_shifted(bare)),
    "damped force-shifted": (charges(truncation="force-shifted", damping=ALPHA), force_shifted(damped)),
    "wolf": (charges(truncation="wolf", damping=ALPHA), shifted(damped)),
}
SMOOTH = {name: (2 if "switched" in name else 1) for name in LAWS if "force-shifted" in name or "switched" in name}
SMOOTH |= {"conducting field": 1} | dict.fromkeys(("lj shifted", "abc shifted", "wolf", "reaction field"), 0)


WELL = {"depth": 1.3, "width": 1.9, "distance": 1.2}
MORSE = {"parameters": {"A": WELL, "B": WELL}, "cutoff": CUT}


def morse(r):
    E = mpmath.exp(-mpmath.mpf(1.9) * (r - mpmath.mpf(1.2)))
    return mpmath.mpf(1.3) * E * (E - 2)


def plain(r2, parameters):
    return r2


def hopeless(r2, parameters):
    return parameters.nothing


def harmonic(r2, parameters):
    """½k(r − r₀)²."""
    k, r0 = parameters[0], parameters[1]
    r = np.sqrt(r2)
    return 0.5 * k * (r - r0) ** 2, -k * (r - r0) / r, k + 2.0 * k * (r - r0) / r


LAWS |= {
    "wca": (
        ar.forces.WeeksChandlerAndersen(parameters=WELLS),
        lambda r: lennard_jones(r) + mpmath.sqrt(mpmath.mpf("0.5")),
    ),
    "morse": (ar.forces.Morse(**MORSE), morse),
    "morse shifted": (ar.forces.Morse(**MORSE, truncation="shifted"), shifted(morse)),
    "morse force-shifted": (ar.forces.Morse(**MORSE, truncation="force-shifted"), force_shifted(morse)),
    "morse switched": (ar.forces.Morse(**MORSE, truncation="switched", switch_start=2.0), switched(morse)),
    "user": (
        ar.forces.UserPair(function=numba.njit(harmonic), parameters=(3.0, 1.5), cutoff=CUT),
        lambda r: mpmath.mpf(1.5) * (r - mpmath.mpf(1.5)) ** 2,
    ),
}
SMOOTH |= {"morse shifted": 0, "morse force-shifted": 1, "morse switched": 2}


def term_of(force):
    return model_of(force).forces[0].site_terms(model_of(force))[0]


@pytest.mark.parametrize("name", LAWS)
def test_forces_and_laplacians_are_derivatives_of_the_energy(name):
    """Twenty digits of U, and so of its derivatives; ours may lose some units in the last place of its largest part."""
    force, energy = LAWS[name]
    term = term_of(force)
    r = np.array([0.3, 0.7, 1.0, 1.2, 1.9, 2.0001, 2.2, 2.4, 2.4999])
    with mpmath.workdps(40):
        exact = [[mpmath.diff(energy, mpmath.mpf(x), n) for n in range(3)] for x in r]
    found = evaluated(term, r)
    for (U, dU, ddU), x, (u, g, lap) in zip(exact, r, found.T, strict=True):
        scale = 64 * np.finfo(float).eps * (1.0 + abs(float(U)) + 12.0 * x**-6)
        assert abs(u - float(U)) < scale
        assert abs(g + float(dU) / x) < scale * 13 / x**2
        assert abs(lap - float(ddU + 2 * dU / x)) < scale * 160 / x**2


@pytest.mark.parametrize("name", SMOOTH)
def test_a_law_ends_as_smoothly_as_it_says(name):
    """Energy, force and Laplacian at the cutoff are zero to rounding, as far as the truncation promises."""
    found = evaluated(term_of(LAWS[name][0]), CUT)[:, 0]
    assert np.abs(found[: SMOOTH[name] + 1]).max() < 1e-14


@pytest.mark.parametrize(("truncation", "start"), [("truncated", None), ("switched", 1.9)])
def test_tails_are_what_the_cutoff_leaves_out(truncation, start):
    """Against the integrals of the missing part, for two kinds in unequal numbers."""
    force = ar.forces.LennardJones(
        parameters=WELLS, cutoff=CUT, truncation=truncation, switch_start=start, tail_correction=True
    )
    builder = ar.ModelBuilder(units="lj", box=ar.Box(lengths=(8.0, 9.0, 10.0), tilts=(1.0, -2.0, 0.5)))
    builder.add_particles(3, mass=1.0, positions=np.eye(3), kind="A")
    builder.add_particles(5, mass=1.0, positions=3.0 + np.arange(15).reshape(5, 3), kind="B")
    builder.add_force(force)
    model = builder.build()
    energy, virial = model.forces[0].site_terms(model)[0].constant
    expected = [0.0, 0.0]
    for one, two, weight in (("A", "A", 9), ("A", "B", 30), ("B", "B", 25)):
        epsilon = math.sqrt(WELLS[one]["epsilon"] * WELLS[two]["epsilon"])
        sigma = 0.5 * (WELLS[one]["sigma"] + WELLS[two]["sigma"])

        def u(r, epsilon=epsilon, sigma=sigma):
            return 4.0 * epsilon * ((sigma / r) ** 12 - (sigma / r) ** 6)

        def du(r, epsilon=epsilon, sigma=sigma):
            return -24.0 * epsilon / r * (2.0 * (sigma / r) ** 12 - (sigma / r) ** 6)

        def x(r):
            return (r - start) / (CUT - start)

        def off(r):
            return 10.0 * x(r) ** 3 - 15.0 * x(r) ** 4 + 6.0 * x(r) ** 5

        def slope(r):
            return 30.0 * (x(r) * (1.0 - x(r))) ** 2 / (CUT - start)

        missing = quad(lambda r: u(r) * r**2, CUT, np.inf, epsabs=1e-13)[0]
        force_missing = quad(lambda r: du(r) * r**3, CUT, np.inf, epsabs=1e-13)[0]
        if start is not None:
            missing += quad(lambda r: off(r) * u(r) * r**2, start, CUT)[0]
            force_missing += quad(lambda r: (off(r) * du(r) + slope(r) * u(r)) * r**3, start, CUT)[0]
        expected[0] += 2.0 * math.pi / 720.0 * weight * missing
        expected[1] -= 2.0 * math.pi / 720.0 * weight * force_missing
    np.testing.assert_allclose([energy, virial], expected, rtol=1e-10)


def test_tail_of_the_reference_configuration():
    """NIST's Lennard-Jones configurations of 30 particles in a box of 8: to every printed digit."""
    for cutoff, printed in ((3.0, -0.54517), (4.0, -0.23008)):
        builder = ar.ModelBuilder(units="lj", box=ar.Box(lengths=(8.0, 8.0, 8.0)))
        builder.add_particles(30, mass=1.0, positions=np.arange(90.0).reshape(30, 3), kind="A")
        builder.add_force(ar.forces.LennardJones(parameters={"A": WELLS["A"]}, cutoff=cutoff, tail_correction=True))
        model = builder.build()
        assert abs(model.forces[0].site_terms(model)[0].constant[0] - printed) < 0.5e-5


def test_mixing_rules():
    """Against the rules written out; a pair of its own overrides them."""
    s, t = 1.0, 1.2
    sixth = 0.5 * (s**6 + t**6)
    expected = {
        "lorentz-berthelot": (math.sqrt(0.5), 1.1),
        "geometric": (math.sqrt(0.5), math.sqrt(1.2)),
        "sixth-power": (math.sqrt(0.5) * (s * t) ** 3 / sixth, sixth ** (1 / 6)),
    }
    for rule, (epsilon, sigma) in expected.items():
        force = ar.forces.LennardJones(parameters=WELLS, cutoff=CUT, mixing=rule)
        rows = term_of(force).rows
        np.testing.assert_allclose(rows[1, 1:3], [4 * epsilon * sigma**12, 4 * epsilon * sigma**6], rtol=1e-14)
        np.testing.assert_array_equal(rows[1], rows[2])
    own = ar.forces.LennardJones(
        parameters=WELLS, cutoff=CUT, pairs=({"kinds": ("B", "A"), "epsilon": 3.0, "sigma": 1.0},)
    )
    np.testing.assert_allclose(term_of(own).rows[1, 1:3], [12.0, 12.0], rtol=1e-15)


def test_wolf_counts_each_charge_with_itself():
    """−(erfc(αr_c)/(2r_c) + α/√π) Σq², here for three charges 1 and three −2."""
    term = term_of(ar.forces.Coulomb(cutoff=CUT, truncation="wolf", damping=ALPHA))
    own = math.erfc(ALPHA * CUT) / (2 * CUT) + ALPHA / math.sqrt(math.pi)
    assert math.isclose(term.constant[0], -15.0 * own, rel_tol=1e-14)


@pytest.mark.parametrize(
    ("force", "message"),
    [
        (lambda: ar.forces.LennardJones(parameters={"A": WELLS["A"]}, cutoff=CUT), "'B' in"),
        (lambda: ar.forces.LennardJones(parameters=WELLS | {"Aa": WELLS["A"]}, cutoff=CUT), "the kind 'Aa'; did you"),
        (lambda: ar.forces.LennardJones(parameters=WELLS, cutoff=4.5), "4.5 is more than 4,"),
        (
            lambda: ar.forces.WeeksChandlerAndersen(parameters={k: w | {"sigma": 4.0} for k, w in WELLS.items()}),
            r"the range 2\^\(1/6\) sigma: 4.48985 is more than 4,",
        ),
        (lambda: ar.forces.UserPair(function=plain, cutoff=2.0), "'plain' is plain Python.*@numba.njit"),
        (lambda: ar.forces.UserPair(function=numba.njit(plain), cutoff=2.0), "must return three floats"),
        (lambda: ar.forces.UserPair(function=numba.njit(harmonic), cutoff=2.0), "more than its 0 parameters"),
        (lambda: ar.forces.UserPair(function=numba.njit(hopeless), cutoff=2.0), "cannot be compiled"),
        (
            lambda: ar.forces.UserPair(
                function=numba.njit(harmonic),
                cutoff=2.0,
                parameters=(1.0, 2.0),
                pairs=({"kinds": ("A", "B"), "parameters": (1.0,)},),
            ),
            r"the same number of parameters, not \[1, 2\]",
        ),
        (lambda: ar.forces.LennardJones(parameters=WELLS), "required in a periodic box, at most 4"),
        (
            lambda: ar.forces.LennardJones(parameters=WELLS, cutoff=2.5, truncation="switched", switch_start=2.5),
            "switch_start: 2.5 is not below the cutoff 2.5",
        ),
        (lambda: ar.forces.LennardJones(parameters=WELLS, truncation="shifted"), "'shifted' needs a cutoff"),
        (lambda: ar.forces.TwelveSix(table=TABLE[:2], cutoff=2.0), "B and B interact without parameters"),
        (lambda: ar.forces.TwelveSix(table=[*TABLE, TABLE[1]], cutoff=2.0), r"table\[3\]: A and B are given twice"),
        (lambda: ar.forces.TwelveSix(table=TABLE, cutoff=2.0, tail_correction=True), "the tail of C/r diverges"),
        (lambda: ar.forces.Coulomb(cutoff=2.5, damping=1.0), "applies to 'force-shifted' and 'wolf'"),
        (lambda: ar.forces.Coulomb(cutoff=3.0, truncation="wolf", damping=3.0), "lower the damping or the cutoff"),
    ],
)
def test_what_cannot_be_is_refused_by_name(force, message):
    with pytest.raises(ar.ModelError, match=message):
        model_of(force())


def test_charges_need_charges_and_tails_a_box():
    with pytest.raises(ar.ModelError, match="no site has a charge"):
        model_of(ar.forces.Coulomb(cutoff=2.0), charges=(0.0, 0.0))
    with pytest.raises(ar.ModelError, match="periodic in all directions"):
        model_of(ar.forces.LennardJones(parameters=WELLS, cutoff=2.0, tail_correction=True), box=False)


def test_repulsion_ends_at_its_minimum():
    """Energy and force are zero at 2^{1/6}σ, of every pair of kinds its own."""
    term = term_of(ar.forces.WeeksChandlerAndersen(parameters=WELLS))
    for k, sigma in ((0, 1.0), (1, 1.1), (2, 1.1), (3, 1.2)):
        end = 2.0 ** (1.0 / 6.0) * sigma
        assert math.isclose(term.rows[k, 0], end**2, rel_tol=1e-15)
        assert np.abs(evaluated(term, end, k=k)[:2]).max() < 1e-14
    assert math.isclose(term.cutoff, 2.0 ** (1.0 / 6.0) * 1.2)


def test_a_law_from_a_file(tmp_path):
    """By its place, with parameters of the pair over those of all."""
    path = tmp_path / "law.py"
    path.write_text("import numba\n\n@numba.njit\ndef law(r2, p):\n    return p[0] * r2, -2.0 * p[0], 6.0 * p[0]\n")
    force = ar.forces.UserPair(
        function=f"{path}:law", parameters=(2.0,), cutoff=2.0, pairs=({"kinds": ("A", "B"), "parameters": (3.0,)},)
    )
    term = term_of(force)
    np.testing.assert_allclose(evaluated(term, 1.5, k=0)[:, 0], [4.5, -4.0, 12.0], rtol=1e-15)
    np.testing.assert_allclose(evaluated(term, 1.5, k=1)[:, 0], [6.75, -6.0, 18.0], rtol=1e-15)


def test_exponential_without_a_library():
    """Against NumPy's, over all that doubles hold; what is not a number stays so."""
    x = np.concatenate([np.linspace(-708.0, 709.0, 20001), np.linspace(-3.0, 3.0, 20001)])
    odd = np.array([np.nan, np.inf, -np.inf, 1e300, -1e300, -800.0])
    out, ends = np.zeros_like(x), np.zeros_like(odd)

    @numba.njit
    def call(x, out):
        for n in range(x.size):
            out[n] = exponential(x[n])

    call(x, out)
    call(odd, ends)
    assert (np.abs(out / np.exp(x) - 1.0) < 1.2e-16 * (4.0 + np.abs(x))).all()
    np.testing.assert_array_equal(ends, [np.nan, np.inf, 0.0, np.inf, 0.0, 0.0])
