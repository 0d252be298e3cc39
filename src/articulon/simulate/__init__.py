"""The run: the loop, what is observed along it, and what is kept of it."""

import sys
from types import ModuleType
from typing import Any


class _Simulate(ModuleType):
    """The package under the name of its function: whatever imports the package first binds ``articulon.simulate`` to
    it, and ``ar.simulate(model, ...)`` must go on working."""

    def __call__(self, *arguments: Any, **options: Any) -> Any:
        # The public face knows where its functions live, on floors above this one.
        face: Any = sys.modules["articulon"]
        return face.__getattr__("simulate")(*arguments, **options)


sys.modules[__name__].__class__ = _Simulate
