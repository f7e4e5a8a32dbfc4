"""Advice in words of the command line: what to do about a mistake, by its code."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager

from cotherm.errors import CothermError, renamed

# ``{about}`` is the table or the column that the error is about.
_ANY = {
    "titles-or-data": "Say which: --header {about} or --no-header {about}.",
    "perhaps-titles": "If the first row holds titles: --header {about}.",
    "columns-of-labels": "Choose one with --column TITLE.",
    "names-of-labels-only": "Couplings keep labels, not names: leave --labels out to use those.",
    "labels-not-shared": "Items known to be the same are --landmarks, quantities are --functions.",
    "untitled": "Write titles in the first row to choose columns by.",
    "odd-number": "Numbers are written as 1000.5: in the digits 0 to 9, with a decimal point.",
    "no-number": "Correct the cells that are not numbers, or leave them out.",
}
_NO_IDS = "If they are a feature: --id-column none."
# For tables of points, whose columns can be chosen.
_POINTS = {
    "missing-value": "--missing drop leaves out such rows, --missing median fills in the median of the column.",
    "missing-name": "--missing drop leaves out rows without a name.",
    "missing-in-every-row": "Fill them in with --missing median.",
    "empty-column": "Leave it out with --drop-columns.",
    "late-ids": "Put it first, or leave it out with --drop-columns; --id-column TITLE takes it for the ids.",
    "perhaps-ids": f'If they are ids: --id-column "{{about}}". {_NO_IDS} Or leave them out with --drop-columns.',
    "perhaps-ids-untitled": f"If they are ids, write titles in the first row. {_NO_IDS}",
    "repeated-name": "If '{about}' holds classes, name it with --label-column; --drop-columns leaves it out.",
    "text-columns": "Leave out columns with --drop-columns, take some with --columns, or name the one that holds "
    "classes with --label-column.",
    "comma-in-number": "If commas mark decimals: --decimal ,. Else numbers are written as 1000.5.",
    "decimal-or-thousands": "Say that they mark decimals: --decimal ,.",
    "point-among-commas": "If points mark decimals and commas something else: --decimal .",
    "representation": "Choose one with --rep.",
    "large-representation": "Choose a smaller representation with --rep, such as X_pca.",
}
# For other tables, all of whose columns are used.
_OTHERS = {
    "missing-value": "Fill in or leave out missing values first.",
    "missing-name": "Leave out rows without a name.",
    "empty-column": "Leave it out.",
    "late-ids": "Put it first.",
    "repeated-name": "Give every row a name of its own.",
    "text-columns": "Leave out columns that are not numbers.",
    "representation": "Save one as .npy.",
    "large-representation": "Save a smaller representation as .npy.",
    "comma-in-number": "Numbers are written as 1000.5.",
    "decimal-or-thousands": "Write decimal points.",
    "point-among-commas": "Write decimal points.",
}


@contextmanager
def in_options(*, points: bool = False) -> Iterator[None]:
    """Re-raise errors about files with advice that names options; ``points`` says whether those of tables apply."""
    words = _ANY | (_POINTS if points else _OTHERS)
    try:
        yield
    except CothermError as error:
        said = [words[code] for code in error.code.split("+") if code in words]
        advice = " ".join(said).replace("{about}", error.about) if said else error.advice
        raise renamed(error, error.argument, advice) from None


@contextmanager
def as_options(*same: str, **others: str) -> Iterator[None]:
    """Re-raise errors about some arguments under the options they come from: of the same name, or others."""
    names = {name: f"--{name.replace('_', '-')}" for name in same} | others
    try:
        yield
    except CothermError as error:
        if error.argument not in names:
            raise
        raise renamed(error, names[error.argument]) from None
