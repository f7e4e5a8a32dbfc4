"""Files: bytes on disk to arrays, tables and labels; atomic writing; archives without pickles. Knows no graphs."""
