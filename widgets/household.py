"""Panels that nobody can reach any more are closed: their cell was run again, and the name means another panel now.

ipywidgets keeps every widget alive, so a panel is never collected. In a notebook, after each cell and when a browser
stops to show it, a panel made by ``wb.debug`` is closed if it had a name, has none any more, no list or dictionary of
the notebook holds it or its session, and no browser shows it. One that never had a name, the last line of a cell, is
closed after a cell if it was shown and is shown no more. What a name still means is kept, also when its output is
cleared: showing it again must work; without a view in a browser it has no thread but its session's.
"""

from __future__ import annotations

import weakref
from collections.abc import Mapping
from typing import Any

#: items of a container of the notebook that are looked through
MAX_ITEMS = 1000

_named: weakref.WeakKeyDictionary[Any, bool] = weakref.WeakKeyDictionary()
_seen: weakref.WeakSet[Any] = weakref.WeakSet()
_hooked: weakref.WeakSet[Any] = weakref.WeakSet()


def watch(panel: Any) -> None:
    """Look after a panel that closes its own session."""
    shell = _shell()
    if shell is None:
        return
    _named[panel] = False
    for part in (panel.toolbar, panel.time, *(view.live for view in panel.parts)):
        part.on_msg(_heard)
    if shell not in _hooked:
        shell.events.register("post_run_cell", _after_cell)
        _hooked.add(shell)


def _shell() -> Any:
    try:
        from IPython import get_ipython
    except ImportError:
        return None
    return get_ipython()  # type: ignore[no-untyped-call]


def _after_cell(_result: Any = None) -> None:
    shell = _shell()
    if shell is not None:
        tidy(shell.user_ns)


def _heard(_widget: Any, content: Mapping[str, Any], _buffers: Any) -> None:
    """A view has gone in a browser: those of a cell that is run again go when the cell is over."""
    shell = _shell()
    if shell is not None and content.get("kind") == "gone":
        tidy(shell.user_ns, nameless=False)
    elif content.get("kind") == "view":
        _seen.update(panel for panel in list(_named) if panel.comm is not None and shown(panel))


def tidy(names: Mapping[str, Any], nameless: bool = True) -> list[Any]:
    """Close the watched panels that had a name in this namespace and are out of reach now; gives those.

    With ``nameless`` also those that never had one, were shown, and are not shown now.
    """
    reachable = _reachable(names)
    closed = []
    for panel in list(_named):
        if panel.comm is None:
            del _named[panel]
        elif id(panel) in reachable or id(panel.session) in reachable:
            _named[panel] = True
        elif (_named[panel] or nameless and panel in _seen) and not shown(panel):
            del _named[panel]
            panel.close()
            closed.append(panel)
    return closed


def shown(panel: Any) -> bool:
    """Whether a browser shows some part of the panel."""
    return any(part.views > 0 for part in (panel.toolbar, panel.time, *panel.parts) if part is not None)


def _reachable(names: Mapping[str, Any]) -> set[int]:
    """Ids of what the names of a notebook mean, and of what is in their containers; IPython's own do not count."""
    found: set[int] = set()
    for name, value in list(names.items()):
        if name.startswith("_") or name in ("In", "Out"):
            continue
        found.add(id(value))
        if isinstance(value, Mapping):
            value = list(value.values())[:MAX_ITEMS]
        if isinstance(value, list | tuple | set | frozenset):
            found.update(id(item) for item in list(value)[:MAX_ITEMS])
        elif hasattr(value, "__dict__") and not isinstance(value, type):
            found.update(id(item) for item in list(vars(value).values())[:MAX_ITEMS])
    return found
