"""Problems × contestants × one judge: ``python -m benchmarks suite``.

``parts`` says what a problem, a contestant and a family are; ``families`` has one file for each family; ``judge`` runs
one contestant on one problem in a process of its own, ``worker``, and keeps the limits; ``runner`` goes through all of
them; ``table``, ``plots`` and ``page`` show what came out.
"""

from benchmarks.suite.runner import run
from benchmarks.suite.table import table

__all__ = ["run", "table"]
