"""Arithmetic on rows of known width, for kernels: one vector instruction or a few for a whole row.

A ``register`` is a row of ``width`` float64 that lives in the processor's vector registers. Loops over the columns,
as Numba compiles them, stay scalar.
Widths are literals, known when compiling; row numbers are unsigned; rows must be contiguous.

A ``square`` is as many registers as one has numbers, for products of every number of one row with every one of another.
"""

from __future__ import annotations

import zlib
from collections.abc import Callable
from itertools import pairwise
from pathlib import Path
from typing import Any

from llvmlite import ir
from numba import types
from numba.core import cgutils
from numba.extending import intrinsic

from cotherm.engines.cpu import jit as compile_module
from cotherm.engines.cpu.jit import row_address

# Numba's disk cache watches a kernel's own file only: kernels built from these operations close over this number.
FINGERPRINT = zlib.crc32(Path(__file__).read_bytes() + Path(compile_module.__file__).read_bytes())

# A product and a sum may be one fused operation; their order is kept.
_FUSED = ("contract",)


@intrinsic(prefer_literal=True)  # type: ignore[untyped-decorator]
def register(_typing: Any, width: Any) -> Any:
    """A new register of ``width`` numbers, not yet set."""
    if not isinstance(width, types.IntegerLiteral):
        return None

    def codegen(_context: Any, builder: Any, _signature: Any, _arguments: Any) -> Any:
        place = cgutils.alloca_once(builder, _vector(width))
        return builder.bitcast(place, ir.DoubleType().as_pointer())

    return types.CPointer(types.float64)(width), codegen


@intrinsic(prefer_literal=True)  # type: ignore[untyped-decorator]
def set_row(_typing: Any, target: Any, width: Any, factor: Any, array: Any, row: Any) -> Any:
    """target = factor · array[row]."""

    def combine(builder: Any, _old: Any, product: Any) -> Any:
        del builder
        return product

    return _with_row(target, width, factor, array, row, combine)


@intrinsic(prefer_literal=True)  # type: ignore[untyped-decorator]
def add_row(_typing: Any, target: Any, width: Any, factor: Any, array: Any, row: Any) -> Any:
    """target += factor · array[row]."""

    def combine(builder: Any, old: Any, product: Any) -> Any:
        return builder.fadd(old, product, flags=_FUSED)

    return _with_row(target, width, factor, array, row, combine)


@intrinsic(prefer_literal=True)  # type: ignore[untyped-decorator]
def add_register(_typing: Any, target: Any, width: Any, factor: Any, other: Any) -> Any:
    """target += factor · other."""
    del factor  # always a float64
    if not isinstance(width, types.IntegerLiteral):
        return None

    def codegen(_context: Any, builder: Any, _signature: Any, arguments: Any) -> Any:
        place, term = _view(builder, arguments[0], width), builder.load(_view(builder, arguments[3], width))
        product = builder.fmul(_spread(builder, arguments[2], width), term, flags=_FUSED)
        builder.store(builder.fadd(builder.load(place), product, flags=_FUSED), place)

    return types.void(target, width, types.float64, other), codegen


@intrinsic(prefer_literal=True)  # type: ignore[untyped-decorator]
def add_gap(_typing: Any, target: Any, width: Any, factor: Any, own: Any, array: Any, row: Any) -> Any:
    """target += factor · (own − array[row]), own a register."""
    del factor  # always a float64
    if not isinstance(width, types.IntegerLiteral):
        return None

    def codegen(context: Any, builder: Any, signature: Any, arguments: Any) -> Any:
        address = row_address(context, builder, signature.args[4], arguments[4], arguments[5])
        other = builder.load(_view(builder, address, width), align=8)
        gap = builder.fsub(builder.load(_view(builder, arguments[3], width)), other)
        product = builder.fmul(_spread(builder, arguments[2], width), gap, flags=_FUSED)
        place = _view(builder, arguments[0], width)
        builder.store(builder.fadd(builder.load(place), product, flags=_FUSED), place)

    return types.void(target, width, types.float64, own, array, row), codegen


@intrinsic(prefer_literal=True)  # type: ignore[untyped-decorator]
def add_exactly(_typing: Any, target: Any, lost: Any, width: Any, other: Any) -> Any:
    """target += other, and lost += what rounding took from that sum (Knuth's TwoSum)."""
    if not isinstance(width, types.IntegerLiteral):
        return None

    def codegen(_context: Any, builder: Any, _signature: Any, arguments: Any) -> Any:
        place, errors = _view(builder, arguments[0], width), _view(builder, arguments[1], width)
        old, term = builder.load(place), builder.load(_view(builder, arguments[3], width))
        total = builder.fadd(old, term)
        taken = builder.fsub(total, old)
        error = builder.fadd(builder.fsub(old, builder.fsub(total, taken)), builder.fsub(term, taken))
        builder.store(builder.fadd(builder.load(errors), error), errors)
        builder.store(total, place)

    return types.void(target, lost, width, other), codegen


@intrinsic(prefer_literal=True)  # type: ignore[untyped-decorator]
def add_product(_typing: Any, target: Any, width: Any, array: Any, row: Any, other: Any, other_row: Any) -> Any:
    """target += array[row] · other[other_row], place by place."""
    if not isinstance(width, types.IntegerLiteral):
        return None

    def codegen(context: Any, builder: Any, signature: Any, arguments: Any) -> Any:
        factors = []
        for k in (2, 4):
            address = row_address(context, builder, signature.args[k], arguments[k], arguments[k + 1])
            factors.append(builder.load(_view(builder, address, width), align=8))
        place = _view(builder, arguments[0], width)
        product = builder.fmul(*factors, flags=_FUSED)
        builder.store(builder.fadd(builder.load(place), product, flags=_FUSED), place)

    return types.void(target, width, array, row, other, other_row), codegen


@intrinsic(prefer_literal=True)  # type: ignore[untyped-decorator]
def store_row(_typing: Any, source: Any, width: Any, array: Any, row: Any) -> Any:
    """array[row] = source."""
    if not isinstance(width, types.IntegerLiteral):
        return None

    def codegen(context: Any, builder: Any, signature: Any, arguments: Any) -> Any:
        address = row_address(context, builder, signature.args[2], arguments[2], arguments[3])
        values = builder.load(_view(builder, arguments[0], width))
        builder.store(values, _view(builder, address, width), align=8)

    return types.void(source, width, array, row), codegen


@intrinsic(prefer_literal=True)  # type: ignore[untyped-decorator]
def square(_typing: Any, height: Any, width: Any) -> Any:
    """New registers, ``height`` of ``width`` numbers, not yet set."""

    def codegen(_context: Any, builder: Any, _signature: Any, _arguments: Any) -> Any:
        place = cgutils.alloca_once(builder, ir.ArrayType(_vector(width), height.literal_value))
        return builder.bitcast(place, ir.DoubleType().as_pointer())

    return types.CPointer(types.float64)(height, width), codegen


@intrinsic(prefer_literal=True)  # type: ignore[untyped-decorator]
def clear_square(_typing: Any, target: Any, height: Any, width: Any) -> Any:
    """target = 0."""

    def codegen(_context: Any, builder: Any, _signature: Any, arguments: Any) -> Any:
        for k in range(height.literal_value):
            builder.store(
                ir.Constant(_vector(width), [0.0] * width.literal_value), _line(builder, arguments[0], width, k)
            )

    return types.void(target, height, width), codegen


@intrinsic(prefer_literal=True)  # type: ignore[untyped-decorator]
def add_outer(
    _typing: Any, target: Any, height: Any, width: Any, factor: Any, array: Any, head: Any, tail: Any, a: Any, b: Any
) -> Any:
    """target += factor · g[a : a + height] ⊗ g[b : b + width] with g = array[head] − array[tail]."""
    del factor  # always a float64

    def codegen(context: Any, builder: Any, signature: Any, arguments: Any) -> Any:
        place, weight = arguments[0], arguments[3]

        def gap(column: Any, size: Any) -> Any:
            ends = []
            for row in arguments[5:7]:
                address = row_address(context, builder, signature.args[4], arguments[4], row)
                start = builder.gep(builder.bitcast(address, ir.DoubleType().as_pointer()), [column])
                ends.append(builder.load(_view(builder, start, size), align=8))
            return builder.fsub(*ends)

        tall, wide = gap(arguments[7], height), gap(arguments[8], width)
        tall = builder.fmul(_spread(builder, weight, height), tall)
        for k in range(height.literal_value):
            line = _line(builder, place, width, k)
            number = builder.extract_element(tall, ir.Constant(ir.IntType(32), k))
            product = builder.fmul(_spread(builder, number, width), wide, flags=_FUSED)
            builder.store(builder.fadd(builder.load(line), product, flags=_FUSED), line)

    return types.void(target, height, width, types.float64, array, head, tail, a, b), codegen


@intrinsic(prefer_literal=True)  # type: ignore[untyped-decorator]
def store_square(
    _typing: Any, source: Any, height: Any, width: Any, upper: Any, scale: Any, places: Any, array: Any, row: Any
) -> Any:
    """array[row, p : …] = scale[p : …] · source[k] with p = places[k], for every k.

    Where ``upper`` is 1, only from the diagonal on. The array may be of float32.
    """

    def codegen(context: Any, builder: Any, signature: Any, arguments: Any) -> Any:
        counted, scales = (_data(context, builder, signature.args[k], arguments[k]) for k in (5, 4))
        address = row_address(context, builder, signature.args[6], arguments[6], arguments[7])
        number = ir.FloatType() if signature.args[6].dtype == types.float32 else ir.DoubleType()
        target = builder.bitcast(address, number.as_pointer())
        for k in range(height.literal_value):
            first = k if upper.literal_value else 0
            count = width.literal_value - first
            line = builder.load(_line(builder, arguments[0], width, k))
            kept = ir.Constant(ir.VectorType(ir.IntType(32), count), list(range(first, width.literal_value)))
            values = builder.shuffle_vector(line, ir.Constant(_vector(width), ir.Undefined), kept)
            place = builder.load(builder.gep(counted, [ir.Constant(ir.IntType(32), k)]))
            some = ir.VectorType(ir.DoubleType(), count)
            factors = builder.load(builder.bitcast(builder.gep(scales, [place]), some.as_pointer()), align=8)
            values = builder.fmul(values, factors)
            kind = ir.VectorType(number, count)
            values = values if kind == some else builder.fptrunc(values, kind)
            builder.store(values, builder.bitcast(builder.gep(target, [place]), kind.as_pointer()), align=4)

    return types.void(source, height, width, upper, scale, places, array, row), codegen


def panels(columns: int, widest: int) -> list[tuple[int, int]]:
    """Columns in equal panels, first to last, as few as the widest allows."""
    count = -(-columns // widest)
    ends = [columns * k // count for k in range(count + 1)]
    return list(pairwise(ends))


def _line(builder: Any, block: Any, width: Any, k: int) -> Any:
    """The address of a register of a square."""
    return builder.gep(_view(builder, block, width), [ir.Constant(ir.IntType(32), k)])


def _data(context: Any, builder: Any, array_type: Any, array: Any) -> Any:
    return context.make_array(array_type)(context, builder, array).data


def _with_row(
    target: Any, width: Any, factor: Any, array: Any, row: Any, combine: Callable[[Any, Any, Any], Any]
) -> Any:
    del factor  # always a float64
    if not isinstance(width, types.IntegerLiteral):
        return None

    def codegen(context: Any, builder: Any, signature: Any, arguments: Any) -> Any:
        address = row_address(context, builder, signature.args[3], arguments[3], arguments[4])
        values = builder.load(_view(builder, address, width), align=8)
        product = builder.fmul(_spread(builder, arguments[2], width), values, flags=_FUSED)
        place = _view(builder, arguments[0], width)
        builder.store(combine(builder, builder.load(place), product), place)

    return types.void(target, width, types.float64, array, row), codegen


def _vector(width: Any) -> Any:
    return ir.VectorType(ir.DoubleType(), width.literal_value)


def _view(builder: Any, pointer: Any, width: Any) -> Any:
    return builder.bitcast(pointer, _vector(width).as_pointer())


def _spread(builder: Any, factor: Any, width: Any) -> Any:
    """A vector with the factor in every place."""
    vector = _vector(width)
    first = builder.insert_element(ir.Constant(vector, ir.Undefined), factor, ir.Constant(ir.IntType(32), 0))
    everywhere = ir.Constant(ir.VectorType(ir.IntType(32), width.literal_value), [0] * width.literal_value)
    return builder.shuffle_vector(first, ir.Constant(vector, ir.Undefined), everywhere)
