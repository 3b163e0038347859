"""The operations of the search on whole rows of bytes, each a few machine instructions.

numba compiles loops well but has no vector type, and a loop over 16 or 64 bytes in the middle of a kernel
needs checks that the arrays do not overlap. So rows are loaded, combined and stored here in one step each.
Without the compiler (`NUMBA_DISABLE_JIT=1`) the same operations run on numpy rows.

An index is an offset in bytes. Nothing is checked: callers must keep every row inside its array.
"""

from typing import Any

import numpy as np
from llvmlite import ir
from numba import config, types
from numba.extending import intrinsic

CELL_BYTES = 16
BOUND_BYTES = 64

_BYTE = ir.IntType(8)
_TO_WRITE_SOON = (1, 3, 1)  # llvm.prefetch: for writing, into every level of the cache, data


def _row(context: Any, builder: Any, array_type: Any, array: Any, index: Any, size: int) -> Any:
    """Return a pointer to `size` bytes of a one-dimensional byte array, starting at `index`."""
    data = context.make_array(array_type)(context, builder, value=array).data
    start = builder.gep(builder.bitcast(data, _BYTE.as_pointer()), [index])
    return builder.bitcast(start, ir.VectorType(_BYTE, size).as_pointer())


def _rows(context: Any, builder: Any, signature: Any, args: Any, size: int) -> list[Any]:
    """Return pointers to the rows of the (array, index) pairs of a call."""
    pairs = zip(signature.args[::2], args[::2], args[1::2], strict=True)
    return [_row(context, builder, array_type, array, index, size) for array_type, array, index in pairs]


def _intrinsics() -> tuple[Any, Any, Any, Any]:
    @intrinsic
    def largest(_: Any, target: Any, i: Any, a: Any, j: Any, b: Any, k: Any) -> Any:
        def emit(context: Any, builder: Any, signature: Any, args: Any) -> Any:
            to, left, right = _rows(context, builder, signature, args, CELL_BYTES)
            x, y = builder.load(left, align=CELL_BYTES), builder.load(right, align=CELL_BYTES)
            greater = builder.select(builder.icmp_unsigned(">", x, y), x, y)
            builder.store(greater, to, align=CELL_BYTES)
            return context.get_dummy_value()

        return types.void(target, i, a, j, b, k), emit

    @intrinsic
    def add(_: Any, target: Any, i: Any, a: Any, j: Any, b: Any, k: Any) -> Any:
        def emit(context: Any, builder: Any, signature: Any, args: Any) -> Any:
            to, left, right = _rows(context, builder, signature, args, BOUND_BYTES)
            x, y = builder.load(left, align=BOUND_BYTES), builder.load(right, align=BOUND_BYTES)
            builder.store(builder.add(x, y), to, align=BOUND_BYTES)
            return context.get_dummy_value()

        return types.void(target, i, a, j, b, k), emit

    @intrinsic
    def none_negative(_: Any, a: Any, i: Any, b: Any, j: Any, c: Any, k: Any) -> Any:
        def emit(context: Any, builder: Any, signature: Any, args: Any) -> Any:
            x, y, z = (
                builder.load(row, align=BOUND_BYTES)
                for row in _rows(context, builder, signature, args, BOUND_BYTES)
            )
            total = builder.add(builder.add(x, y), z)
            zero = ir.Constant(total.type, [0] * BOUND_BYTES)
            signs = builder.bitcast(builder.icmp_signed("<", total, zero), ir.IntType(BOUND_BYTES))
            return builder.icmp_unsigned("==", signs, ir.Constant(signs.type, 0))

        return types.boolean(a, i, b, j, c, k), emit

    @intrinsic
    def prefetch(_: Any, a: Any, i: Any) -> Any:
        def emit(context: Any, builder: Any, signature: Any, args: Any) -> Any:
            (row,) = _rows(context, builder, signature, args, CELL_BYTES)
            pointer = builder.bitcast(row, _BYTE.as_pointer())
            number = ir.IntType(32)
            kind = ir.FunctionType(ir.VoidType(), [pointer.type, number, number, number])
            ask = builder.module.declare_intrinsic("llvm.prefetch", (pointer.type,), kind)
            builder.call(ask, [pointer, *(ir.Constant(number, n) for n in _TO_WRITE_SOON)])
            return context.get_dummy_value()

        return types.void(a, i), emit

    return largest, add, none_negative, prefetch


def _slow_largest(target: Any, i: Any, a: Any, j: Any, b: Any, k: Any) -> None:
    target[i : i + CELL_BYTES] = np.maximum(a[j : j + CELL_BYTES], b[k : k + CELL_BYTES])


def _slow_add(target: Any, i: Any, a: Any, j: Any, b: Any, k: Any) -> None:
    target[i : i + BOUND_BYTES] = a[j : j + BOUND_BYTES] + b[k : k + BOUND_BYTES]


def _slow_none_negative(a: Any, i: Any, b: Any, j: Any, c: Any, k: Any) -> bool:
    total = a[i : i + BOUND_BYTES] + b[j : j + BOUND_BYTES] + c[k : k + BOUND_BYTES]
    return bool((total >= 0).all())


def _slow_prefetch(_a: Any, _i: Any) -> None:
    """Do nothing: Python cannot prefetch."""


largest, add, none_negative, prefetch = (
    (_slow_largest, _slow_add, _slow_none_negative, _slow_prefetch)
    if config.DISABLE_JIT  # type: ignore[attr-defined]  # made by numba at run time
    else _intrinsics()
)
