"""Closes panels that became unreachable because their notebook cell was re-run.

ipywidgets keeps every widget alive, so a panel is never collected. In a notebook, after each cell and when a browser
stops showing it, a panel made by ``wb.debug`` or ``wb.open_finding`` is closed if it had a name and has none now, no
list or dictionary of the notebook holds it or the run that it shows, and no browser shows it. A panel that never had a
name (the last line of a cell) is closed after a cell if it was shown and is no longer shown. If all cells run at once,
a browser draws their panels after they have lost their names: a panel that is not drawn yet stays until the cell that
displayed it runs again. A panel with a name is kept even if its output is cleared, because showing it again must work;
without a view in a browser it has no thread except its session's. A closed panel is also removed from IPython's history
of outputs (``_``, ``Out``), so that its session and the record of its run are freed. In marimo a panel is closed when
its cell runs again.
"""

from __future__ import annotations

import gc
import re
import weakref
from collections.abc import Mapping
from typing import Any, TypeVar

from workbench.widgets.base.stage.marimo_cell import closes_with_cell

#: maximum items of a container of the notebook that are searched
MAX_ITEMS = 1000
#: names under which IPython keeps the results of cells; the keys of its list of outputs are numbers
OWN = re.compile(r"_{1,3}|_?\d+")

Panel = TypeVar("Panel")
_named: weakref.WeakKeyDictionary[Any, bool] = weakref.WeakKeyDictionary()
_seen: weakref.WeakSet[Any] = weakref.WeakSet()
#: panel -> id of the cell that displayed it last
_displayed: weakref.WeakKeyDictionary[Any, str] = weakref.WeakKeyDictionary()
_hooked: weakref.WeakSet[Any] = weakref.WeakSet()


def watch(panel: Panel) -> Panel:
    """Watch a panel from now on; returns it."""
    shell: Any = _shell()
    made: Any = panel
    closes_with_cell(panel)
    if shell is None:
        return panel
    _named[made] = False
    for part in (made.toolbar, made.time, *(view.live for view in made.parts)):
        if part is not None:
            part.on_msg(_heard)
    if shell not in _hooked:
        shell.events.register("post_run_cell", _after_cell)
        _hooked.add(shell)
    return panel


def displayed(panel: Any) -> None:
    """Handle that a notebook has received the data that shows the panel."""
    cell = _cell()
    if panel in _named and cell is not None:
        _displayed[panel] = cell


def _cell() -> str | None:
    """Id of the running cell, if the notebook reports it."""
    parent: Mapping[str, Any] = getattr(_shell(), "get_parent", dict)()
    cell = (parent.get("metadata") or {}).get("cellId")
    return cell if isinstance(cell, str) else None


def _shell() -> Any:
    try:
        from IPython import get_ipython
    except ImportError:
        return None
    return get_ipython()  # type: ignore[no-untyped-call]


def _after_cell(_result: Any = None) -> None:
    shell = _shell()
    if shell is not None:
        _forget(shell, tidy(shell.user_ns))


def _heard(_widget: Any, content: Mapping[str, Any], _buffers: Any) -> None:
    """Handle that a browser has removed a view; views of a re-run cell are removed when the cell ends."""
    shell = _shell()
    if shell is not None and content.get("kind") == "gone":
        _forget(shell, tidy(shell.user_ns, nameless=False))
    elif content.get("kind") == "view":
        _seen.update(panel for panel in list(_named) if panel.comm is not None and shown(panel))


def tidy(names: Mapping[str, Any], nameless: bool = True) -> list[Any]:
    """Close the watched panels that had a name in this namespace and are now unreachable; returns them.

    With ``nameless`` also those that never had a name, were shown, and are not shown now.
    """
    reachable = _reachable(names)
    cell = _cell()
    closed = []
    for panel in list(_named):
        if panel.comm is None:
            del _named[panel]
        elif id(panel) in reachable or id(_record(panel)) in reachable:
            _named[panel] = True
        elif panel not in _seen and _displayed.get(panel, cell) != cell:
            continue  # a browser has yet to draw it
        elif (_named[panel] or nameless and panel in _seen) and not shown(panel):
            del _named[panel]
            panel.close()
            closed.append(panel)
    return closed


def _forget(shell: Any, closed: list[Any]) -> None:
    """Remove closed panels from IPython's history of outputs, and free them and the records of their sessions."""
    if not closed:
        return
    records = [weakref.ref(_record(panel)) for panel in closed]
    gone = {id(panel) for panel in closed}
    for names in (shell.user_ns, shell.user_ns_hidden, shell.history_manager.output_hist):
        for name in [n for n, value in list(names.items()) if id(value) in gone and OWN.fullmatch(str(n))]:
            del names[name]
    for name in ("_", "__", "___"):
        if id(getattr(shell.displayhook, name, None)) in gone:
            setattr(shell.displayhook, name, None)
    closed.clear()
    if any(record() is not None for record in records):  # widgets refer to each other and to the run that they show
        gc.collect()


def _record(panel: Any) -> Any:
    """Source of a panel: a session, or a recorded trace."""
    return panel.session if panel.session is not None else panel.source.trace


def shown(panel: Any) -> bool:
    """True if a browser shows some part of the panel."""
    parts = (panel.toolbar, panel.time, *(view.live for view in panel.parts))
    return any(part.drawn > 0 for part in parts if part is not None)


def _reachable(names: Mapping[str, Any]) -> set[int]:
    """Ids of the objects that the notebook's names refer to, and of the items of their containers; without IPython's
    own names.
    """
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
