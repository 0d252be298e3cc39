"""Records of column numbers, whose members kernels take for constants.

A table has its columns as members of one record, ``RECORD.force``. A named tuple would do, but is taken apart anew by
each use of a member, too late for some of the loops that use many of them: they are no vector loops then. Here a member
is a constant from the start, as one of a module would be.
"""

from typing import Any

from numba import types
from numba.core.datamodel import models
from numba.core.imputils import lower_constant, lower_getattr_generic
from numba.core.typing.templates import AttributeTemplate
from numba.extending import infer_getattr, register_model, typeof_impl


class Columns:
    """A record: its class has the numbers as attributes, and kernels know the one instance of it by a name of a
    module."""

    def __setattr__(self, name: str, value: Any) -> None:
        raise AttributeError(f"{type(self).__name__}: kernels have been compiled with its numbers")


class ColumnNumbers(types.Type):
    """Numba's type of a record: there is one for each class, and no value."""

    def __init__(self, record: type[Columns]) -> None:
        self.record = record
        super().__init__(name=f"{record.__module__}.{record.__qualname__}")


register_model(ColumnNumbers)(models.OpaqueModel)


@typeof_impl.register(Columns)
def _typeof(record: Columns, context: Any) -> ColumnNumbers:
    return ColumnNumbers(type(record))


@infer_getattr
class _Members(AttributeTemplate):
    key = ColumnNumbers

    def generic_resolve(self, kind: Any, name: str) -> Any:
        number = getattr(kind.record, name, None)
        return types.literal(number) if isinstance(number, int) else None


@lower_getattr_generic(ColumnNumbers)
def _member(context: Any, builder: Any, kind: Any, value: Any, name: str) -> Any:
    return context.get_constant(types.intp, getattr(kind.record, name))


@lower_constant(ColumnNumbers)
def _record(context: Any, builder: Any, kind: Any, record: Any) -> Any:
    return context.get_dummy_value()
