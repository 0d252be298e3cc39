"""Table rows that differ from lane to lane, for force laws of pairs whose kinds differ between lanes.

``rows[k, c]``, with ``k`` from :func:`indices`, has in each lane the number in column ``c`` of that lane's row.
"""

import operator
from typing import Any

from llvmlite import ir
from numba import types
from numba.core.datamodel.models import PrimitiveModel
from numba.extending import intrinsic, overload, register_model

from articulon.lanes import Lanes, vector_type

_LONG = ir.IntType(64)


class Indices(types.Type):
    """Numba's type for an integer in each lane."""

    def __init__(self, width: int) -> None:
        self.width = width
        super().__init__(name=f"indices{width}")

    @property
    def key(self) -> int:
        """Key that distinguishes the type from others."""
        return self.width


@register_model(Indices)
class _IndicesModel(PrimitiveModel):
    def __init__(self, manager: Any, kind: Indices) -> None:
        super().__init__(manager, kind, vector_type(_LONG, kind.width))


@intrinsic
def indices(typingctx: Any, like: Any, first: Any, kinds: Any, places: Any, at: Any) -> Any:
    """Row index for each lane: ``first`` plus the kind (int32) of the lane's place. ``places`` (uint32) holds the
    places of consecutive lanes from index ``at`` on, and ``kinds`` the kind of each place; ``like`` sets the number of
    lanes."""
    width = like.width

    def generate(context: Any, builder: Any, signature: Any, values: Any) -> Any:
        kinds_of, places_of = (
            context.make_array(kind)(context, builder, value).data
            for kind, value in zip(signature.args[2:4], values[2:4], strict=True)
        )
        begin = builder.gep(places_of, [values[4]])
        found = ir.Constant(vector_type(_LONG, width), ir.Undefined)
        for lane in range(width):
            place = builder.zext(builder.load(builder.gep(begin, [_LONG(lane)])), _LONG)
            kind = builder.sext(builder.load(builder.gep(kinds_of, [place])), _LONG)
            found = builder.insert_element(found, builder.add(kind, values[1]), ir.IntType(32)(lane))
        return found

    return Indices(width)(like, types.int64, kinds, places, types.int64), generate


@intrinsic
def _looked_up(typingctx: Any, rows: Any, row: Any, column: Any) -> Any:
    def generate(context: Any, builder: Any, signature: Any, values: Any) -> Any:
        table = context.make_array(signature.args[0])(context, builder, values[0])
        stride = builder.sdiv(builder.extract_value(table.strides, 0), _LONG(8))
        begin = builder.gep(table.data, [values[2]])
        found = ir.Constant(vector_type(ir.DoubleType(), row.width), ir.Undefined)
        for lane in range(row.width):
            number = builder.mul(builder.extract_element(values[1], ir.IntType(32)(lane)), stride)
            found = builder.insert_element(found, builder.load(builder.gep(begin, [number])), ir.IntType(32)(lane))
        return found

    return Lanes(row.width)(rows, row, types.int64), generate


@overload(operator.getitem, jit_options={"forceinline": True, "_nrt": False})
def _row_by_lane(rows, at):
    if not isinstance(rows, types.Array) or rows.ndim != 2 or rows.dtype != types.float64:
        return None
    if not isinstance(at, types.BaseTuple) or len(at) != 2 or not isinstance(at[0], Indices):
        return None
    return lambda rows, at: _looked_up(rows, at[0], at[1])
