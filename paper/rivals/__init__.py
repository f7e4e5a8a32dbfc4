"""Methods of others that only the experiments and the benchmarks use; they take and return what ours do."""
