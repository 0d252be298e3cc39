"""Compiled functions as addresses, which a kernel takes in microseconds.

A kernel that is handed a jitted function asks the compiler each time which of its compilations is meant. That is
nothing against a chunk of steps of a quarter of a second, and as much as a hundred steps of a coarse model.
"""

from typing import Any
from weakref import WeakKeyDictionary

from numba.core.dispatcher import Dispatcher
from numba.core.types import WrapperAddressProtocol

from articulon.forces.evaluation import Evaluator, derivative_signature, settle_signature


class Direct(WrapperAddressProtocol):
    """One compilation of a jitted function.

    Parameters
    ----------
    function
        The function, kept alive.
    signature
        The one that it has been compiled for.
    """

    def __init__(self, function: Any, signature: Any) -> None:
        self.function, self._signature = function, signature
        result = function.get_compile_result(signature)
        self._address = int(result.library.get_pointer_to_function(result.fndesc.llvm_cfunc_wrapper_name))
        self._entry = result.entry_point

    def __call__(self, *arguments: Any) -> Any:
        """Calls it with arguments of its signature, at which it does not look."""
        return self._entry(*arguments)

    def __wrapper_address__(self) -> int:
        return self._address

    def signature(self) -> Any:
        """What Numba asks for."""
        return self._signature


_KNOWN: WeakKeyDictionary[Any, Any] = WeakKeyDictionary()


def direct(function: Any) -> Any:
    """A function as an address; as it is, where it has not been compiled for one signature and one alone."""
    if isinstance(function, tuple):
        return tuple(direct(one) for one in function)
    if not isinstance(function, Dispatcher):
        return function
    found = _KNOWN.get(function)
    if found is None and len(function.nopython_signatures) == 1:
        found = _KNOWN[function] = Direct(function, function.nopython_signatures[0])
    return function if found is None else found


def make_direct(evaluator: Evaluator) -> None:
    """Has an evaluator hold its compiled functions as addresses."""
    for name, signature in (("derivative", derivative_signature), ("settle", settle_signature)):
        function = getattr(evaluator, name)
        if isinstance(function, Dispatcher):
            setattr(evaluator, name, Direct(function, signature(evaluator)))
    evaluator.functions = direct(evaluator.functions)
