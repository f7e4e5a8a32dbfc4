"""Sphinx: `make docs` builds the site from these pages, the docstrings and the gallery."""

import importlib.metadata

from sphinx_gallery.scrapers import figure_rst

project = "cotherm"
author = "the cotherm developers"
release = importlib.metadata.version("cotherm")
extensions = [
    "myst_parser",
    "sphinx.ext.autodoc",
    "sphinx.ext.napoleon",
    "sphinx.ext.intersphinx",
    "sphinx_gallery.gen_gallery",
]
intersphinx_mapping: dict[str, tuple[str, None]] = {}
myst_heading_anchors = 3
exclude_patterns = ["_build"]
html_theme = "furo"
html_title = "cotherm"
napoleon_google_docstring = False
napoleon_use_rtype = False
napoleon_use_ivar = True
autodoc_member_order = "bysource"
autodoc_typehints = "none"
# Pages link to files of the repository that are no pages of the site.
# Methods that scikit-learn adds refer to its own pages.
suppress_warnings = ["myst.xref_missing", "config.cache", "ref.term", "ref.ref", "ref.python"]


def saved_picture(_block, block_vars, gallery_conf):
    """The picture an example has saved: examples draw without pyplot, and name the file `picture`."""
    picture = block_vars["example_globals"].get("picture")
    if picture is None or not picture.exists():
        return ""
    place = next(block_vars["image_path_iterator"])
    picture.replace(place)
    return figure_rst([place], gallery_conf["src_dir"])


sphinx_gallery_conf = {
    "examples_dirs": "../examples",
    "gallery_dirs": "gallery",
    "image_scrapers": (saved_picture,),
    "reset_argv": lambda *_: [],
    "download_all_examples": False,
    "show_signature": False,
}
