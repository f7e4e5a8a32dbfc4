"""``python -m benchmarks``."""

from benchmarks.cli import main

if __name__ == "__main__":  # processes that are spawned import this file again
    main()
