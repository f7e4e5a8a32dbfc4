"""Items and views by name or number, as users write them and tables show them."""

from __future__ import annotations

from collections.abc import Sequence

from cotherm.errors import CothermError
from cotherm.graphs.graph import Graph
from cotherm.io.cells import whole_number
from cotherm.io.text import excerpt

# Title of a column of names; tables with it are read back by name.
ID = "id"


def names_of(graph: Graph) -> tuple[str, ...] | None:
    """The names of the vertices as text; None where they have none."""
    return None if graph.vertex_names is None else tuple(map(str, graph.vertex_names.tolist()))


def items_of(graph: Graph) -> list[str]:
    """What to call each vertex: its name, or its number from 0."""
    return list(names_of(graph) or map(str, range(graph.n)))


class Lookup:
    """Look up vertices of a graph by name, or by number from 0 unless a name could be a number."""

    def __init__(self, graph: Graph, view: str) -> None:
        names = names_of(graph)
        self._n, self._view = graph.n, view
        self._places = {name: v for v, name in enumerate(names or ())}
        self._example = None if names is None else names[0]
        self._numbers = not any(whole_number(name) is not None for name in self._places)

    def find(self, text: str) -> int | None:
        """The vertex with this name or number; None if it does not exist."""
        if text in self._places or not self._numbers:
            return self._places.get(text)
        number = whole_number(text)
        return number if number is not None and number < self._n else None

    def require(self, text: str, option: str) -> int:
        """Like :meth:`find`, but a missing vertex is an error."""
        found = self.find(text)
        if found is None:
            raise CothermError(option, excerpt(text), self.needed)
        return found

    @property
    def needed(self) -> str:
        """The valid names and numbers, for a message."""
        numbers = f"a number from 0 to {self._n - 1}"
        if self._example is None:
            return f"a vertex of {self._view}: {numbers}"
        if not self._numbers:
            return f"the name of an item of {self._view}, such as {self._example!r}"
        return f"an item of {self._view}: a name such as {self._example!r}, or {numbers}"


def view_number(text: str, names: Sequence[str], option: str = "--view") -> int:
    """The number from 0 of a view given by its name, or by its number from 1."""
    if text in names:
        return list(names).index(text)
    number = whole_number(text)
    if number is None or not 1 <= number <= len(names):
        raise CothermError(option, excerpt(text), f"one of {', '.join(names)}, or a number from 1 to {len(names)}")
    return number - 1
