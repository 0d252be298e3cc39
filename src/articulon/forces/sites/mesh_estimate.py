"""Parameters of a particle-mesh Ewald sum for a given precision, and its expected errors.

The real part has the error of Kolafa and Perram (``ewald_estimate.py``). The error of the reciprocal part follows from
the Fourier series of the mesh interaction between two charges at random positions (Hockney and Eastwood, Computer
Simulation Using Particles, 8.3; Ballenegger, Cerdà and Holm, J. Chem. Theory Comput. 8, 936, 2012, for B-splines with
analytical derivatives). With N points along an edge L, a wave k of the mesh represents all aliases k_m = k + 2π N m/L.
Their weights are U_m = Π sincᵖ for B-splines of order p. G = 4π exp(−k²/4α²)/(k² V) is the exact influence function of
the force, and G' = G/(Σ_m U_m)² is the influence function that is used:

    error² of a pair's force = Σ_k G'² (Σ_m k_m² U_m²)(Σ_m U_m²) − 2 k² G' G U_0² + k² G²

plus k² G² of all waves beyond the mesh. In addition, a charge exerts a force on itself, which does not exist in an
exact lattice sum. Neighbouring aliases along an edge cause the force K S sin(K·r), with S = Σ_k G' Σ_m U_m U_(m+1) and
K = 2π N/L (Ballenegger, Cerdà and Holm, Comput. Phys. Commun. 182, 1919, 2011). For n charges with Q = Σq², the rms
error of a force is Q √(error²/n). The forces of charges on themselves, of rms ``self``, add √(Σq⁴ self²/n). All errors
are relative to the force between two charges of rms magnitude at their mean distance, as for an Ewald sum.
"""

import math
from dataclasses import dataclass
from functools import cache, lru_cache

import numpy as np

from articulon.errors import ModelError
from articulon.forces.sites.ewald_estimate import Charges, SplitParameters
from articulon.forces.sites.mesh_splines import HIGHEST, LOWEST, moduli
from articulon.forces.sites.nearest_images import widths_of
from articulon.model.box import volume_of

ALIASES = 3
"""Number of aliases counted on either side of a wave of the mesh, along each edge."""
MARGIN = math.sqrt(0.5)
"""Error of each part relative to the total, so that both together meet the precision."""
PAIR_COST, POINT_COST, SPREAD_COST = 4.5, 9.0, 7.0
"""Cost of a neighbour within the cutoff, of a point of the mesh, and of a row of points that a charge is spread over
[ns, on one core]. Only their ratios matter; they are constants rather than measured in the run, so that every machine
chooses the same parameters."""
_CHOICES = 40
MOST_POINTS = 3e7
"""Largest number of points of a mesh; with more a step takes seconds, and so does every estimate."""
_TABLE = 24
"""Number of points along an edge of the mesh for which the universal function :func:`_universal` is tabulated."""
_SPACINGS = np.geomspace(0.02, 1.6, 40)
"""Values of α times spacing at which the universal function is tabulated."""


@dataclass(frozen=True, kw_only=True)
class MeshEwaldParameters(SplitParameters):
    """Parameters of a particle-mesh Ewald sum, and its expected errors."""

    mesh: tuple[int, int, int]
    """Number of points along each edge of the box."""
    order: int
    """Order of the B-splines; their degree is one less."""


@dataclass(frozen=True)
class MeshCharges(Charges):
    """Properties of the charges on which the estimate depends."""

    fourths: float = 0.0
    """Σ q⁴ [charge⁴]."""

    @property
    def widths(self) -> np.ndarray:
        """Distances between opposite faces of the box [length], shape (3,)."""
        return widths_of(self.vectors)

    def mesh_error(self, damping: float, mesh: tuple[int, int, int], order: int) -> float:
        """Relative rms error of the reciprocal part."""
        key = tuple(self.vectors.ravel().tolist())
        pair, own = _errors(key, float(damping), tuple(int(n) for n in mesh), order)
        square = self.squares**2 / self.number * pair + self.fourths / self.number * own
        return math.sqrt(square) / self.force

    def spacing_for(self, damping: float, error: float, order: int) -> float:
        """Spacing of a fine mesh in a large box for which the reciprocal part has a given relative error [length]."""
        x, y = np.log(_SPACINGS), np.log(_universal(order))
        scale = self.squares / math.sqrt(self.number) * math.sqrt(damping / self.volume) / self.force
        wanted = math.log(error / scale)
        return math.exp(float(np.interp(wanted, y, x))) / damping

    def mesh_for(self, damping: float, error: float, order: int) -> tuple[int, int, int]:
        """Coarsest mesh with at most this spacing; its numbers of points are products of 2, 3, 5 and 7."""
        spacing = self.spacing_for(damping, error, order)
        a, b, c = (smooth_number(max(math.ceil(width / spacing - 1e-9), order)) for width in self.widths)
        return a, b, c


def smooth_number(least: int) -> int:
    """Smallest even product of 2, 3, 5 and 7 that is at least a given number: such sizes have fast transforms."""
    n = max(least + least % 2, 2)
    while not _is_smooth(n):
        n += 2
    return n


def _is_smooth(n: int) -> bool:
    for prime in (2, 3, 5, 7):
        while n % prime == 0:
            n //= prime
    return n == 1


def _indices(n: int) -> np.ndarray:
    """Indices of the waves of n points, starting at −n/2 for even n."""
    m = np.arange(n)
    return np.where(m < (n + 1) // 2, m, m - n).astype(float)


def _moments(n: int, order: int) -> tuple[np.ndarray, ...]:
    """Sums over the aliases n_m of each wave along an axis: U², n U², n² U², and U U' of two neighbouring aliases; then
    U_0², and (Σ U)² from the moduli."""
    wave = _indices(n)
    alias = wave + n * np.arange(-ALIASES, ALIASES + 1)[:, None]
    weight = np.sinc(alias / n) ** order
    square = weight**2
    next_to = weight[1:] * weight[:-1]
    return (
        square.sum(axis=0),
        (alias * square).sum(axis=0),
        (alias**2 * square).sum(axis=0),
        next_to.sum(axis=0),
        square[ALIASES],
        moduli(order, n),
    )


@lru_cache(maxsize=256)
def _errors(vectors: tuple[float, ...], damping: float, mesh: tuple[int, int, int], order: int) -> tuple[float, float]:
    """Mean squared errors of the mesh for unit charges: of a pair's force, and of a charge's force on itself."""
    edges = np.array(vectors).reshape(3, 3)
    volume, reciprocal = volume_of(edges), 2.0 * np.pi * np.linalg.inv(edges).T
    metric = reciprocal @ reciprocal.T
    axes = [_moments(n, order) for n in mesh]

    def along(values: np.ndarray, axis: int) -> np.ndarray:
        shape = [1, 1, 1]
        shape[axis] = values.size
        return values.reshape(shape)

    wave = [along(_indices(n), k) for k, n in enumerate(mesh)]
    even, first, second, cross, alone, modulus = ([along(axes[k][part], k) for k in range(3)] for part in range(6))
    k2 = sum(metric[a, b] * wave[a] * wave[b] for a in range(3) for b in range(3))
    k2[0, 0, 0] = np.inf
    G = 4.0 * np.pi / volume * np.exp(-0.25 * k2 / damping**2) / k2
    G[0, 0, 0] = k2[0, 0, 0] = 0.0
    made = G / (modulus[0] * modulus[1] * modulus[2])
    squares = even[0] * even[1] * even[2]
    moment = 0.0
    for a in range(3):
        b, c = (a + 1) % 3, (a + 2) % 3
        moment = moment + metric[a, a] * second[a] * even[b] * even[c]
        moment = moment + 2.0 * metric[a, b] * first[a] * first[b] * even[c]
    pair = made**2 * moment * squares - 2.0 * k2 * made * G * alone[0] * alone[1] * alone[2] + k2 * G**2
    total = float(pair.sum()) + _beyond(damping, volume, metric, mesh)
    # Force of a charge on itself: along each edge K S sin(K·r), with K the reciprocal vector of the mesh.
    own = 0.0
    for a in range(3):
        b, c = (a + 1) % 3, (a + 2) % 3
        amplitude = float((made * cross[a] * even[b] * even[c]).sum())
        own += 0.5 * mesh[a] ** 2 * metric[a, a] * amplitude**2
    return max(total, 0.0), own


def _beyond(damping: float, volume: float, metric: np.ndarray, mesh: tuple[int, int, int]) -> float:
    """Σ k² G² of the waves missing from the mesh: those outside the ellipsoid that touches its faces, as in Kolafa and
    Perram; the corners of the mesh are ignored."""
    widths = np.sqrt(1.0 / np.diag(np.linalg.inv(metric)))
    longest = float(min(0.5 * n * width for n, width in zip(mesh, widths, strict=True)))
    front = 8.0 * damping**2 / (volume * longest)
    return front * math.exp(-0.5 * (longest / damping) ** 2)


@cache
def _universal(order: int) -> np.ndarray:
    """√(V/α) times the root mean square error of a pair's force, in a large cube, for the tabulated values of α times
    spacing."""
    cube = tuple(np.eye(3).ravel().tolist())
    mesh = (_TABLE,) * 3
    found = []
    for x in _SPACINGS.tolist():
        alpha = x * _TABLE
        found.append(math.sqrt(_errors(cube, alpha, mesh, order)[0] / alpha))
    # Rounding limits the error of a fine mesh in a small box; the values are made to increase with the spacing.
    return np.maximum.accumulate(np.maximum(np.array(found), 1e-300) * (1.0 + 1e-12 * np.arange(len(found))))


def choose_mesh(
    charges: MeshCharges,
    precision: float,
    cutoff: float | None,
    damping: float | None,
    mesh: tuple[int, int, int] | None,
    order: int | None,
    where: str,
) -> tuple[float, float, tuple[int, int, int], int]:
    """Return the cheapest α, cutoff, mesh and order that are precise enough; some of them may be given.

    Raises
    ------
    ModelError
        If the given parameters leave no cutoff that fits the box.
    """
    error, most = MARGIN * precision, charges.half_width
    orders = (order,) if order is not None else tuple(range(LOWEST, HIGHEST + 1))
    if cutoff is None and damping is not None:
        cutoff = _cutoff_for(charges, damping, error, most, where)
    if cutoff is None and mesh is not None:
        # The largest damping that the mesh allows.
        damping = max(_damping_of(charges, mesh, one, error) for one in orders)
        cutoff = _cutoff_for(charges, damping, error, most, where)
    cutoffs = [cutoff] if cutoff is not None else np.geomspace(0.1 * most, most, _CHOICES).tolist()
    best: tuple[float, float, float, tuple[int, int, int], int] | None = None
    for one in cutoffs:
        alpha = charges.damping_for(one, error) if damping is None else damping
        for p in orders:
            found = mesh if mesh is not None else charges.mesh_for(alpha, error, p)
            cost = _cost(charges, one, found, p)
            if mesh is not None:
                # The cost of a given mesh is fixed; the order is the lowest that suffices.
                cost = charges.mesh_error(alpha, found, p) if order is None else 0.0
                cost = float(p) if cost <= error else 1e6 * cost + HIGHEST
            if best is None or cost < best[0]:
                best = cost, alpha, one, found, p
    assert best is not None
    _, alpha, cutoff, found, p = best
    return alpha, cutoff, found if mesh is not None else _fine_enough(charges, alpha, found, p, error, where), p


def _fine_enough(
    charges: MeshCharges, damping: float, mesh: tuple[int, int, int], order: int, error: float, where: str
) -> tuple[int, int, int]:
    """Return a mesh that reaches the precision, starting from a given one. The given mesh comes from the universal
    function, which is for a large cube without forces of charges on themselves. Errors scale approximately as the
    spacing to the power of the order."""
    points = np.array(mesh)
    while True:
        found = int(points[0]), int(points[1]), int(points[2])
        check_points(found, where)
        ratio = charges.mesh_error(damping, found, order) / error
        if ratio <= 1.0:
            return found
        finer = np.array([smooth_number(math.ceil(n * ratio ** (1.0 / order))) for n in points.tolist()])
        if (finer == points).all():
            k = int(np.argmax(charges.widths / points))
            finer[k] = smooth_number(int(points[k]) + 1)
        points = finer


def check_points(mesh: tuple[int, int, int], where: str) -> None:
    """Raises ModelError for a mesh with too many points."""
    if not math.prod(map(float, mesh)) <= MOST_POINTS:
        raise ModelError(
            f"{where}: the sum takes a mesh of {mesh[0]} x {mesh[1]} x {mesh[2]} points, which is too "
            "many; choose a larger precision, a larger cutoff, or a coarser mesh"
        )


def _cost(charges: MeshCharges, cutoff: float, mesh: tuple[int, int, int], order: int) -> float:
    """Cost per charge: the cost of neighbours, which grows with the cube of the cutoff, plus the cost of the mesh."""
    pairs = 4.0 / 3.0 * math.pi * cutoff**3 * charges.number / charges.volume
    points = float(np.prod(np.array(mesh, dtype=float))) / charges.number
    return PAIR_COST * pairs + POINT_COST * points + SPREAD_COST * order**2


def _damping_of(charges: MeshCharges, mesh: tuple[int, int, int], order: int, error: float) -> float:
    """The largest α for which a mesh is fine enough."""
    spacing = float((charges.widths / np.array(mesh)).max())
    low, high = 0.02 / spacing, 1.6 / spacing
    for _ in range(40):
        middle = math.sqrt(low * high)
        low, high = (middle, high) if charges.spacing_for(middle, error, order) > spacing else (low, middle)
    # Start from the value for a large cube, and reduce it slightly if this mesh is less precise.
    while charges.mesh_error(low, mesh, order) > error and low > 0.03 / spacing:
        low *= 0.97
    return low


def _cutoff_for(charges: MeshCharges, damping: float, error: float, most: float, where: str) -> float:
    if charges.real_error(damping, most) > error:
        raise ModelError(
            f"{where}: a damping of {damping:.4g} does not reach the precision at {most:.4g}, half of the smallest "
            "width of the box; choose a higher damping, a finer mesh or a larger precision value"
        )
    low, high = 1e-3 * most, most
    for _ in range(50):
        middle = 0.5 * (low + high)
        low, high = (middle, high) if charges.real_error(damping, middle) > error else (low, middle)
    return high
