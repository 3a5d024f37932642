"""One breakpoint: its values, its condition, and its action on a hit."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np

from workbench.debugger.breakpoints.hit_counter import HitCounter
from workbench.debugger.conditions.batch import Batch
from workbench.debugger.conditions.evaluate import Predicate
from workbench.debugger.conditions.logpoint_template import Template
from workbench.debugger.conditions.value_checks import LOOKS_BACK, failing_checks
from workbench.debugger.iteration_path import Path
from workbench.execution import Position
from workbench.ir.node import Ref
from workbench.text import facts_html, harmless, ordinal


class Breakpoint(HitCounter):
    """A breakpoint or logpoint. A plain breakpoint stops before its nodes. With ``when``, ``health`` or ``watch`` it
    stops right after a node has fired whose value meets all of them; with ``log`` it writes a line instead of stopping.

    Created by :meth:`Breakpoints.add`. Set ``enabled`` to switch it off and on.

    Parameters
    ----------
    number : int
        Its number in the list; negative for internal ones.
    where : str
        The name or pattern from which it was created.
    refs : tuple of Ref
        The values at whose nodes it stops; ``node`` is the node of the first value.
    iteration : tuple, optional
        One index per enclosing frame, outermost first; None matches any.
    when : Predicate, optional
        The condition on the value.
    hits : int, optional
        The hit at which to stop, counted from 1. ``hits_seen`` is the number of hits since the event at which the
        breakpoint was set, or since the beginning once the run has been before that event.
    every : int, optional
        Stops only at every k-th hit.
    health : tuple of str
        Checks of the value, such as "nan".
    watch : {"change"}, optional
        Stops when the value differs from that of the previous iteration.
    log : Template, optional
        The line to write instead of stopping.
    frame : tuple of str, optional
        The frame to which the breakpoint is restricted, outermost name first.
    op : str, optional
        The op, or a pattern of ops, to which the breakpoint is restricted.
    entry : bool, default False
        Whether it stops at the beginning of an iteration of ``frame``: ``refs`` are then the first node of iteration 0,
        and the first node of all later iterations.
    internal : bool, default False
        Whether a command set it: internal breakpoints are neither listed nor saved.
    changed : callable
        Called without arguments after ``enabled`` or a count has changed.
    probe : callable, optional
        Called before a node of an internal breakpoint; returns the reason to stop, or "".
    flips : bool, default False
        Whether it stops only if a Switch decides differently from last time.
    """

    def __init__(
        self,
        number: int,
        where: str,
        refs: tuple[Ref, ...],
        *,
        iteration: Path | None = None,
        when: Predicate | None = None,
        hits: int | None = None,
        every: int | None = None,
        health: tuple[str, ...] = (),
        watch: str | None = None,
        log: Template | None = None,
        frame: tuple[str, ...] | None = None,
        op: str | None = None,
        entry: bool = False,
        internal: bool = False,
        changed: Callable[[], None] = lambda: None,
        probe: Callable[[Position], str] | None = None,
        flips: bool = False,
    ) -> None:
        self.number, self.where, self.refs, self.iteration = number, where, refs, iteration
        super().__init__(hits, every)
        self.when, self.health, self.watch, self.log = when, health, watch, log
        self.frame, self.op, self.internal = frame, op, internal
        #: True if it stops at iterations of a frame: ``refs`` are the first node of iteration 0, and that of all others
        self.entry = entry
        #: called before a node of an internal breakpoint: returns the reason to stop, or an empty string
        self.probe = probe
        #: True if it stops only when a Switch goes to a different side from last time
        self.flips = flips
        self._enabled, self._changed = True, changed

    # -- description --------------------------------------------------------------------------------------------
    @property
    def node(self) -> str | None:
        """The node of its first value; None if no node of the graph matches."""
        return self.refs[0].node if self.refs else None

    @property
    def nodes(self) -> tuple[str, ...]:
        """The nodes of its values, without duplicates."""
        return tuple(dict.fromkeys(r.node for r in self.refs))

    @property
    def kind(self) -> str:
        """``"break"``, ``"conditional"``, ``"watch"`` or ``"log"``."""
        if self.log is not None:
            return "log"
        if self.watch is not None:
            return "watch"
        return "conditional" if self.when is not None or self.health else "break"

    @property
    def enabled(self) -> bool:
        """True if it is switched on."""
        return self._enabled

    @enabled.setter
    def enabled(self, on: bool) -> None:
        self._enabled = bool(on)
        self._changed()

    @property
    def after(self) -> bool:
        """True if it is checked after its node has fired, False if it is checked before."""
        return self.when is not None or bool(self.health) or self.watch is not None or self.log is not None

    @property
    def looks_back(self) -> int:
        """Number of previous iterations that it reads."""
        parts = [p for p in (self.when, self.log) if p is not None]
        own = int(self.watch is not None or any(p.looks_back for p in parts))
        return max([own, *(LOOKS_BACK.get(h, 0) for h in self.health)])

    @property
    def condition(self) -> str:
        """Its conditions as short text; empty for a plain breakpoint."""
        parts = []
        if self.health:
            parts.append(" or ".join(self.health))
        if self.watch is not None:
            parts.append("value changed")
        if self.when is not None:
            parts.append(f"when {self.when.text}")
        if self.hits is not None and self.every is not None:
            parts.append(f"from hit {self.hits} on at every {ordinal(self.every)} hit")
        elif self.hits is not None:
            parts.append(f"at hit {self.hits}")
        elif self.every is not None:
            parts.append(f"at every {ordinal(self.every)} hit")
        return ", ".join(parts)

    @property
    @harmless
    def text(self) -> str:
        """One readable line."""
        parts = [self.where]
        if len(self.refs) != 1 and not self.entry:
            parts[0] += f" ({len(self.refs):,} values)"
        if self.entry:
            parts[0] = f"frame {self.where}"
        elif self.frame is not None:
            parts.append(f"in frame {'/'.join(self.frame) or 'outermost'}")
        if self.op is not None:
            parts.append(f"op {self.op}")
        if self.iteration is not None:
            parts.append(f"iteration {', '.join('any' if i is None else str(i) for i in self.iteration)}")
        if self.condition:
            parts.append(self.condition)
        if self.log is not None:
            parts.append(f"log {self.log.text!r}")
        return ", ".join(parts)

    @harmless
    def __str__(self) -> str:
        return self.text

    @harmless
    def __repr__(self) -> str:
        return f"<Breakpoint {self.number}: {self.text}{'' if self.enabled else ', off'}>"

    @harmless
    def _repr_html_(self) -> str:
        facts = (
            ("at", self.text),
            ("hits", self.hits_seen),
            ("enabled", "yes" if self.enabled else "no"),
            ("set again by", self.code()),
        )
        return facts_html(f"Breakpoint {self.number}", facts)

    def to_data(self) -> dict[str, Any]:
        """Plain data for ``load_data``, without fields that equal their defaults."""
        found: dict[str, Any] = {"where": None if self.entry else self.where}
        found |= {
            "iteration": None if self.iteration is None else list(self.iteration),
            "when": None if self.when is None else self.when.text,
            "hits": self.hits,
            "every": self.every,
            "health": list(self.health) or None,
            "watch": self.watch,
            "log": None if self.log is None else self.log.text,
            "frame": None if self.frame is None else list(self.frame),
            "op": self.op,
        }
        found = {k: v for k, v in found.items() if v is not None}
        return found if self.enabled else found | {"enabled": False}

    def code(self) -> str:
        """A line of Python that creates the same breakpoint."""
        given = {k: v for k, v in self.to_data().items() if k != "enabled"}
        where = given.pop("where", None)
        if "iteration" in given:
            given["iteration"] = tuple(given["iteration"])
        if "frame" in given:
            given["frame"] = "/".join(given["frame"])
        if len(given.get("health", ())) == 1:
            given["health"] = given["health"][0]
        words = ([repr(where)] if where is not None else []) + [f"{k}={v!r}" for k, v in given.items()]
        line = f"session.breakpoints.add({', '.join(words)})"
        return line if self.enabled else f"{line}.enabled = False"

    # -- conditions ---------------------------------------------------------------------------------------------
    def matches(self, iteration: tuple[int, ...], node: str | None = None) -> bool:
        """True if a firing in ``iteration`` matches the breakpoint's iteration."""
        if self.entry and len(self.refs) > 1 and iteration and (node == self.refs[0].node) != (iteration[-1] == 0):
            return False
        if self.iteration is None:
            return True
        return len(self.iteration) == len(iteration) and all(
            want is None or want == is_ for want, is_ in zip(self.iteration, iteration, strict=True)
        )

    def holds(self, batch: Batch, health: tuple[str, ...] | None = None) -> np.ndarray:
        """(n,) mask of firings that meet its conditions; ``health`` replaces its checks if some of them are ignored."""
        found = np.ones(len(batch), bool)
        if self.health:
            found = failing_checks(self.health if health is None else health, batch)
        if self.watch is not None and found.any():
            found = found & changed(batch)
        if self.when is not None and found.any():
            found = found & self.when.over(batch)
        return found


def changed(batch: Batch) -> np.ndarray:
    """(n,) mask of values that differ from that of the previous iteration; NaN equals NaN."""
    before, there = batch.previous
    same = np.asarray(batch.values == before)
    if batch.values.dtype.kind in "fcV":
        same = same | (np.isnan(batch.values) & np.isnan(before))
    return np.asarray(there & ~same.reshape(len(same), -1).all(1))
