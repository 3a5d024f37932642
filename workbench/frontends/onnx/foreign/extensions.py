"""Ops of onnxruntime_extensions (tokenizers and the like): sessions with such a node load its library."""

from __future__ import annotations

import functools
import importlib
import importlib.util

from workbench.errors import LoadError

#: domains that the library registers
DOMAINS = ("ai.onnx.contrib", "com.microsoft.extensions")
_PACKAGE = "onnxruntime_extensions"


def missing(domain: str) -> str | None:
    """The reason why ops of a domain are unavailable, if a package is missing; otherwise None."""
    if domain not in DOMAINS or importlib.util.find_spec(_PACKAGE) is not None:
        return None
    return f"its domain is that of the package {_PACKAGE}, which is not installed: pip install {_PACKAGE}"


@functools.cache
def _path() -> str:
    try:
        return str(importlib.import_module(_PACKAGE).get_library_path())
    except Exception as error:  # its import may raise any exception
        raise LoadError(
            f"The package {_PACKAGE} cannot be used: {error}.", slug="missing-extra", fix=f"install {_PACKAGE} again."
        ) from error


def library_of(domain: str) -> str | None:
    """Path of the library with the ops of a domain; None if onnxruntime has them itself."""
    return _path() if domain in DOMAINS and missing(domain) is None else None
