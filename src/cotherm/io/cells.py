"""What a cell of a table can be: a number, a missing value, a word; and whether the first row holds titles.

Cells say whether it does, or the user, never the number of rows. Each of these rules returns True (titles), False
(data) or None: it could be either, and the table is refused unless the user says which with ``header=``.
"""

from __future__ import annotations

import math
import re
from collections.abc import Collection, Iterable, Iterator, Sequence, Set
from contextlib import suppress
from itertools import chain, islice
from pathlib import Path

from cotherm.errors import CothermError

Rows = Iterable[Sequence[str]]
# What to say where a first row may have been taken for data in error.
PERHAPS_TITLES = "If the first row holds titles: header=True."
# So many rows tell how numbers are written.
_TELLING = 100

# Whether a cell is a finite number, or one too large to be held, in the digits 0 to 9 and nothing else: float() would
# take 1_000 and the digits of every script for numbers.
is_number = re.compile(r"[+-]?(?:[0-9]+(?:\.[0-9]*)?|\.[0-9]+)(?:[eE][+-]?[0-9]+)?").fullmatch
# Whether it is a number with a decimal comma, 1,5 and 0,5e-3, and whether the comma may mark thousands instead: 1,234.
has_decimal_comma = re.compile(r"[+-]?(?:[0-9]+,[0-9]*|,[0-9]+)(?:[eE][+-]?[0-9]+)?").fullmatch
may_have_thousands = re.compile(r"[+-]?[1-9][0-9]{0,2},[0-9]{3}").fullmatch
_NOT_FINITE = re.compile(r"[+-]?(?:nan|inf|infinity)", re.I)
# Numbers as some people write them, which are refused: 1,5 and 1'000.5 and 1 000, in the digits of any script.
_OTHER_NUMBER = re.compile(r"[+-]?(?:\d+,\d+|\d{1,3}(?:[,' \u2009\u202f]\d{3})+)(?:[.,]\d+)?")
# Row numbers never have more digits than this, and int() refuses thousands of digits.
_WHOLE = re.compile(r"[0-9]{1,18}")
# As pandas, R and spreadsheets write them, in small letters.
MISSING = (
    *("", "?", "na", "nan", "n/a", "n.a.", "<na>", "nat", "none", "null", "-nan", "nan(ind)", "-nan(ind)", "#n/a"),
    *("#na", "#div/0!", "#value!", "#ref!", "#num!", "#name?", "#null!", "1.#ind", "-1.#ind", "1.#qnan", "-1.#qnan"),
)
# A title begins with a letter, perhaps behind a quote or bracket; 2.O or -l.5 is rather a number with a slip.
_TITLE = re.compile(r"[^\w+\-.,]*[^\W\d]")
# Titles of a column that holds the names of rows: id, sample_id, Cell ID, PatientID, barcode, file name. An index is
# one by itself or of rows only: a body mass index is a number to compare items by.
_ROWS = r"(?:row|sample|cell|item|patient|subject|case|record|vertex|node|obs|observation)"
# Of biobanks, hospitals and trials.
_REGISTERS = "[eup]id|mrn|ptid|u?subjid"
_NAME_TITLES = re.compile(
    rf"(?i:unnamed: 0|(?:{_ROWS}[\W_]?)?(?:index|key)|cell|sample|{_ROWS}ids?|uuid|guid|identifier|accession|"
    rf"{_REGISTERS}|(?:.*[\W_])?(?:ids?|names?|barcodes?))|.*[a-z]I[dD]"
)
_ID_TITLES = re.compile(rf"(?:.*[\W_])?id|{_ROWS}id|uuid|guid|{_REGISTERS}", re.I)
# A tumor sample or a patient is a name, white cells are a count: numbers under such a title may be either.
_EITHER_TITLES = re.compile(rf"(?:.*[\W_])?(?:no\.?|nr\.?)|.*[\W_](?:cell|sample|key)|participant|{_ROWS}", re.I)


def shown(titles: Sequence[str], most: int = 8) -> str:
    """The first few titles, to print."""
    return ", ".join(titles[:most]) + ", ..." * (len(titles) > most)


def is_finite(cell: str) -> bool:
    """Whether a cell is a number that can be held."""
    return is_number(cell) is not None and math.isfinite(float(cell))


def with_point(cell: str, decimal: str) -> str:
    """A number as it is written with a decimal point; everything else as it is."""
    return cell.replace(",", ".") if decimal == "," and has_decimal_comma(cell) else cell


def is_numeral(cell: str) -> bool:
    """Whether a cell is a number, or nan or inf."""
    return bool(is_number(cell) or _NOT_FINITE.fullmatch(cell))


def looks_numeric(cell: str) -> bool:
    """Whether a cell is meant as a number, also in other notation: 1_000, 1,5, digits of other scripts."""
    if is_numeral(cell) or _OTHER_NUMBER.fullmatch(cell):
        return True
    with suppress(ValueError):
        float(cell)
        return True
    return False


def whole_number(cell: str) -> int | None:
    """The number in a cell of digits; None for all other cells."""
    return int(cell) if _WHOLE.fullmatch(cell) else None


def is_missing(cell: str) -> bool:
    return cell.strip().lower() in MISSING


def is_word(cell: str) -> bool:
    """Whether a cell can be a title: neither a number nor a missing value nor a number with a slip."""
    return not looks_numeric(cell) and not is_missing(cell) and _TITLE.match(cell) is not None


def is_text(cell: str) -> bool:
    """Whether a cell is neither a number, however it is written, nor a missing value."""
    return not looks_numeric(cell) and not has_decimal_comma(cell) and not is_missing(cell)


def is_name_title(title: str) -> bool:
    """Whether a column under this title holds names of rows; the title need not be words (pandas leaves it empty)."""
    return not title.strip() or is_name_word(title)


def is_name_word(title: str) -> bool:
    return _NAME_TITLES.fullmatch(title.strip()) is not None


def is_either_title(title: str) -> bool:
    """Whether numbers under this title may be names of rows or numbers to compare them by."""
    return _EITHER_TITLES.fullmatch(title.strip()) is not None and not is_name_word(title)


def is_id_title(title: str) -> bool:
    return _ID_TITLES.fullmatch(title.strip()) is not None


def is_count(cells: Sequence[str]) -> bool:
    """Whether cells are 0, 1, 2, ... or 1, 2, 3, ...: numbers of rows or columns."""
    if not cells:
        return True
    return cells[0] in ("0", "1") and all(cell == str(k) for k, cell in enumerate(cells, int(cells[0])))


def titles_over_numbers(first: Sequence[str], column: Sequence[str], body: Iterator[Sequence[str]]) -> bool | None:
    """In a table of numbers titles are words: none among numbers, none that could be a number with a slip in it.

    ``column`` are the first cells of the other rows, where rows have several, ``body`` all cells of these rows.
    """
    if len(first) > 1 and (_is_corner(first, column) or (column and _numbered(first, column))):
        return True
    rest = first[1:] if len(first) > 1 and is_column_of_names(column or first[:1]) else first
    numbers = [cell for cell in rest if looks_numeric(cell)]
    # 400nm, 500nm are titles: not every number of a row has a slip.
    all_odd = len(rest) > 1 and not numbers and not any(map(is_missing, rest))
    if not all_odd and not any(map(is_word, rest)):
        # 0 or 0, 1 over numbers that all have a point may be titles that count columns, as pandas writes them; so may
        # 0, 1, 2, ... behind a name. Anything else is data, wrong or right.
        # And where all names are spelled alike but for the first, that may be a title: gene, 2001, 2002.
        counted = rest[0] == "0" and is_count(rest)
        either = counted and (len(rest) > 2 or _all_with_points(body, len(first) - len(rest)))
        return None if either or (len(rest) < len(first) and _is_odd(first[0], column)) else False
    if not numbers:  # but a table of words may begin with one that occurs again
        second = next(body, ["0"])
        return any(map(looks_numeric, second)) or not _occurs_below(first, chain([second], body))
    return True if len(numbers) > 2 and numbers[0] == "0" and is_count(numbers) else None


def is_column_of_names(column: Sequence[str]) -> bool:
    """Whether most cells of the first column are words; one word among numbers is a mistake to be told of."""
    others = [cell for cell in column if not is_number(cell)]
    return 2 * sum(not looks_numeric(cell) and not is_missing(cell) for cell in others) > len(column)


def titles_over_labels(rows: Sequence[Sequence[str]], open_rows: int, names: Set[str], n: int) -> bool | None:
    """In a table of labels titles are words as labels are, but occur nowhere below.

    A label that occurs once cannot be told from a title by that, nor a title like a label from a label. The number of
    rows does not decide it: where it speaks for the other reading, nothing is decided. ``open_rows`` at the end may be
    unknown labels or padding, ``names`` are those of the items, and ``n`` labels are needed to match row by row.
    """
    first, *body = rows
    if not body or (len(first) > 1 and first[0] in names):
        return False
    column = [row[0] for row in body]
    known = not names.isdisjoint(column)
    if len(first) > 1 and (is_name_word(first[0]) or (not first[0] and (known or is_count(column)))):
        return True
    if len(first) > 1 and known:
        return not _occurs_below(first, body)
    likely = not _occurs_below(first, body) and not any(map(looks_numeric, first)) and any(map(is_word, first))
    as_read, other = (len(body), len(rows)) if likely else (len(rows), len(body))
    if other - open_rows <= n <= other and (likely or not as_read - open_rows <= n <= as_read):
        return None
    return likely


def titles_over_landmarks(first: Sequence[str], names: Sequence[Collection[str] | None]) -> bool:
    """In a table of landmarks titles are words that are not even spelled like names of items: those of views or None.

    A single column is for all views.
    """
    if len(first) < len(names):
        known = [one for one in names if one is not None]
        names = [set().union(*known) if known else None]
    return not any(_like_a_name(cell, known) for cell, known in zip(first, names, strict=True))


def refuse_either(path: Path, line: int, given: str) -> CothermError:
    """The error for a first row that could be titles or data."""
    return CothermError(
        f"{path}: line {line}",
        given,
        "a first row that is either titles or data",
        "Say which: header=True or header=False.",
        code="titles-or-data",
        about=str(path),
    )


def _numbered(first: Sequence[str], column: Sequence[str]) -> bool:
    """Titles that count columns, as pandas writes them from 0; two of them, 0 and 1, may as well be data."""
    if first[0] == "0" and len(first) > 2 and is_count(first):
        return True
    return not first[0] and is_count(first[1:]) and (first[1] == "0" or _is_index(column))


def _is_corner(first: Sequence[str], column: Sequence[str]) -> bool:
    """Whether the first cell is a title of names: it says so, or it is empty above names and beside words."""
    if first[0]:
        return is_name_word(first[0])
    words = any(not looks_numeric(cell) and not is_missing(cell) for cell in first[1:])
    return words and bool(column) and _is_index(column)


def _all_with_points(rows: Rows, start: int) -> bool:
    cells = [cell for row in islice(rows, _TELLING) for cell in row[start:]]
    return bool(cells) and all("." in cell or "e" in cell for cell in cells)


def _is_index(column: Sequence[str]) -> bool:
    """Whether cells count rows or are words."""
    return is_count(column) or not any(is_number(cell) or is_missing(cell) for cell in column)


def _occurs_below(first: Sequence[str], body: Rows) -> bool:
    known = [(c, cell) for c, cell in enumerate(first) if not is_missing(cell)]
    return any(row[c] == cell for row in body for c, cell in known)


def _is_odd(name: str, others: Sequence[str]) -> bool:
    """Whether all the others are spelled alike, as s01 and s02 are, and this one is not."""
    shapes = set(map(_shape, others))
    return is_word(name) and len(others) > 1 and len(shapes) == 1 and _shape(name) not in shapes


def _like_a_name(cell: str, names: Collection[str] | None) -> bool:
    """Whether a cell is, or may be meant to be, a row number or one of these names."""
    if looks_numeric(cell) or is_missing(cell):
        return True
    return names is not None and (cell in names or _shape(cell) in set(map(_shape, names)))


def _shape(cell: str) -> str:
    """How a name is spelled: photo-012 as a-0."""
    kinds = ["a" if c.isalpha() else "0" if c.isdigit() else c for c in cell]
    return "".join(c for k, c in enumerate(kinds) if k == 0 or c not in "a0" or c != kinds[k - 1])
