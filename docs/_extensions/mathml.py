"""Formulas as MathML, which browsers draw themselves: the pages need no network and no scripts."""

import re

from docutils.nodes import SkipNode
from docutils.utils.math import MathError
from docutils.utils.math.latex2mathml import tex2mathml
from sphinx.application import Sphinx
from sphinx.util import logging

log = logging.getLogger(__name__)

# Commands that docutils lacks, and those it has.
_SYNONYMS = {r"\\([bB]igg?)": r"\\\1l", r"\\dots": r"\\ldots"}


def inline(translator, node):
    translator.body.append(_converted(node, as_block=False))
    raise SkipNode


def displayed(translator, node):
    translator.body.append(f'<div class="math">{_converted(node, as_block=True)}</div>\n')
    raise SkipNode


def _converted(node, as_block):
    formula = node.astext()
    for command, known in _SYNONYMS.items():
        formula = re.sub(command + r"(?![a-zA-Z])", known, formula)
    try:
        converted = tex2mathml(formula, as_block=as_block)
        return re.sub(r"<mo>([‖∥|])</mo>", r'<mo stretchy="false">\1</mo>', converted)  # norms as high as the text
    except MathError as error:
        log.warning("formula %r cannot be converted to MathML: %s", node.astext(), error, location=node, type="mathml")
        return f"<code>{node.astext()}</code>"


def setup(app: Sphinx):
    app.add_html_math_renderer("mathml", inline_renderers=(inline, None), block_renderers=(displayed, None))
    return {"parallel_read_safe": True, "parallel_write_safe": True}
