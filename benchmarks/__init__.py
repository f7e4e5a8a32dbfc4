"""Problems, contestants and one judge: ``python -m benchmarks --help``, in a clone; not installed with the package.

Figures are ratios measured side by side in one run.
"""
