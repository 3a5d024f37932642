"""The JavaScript of the widgets: a loader that anywidget imports for each, and the script that the loader imports once.

A browser keeps every module that it has imported until the page is closed, and anywidget imports one for each widget.
That module is small (``base/loader.js``); the script is sent in a trait, ``_script``, and a browser imports it once for
all widgets that use it.
"""

from __future__ import annotations

import hashlib
import re
from functools import cache
from pathlib import Path
from typing import Any

import traitlets

#: file names are relative to this folder, such as ``graph/graph_tools.js``
WIDGETS = Path(__file__).parents[1]
_COMMENTS = re.compile(r"^ *//.*\n", re.MULTILINE)


@cache
def joined(*names: str) -> str:
    """Several files of the widgets as one text. It is a text instead of a path, because anywidget watches a file for
    each widget, and the watch keeps the widget forever. Each widget sends the text, so comment lines are removed.
    """
    return "".join(_COMMENTS.sub("", (WIDGETS / name).read_text()) for name in names)


@cache
def module(*names: str) -> str:
    """The ES module of these files of the widgets, with the prelude's functions (``make``, ``tell``, ``follow`` ...) in
    scope; the last file contains the export."""
    return joined("base/comm.js", "base/late.js", "base/dom.js", *names)


def script(*names: str) -> Any:
    """The trait ``_script`` of a widget whose ``_esm`` is :data:`LOADER`: the module of these files."""
    return traitlets.Unicode(module(*names)).tag(sync=True)


def _loader() -> str:
    """The loader and its dependencies in one function, which the page calls once; its key is a hash of its text, so
    that the loaders of two versions of this package are not confused.
    """
    text = joined("base/loader.js").replace("IMPORTED", joined("base/imported.js"))
    return text.replace("KEY", f'"__workbenchLoader-{hashlib.sha256(text.encode()).hexdigest()[:12]}"')


LOADER = _loader()
