"""``python -m cotherm`` is ``cotherm``."""

from cotherm.cli import main

if __name__ == "__main__":
    main()
