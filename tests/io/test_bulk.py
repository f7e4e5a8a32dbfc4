"""Large tables: what pyarrow reads is what Python reads, and what it does not take is named by its place."""

from __future__ import annotations

import io
import math
from pathlib import Path
from random import Random

import numpy as np
import pyarrow as pa
import pytest

import cotherm as ct
from cotherm import limits
from cotherm.errors import CothermError
from cotherm.io import text_table
from cotherm.io.text_table import _parsed
from tests.fuzz.mutations import mutate
from tests.fuzz.tables import numbers_of, numbers_table, open_table
from tests.io.test_number_table import table as table_in_python

# Numbers that are hard to round, or to tell at all.
HARD = [
    *("0", "-0", "+0.0", "00012", "1.", ".5", "-.5e1", "1e0", "1E+05", "1e-05", "0e999", "0.000e-999"),
    *("9007199254740992", "9007199254740993", "9007199254740993.0000000000000000000001", "9007199254740994.9999999"),
    *("1.7976931348623157e308", "1.7976931348623158e308", "2.2250738585072014e-308", "2.2250738585072011e-308"),
    *("4.9e-324", "2.4703282292062327e-324", "2.4703282292062328e-324", "1e-400", "123456789012345678901234567890"),
    *("0.1000000000000000055511151231257827", "0.1000000000000000055511151231257828", "1" + "0" * 300),
    *("0." + "0" * 300 + "1", "0." + "0" * 400 + "1e401", "8.5e22", "1e22", "1e23", "3e-23", "6.631236846766476e-316"),
    *("179769313486231580793e289", "5708990770823839524233143877797980545530986496.0", "1e-22", "1e-23"),
]


def read_in_bulk(cell: str, decimal: str = ".") -> float | None:
    """A number by pyarrow alone; None where it does not take it, NaN where it is missing."""
    values = _parsed(pa.array([cell], pa.large_string()), decimal)
    return None if values is None else float(values[0])


def same(a: float, b: float) -> bool:
    return a == b and math.copysign(1.0, a) == math.copysign(1.0, b)


def random_cell(random: Random) -> str:
    digits = "".join(random.choices("0123456789", k=random.choice([1, 3, 15, 16, 17, 18, 19, 20, 25, 40])))
    at = random.randint(0, len(digits))
    number = digits[:at] + random.choice(["", "."]) + digits[at:]
    exponent = random.choice(["", f"e{random.randint(-330, 310)}", f"E{random.randint(-30, 30):+}"])
    return random.choice(["", "-", "+"]) + number + exponent


def test_the_nearest_double() -> None:
    random = Random(0)
    undecided = 0
    for cell in [*HARD, *(random_cell(random) for _ in range(10_000))]:
        found, expected = read_in_bulk(cell), float(cell)
        if found is None:
            undecided += math.isfinite(expected) and abs(expected) > 1e-300
        else:
            assert same(found, expected), cell
    assert undecided == 0


def test_shortest_and_exact_decimals_of_doubles() -> None:
    random = Random(1)
    for _ in range(5_000):
        value = math.ldexp(random.getrandbits(53), random.randint(-200, 200))
        for cell in (repr(value), f"{value:.17e}", f"{value:.15g}", f"{value:.30g}"):
            found = read_in_bulk(cell)
            assert found is None or same(found, float(cell)), cell
        assert read_in_bulk(repr(value)) == value


def test_decimals_in_the_middle_of_two_doubles() -> None:
    random = Random(2)
    for _ in range(2_000):
        odd = 2 * random.getrandbits(53) + 1  # 54 bits: in the middle
        shift = random.randint(0, 9)
        for digits in (odd * 5**shift - 1, odd * 5**shift, odd * 5**shift + 1):
            assert read_in_bulk(f"{digits}e-{shift}") == float(f"{digits}e-{shift}")


@pytest.mark.parametrize(
    "cell",
    [
        *("nax", "nul", "nan(1)"),
        *("inf", "2.O", "1_000", "0x10", "1d5", "1e", "1e+", ".", "-", "+-1", "1.5.", "1..5", "--1"),
        *("1e999", "1,5", "1 5", "1'000", "٣", "３", "−3", "5%", "1.5f", "e5", '"', '"1', '1"', "1e400000000000"),
    ],
)
def test_what_is_no_number_is_not_taken(cell: str) -> None:
    assert read_in_bulk(cell) is None


@pytest.mark.parametrize("cell", ["", "NA", "na", "nan", "NaN", "N/A", "null", "NULL", "None", " NA "])
def test_missing_numbers_are_told(cell: str) -> None:
    found = read_in_bulk(cell)
    assert found is not None
    assert math.isnan(found)


def test_decimal_commas() -> None:
    random = Random(3)
    for cell in [*HARD, *(random_cell(random) for _ in range(2_000))]:
        found, expected = read_in_bulk(cell.replace(".", ","), ","), read_in_bulk(cell)
        assert (found is None) == (expected is None)
        assert found is None or expected is None or same(found, expected), cell
    assert read_in_bulk("1.5", ",") is None


@pytest.fixture
def in_bulk(monkeypatch: pytest.MonkeyPatch) -> None:
    """Every table is large."""
    monkeypatch.setattr(limits, "COMPILED_TABLE_BYTES", 1)


def outcome(place: Path, header: bool | None) -> tuple[object, ...]:
    """All there is to know of a table, or what is said about it."""
    try:
        found = open_table(place, header)
        return found.titles, found.names, found.reading, numbers_of(found).tobytes()
    except CothermError as error:
        return (str(error),)


TEXTS = [
    "a,b\n1,2\n3,4\n",
    "a,b\r\n1,2\r\n3,4",
    "a,b\r1,2\r3,4\r",
    "\ufeffa,b\n1,2\n3,4\n",
    "\ufeff1,2\n3,4\n",
    ' "a" ,"b, c"\n "1", 2\n3 ,"4" \n',
    'id,a\n"x, y",1\n"ü",2\n日本,3\n',
    'a,b\n1,"2\n3",4\n',
    'a,b\n1,""2""\n3,4\n',
    'a"b,c\n1,2\n',
    "a b\n1 2\n",
    "1\t 2\n\n3  4\n  \n",
    "1 2\n3 4\x0b\n",
    "\n\n1\n2\n",
    "a\n1\n\n2\n",
    "a\n1\n2\n\n\n",
    "a\n1\n2\n   ",
    "a,b\n1,2\n   \n3,4\n",
    "a,b\n1,2\n,\n,\n",
    "a,b\n1,2\n\xa0,\xa0\n",
    "a,b\n1,2\n,\n3,4\n",
    "a,b\n1,2\n3\n",
    "a,b\n1,2\n3,4,5\n",
    "a,b\n1,2\n3,\n",
    "a,b\n1,2\n3,NA\n",
    "a,b\n1,2.O\n3,4\n",
    "x;y\n1,5;1\n2,5;2\n",
    "x;y\n1,5;1\n2.5;2\n",
    "x;y\n1,234;1\n2,345;2\n",
    "1,5 2,25\n3 4\n",
    "id\ta\n7,5\t1,5\n8\t,5\nx\t2,\n",
    'a;b\n"1,5";NA\n;"-2,5e-3"\n?;4\n',
    "id;a;kind;b\nx;1;red;2\ny;3;blue, dark;4\n",
    "a,kind\n1,x\n2,y\n",
    "id,a,b\nx,1,2\ny,,4\n",
    "id,a,b\nx,1,2\nx,3,4\n",
    "1,2\n3,1e999\n",
    "1,2\n3,4.9e-324\n",
    "a,b\n1,2\n\n3, 4x\n",
    f"a,b\n1,0.{'2' * 1000}\n",
]


@pytest.mark.parametrize("header", [None, True, False])
@pytest.mark.parametrize("text", TEXTS)
def test_the_same_as_in_python(text: str, header: bool | None, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    place = tmp_path / "table.csv"
    place.write_bytes(text.encode())
    expected = outcome(place, header)
    monkeypatch.setattr(limits, "COMPILED_TABLE_BYTES", 1)
    assert outcome(place, header) == expected


def test_damaged_tables_are_the_same_as_in_python(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    place = tmp_path / "table.csv"
    surveyed = 0
    for seed in range(1_500):
        random = Random(seed)
        data = numbers_table(random).data
        place.write_bytes(mutate(random, "table.csv", data) if seed % 2 else data)
        monkeypatch.setattr(limits, "COMPILED_TABLE_BYTES", 2**60)
        expected = outcome(place, None)
        monkeypatch.setattr(limits, "COMPILED_TABLE_BYTES", 1)
        assert outcome(place, None) == expected, place.read_bytes()
        surveyed += len(expected) > 1
    assert surveyed > 700


@pytest.mark.usefixtures("in_bulk")
def test_a_table_with_a_row_that_is_not_plain_is_read_in_python(tmp_path: Path) -> None:
    found = table_in_python(tmp_path, 'a,b\n1,4.9e-324\n" 2",3\n4,5\n')
    np.testing.assert_array_equal(numbers_of(found), [[1, 5e-324], [2, 3], [4, 5]])


@pytest.mark.parametrize(
    "text", ["a,b\n1,2\n,\n,\n", 'id,"a"\nx,"1"\n"y, z",NA\n', "1  2\n 3\t4 \n", "a;b;c\nx;1,5;u\ny;2;v\n"]
)
def test_plain_tables_are_not_left_to_python(text: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(limits, "COMPILED_TABLE_BYTES", 1)
    monkeypatch.delattr(text_table, "_collected")
    place = tmp_path / "table.csv"
    place.write_text(text)
    label = "c" if "c\n" in text else None
    assert len(ct.io.read_table(place, label_column=label, missing="median").values) >= 1


def test_a_wrong_cell_of_a_large_table_is_named(tmp_path: Path) -> None:
    values = np.random.default_rng(0).standard_normal((20_000, 10))
    lines = [",".join(map(repr, row)) for row in values.tolist()]
    place = tmp_path / "table.csv"
    place.write_text("\r\n".join(lines))
    assert place.stat().st_size > limits.COMPILED_TABLE_BYTES
    found = open_table(place)
    np.testing.assert_array_equal(numbers_of(found), values)
    lines[15_000] = lines[15_000].rpartition(",")[0] + ",NA"
    place.write_text("\n\n".join(lines))
    with pytest.raises(CothermError, match="line 30001, column 10: 'NA', the only missing value"):
        numbers_of(open_table(place))


@pytest.mark.parametrize(("mark", "style"), [(",", "%.6g"), ("\t", "%.18e"), (" ", "%.3f"), (";", "%d")])
def test_as_numpy_reads(mark: str, style: str, tmp_path: Path) -> None:
    values = 1e3 * np.random.default_rng(0).standard_normal((20_000, 12))
    buffer = io.StringIO()
    np.savetxt(buffer, values, fmt=style, delimiter=mark, newline="\n")
    place = tmp_path / "table.txt"
    place.write_text(buffer.getvalue())
    buffer.seek(0)
    np.testing.assert_array_equal(numbers_of(open_table(place)), np.loadtxt(buffer, delimiter=mark))
