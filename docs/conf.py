"""Sphinx: `make docs` builds the site from these pages, the docstrings and the gallery."""

import inspect
import logging
import shutil
import sys
from pathlib import Path

from numpydoc.xref import DEFAULT_LINKS
from sphinx_gallery.scrapers import figure_rst

import cotherm as ct

HERE = Path(__file__).parent
sys.path.insert(0, str(HERE / "_extensions"))

project = "cotherm"
author = copyright = "the cotherm developers"
release = ct.__version__
extensions = [
    "myst_parser",
    "sphinx.ext.autodoc",
    "sphinx.ext.autosummary",
    "numpydoc",
    "sphinx_gallery.gen_gallery",
    "mathml",
    "link_names",
]
templates_path = ["_templates"]
exclude_patterns = ["_build", "_templates"]
myst_enable_extensions = ["dollarmath"]
myst_heading_anchors = 3
highlight_language = "none"  # blocks without a language show what commands print
html_theme = "furo"
html_title = "cotherm"
html_static_path = ["_static"]
html_css_files = ["parameters.css", "width.css"]
html_math_renderer = "mathml"

# The reference: a page for every name in docs/reference/*.md, written anew by every build so that no page of a name
# that is gone stays behind.
shutil.rmtree(HERE / "reference" / "generated", ignore_errors=True)
autosummary_generate = True
autodoc_member_order = "bysource"
autodoc_typehints = "none"  # types stand in the docstrings
autodoc_preserve_defaults = True
python_maximum_signature_line_length = 88
numpydoc_show_class_members = False  # the class template lists them
# Types link to our own classes. Those of other libraries stay plain text: the site is built without a network.
numpydoc_xref_param_type = True
numpydoc_xref_ignore = "all"
numpydoc_xref_aliases = {name: name for name in DEFAULT_LINKS} | {
    name: f"cotherm.{name}" for name in ct.__all__ if inspect.isclass(getattr(ct, name))
}

suppress_warnings = [
    "config.cache",  # the gallery's settings hold functions
    "myst.xref_missing",  # pages link to files of the repository that are no pages of the site
]


def saved_picture(_block, block_vars, gallery_conf):
    """The picture an example has saved: examples draw without pyplot, and name the file `picture`."""
    picture = block_vars["example_globals"].get("picture")
    if picture is None or not picture.exists():
        return ""
    place = next(block_vars["image_path_iterator"])
    picture.replace(place)
    return figure_rst([place], gallery_conf["src_dir"])


logging.getLogger("cotherm").setLevel(logging.WARNING)
sphinx_gallery_conf = {
    "examples_dirs": "../examples",
    "gallery_dirs": "gallery",
    "image_scrapers": (saved_picture,),
    "reset_argv": lambda *_: [],
    "download_all_examples": False,
    "show_signature": False,
}


def left_out(_app, _what, name, member, _skip, _options):
    """Whether a member needs no entry: fields of a named tuple, and methods that scikit-learn adds to estimators."""
    description = inspect.getdoc(member) or ""
    if description.startswith("Alias for field number") or name in {"set_fit_request", "get_metadata_routing"}:
        return True
    return None


def setup(app):
    app.connect("autodoc-skip-member", left_out)
