"""The command line, thin: ``main`` runs one command; ``commands/`` has them."""

from cotherm.cli.main import main

__all__ = ["main"]
