"""Files: bytes on disk to arrays, tables and labels; atomic writing; archives without pickles. Knows no graphs."""

from cotherm.io.labels import read_labels
from cotherm.io.table import Table, read_table

__all__ = ["Table", "read_labels", "read_table"]
