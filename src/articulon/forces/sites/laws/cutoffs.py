"""Cutoffs of pair laws: their checks, and how a law ends there."""

from typing import Annotated, ClassVar, Literal, Self

import numpy as np
from pydantic import model_validator

from articulon.declaration import Declaration, Dimension, Quantity
from articulon.errors import ModelError
from articulon.forces.sites.nearest_images import widths
from articulon.kernels import jit
from articulon.lanes import choose
from articulon.model import Model

Truncation = Literal["truncated", "shifted", "force-shifted", "switched"]


class CutPairs(Declaration):
    """A pair law that ends at a cutoff r_c.

    ``truncated`` drops the law beyond r_c, where the energy is discontinuous. ``shifted`` subtracts U(r_c), so that
    only the force is discontinuous. ``force-shifted`` subtracts U(r_c) + (r − r_c) U'(r_c), so that both are continuous
    (Allen and Tildesley, Computer Simulation of Liquids, 2nd ed., 5.10). ``switched`` multiplies U by S = 1 − 10x³ +
    15x⁴ − 6x⁵ with x = (r − r_s)/(r_c − r_s) from r_s on, so that the second derivative is continuous too (OpenMM User
    Guide, 19.7.3).
    """

    not_differentiated: ClassVar[tuple[str, ...]] = ("cutoff", "switch_start", "skin")
    """See :class:`~articulon.forces.base.Force`."""
    cutoff: Annotated[Quantity | None, Dimension("length", minimum=0, exclusive=True)] = None
    """r_c, at most half of the smallest width of a periodic box [length]; without it all pairs interact."""
    truncation: Truncation = "truncated"
    """How the law ends at the cutoff."""
    switch_start: Annotated[Quantity | None, Dimension("length", minimum=0, exclusive=True)] = None
    """r_s, for ``switched`` [length]."""
    skin: Annotated[Quantity | None, Dimension("length", minimum=0)] = None
    """Skin of the neighbour list beyond the cutoff [length]; by default chosen by a fixed rule."""

    @model_validator(mode="after")
    def _ends(self) -> Self:
        if self.cutoff is None and self.truncation != "truncated":
            raise ValueError(f"the truncation '{self.truncation}' needs a cutoff")
        if (self.switch_start is not None) != (self.truncation == "switched"):
            raise ValueError("switch_start and the truncation 'switched' require each other")
        return self

    def check_ends(self, model: Model, where: str) -> None:
        """Raises ModelError for a cutoff that does not fit the box, and a switch that starts beyond it."""
        check_cutoff(model, self.cutoff, where)
        self.check_switch(where)

    def check_switch(self, where: str) -> None:
        """Raises ModelError for a switch that starts beyond the cutoff."""
        if self.switch_start is not None and self.cutoff is not None and not self.switch_start < self.cutoff:  # type: ignore[operator]
            raise ModelError(
                f"{where}.switch_start: {self.switch_start:g} is not below the cutoff {self.cutoff:g}; the law is "
                "switched off between the two"
            )


def check_cutoff(model: Model, cutoff: float | str | None, where: str, what: str = "cutoff") -> None:
    """Raises ModelError if a cutoff is more than half of the smallest periodic width of the box, or missing."""
    half = 0.5 * float(widths(model).min())
    if half == np.inf:
        return
    if cutoff is None:
        raise ModelError(f"{where}.{what}: required in a periodic box, at most {half:g}, half of its smallest width")
    if float(cutoff) > half * (1.0 + 1e-12):
        raise ModelError(
            f"{where}, {what}: {float(cutoff):g} is more than {half:g}, half of the smallest width of the periodic "
            "box; choose a smaller one or a larger box"
        )


def ends_of(pairs: CutPairs | None) -> tuple[Truncation, float, float | None, float | None]:
    """Return truncation, r_c, r_s and skin of a declaration in the model's units; for None those of a law without a
    cutoff."""
    if pairs is None:
        return "truncated", np.inf, None, None
    start, skin = (None if value is None else float(value) for value in (pairs.switch_start, pairs.skin))
    return pairs.truncation, np.inf if pairs.cutoff is None else float(pairs.cutoff), start, skin


def cut_rows(
    parameters: np.ndarray,
    rc: float | np.ndarray,
    truncation: Truncation,
    switch_start: float | None,
    energy: float | np.ndarray,
    slope: float | np.ndarray,
) -> np.ndarray:
    """Return the rows of a law: r_c², its parameters, a shift of the energy, and parameters of the truncation.

    For ``force-shifted``, the parameter is U'(r_c), and the shift is U(r_c) − r_c U'(r_c). For ``switched``, the
    parameters are r_s and 1/(r_c − r_s).

    Parameters
    ----------
    parameters
        Parameters of each ordered pair of kinds, shape (kinds², parameters).
    rc
        Cutoff of all or of each, infinity for none [length].
    energy, slope
        U(r_c) [energy] and U'(r_c) [energy/length] of all or of each.
    """
    rows = len(parameters)
    shift, extra = np.zeros(rows), np.zeros((rows, 0))
    if truncation == "shifted":
        shift = energy * np.ones(rows)
    elif truncation == "force-shifted":
        shift = (energy - rc * slope) * np.ones(rows)
        extra = np.full((rows, 1), np.reshape(slope, (-1, 1)))
    elif truncation == "switched" and switch_start is not None:
        extra = np.stack([np.full(rows, switch_start), 1.0 / (rc - switch_start) * np.ones(rows)], axis=1)
    squared = np.square(rc) * np.ones(rows)
    return np.ascontiguousarray(np.concatenate([squared[:, None], parameters, shift[:, None], extra], axis=1))


@jit
def force_shifted(U, g, L, r2, slope):
    """Subtract the slope at the cutoff times r from a law, whose constant is subtracted already."""
    inverse = np.sqrt(1.0 / r2)
    f = slope * inverse
    return U - slope * (r2 * inverse), g + f, L - 2.0 * f


@jit
def switched(U, g, L, r2, start, inverse_width):
    """S(x) U(r) with S = 1 − 10x³ + 15x⁴ − 6x⁵ and x = (r − r_s)/(r_c − r_s) between 0 and 1."""
    inverse = np.sqrt(1.0 / r2)
    r = r2 * inverse
    x = (r - start) * inverse_width
    x = choose(x > 0.0, x, 0.0)
    x = choose(x < 1.0, x, 1.0)
    rest = 1.0 - x
    S = 1.0 - x * x * x * (10.0 - x * (15.0 - 6.0 * x))
    S1 = -30.0 * x * x * rest * rest * inverse_width
    S2 = -60.0 * x * rest * (rest - x) * inverse_width * inverse_width
    return S * U, S * g - S1 * inverse * U, S * L + U * (S2 + 2.0 * S1 * inverse) - 2.0 * S1 * r * g
