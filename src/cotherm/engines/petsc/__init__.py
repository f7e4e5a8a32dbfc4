"""The engine for many processes, on PETSc over MPI: every rank holds some vertices and the edges that begin there."""
