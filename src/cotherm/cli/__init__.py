"""The command line, thin: ``main`` runs one command; ``commands/`` has one file for each."""

from cotherm.cli.main import main

__all__ = ["main"]
