"""Runge–Kutta–Fehlberg 4(5): the solution of order 4 is propagated, and the solution of order 5 estimates its error
(Fehlberg 1969, formula 2)."""

from articulon.integrate.tableaux import tableau

_FOURTH = [25 / 216, 0, 1408 / 2565, 2197 / 4104, -1 / 5, 0]
_FIFTH = [16 / 135, 0, 6656 / 12825, 28561 / 56430, -9 / 50, 2 / 55]

RUNGE_KUTTA_FEHLBERG = tableau(
    [
        [1 / 4],
        [3 / 32, 9 / 32],
        [1932 / 2197, -7200 / 2197, 7296 / 2197],
        [439 / 216, -8, 3680 / 513, -845 / 4104],
        [-8 / 27, 2, -3544 / 2565, 1859 / 4104, -11 / 40],
    ],
    b=_FOURTH,
    error=[fifth - fourth for fifth, fourth in zip(_FIFTH, _FOURTH, strict=True)],
    order=4,
)
