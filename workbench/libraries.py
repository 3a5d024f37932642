"""Libraries that the workbench can do without: imported when they are needed, with one error for each way to fail."""

from __future__ import annotations

import importlib
import importlib.util
import sys
from typing import Any

from workbench.errors import WorkbenchError


def needed(
    module: str,
    purpose: str = "This",
    fix: str = "",
    *,
    error: type[WorkbenchError] = WorkbenchError,
    slug: str = "missing-library",
    called: str = "",
) -> Any:
    """Import a module.

    Parameters
    ----------
    module : str
        Its dotted name.
    purpose : str
        What needs it, as the beginning of a sentence: "Writing a picture".
    fix : str, optional
        How to get it where it is missing; by default its package with pip.
    error, slug
        What is raised where it is missing. For a library that is installed and fails when it is imported the slug is
        ``broken-library``, and the message says how it fails.
    called : str, optional
        Its name in the message; by default that of its package.
    """
    name = called or module.partition(".")[0]
    try:
        return importlib.import_module(module)
    except Exception as failed:  # a library in a broken installation raises anything
        if is_missing(module):
            raise error(
                f"{purpose} needs {name}, which is not installed.", slug=slug, fix=fix or f"pip install {name}."
            ) from failed
        raise error(
            f"{purpose} needs {name}, which is installed and cannot be imported: {type(failed).__name__}: "
            f"{' '.join(str(failed).split())[:300]}",
            slug="broken-library",
            fix=f'run {sys.executable} -c "import {module}" to see the whole error; then install it, or what it names, '
            "again.",
        ) from failed


def is_missing(module: str) -> bool:
    """True if the package of a module is not there; False if it is, whether or not it can be imported."""
    try:
        return importlib.util.find_spec(module.partition(".")[0]) is None
    except ValueError:  # a module that was put in its place by hand
        return False
