"""Makes a watch: chooses its class, and the enclosing watch that it belongs to."""

from __future__ import annotations

import importlib
import importlib.util
from typing import Any

from workbench.errors import WatchError
from workbench.recorder.until import parse_until
from workbench.recorder.watch import ACTIVE, Watch


def watch(loop: Any = "loop", /, **options: Any) -> Watch:
    """Make the watch of :func:`workbench.watch`, without its view.

    Parameters
    ----------
    loop : str or iterable, default "loop"
        The name of the loop, or the items over which a ``for`` loop runs.
    **options
        Parameters of :class:`Watch`; ``name``, for an iterable; ``ops``, ``modules`` and ``optimizer`` for an eager
        PyTorch loop.

    Returns
    -------
    Watch
        Inside the ``with`` block of another watch, its child: one run of the inner loop for each outer iteration.

    Raises
    ------
    WatchError
        With slug ``bad-watch``, for a loop that is neither a name nor an iterable, and for unknown options.
    """
    items, name = None, loop
    if not isinstance(loop, str):
        items, name = loop, options.pop("name", None) or "loop"
        if not hasattr(items, "__iter__"):
            raise WatchError(
                f"watch: expected the name of the loop or an iterable, got a {type(items).__name__}.",
                slug="bad-watch",
                fix='write wb.watch("cg") or wb.watch(solver.iterations()).',
            )
    around = ACTIVE.get()[-1:]
    kind = _kind_of(options, around)
    if not around:
        return kind(name, items=items, **options)
    parent = around[0]
    if name == parent.name:
        raise WatchError(
            f"watch: the loop inside of {parent.name!r} has the same name.",
            slug="bad-watch",
            fix="give each loop a name of its own.",
        )
    found = parent.children.get(name)
    if found is None:
        found = parent.children[name] = Watch(name, items=items, parent=parent, **_inner(options))
    else:
        found._items, found.until = items, parse_until(options.get("until"))
        found.state, found.pending = "ready", True
    return found


def _kind_of(options: dict[str, Any], around: tuple[Watch, ...]) -> type[Watch]:
    """The class of watch for ``ops``."""
    ops = options.pop("ops", None)
    if ops is None:
        for name in ("modules", "optimizer"):
            if name in options:
                raise WatchError(
                    f"watch: {name}= is for loops whose ops are recorded.", slug="bad-watch", fix='add ops="torch".'
                )
        return Watch
    if ops != "torch":
        raise WatchError(
            f"watch: ops must be None or 'torch', got {ops!r}.",
            slug="bad-watch",
            fix='write ops="torch" to record the ops of eager PyTorch.',
        )
    if around:
        raise WatchError(
            f"watch: the ops of a loop inside of {around[0].name!r} cannot be recorded apart from it.",
            slug="bad-watch",
            fix='write ops="torch" at the outermost watch, which records the ops of all loops inside.',
        )
    if importlib.util.find_spec("torch") is None:
        raise WatchError(
            'watch: ops="torch" needs PyTorch, which is not installed.', slug="no-torch", fix="pip install torch"
        )
    kind: type[Watch] = importlib.import_module("workbench.recorder.eager.eager_watch").EagerWatch
    return kind


def _inner(options: dict[str, Any]) -> dict[str, Any]:
    """The options of a watch inside another one, with which it is shown and reported."""
    return {key: value for key, value in options.items() if key not in ("show", "report")}
