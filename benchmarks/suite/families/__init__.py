"""One file a family: its problems, its contestants, and the one judge of all of them."""

NAMES = ("surgery", "correspondence", "heat", "diagonalize", "clusters", "neighbors")


def module_of(name: str) -> str:
    """Where a family is found, as its ``FAMILY``."""
    return f"{__name__}.{name}"
