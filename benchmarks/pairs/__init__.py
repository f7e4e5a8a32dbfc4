"""Coupling by pairs, against what others do with several views: ``python -m benchmarks pairs``.

Two experiments, both without labels: ``retrieval``, with a part of the items paired, and ``missing``, clusters of items
that are in all views or in one. ``sets`` are the data and ``planted`` makes some, ``pairing`` draws what is known,
``peers`` are other libraries, ``geometry`` is what contestants return, ``runner`` goes through all of it in processes
of the suite, ``keep`` holds what is done, ``page`` shows it.
"""

from benchmarks.pairs.page import table
from benchmarks.pairs.runner import run

__all__ = ["run", "table"]
