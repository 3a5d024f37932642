"""Sphinx's settings for the site; the pages are those that ``stage.py`` puts into build/docs-source."""

from __future__ import annotations

from pathlib import Path
from typing import Any

STAGE = Path(__file__).resolve().parents[2] / "build" / "docs-source"

project = "workbench"
author = "workbench contributors"
copyright = "workbench contributors. Software: Apache-2.0"
language = "en"
extensions = ["myst_nb", "sphinx.ext.autodoc", "sphinx.ext.autosummary", "sphinx.ext.napoleon"]
exclude_patterns = ["_static", "_extra"]
root_doc = "index"

# -- pages ----------------------------------------------------------------------------------------------------------
myst_enable_extensions = ["colon_fence", "deflist", "fieldlist"]
myst_heading_anchors = 4
nb_execution_mode = "off"
nb_merge_streams = True
nb_mime_priority_overrides = [("html", "image/png", 1), ("html", "text/html", 5)]

# -- reference ------------------------------------------------------------------------------------------------------
autosummary_generate = False
autodoc_member_order = "groupwise"
autodoc_typehints = "signature"
autodoc_typehints_format = "short"
autodoc_preserve_defaults = True
napoleon_google_docstring = False
napoleon_numpy_docstring = True
napoleon_use_rtype = False
napoleon_use_ivar = True
python_use_unqualified_type_names = True
# Links between pages and headings are checked. Types in signatures are checked by mypy, and half of them are private.
nitpicky = True
nitpick_ignore_regex = [("py:.*", ".*")]
# A stored figure has a picture, too, which is shown; "bytes" in a signature is Python's, not an attribute of this name.
suppress_warnings = ["mystnb.unknown_mime_type", "ref.python"]

# -- site -----------------------------------------------------------------------------------------------------------
html_theme = "pydata_sphinx_theme"
html_title = "workbench"
html_static_path = [str(STAGE / "_static")]
html_css_files = ["site.css"]
html_extra_path = [str(STAGE / "_extra")]
html_copy_source = True
html_show_sourcelink = True
html_sourcelink_suffix = ""
html_theme_options = {
    "navbar_align": "left",
    "header_links_before_dropdown": 6,
    "show_toc_level": 2,
    "navigation_depth": 3,
    "show_prev_next": True,
    "use_edit_page_button": False,
    "navbar_end": ["theme-switcher"],
    "navbar_persistent": ["search-button"],
    "footer_start": ["copyright"],
    "footer_end": [],
    "secondary_sidebar_items": ["page-toc", "sourcelink"],
    "pygments_light_style": "a11y-high-contrast-light",
    "pygments_dark_style": "a11y-high-contrast-dark",
}


def setup(app: Any) -> None:
    """Gives the toggles of the navigation a name, and those of folded cells the one that they show."""
    app.connect("build-finished", name_toggles)


def name_toggles(app: Any, error: Exception | None) -> None:
    toggle = '<summary><span class="toctree-toggle"'
    for path in Path(app.outdir).rglob("*.html"):
        page = path.read_text(encoding="utf-8")
        named = page.replace(toggle, toggle.replace("<summary>", '<summary aria-label="Pages of this section">'))
        named = named.replace('<summary aria-label="Toggle hidden content">', "<summary>")
        if named != page:
            path.write_text(named, encoding="utf-8")
