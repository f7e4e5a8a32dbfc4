"""What a cell of a table can be: a number, a missing value, a word; and which titles stand above names of rows."""

from __future__ import annotations

import math
import re
from collections.abc import Sequence

# The digits 0 to 9 and nothing else: float() would take 1_000 and the digits of every script for numbers.
_NUMBER = re.compile(r"[+-]?(?:[0-9]+(?:\.[0-9]*)?|\.[0-9]+)(?:[eE][+-]?[0-9]+)?")
_NOT_FINITE = re.compile(r"[+-]?(?:nan|inf|infinity)", re.I)
# Numbers as some people write them, which are refused: 1,5 and 1'000.5 and 1 000, in the digits of any script.
_OTHER_NUMBER = re.compile(r"[+-]?(?:\d+,\d+|\d{1,3}(?:[,' \u2009\u202f]\d{3})+)(?:[.,]\d+)?")
# Numbers with a decimal comma; the first may have thousands marked by a comma instead: 1,234.
_DECIMAL_COMMA = re.compile(r"[+-]?(?:[0-9]+,[0-9]*|,[0-9]+)(?:[eE][+-]?[0-9]+)?")
_PERHAPS_THOUSANDS = re.compile(r"[+-]?[1-9][0-9]{0,2},[0-9]{3}")
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
_REGISTERS = re.compile("[eup]id|mrn|ptid|u?subjid", re.I)
_NAME_TITLES = (
    re.compile(rf"unnamed: 0|(?:{_ROWS}[\W_]?)?(?:index|key)|cell|sample|{_ROWS}ids?", re.I),
    re.compile("uuid|guid|identifier|accession", re.I),
    _REGISTERS,
    re.compile(r"(?:.*[\W_])?(?:ids?|names?|barcodes?)", re.I),
    re.compile(r".*[a-z]I[dD]"),
)
_ID_TITLES = (re.compile(r"(?:.*[\W_])?id", re.I), re.compile(rf"{_ROWS}id|uuid|guid", re.I), _REGISTERS)
# A tumor sample or a patient is a name, white cells are a count: numbers under such a title may be either.
_EITHER_TITLES = re.compile(rf"(?:.*[\W_])?(?:no\.?|nr\.?)|.*[\W_](?:cell|sample|key)|participant|{_ROWS}", re.I)


def is_number(cell: str) -> bool:
    """Whether a cell is a finite number, or one too large to be held, in the digits 0 to 9."""
    return _NUMBER.fullmatch(cell) is not None


def is_finite(cell: str) -> bool:
    """Whether a cell is a number that can be held."""
    return is_number(cell) and math.isfinite(float(cell))


def has_decimal_comma(cell: str) -> bool:
    """Whether a cell is a number with a decimal comma, 1,5 and 0,5e-3; 1,234 may also be a whole number."""
    return _DECIMAL_COMMA.fullmatch(cell) is not None


def may_have_thousands(cell: str) -> bool:
    """Whether the comma of a number may mark thousands."""
    return _PERHAPS_THOUSANDS.fullmatch(cell) is not None


def with_point(cell: str, decimal: str) -> str:
    """A number as it is written with a decimal point; everything else as it is."""
    return cell.replace(",", ".") if decimal == "," and has_decimal_comma(cell) else cell


def is_numeral(cell: str) -> bool:
    """Whether a cell is a number, or nan or inf."""
    return is_number(cell) or _NOT_FINITE.fullmatch(cell) is not None


def looks_numeric(cell: str) -> bool:
    """Whether a cell is meant as a number, also in other notation: 1_000, 1,5, digits of other scripts."""
    return is_numeral(cell) or _OTHER_NUMBER.fullmatch(cell) is not None or _is_float(cell)


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
    return any(pattern.fullmatch(title.strip()) for pattern in _NAME_TITLES)


def is_either_title(title: str) -> bool:
    """Whether numbers under this title may be names of rows or numbers to compare them by."""
    return _EITHER_TITLES.fullmatch(title.strip()) is not None and not is_name_word(title)


def is_id_title(title: str) -> bool:
    return any(pattern.fullmatch(title.strip()) for pattern in _ID_TITLES)


def is_count(cells: Sequence[str]) -> bool:
    """Whether cells are 0, 1, 2, ... or 1, 2, 3, ...: numbers of rows or columns."""
    if not cells:
        return True
    return cells[0] in ("0", "1") and all(cell == str(k) for k, cell in enumerate(cells, int(cells[0])))


def _is_float(cell: str) -> bool:
    try:
        float(cell)
    except ValueError:
        return False
    return True
