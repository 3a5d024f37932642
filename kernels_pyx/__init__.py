"""Floor 0: everything compiled. Imports nothing of ours."""

from typing import Any


def __getattr__(name: str) -> Any:
    """``call`` is loaded when asked for: the build imports this package before anything is compiled."""
    if name == "call":
        from workbench.kernels.typed import call

        return call
    raise AttributeError(f"module {__name__!r} has no attribute {name!r}")
