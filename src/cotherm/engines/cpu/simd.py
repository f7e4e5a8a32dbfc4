"""Arithmetic on rows of known width, for kernels: one vector instruction or a few for a whole row.

A ``register`` is a row of ``width`` float64 that lives in the processor's vector registers. Loops over the columns, as
Numba compiles them, stay scalar. Widths are literals, known when compiling; row numbers are unsigned; rows must be
contiguous. Kernels call an operation with the first register, its width, and what else it is said to take.

A ``square`` is as many registers as one has numbers, for products of every number of one row with every one of another.
"""

from __future__ import annotations

import inspect
import zlib
from collections.abc import Callable
from itertools import pairwise
from pathlib import Path
from typing import Any, NamedTuple

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


class _Argument(NamedTuple):
    """What a kernel gives to an operation: its type in Numba, and its value in LLVM."""

    kind: Any
    value: Any


class _Code:
    """Writes instructions for registers of one width."""

    def __init__(self, context: Any, builder: Any, width: int) -> None:
        self.context, self.builder, self.width = context, builder, width

    def register(self, pointer: Any, width: int | None = None) -> Any:
        """The address of a register."""
        return self.builder.bitcast(pointer, _vector(width or self.width).as_pointer())

    def line(self, square: _Argument, k: int) -> Any:
        """The address of a register of a square."""
        return self.builder.gep(self.register(square.value), [ir.Constant(ir.IntType(32), k)])

    def get(self, register: _Argument) -> Any:
        return self.builder.load(self.register(register.value))

    def set(self, register: _Argument, values: Any) -> None:
        self.builder.store(values, self.register(register.value))

    def add(self, place: Any, *factors: Any) -> None:
        """Add the product of two vectors to the register at an address."""
        product = self.builder.fmul(*factors, flags=_FUSED)
        self.builder.store(self.builder.fadd(self.builder.load(place), product, flags=_FUSED), place)

    def place(self, array: _Argument, row: _Argument) -> Any:
        return self.register(row_address(self.context, self.builder, array.kind, array.value, row.value))

    def row(self, array: _Argument, row: _Argument) -> Any:
        return self.builder.load(self.place(array, row), align=8)

    def spread(self, number: Any, width: int | None = None) -> Any:
        """A vector with the number in every place."""
        width = width or self.width
        first = self.builder.insert_element(_undefined(width), number, ir.Constant(ir.IntType(32), 0))
        return self.builder.shuffle_vector(first, _undefined(width), _numbers([0] * width))

    def data(self, array: _Argument) -> Any:
        return self.context.make_array(array.kind)(self.context, self.builder, array.value).data


def _operation(emit: Callable[..., None]) -> Any:
    """What a kernel calls, from a function that writes its instructions."""

    def operation(_typing: Any, *kinds: Any) -> Any:
        def codegen(context: Any, builder: Any, signature: Any, values: Any) -> Any:
            first, width, *others = map(_Argument, signature.args, values)
            emit(_Code(context, builder, width.kind.literal_value), first, *others)

        return types.void(*kinds), codegen

    # Numba looks at the names of arguments.
    code, first, *others = inspect.signature(emit).parameters.values()
    names = [code, first, first.replace(name="width"), *others]
    operation.__signature__ = inspect.Signature(names)  # type: ignore[attr-defined]
    return intrinsic(prefer_literal=True)(operation)


@intrinsic(prefer_literal=True)  # type: ignore[untyped-decorator]
def square(_typing: Any, width: Any, height: Any) -> Any:
    """New registers, ``height`` of them, not yet set."""

    def codegen(_context: Any, builder: Any, _signature: Any, _arguments: Any) -> Any:
        count = height.literal_value
        place = cgutils.alloca_once(builder, ir.ArrayType(_vector(width.literal_value), count))
        return builder.bitcast(place, ir.DoubleType().as_pointer())

    return types.CPointer(types.float64)(width, height), codegen


@intrinsic(prefer_literal=True)  # type: ignore[untyped-decorator]
def register(_typing: Any, width: Any) -> Any:
    """A new register, not yet set."""

    def codegen(_context: Any, builder: Any, _signature: Any, _arguments: Any) -> Any:
        place = cgutils.alloca_once(builder, _vector(width.literal_value))
        return builder.bitcast(place, ir.DoubleType().as_pointer())

    return types.CPointer(types.float64)(width), codegen


@_operation
def set_row(code: _Code, target: Any, factor: Any, array: Any, row: Any) -> None:
    """target = factor · array[row]."""
    code.set(target, code.builder.fmul(code.spread(factor.value), code.row(array, row), flags=_FUSED))


@_operation
def add_row(code: _Code, target: Any, factor: Any, array: Any, row: Any) -> None:
    """target += factor · array[row]."""
    code.add(code.register(target.value), code.spread(factor.value), code.row(array, row))


@_operation
def add_register(code: _Code, target: Any, factor: Any, other: Any) -> None:
    """target += factor · other."""
    code.add(code.register(target.value), code.spread(factor.value), code.get(other))


@_operation
def add_gap(code: _Code, target: Any, factor: Any, own: Any, array: Any, row: Any) -> None:
    """target += factor · (own − array[row]), own a register."""
    gap = code.builder.fsub(code.get(own), code.row(array, row))
    code.add(code.register(target.value), code.spread(factor.value), gap)


@_operation
def add_exactly(code: _Code, target: Any, lost: Any, other: Any) -> None:
    """target += other, and lost += what rounding took from that sum (Knuth's TwoSum)."""
    plus, minus = code.builder.fadd, code.builder.fsub
    old, term = code.get(target), code.get(other)
    total = plus(old, term)
    taken = minus(total, old)
    code.set(lost, plus(code.get(lost), plus(minus(old, minus(total, taken)), minus(term, taken))))
    code.set(target, total)


@_operation
def add_product(code: _Code, target: Any, array: Any, row: Any, other: Any, other_row: Any) -> None:
    """target += array[row] · other[other_row], place by place."""
    code.add(code.register(target.value), code.row(array, row), code.row(other, other_row))


@_operation
def store_row(code: _Code, source: Any, array: Any, row: Any) -> None:
    """array[row] = source."""
    code.builder.store(code.get(source), code.place(array, row), align=8)


@_operation
def clear_square(code: _Code, target: Any, height: Any) -> None:
    """target = 0."""
    for k in range(height.kind.literal_value):
        code.builder.store(ir.Constant(_vector(code.width), [0.0] * code.width), code.line(target, k))


@_operation
def add_outer(
    code: _Code, target: Any, height: Any, factor: Any, array: Any, head: Any, tail: Any, a: Any, b: Any
) -> None:
    """target += factor · g[a : a + height] ⊗ g[b : b + width] with g = array[head] − array[tail]."""
    builder, tall_size = code.builder, height.kind.literal_value

    def gap(column: Any, size: int) -> Any:
        ends = []
        for row in (head, tail):
            address = row_address(code.context, builder, array.kind, array.value, row.value)
            start = builder.gep(builder.bitcast(address, ir.DoubleType().as_pointer()), [column.value])
            ends.append(builder.load(code.register(start, size), align=8))
        return builder.fsub(*ends)

    tall, wide = gap(a, tall_size), gap(b, code.width)
    tall = builder.fmul(code.spread(factor.value, tall_size), tall)
    for k in range(tall_size):
        number = builder.extract_element(tall, ir.Constant(ir.IntType(32), k))
        code.add(code.line(target, k), code.spread(number), wide)


@_operation
def store_square(
    code: _Code, source: Any, height: Any, upper: Any, scale: Any, places: Any, array: Any, row: Any
) -> None:
    """array[row, p : …] = scale[p : …] · source[k] with p = places[k], for every k.

    Where ``upper`` is 1, only from the diagonal on.
    """
    builder = code.builder
    counted, scales = code.data(places), code.data(scale)
    target = builder.bitcast(code.place(array, row), ir.DoubleType().as_pointer())
    for k in range(height.kind.literal_value):
        first = k if upper.kind.literal_value else 0
        count = code.width - first
        line = builder.load(code.line(source, k))
        values = builder.shuffle_vector(line, _undefined(code.width), _numbers(list(range(first, code.width))))
        place = builder.load(builder.gep(counted, [ir.Constant(ir.IntType(32), k)]))
        values = builder.fmul(values, builder.load(code.register(builder.gep(scales, [place]), count), align=8))
        builder.store(values, code.register(builder.gep(target, [place]), count), align=8)


def panels(columns: int, widest: int) -> list[tuple[int, int]]:
    """Columns in equal panels, first to last, as few as the widest allows."""
    count = -(-columns // widest)
    ends = [columns * k // count for k in range(count + 1)]
    return list(pairwise(ends))


def _vector(width: int) -> Any:
    return ir.VectorType(ir.DoubleType(), width)


def _undefined(width: int) -> Any:
    return ir.Constant(_vector(width), ir.Undefined)


def _numbers(values: list[int]) -> Any:
    return ir.Constant(ir.VectorType(ir.IntType(32), len(values)), values)
