"""Public names in running text link to their pages: `couple_pairs`, `ct.knn_graph(X)`, `Coupling.changes`."""

import re

from docutils import nodes
from sphinx.addnodes import pending_xref
from sphinx.application import Sphinx
from sphinx.transforms import SphinxTransform

import cotherm as ct

_NAME = re.compile(r"(?:(?:cotherm|ct)\.)?((?:[a-z]+\.)?[A-Za-z_]\w*(?:\.[a-z_]\w*)?)(\(.*\))?")


class LinkNames(SphinxTransform):
    """Inline code that is a public name becomes a reference to it."""

    default_priority = 400

    def apply(self):
        for literal in list(self.document.findall(nodes.literal)):
            target = _target(literal.astext())
            if target is None or isinstance(literal.parent, (nodes.reference, pending_xref, nodes.title)):
                continue
            link = pending_xref(
                "", refdomain="py", reftype="obj", reftarget=target, refexplicit=True, refwarn=False, refspecific=False
            )
            literal.replace_self(link)
            link += literal


def _target(text):
    """The full name of what a text names, or None."""
    match = _NAME.fullmatch(text)
    if match is None:
        return None
    found = ct
    for part in match[1].split("."):
        public = getattr(found, "__all__", None)
        if part.startswith("_") or (public is not None and part not in public) or not hasattr(found, part):
            return None
        found = getattr(found, part)
    return f"cotherm.{match[1]}"


def setup(app: Sphinx):
    app.add_transform(LinkNames)
    return {"parallel_read_safe": True}
