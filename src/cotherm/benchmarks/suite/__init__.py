"""Problems × contestants × one judge: ``cotherm bench suite``.

``parts`` says what a problem, a contestant and a family are; ``families`` has one file for each family; ``judge`` runs
one contestant on one problem in a process of its own, ``worker``, and keeps the limits; ``runner`` goes through all of
them; ``table``, ``plots`` and ``page`` show what came out.
"""

from cotherm.benchmarks.suite.runner import run
from cotherm.benchmarks.suite.table import table

__all__ = ["run", "table"]
