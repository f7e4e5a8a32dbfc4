"""Which files are tables: what their suffixes say."""

from __future__ import annotations

from pathlib import Path

TEXT = (".csv", ".tsv", ".txt")
PACKED = tuple(f"{suffix}.gz" for suffix in TEXT)
SHEETS = (".xlsx", ".xlsm")
# What is read as text is read, cell by cell.
CELLS = (*TEXT, *PACKED, *SHEETS)
ARRAY, COLUMNS = ".npy", ".parquet"
ANNDATA, MUDATA = ".h5ad", ".h5mu"
SINGLE_CELLS = (ANNDATA, MUDATA)
TABLES = (*CELLS, ARRAY, COLUMNS, *SINGLE_CELLS)
NEEDED = f"a table: {', '.join(TEXT)} (also .gz), .xlsx, {COLUMNS}, {ARRAY}, {ANNDATA} or {MUDATA}"
# What may be said about a table, and the files for which it means something.
MEANT_FOR = {
    "header": CELLS,
    "decimal": (*TEXT, *PACKED),
    "sheet": SHEETS,
    "rep": SINGLE_CELLS,
    "modality": (MUDATA,),
}
_OLD_SHEETS = (".xls", ".ods")


def suffix_of(path: Path) -> str:
    """The suffix in small letters; of a compressed file the last two, as in ``.csv.gz``."""
    last = path.suffix.lower()
    return f"{path.with_suffix('').suffix.lower()}.gz" if last == ".gz" else last


def stem_of(path: Path) -> str:
    """The name of a file without its suffix."""
    return path.with_suffix("").stem if suffix_of(path) in PACKED else path.stem


def advice_for(suffix: str) -> str:
    """What to do about a table that is not read."""
    return "Save it as .xlsx or .csv." if suffix in _OLD_SHEETS else ""
