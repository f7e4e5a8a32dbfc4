"""Damage to files: pure functions from a seeded generator and bytes to bytes.

``mutate(random, name, data)`` damages a file in ways that suit its format, which the suffix of the name tells: bytes of
any file, numbers and lines of text, and the arrays of an archive, whose checksums are made to fit again, so that the
damage gets past them. The same seed gives the same bytes.
"""

from __future__ import annotations

import io
import re
import zipfile
from collections.abc import Callable, Iterator
from random import Random

import numpy as np

Mutation = Callable[[Random, bytes], bytes]

# What readers of numbers stumble over: bounds of integers and floats, and writings that some of them accept.
EXTREME_NUMBERS = (
    *("0", "-0", "-1", "1", "2", "127", "128", "255", "256", "65535", "2147483645", "2147483646", "2147483647"),
    *("2147483648", "4294967295", "9223372036854775807", "9223372036854775808", "18446744073709551615"),
    *("-2147483648", "-9223372036854775808", "1e18", "1e308", "1e309", "-1e309", "5e-324", "1e-400", "0.5", "1e5"),
    *("9" * 30, "9" * 400, "9" * 5_000, "0." + "0" * 400 + "1", "1e99999999999"),
    *(
        "nan",
        "NaN",
        "-nan",
        "inf",
        "-Infinity",
        "Infinity",
        "1_000",
        "0x10",
        "0x1p3",
        "1d5",
        "1e",
        "1e+",
        "+",
        "-",
        ".",
    ),
    *("١", "１２", "²", "½", "1٬000", "−1", "0o17", "1j", "1L", "1,5", "true", "null", "", " ", "1 2", "--1", "+-1"),
)
# What text may hold that is no number: control characters, escapes, separators, marks of the formats.
ODD_TEXT = (
    *(
        "\0",
        "\x1b[31m",
        "\x07",
        "\x7f",
        "\x9b",
        "\r",
        "\n",
        "\r\n",
        "\t",
        "\v",
        "\f",
        "\x1c",
        "\x85",
        "\u2028",
        "\ufeff",
    ),
    *(
        "\u202e",
        "é",
        "✓",
        "𝟙",
        "$\\foo$",
        "$",
        "%s",
        "{}",
        "'",
        '"',
        "\\",
        "#",
        "%",
        ",",
        ";",
        "/",
        "//",
        "(",
        "{",
        "[",
    ),
    *("[" * 2_000, "{" * 300, '{"a":' * 300, "# cotherm graph {}", "%%MatrixMarket", "end_header", "element", "f", "v"),
    *("nan,nan", "i,j,w", "PK\x03\x04", "\x93NUMPY", "x" * 5_000, "../../x", "NULL"),
)
_NUMBER = re.compile(rb"[-+]?[0-9]+(?:\.[0-9]*)?(?:[eE][-+]?[0-9]+)?")
_INTEGERS = (0, 1, -1, 2, 127, 128, 255, 256, 32767, 65535, 2**31 - 1, 2**31, 2**32 - 1, 2**62, 2**63 - 1, 2**64 - 1)


# Bytes of any file


def flip_bit(random: Random, data: bytes) -> bytes:
    return _patched(data, k := _place(random, data), bytes([data[k] ^ (1 << random.randrange(8))])) if data else data


def set_byte(random: Random, data: bytes) -> bytes:
    return _patched(data, _place(random, data), random.randbytes(1)) if data else data


def insert_bytes(random: Random, data: bytes) -> bytes:
    k = random.randint(0, len(data))
    return data[:k] + random.randbytes(random.choice((1, 1, 2, 4, 17))) + data[k:]


def delete_bytes(random: Random, data: bytes) -> bytes:
    k = random.randint(0, len(data))
    return data[:k] + data[k + random.choice((1, 1, 2, 4, 17, 200)) :]


def truncate(random: Random, data: bytes) -> bytes:
    return data[: random.randint(0, len(data))]


def cut_head(random: Random, data: bytes) -> bytes:
    return data[random.randint(0, len(data)) :]


def repeat_stretch(random: Random, data: bytes) -> bytes:
    a, b = _stretch(random, data)
    return data[:b] + data[a:b] * random.choice((1, 1, 2, 10)) + data[b:]


def move_stretch(random: Random, data: bytes) -> bytes:
    a, b = _stretch(random, data)
    rest = data[:a] + data[b:]
    k = random.randint(0, len(rest))
    return rest[:k] + data[a:b] + rest[k:]


def blank_stretch(random: Random, data: bytes) -> bytes:
    a, b = _stretch(random, data)
    return data[:a] + random.choice((b"\0", b"\xff", b" ", b"PK")) * (b - a) + data[b:]


def extreme_integer(random: Random, data: bytes) -> bytes:
    """An integer of 1, 2, 4 or 8 bytes in either order, anywhere: counts, lengths and offsets of binary files."""
    size = random.choice((1, 2, 4, 8))
    value = random.choice(_INTEGERS) % 2 ** (8 * size)
    k = random.randint(0, max(0, len(data) - size))
    return _patched(data, k, value.to_bytes(size, random.choice(("little", "big"))))


BYTES: tuple[Mutation, ...] = (
    flip_bit,
    set_byte,
    insert_bytes,
    delete_bytes,
    truncate,
    cut_head,
    repeat_stretch,
    move_stretch,
    blank_stretch,
    extreme_integer,
)


def splice(random: Random, first: bytes, second: bytes) -> bytes:
    """The beginning of one file and the end of another."""
    return truncate(random, first) + cut_head(random, second)


# Text


def extreme_number(random: Random, data: bytes) -> bytes:
    """One of the numbers in a text, replaced."""
    found = list(_NUMBER.finditer(data))
    if not found:
        return data
    chosen = random.choice(found)
    return data[: chosen.start()] + random.choice(EXTREME_NUMBERS).encode() + data[chosen.end() :]


def insert_text(random: Random, data: bytes) -> bytes:
    k = random.randint(0, len(data))
    return data[:k] + random.choice(ODD_TEXT).encode() + data[k:]


def drop_line(random: Random, data: bytes) -> bytes:
    lines = data.splitlines(keepends=True)
    if (k := _line(random, lines)) >= 0:
        del lines[k]
    return b"".join(lines)


def repeat_line(random: Random, data: bytes) -> bytes:
    lines = data.splitlines(keepends=True)
    if (k := _line(random, lines)) >= 0:
        lines[k:k] = [lines[k]] * random.choice((1, 2, 50))
    return b"".join(lines)


def swap_lines(random: Random, data: bytes) -> bytes:
    lines = data.splitlines(keepends=True)
    if lines:
        a, b = _line(random, lines), _line(random, lines)
        lines[a], lines[b] = lines[b], lines[a]
    return b"".join(lines)


def change_separators(random: Random, data: bytes) -> bytes:
    old, new = random.choice(
        ((b",", b";"), (b" ", b"\t"), (b" ", b","), (b",", b" "), (b"\n", b"\r"), (b"\n", b"\r\n"))
    )
    return data.replace(old, new)


def change_encoding(random: Random, data: bytes) -> bytes:
    """The same text in another encoding, with its mark."""
    return data.decode("latin-1").encode(random.choice(("utf-16", "utf-32", "utf-8-sig", "utf-7", "cp037")))


TEXT: tuple[Mutation, ...] = (
    extreme_number,
    extreme_number,
    extreme_number,
    insert_text,
    drop_line,
    repeat_line,
    swap_lines,
    change_separators,
    change_encoding,
)


# Arrays: .npy, and archives of them


def describe_otherwise(random: Random, data: bytes) -> bytes:
    """A .npy file whose header, the text that describes the array, was changed; often it keeps its length."""
    end = data.find(b"\n", 10)
    if not data.startswith(b"\x93NUMPY") or end < 0:
        return data
    kinds = (*TEXT, *BYTES, _another_type, _another_shape)
    text = random.choice(kinds)(random, data[10:end])
    if random.random() < 0.5:  # else the lengths would nearly always disagree
        text = text[: end - 10].ljust(end - 10)
    length = min(len(text) + 1, 65_535)
    return data[:8] + length.to_bytes(2, "little") + text + data[end:]


def _another_type(random: Random, text: bytes) -> bytes:
    kinds = (
        b"|O",
        b"<f2",
        b">f8",
        b"<c16",
        b"<U3",
        b"|S0",
        b"<M8[s]",
        b"|V4",
        b"<f16",
        b"[('a','<f8')]",
        b"<U99999999",
        b"",
    )
    return re.sub(rb"'[<>|=][^']*'", b"'" + random.choice(kinds) + b"'", text, count=1)


def _another_shape(random: Random, text: bytes) -> bytes:
    shapes = (
        b"()",
        b"(0,)",
        b"(-1,)",
        b"(1, 0)",
        b"(9223372036854775807,)",
        b"(2, -2)",
        b"[3]",
        b"3",
        b"(True,)",
        b"(1.0,)",
    )
    more = (*shapes, b"(" + b"1," * 65 + b")", b"(4294967296, 4294967296)", b"(10000000000, 0)", b"None")
    return re.sub(rb"\([^)]*\)", random.choice(more), text, count=1)


def damage_member(random: Random, data: bytes) -> bytes:
    """One array of an archive, damaged; the checksum fits again."""
    members = _members(data)
    if members:
        name = random.choice(sorted(members))
        kinds = (*BYTES, describe_otherwise, describe_otherwise, extreme_values, extreme_values)
        members[name] = random.choice(kinds)(random, members[name])
    return _archive(members) if members else data


def damage_header(random: Random, data: bytes) -> bytes:
    """The text in ``header``, damaged, in a .npy file that fits it."""
    members = _members(data)
    text = _text_of(members.get("header.npy", b""))
    if not text:
        return data
    changed = random.choice((*TEXT, set_byte, delete_bytes, insert_bytes, repeat_stretch, move_stretch))(random, text)
    buffer = io.BytesIO()
    np.save(buffer, np.array(changed.decode("utf-8", "replace")), allow_pickle=False)
    return _archive(members | {"header.npy": buffer.getvalue()})


def change_members(random: Random, data: bytes) -> bytes:
    """Names lost, exchanged, or in the place of others."""
    members = _members(data)
    if not members:
        return data
    a, b = random.choice(sorted(members)), random.choice(sorted(members))
    kind = random.randrange(4)
    if kind == 0:
        del members[a]
    elif kind == 1:
        members[a], members[b] = members[b], members[a]
    elif kind == 2:
        members[random.choice(("x.npy", "../x.npy", "header.npy", "9.u.npy", "\x1b[31m.npy", ""))] = members[a]
    else:
        return _archive(members, compress=zipfile.ZIP_DEFLATED)
    return _archive(members)


def extreme_values(random: Random, data: bytes) -> bytes:
    """Values of the array in a .npy file that are no values: NaN, infinities, negatives, the largest."""
    end = data.find(b"\n", 10) + 1
    if not data.startswith(b"\x93NUMPY") or end == 0 or len(data) - end < 8:
        return data
    values = [np.array(x, "<f8").tobytes() for x in (np.nan, np.inf, -np.inf, -1.0, 1e308, 5e-324, 1e300, -0.0)]
    values += [np.array(x, "<i8").tobytes() for x in (-1, 2**31 - 2, 2**31, 2**53 + 1, 2**62, -(2**63))]
    k = end + 4 * random.randrange((len(data) - end - 8) // 4 + 1)
    return _patched(data, k, random.choice(values))


ARCHIVE: tuple[Mutation, ...] = (damage_member, damage_member, damage_header, damage_header, change_members)

_BY_SUFFIX: dict[str, tuple[Mutation, ...]] = {
    **dict.fromkeys((".csv", ".tsv", ".txt", ".mtx", ".off", ".obj"), (*TEXT, *BYTES)),
    ".ply": (*TEXT, *BYTES, *BYTES),
    ".npy": (describe_otherwise, describe_otherwise, extreme_values, *BYTES),
    ".npz": (*ARCHIVE, *ARCHIVE, *BYTES),
}


def mutate(random: Random, name: str, data: bytes) -> bytes:
    """One to four kinds of damage in a row, of those that suit the file."""
    kinds = _BY_SUFFIX.get(name[name.rfind(".") :].lower(), BYTES)
    for _ in range(random.choice((1, 1, 1, 2, 2, 3, 4))):
        data = random.choice(kinds)(random, data)
    return data


def mutants(seed: int, name: str, data: bytes, count: int) -> Iterator[bytes]:
    """So many damaged versions of a file, the same for the same seed."""
    random = Random(f"{seed} {name}")
    for _ in range(count):
        yield mutate(random, name, data)


def _place(random: Random, data: bytes) -> int:
    return random.randrange(len(data))


def _stretch(random: Random, data: bytes) -> tuple[int, int]:
    a = random.randint(0, len(data))
    return a, min(len(data), a + random.choice((1, 4, 16, 100, 1_000)))


def _patched(data: bytes, k: int, patch: bytes) -> bytes:
    return data[:k] + patch + data[k + len(patch) :]


def _line(random: Random, lines: list[bytes]) -> int:
    return random.randrange(len(lines)) if lines else -1


def _members(data: bytes) -> dict[str, bytes]:
    """The files in an archive by name; none where the archive was damaged before."""
    try:
        with zipfile.ZipFile(io.BytesIO(data)) as archive:
            return {entry.filename: archive.read(entry) for entry in archive.infolist()}
    except Exception:  # damaged archives make zipfile raise a dozen kinds
        return {}


def _archive(members: dict[str, bytes], compress: int = zipfile.ZIP_STORED) -> bytes:
    buffer = io.BytesIO()
    with zipfile.ZipFile(buffer, "w", compress) as archive:
        for name, content in members.items():
            archive.writestr(zipfile.ZipInfo(name), content, compress)
    return buffer.getvalue()


def _text_of(member: bytes) -> bytes:
    try:
        return str(np.load(io.BytesIO(member), allow_pickle=False)).encode() if member.startswith(b"\x93NUMPY") else b""
    except Exception:  # damaged before
        return b""
