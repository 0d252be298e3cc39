"""A pair law written by the user as one jitted function."""

import hashlib
from collections.abc import Callable
from functools import cache
from typing import Annotated, Any, ClassVar, Literal

import numba
import numpy as np
from numba import types
from pydantic import ConfigDict

from articulon.declaration import Declaration, Dimension, Number, Quantity
from articulon.errors import ModelError
from articulon.forces.sites.between import BetweenGroups
from articulon.forces.sites.laws.cutoffs import check_cutoff
from articulon.forces.sites.mixing import pair_parameters
from articulon.forces.sites.site_terms import PairTerm
from articulon.forces.user_functions import Withheld, loaded_function
from articulon.kernels import jit
from articulon.model import Model


class UserPairParameters(Declaration):
    """Parameters of a user's law for a pair of kinds."""

    kinds: tuple[str, str]
    """The two kinds."""
    parameters: tuple[Number, ...]
    """Parameters in the units of the case."""


class UserPair(BetweenGroups):
    """U(r) between all sites, or those of some pairs of groups, by the user's ``function(r2, parameters) -> (U, -U'/r,
    U'' + 2U'/r)``.

    The function is jitted with ``numba.njit`` and compiled again, with the flags of all kernels, into the loop over
    neighbours. It runs as fast as the built-in laws if it has no branches (write ``a if condition else b``) and calls
    only square roots. The third value is the Laplacian of U, for the configurational temperature; zero suffices for
    runs that do not need it. The law is simply truncated at the cutoff; the function should let U go to zero there.
    """

    positional: ClassVar[tuple[str, ...]] = ("function",)
    model_config = ConfigDict(frozen=True, extra="forbid", arbitrary_types_allowed=True)

    kind: Literal["user-pair"] = "user-pair"
    function: Callable[..., Any] | str
    """The function, or its location: ``"module:name"`` or ``"path/to/file.py:name"``."""
    parameters: tuple[Number, ...] = ()
    """Parameters passed to the function as an array, for all pairs of kinds that are not in ``pairs``; units of the
    case."""
    pairs: tuple[UserPairParameters, ...] = ()
    """Parameters of pairs of kinds; the number of parameters is the same for all pairs."""
    cutoff: Annotated[Quantity | None, Dimension("length", minimum=0, exclusive=True)] = None
    """Cutoff, at most half of the smallest width of a periodic box [length]; without it all pairs interact."""
    skin: Annotated[Quantity | None, Dimension("length", minimum=0)] = None
    """Skin of the neighbour list beyond the cutoff [length]; by default chosen by a fixed rule."""

    def check(self, model: Model, where: str) -> None:
        """Raises ModelError for a function that is not jitted or does not return three numbers, for kinds that do not
        exist, and for a cutoff that does not fit the box."""
        check_cutoff(model, self.cutoff, where)
        rows = self._rows(model, where)
        if isinstance(self.function, Withheld):
            return
        trial = numba.njit(self._function(where).py_func, boundscheck=True, error_model="numpy")
        try:
            trial.compile((types.float64, types.float64[::1]))
            trial(1.0, rows[0])
            returned = trial.nopython_signatures[0].return_type
        except IndexError:
            raise ModelError(f"{where}.function: reads more than its {rows.shape[1]} parameters") from None
        except Exception as error:  # Numba raises many kinds of exceptions
            raise ModelError(f"{where}.function: cannot be compiled for (r2, parameters): {error}") from None
        if not (isinstance(returned, types.BaseTuple) and tuple(returned) == (types.float64,) * 3):
            raise ModelError(
                f"{where}.function: must return three floats, U, -U'/r and U'' + 2U'/r; it returns {returned}"
            )

    def site_terms(self, model: Model) -> list[PairTerm]:
        """Return the law as a term of the site forces."""
        rc = np.inf if self.cutoff is None else float(self.cutoff)
        return [self._term(model, rc)]

    def bare_terms(self, model: Model) -> list[PairTerm]:
        """Return the law without a cutoff, for scaled pairs."""
        return [self._term(model, np.inf)]

    def _term(self, model: Model, rc: float) -> PairTerm:
        function = self._function(self.kind)
        leaf, name = _leaf(function.py_func)
        rows = np.ascontiguousarray(np.insert(self._rows(model, self.kind), 0, rc**2, axis=1))
        skin = None if self.skin is None else float(self.skin)
        return PairTerm(leaf, name, rows, rc, skin=skin, between=self.group_pairs(model, self.kind))

    def _rows(self, model: Model, where: str) -> np.ndarray:
        sizes = {len(pair.parameters) for pair in self.pairs} | ({len(self.parameters)} if self.parameters else set())
        if len(sizes) > 1:
            raise ModelError(f"{where}.pairs: all entries must have the same number of parameters, not {sorted(sizes)}")
        everyone = dict.fromkeys(model.sites.kinds) if self.parameters or not self.pairs else {}
        return pair_parameters(
            model,
            where,
            everyone,
            self.pairs,
            lambda *_: self.parameters,
            lambda pair: pair.parameters,
            groups=self.group_pairs(model, where),
        )

    def _function(self, where: str) -> Any:
        found = self.function if callable(self.function) else loaded_function(self.function, where)
        if isinstance(found, Withheld):
            raise found.error(f"{where}.function")
        if not isinstance(found, numba.core.registry.CPUDispatcher):
            name = getattr(found, "__name__", repr(found))
            raise ModelError(
                f"{where}.function: '{name}' is plain Python, too slow for every pair at every step; write @numba.njit "
                "above it"
            )
        return found


@cache
def _leaf(function: Callable[..., Any]) -> tuple[Any, str]:
    """Return a law that calls the user's function, and a name that no other function has."""
    inner = jit(function)

    @jit
    def user_pair(r2, rows, k, charges):
        return inner(r2, rows[k, 1:])

    code = function.__code__
    text = repr((code.co_code, code.co_consts, code.co_names, code.co_filename, code.co_firstlineno))
    digest = hashlib.sha256(text.encode()).hexdigest()[:16]
    return user_pair, f"user-pair-{function.__name__}-{digest}"
