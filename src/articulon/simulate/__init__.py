"""The run: the loop, what is observed along it, and what is kept of it."""

import sys
from types import ModuleType
from typing import Any


class _Simulate(ModuleType):
    """The package under the name of its function: whatever imports the package first binds ``articulon.simulate`` to
    it, and ``ar.simulate(model, ...)`` must go on working."""

    def __call__(self, *arguments: Any, **options: Any) -> Any:
        from articulon.simulate.simulation import simulate

        return simulate(*arguments, **options)


sys.modules[__name__].__class__ = _Simulate
