"""Optional libraries: imported on demand, with one error for each kind of failure."""

from __future__ import annotations

import importlib
import importlib.util
import re
import sys
import warnings
from typing import Any

from workbench.errors import WorkbenchError

#: the project's name for pip; the package called only "workbench" belongs to another project
DISTRIBUTION = "graph-workbench"
SUMMARY = "Step, trace and understand computation graphs"
NAMESAKE = (
    "Another project, workbench {}, is installed in this environment. Its modules have the same import name as those "
    "of graph-workbench, and overwrite them or are overwritten by them."
)
APART = (
    "install the two in different environments; here, run pip uninstall workbench and then pip install "
    "--force-reinstall --no-deps graph-workbench."
)
_NOTEBOOK = ("ipywidgets>=8.1", "anywidget>=0.9", "plotly>=6.5", "tsdownsample>=0.1.4.1", "fast-sugiyama>=0.5")
#: extra of the project -> what it installs, as in pyproject.toml
EXTRAS: dict[str, tuple[str, ...]] = {
    "notebook": _NOTEBOOK,
    "lab": (*_NOTEBOOK, "jupyterlab>=4.2", "llvmlite>=0.45"),
    "arrow": ("pyarrow>=16",),
    "onnx": ("onnx>=1.16", "onnxruntime>=1.19", "pillow>=10"),
    "tensorflow": ("tensorflow>=2.16",),
    "jax": ("jax>=0.7,<0.13",),
    "torch": ("torch>=2.9",),
    "images": ("kaleido>=1",),
    "gpu": ("cupy-cuda12x>=13.4", "array-api-compat>=1.11"),
    "array-api": ("array-api-compat>=1.11",),
    "llvm": ("llvmlite>=0.45",),
    "distributed": ("distributed>=2024.1",),
    "mcp": ("mcp>=2",),
}


def install(extra: str) -> str:
    """The command that installs the libraries of an extra: ``pip install "jax>=0.7,<0.13"``."""
    return "pip install " + " ".join(f'"{requirement}"' for requirement in EXTRAS[extra])


def namesake() -> str:
    """The version of another project whose modules have our import name, "" if none is installed here.

    PyPI also has a project named ``workbench``. If both are installed in one environment, they share a folder, and the
    files of the one installed last are used.
    """
    import importlib.metadata

    for found in importlib.metadata.distributions(name="workbench"):
        # otherwise an installation from before the name changed
        if not (found.metadata["Summary"] or "").startswith(SUMMARY):
            return str(found.version)
    return ""


def warn_of_namesake() -> None:
    """Warn if another project with our import name is installed here."""
    version = namesake()
    if version:
        warnings.warn(f"{NAMESAKE.format(version)} To fix it: {APART}", stacklevel=3)


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
        The feature that needs it, as the beginning of a sentence: "Writing a picture".
    fix : str, optional
        How to get the module if it is missing; by default its package with pip.
    error, slug
        The error and its slug if the module is missing. If it is installed but cannot be imported, the slug is
        ``broken-library``, and the message gives the cause.
    called : str, optional
        Its name in the message; by default that of its package.
    """
    name = called or module.partition(".")[0]
    try:
        return importlib.import_module(module)
    except Exception as failed:  # a library in a broken installation may raise any exception
        if is_missing(module):
            raise error(
                f"{purpose} needs {name}, which is not installed.", slug=slug, fix=fix or f"pip install {name}."
            ) from failed
        raise error(
            f"{purpose} needs {name}, which is installed and cannot be imported: {type(failed).__name__}: "
            f"{' '.join(str(failed).split())[:300]}",
            slug="broken-library",
            fix=f'run {sys.executable} -c "import {module}" to see the whole error; then reinstall it, or the library '
            "that the error names.",
        ) from failed


def lacking(extra: str) -> list[str]:
    """The packages of ``notebook`` or ``lab`` that are not installed; versions are not checked."""
    names = (re.split(r"[<>=!~]", requirement)[0] for requirement in EXTRAS[extra])
    return [name for name in names if is_missing(name.replace("-", "_"))]


def need_extra(extra: str, purpose: str) -> None:
    """Raise WorkbenchError ``missing-library`` if a package of an extra is missing; ``purpose`` begins its sentence."""
    if missing := lacking(extra):
        raise WorkbenchError(
            f"{purpose} needs {', '.join(missing)}, which {'is' if len(missing) == 1 else 'are'} not installed.",
            slug="missing-library",
            fix=f"{install(extra)}.",
        )


def is_missing(module: str) -> bool:
    """True if the package of a module is missing; False if it is present, whether or not it can be imported."""
    try:
        return importlib.util.find_spec(module.partition(".")[0]) is None
    except ValueError:  # a module without a spec was put into sys.modules
        return False
