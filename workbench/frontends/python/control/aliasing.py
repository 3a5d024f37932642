"""Arrays that may be the same, or share memory, when an iteration of a loop begins.

This is recorded for pairs of places, not for groups: two arrays that a loop swaps in every iteration are never the
same.
"""

from __future__ import annotations

from typing import Any

from workbench.frontends.python.engine import Engine
from workbench.frontends.python.memory import root
from workbench.frontends.python.objects import ArrayCell, Cell, Missing
from workbench.frontends.python.values.pytree import Template
from workbench.frontends.python.values.pytree_leaves import places_in

#: a variable, or a list or dict that changes in the loop, and the positions and keys in it
Place = tuple[Any, ...]


class Sharing:
    """Places of a loop and the arrays that they may hold. ``ends`` are arrays from before the loop that may be at a
    place when an iteration begins, ``together`` pairs of places that may hold the same array.
    """

    engine: Engine
    names: dict[str, Template]
    fresh: dict[str, Template]
    cells: dict[Cell, Any]
    ends: dict[Place, dict[Cell, None]]
    together: set[tuple[Place, Place]]
    _start: dict[str, Any]
    _heap: dict[Cell, Any]

    def _collect_ties(self) -> bool:
        """Record the arrays from before the loop that a place may hold when an iteration begins, and the places that
        may share an array; True if something changed.
        """
        changed = False
        held: dict[Place, Cell] = {}
        for key in (*self.names, *self.fresh, *self._lists()):
            held.update(self._places(key, self.engine.scope.vars, self.engine.heap))
        for place, cell in held.items():
            known = self.ends.setdefault(place, {})
            for other in self.engine.related(cell):
                if other in self._heap and other not in known:
                    known[other] = None
                    changed = True
        return self._pair(held) | changed

    def _lists(self) -> list[Cell]:
        return [cell for cell in self.cells if not isinstance(cell, ArrayCell)]

    def _places(self, key: Any, variables: dict[str, Any], heap: dict[Cell, Any]) -> dict[Place, Cell]:
        """The content of a variable, or a list or dict that changes in the loop, by place."""
        thing = value_of(variables.get(key)) if isinstance(key, str) else key
        found = {(key, *place): root(cell) for place, cell in places_in(thing, heap).items()}
        return found if isinstance(key, str) else {p: c for p, c in found.items() if len(p) > 1}

    def _may_hold(self, place: Place) -> list[Cell]:
        """Arrays from before the loop that may be the array at a place, or share memory with it."""
        start = self._places(place[0], self._start, self._heap).get(place)
        starts = () if start is None else (start,)
        return [r for c in (*starts, *self.ends.get(place, ())) for r in self.engine.related(c) if r in self._heap]

    def _pair(self, held: dict[Place, Cell]) -> bool:
        """Record pairs of places that may hold the same array; True if there is a new pair."""
        before = len(self.together)
        places = list(held)
        for k, one in enumerate(places):
            mine = set(self.engine.related(held[one]))
            self.together.update((one, two) for two in places[k + 1 :] if held[two] in mine)
        return len(self.together) > before


def value_of(thing: Any) -> Any:
    """The value of a variable; for one that is only set on the way to a break, that value."""
    return thing.partial if isinstance(thing, Missing) and thing.after_break else thing


__all__ = ["Place", "Sharing", "value_of"]
