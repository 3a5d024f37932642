"""The part that is compiled: executor, trace rows, shape trie, type rules, typed kernels, streaming statistics.

Imports nothing of ours.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from workbench.kernels.shape_info import ShapeInfo as ShapeInfo
    from workbench.kernels.shape_trie import SHAPES as SHAPES
    from workbench.kernels.shape_trie import ShapeTrie as ShapeTrie
    from workbench.kernels.typed import call as call

# Loaded on first use: the build reads parts of this package before anything is compiled.
_WHERE = {"ShapeTrie": "shape_trie", "SHAPES": "shape_trie", "ShapeInfo": "shape_info", "call": "typed"}


def __getattr__(name: str) -> Any:
    if name not in _WHERE:
        raise AttributeError(f"module {__name__!r} has no attribute {name!r}")
    from importlib import import_module

    return getattr(import_module(f"{__name__}.{_WHERE[name]}"), name)
