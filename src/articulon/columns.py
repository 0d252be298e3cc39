"""Records of column numbers, whose members are constants for kernels.

The columns of a table are members of one record, as in ``RECORD.force``. Each use of a member of a named tuple unpacks
the member again, and the compiler does not vectorise some loops that use many members. Here a member is a compile-time
constant, like a constant of a module.
"""

from typing import Any

from numba import types
from numba.core.datamodel import models
from numba.core.imputils import lower_constant, lower_getattr_generic
from numba.core.typing.templates import AttributeTemplate
from numba.extending import infer_getattr, register_model, typeof_impl


class Columns:
    """A record of column numbers. Its class has the numbers as attributes; kernels use its only instance, a global of a
    module."""

    def __setattr__(self, name: str, value: Any) -> None:
        raise AttributeError(f"{type(self).__name__}: kernels have been compiled with its numbers")


class ColumnNumbers(types.Type):
    """Numba's type for a record: one type per class, without a value."""

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
