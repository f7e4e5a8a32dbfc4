"""The version, in this one place: a source tree that is not installed has no metadata."""

__version__ = "0.1.0"
