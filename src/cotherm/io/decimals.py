"""Decimal numbers to the nearest double, compiled: digits and a power of ten in, the double out.

Digits up to 2⁵³ and powers of ten up to 10²² are doubles themselves, so that one multiplication or division rounds once
and right [1]_. Else the digits are multiplied by the first 128 bits of the power of five, which decides nearly always
[2]_; where it does not, the caller has to ask Python's ``float``.

References
----------
.. [1] W. D. Clinger, "How to read floating point numbers accurately", PLDI 1990.
.. [2] D. Lemire, "Number parsing at a gigabyte per second", Software: Practice and Experience, 2021.
"""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

from cotherm.engines.cpu.jit import compiled

# Up to 19 digits times a smaller power of ten are 0, times a greater one more than the largest double.
_LEAST_POWER, _GREATEST_POWER = -342, 308
_EXACT_POWERS = np.array([float(10**k) for k in range(23)])
_MOST_EXACT = np.uint64(2**53)
# Constants that meet unsigned integers are unsigned: Numba makes floats of signed and unsigned ones together.
_ZERO, _ONE, _THREE, _HALF, _LOW_HALF = (np.uint64(k) for k in (0, 1, 3, 32, 2**32 - 1))
_LAST_BIT, _SIGN_BIT, _ALL_BITS = np.uint64(63), np.uint64(2**63), np.uint64(2**64 - 1)
# A double has 52 bits of a mantissa whose first bit, 2⁵², is left out, and above them the exponent.
_FRACTION_BITS, _LEADING_BIT, _FRACTION = np.uint64(52), np.uint64(2**52), np.uint64(2**52 - 1)
_BIAS, _INFINITE = 1023, 2047
# Of a word of 64 bits, 53 or 54 make the mantissa and the bit that rounds it; these are left.
_REST_BITS, _REST = np.uint64(9), np.uint64(2**9 - 1)


def _powers_of_five() -> NDArray[np.uint64]:
    """The first 128 bits of 5^q in two words, the high one first: cut off for q ≥ 0, rounded up for q < 0."""
    table = np.empty((_GREATEST_POWER - _LEAST_POWER + 1, 2), dtype=np.uint64)
    for row, q in enumerate(range(_LEAST_POWER, _GREATEST_POWER + 1)):
        bits = (5**-q).bit_length() if q < 0 else 0
        value = 5**q << 128 if q >= 0 else 2 ** (bits + 127 if q >= -27 else 2 * bits + 128) // 5**-q + 1
        value >>= value.bit_length() - 128
        table[row] = value >> 64, value & (2**64 - 1)
    return table


_FIVES = _powers_of_five()


@compiled
def nearest(digits: np.uint64, power: int) -> float:
    """The double nearest to digits · 10^power; NaN where that is not decided here.

    Not decided are subnormal numbers, numbers past the largest double and those that may lie in the middle of two.
    """
    if digits <= _MOST_EXACT and -22 <= power <= 22:
        value = np.float64(digits)
        return value * _EXACT_POWERS[power] if power >= 0 else value / _EXACT_POWERS[-power]
    if digits == _ZERO:
        return 0.0
    if power < _LEAST_POWER or power > _GREATEST_POWER:
        return np.nan
    return _by_bits(digits, power)


@compiled
def _by_bits(digits: np.uint64, power: int) -> float:
    zeros = 0
    while digits < _SIGN_BIT:
        digits <<= _ONE
        zeros += 1
    high, low = _product(digits, _FIVES[power - _LEAST_POWER, 0])
    if high & _REST == _REST:  # the second word of the power may carry into the mantissa
        more, _ = _product(digits, _FIVES[power - _LEAST_POWER, 1])
        low += more
        if more > low:
            high += _ONE
    if low == _ALL_BITS:
        return np.nan
    top = high >> _LAST_BIT
    mantissa = high >> (top + _REST_BITS)
    if low <= _ONE and mantissa & _THREE == _ONE and mantissa << (top + _REST_BITS) == high:
        return np.nan  # perhaps in the middle of two
    exponent = ((217706 * power) >> 16) + 63 + np.int64(top) - zeros + _BIAS  # 217706 / 2¹⁶ is log₂ 10
    mantissa = (mantissa + (mantissa & _ONE)) >> _ONE
    if mantissa == _LEADING_BIT << _ONE:
        mantissa = _LEADING_BIT
        exponent += 1
    if exponent <= 0 or exponent >= _INFINITE:
        return np.nan
    return np.uint64((mantissa & _FRACTION) | (np.uint64(exponent) << _FRACTION_BITS)).view(np.float64)


@compiled
def _product(a: np.uint64, b: np.uint64) -> tuple[np.uint64, np.uint64]:
    """The high and the low word of a · b."""
    a_low, a_high, b_low, b_high = a & _LOW_HALF, a >> _HALF, b & _LOW_HALF, b >> _HALF
    low = a_low * b_low
    middle = a_high * b_low + (low >> _HALF)
    other = a_low * b_high + (middle & _LOW_HALF)
    return a_high * b_high + (middle >> _HALF) + (other >> _HALF), (other << _HALF) | (low & _LOW_HALF)
