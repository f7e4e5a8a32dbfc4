"""Coupling by pairs, against what others do with several views: ``python -m benchmarks pairs``.

Three experiments, all without labels: ``retrieval``, with a part of the items paired, ``missing``, clusters of items
that are in all views or in one, and ``joint``, one graph for all items. ``sets`` are the data, ``omics`` reads some and
``planted`` makes some, ``pairing`` draws what is known, ``peers`` and ``rivals`` are other libraries, ``diffusions``
other methods, ``geometry`` is what contestants return, ``runner`` goes through all of it in processes of the suite,
``keep`` holds what is done, ``page`` shows it, with ``steps_table`` and ``joint_tables``.
"""

from typing import Any


def run(**options: Any) -> dict[str, Any]:
    """The experiments; see :func:`benchmarks.pairs.runner.run`.

    It is imported when it is called: ``sets`` are also used with earlier versions of the package.
    """
    from benchmarks.pairs import runner

    return runner.run(**options)


def table(report: dict[str, Any]) -> str:
    """The report as Markdown."""
    from benchmarks.pairs import page

    return page.table(report)
