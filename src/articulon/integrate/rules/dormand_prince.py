"""Dormand–Prince 5(4): the solution of order 5 is propagated, and a solution of order 4 estimates the error (Dormand
and Prince, J. Comput. Appl. Math. 6, 19, 1980)."""

from articulon.integrate.tableaux import tableau

_FIFTH = [35 / 384, 0, 500 / 1113, 125 / 192, -2187 / 6784, 11 / 84, 0]
_FOURTH = [5179 / 57600, 0, 7571 / 16695, 393 / 640, -92097 / 339200, 187 / 2100, 1 / 40]

DORMAND_PRINCE = tableau(
    [
        [1 / 5],
        [3 / 40, 9 / 40],
        [44 / 45, -56 / 15, 32 / 9],
        [19372 / 6561, -25360 / 2187, 64448 / 6561, -212 / 729],
        [9017 / 3168, -355 / 33, 46732 / 5247, 49 / 176, -5103 / 18656],
        _FIFTH[:6],
    ],
    b=_FIFTH,
    error=[fifth - fourth for fifth, fourth in zip(_FIFTH, _FOURTH, strict=True)],
    order=5,
    power=5,
)
