"""Graphs cut into shards on disk: written and read in part, by one process or by the ranks of MPI."""
