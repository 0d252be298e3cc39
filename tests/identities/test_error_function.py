"""The polynomials that stand for erf(αr)/r in the loops over pairs."""

import mpmath
import numpy as np
import pytest

import articulon as ar
from articulon.forces.sites.error_function import LARGEST, SMOOTH_PARTS, TERMS, coefficients, number_of_terms
from articulon.kernels import kernel


def evaluated(row, r2):
    leaf = SMOOTH_PARTS[number_of_terms(row)]

    @kernel
    def evaluate(r2, rows, out):
        for i in range(r2.size):
            out[i, 0], out[i, 1], out[i, 2] = leaf(r2[i], rows)

    out = np.zeros((r2.size, 3))
    evaluate(r2, np.atleast_2d(row), out)
    return out


def exact(damping, r2):
    """erf(αr)/r, −2 of its derivative by r², and minus its Laplacian, in 30 digits."""
    with mpmath.workdps(30):
        values = []
        for s in map(mpmath.mpf, r2.tolist()):
            a, r = mpmath.mpf(damping), mpmath.sqrt(s)
            gauss = 2 * a / mpmath.sqrt(mpmath.pi) * mpmath.exp(-a * a * s)
            smooth = mpmath.erf(a * r) / r
            values.append([float(v) for v in (smooth, (smooth - gauss) / s, 2 * a * a * gauss)])
    return np.array(values)


@pytest.mark.parametrize("product", [1.0, 2.0, 3.5, 5.0, LARGEST])
def test_polynomials_agree_with_the_error_function_to_double_precision(product):
    cutoff = 1.7
    row = coefficients(product / cutoff, cutoff, "test")
    r2 = np.linspace(1e-3, 1.0, 60) ** 2 * cutoff**2
    alpha = product / cutoff
    largest = np.array([2 * alpha, 4 * alpha**3 / 3, 4 * alpha**3]) / np.sqrt(np.pi)
    # Terms left out are below 1e-14 of the value at r = 0, of which rounding takes some units in the last place.
    assert np.abs((evaluated(row, r2) - exact(alpha, r2)) / largest).max() < 2e-14


def test_a_longer_reach_takes_more_terms():
    reaches = (0.3, 0.8, 1.5, 3.0, 5.0, LARGEST)
    assert [number_of_terms(coefficients(1.0, reach, "test")) for reach in reaches] == list(TERMS)


@pytest.mark.parametrize("tolerance", [1e-10, 1e-7])
def test_a_coarser_tolerance_takes_fewer_terms_and_is_met(tolerance):
    alpha, cutoff = 1.1, 2.5
    row = coefficients(alpha, cutoff, "test", tolerance)
    assert number_of_terms(row) < number_of_terms(coefficients(alpha, cutoff, "test"))
    r2 = np.linspace(1e-3, cutoff**2, 500)
    largest = np.array([2 * alpha, 4 * alpha**3 / 3, 4 * alpha**3]) / np.sqrt(np.pi)
    # What is left out of both functions goes into erf(αr)/r, F₁ times s and the exponential times 1/2α².
    off = np.abs((evaluated(row, r2) - exact(alpha, r2)) / largest).max()
    assert 0.0 < off < 3.0 * (alpha * cutoff) ** 2 * tolerance


def test_a_damping_beyond_the_polynomials_is_refused():
    with pytest.raises(ar.ModelError, match=r"forces\[2\]: damping times cutoff is 8"):
        coefficients(2.0, 4.0, "forces[2]")
