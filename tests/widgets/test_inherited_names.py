"""A widget of ours replaces nothing of ipywidgets, anywidget or plotly by accident: a private name may be theirs."""

from __future__ import annotations

import importlib
import pkgutil

import ipywidgets
import pytest

import workbench as wb
import workbench.widgets
from tests.widgets.graphs import newton

#: names that are there to be given or extended by a subclass
MEANT = {
    "_esm",
    "_css",
    "_anywidget_commands",
    "_view_count",
    "_model_name",
    "_view_name",
    "_repr_mimebundle_",
    "_traits",
    "_trait_default_generators",
    "_all_trait_default_generators",
    "_static_immutable_initial_values",
    "_descriptors",
    "_instance_inits",
}


def classes() -> list[type]:
    """All widget classes of the package."""
    for module in pkgutil.walk_packages(workbench.widgets.__path__, "workbench.widgets."):
        importlib.import_module(module.name)
    found, todo = set(), [ipywidgets.Widget]
    while todo:
        for kind in todo.pop().__subclasses__():
            todo.append(kind)
            if kind.__module__.startswith("workbench."):
                found.add(kind)
    return sorted(found, key=lambda kind: kind.__qualname__)


@pytest.mark.parametrize("kind", classes(), ids=lambda kind: kind.__qualname__)
def test_private_names(kind):
    ours = [base for base in kind.__mro__ if base.__module__.startswith("workbench.")]
    theirs = [base for base in kind.__mro__ if base not in ours and base is not object]
    names = {name for base in ours for name in vars(base) if name.startswith("_") and not name.endswith("__")}
    taken = {name: base.__qualname__ for name in names - MEANT for base in theirs if name in vars(base)}
    assert not taken


def test_all_parts_are_written_and_saved():
    """Attributes that ``repr`` reads, and JupyterLab when it saves widgets."""
    panel = wb.debug(newton(), {"a": 2.0, "x0": 100.0})
    views = [panel, panel.toolbar, panel.time, *panel.parts, *(panel.panes.show(name) for name in panel.panes.names)]
    for view in views:
        assert repr(view)
        for widget in (view, getattr(view, "live", view)):
            assert widget.get_state(drop_defaults=True)
    panel.close()
