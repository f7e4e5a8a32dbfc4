"""The paper's experiments, the loaders of real data, and methods of others that only these and the benchmarks use.

Not installed. ``python -m paper all`` runs the experiments.
"""
