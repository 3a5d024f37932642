"""Random walks of the debugger's commands: one session keeps everything, another next to nothing, both do the same."""

from __future__ import annotations

import random
from collections import Counter
from collections.abc import Callable
from contextlib import ExitStack
from typing import Any

import numpy as np

import workbench as wb
from tests.ir.programs import count, nested
from tests.plan.random_arrays import ArrayMaker
from tests.plan.random_graphs import Maker
from tests.session.edited_reference import another, root
from tests.session.test_recomputed_nested import reading_outer
from workbench.errors import WorkbenchError
from workbench.ir.node import Ref

#: trace and bytes of the session that keeps little
SETTINGS: list[tuple[Any, int | None]] = [
    ("all", 1 << 12),
    ("all", 1 << 16),
    ("carried", 1 << 12),
    ("carried", 1 << 26),
    ("stats", 1 << 12),
    ("stats", 1 << 26),
    ("off", 1 << 12),
    ("off", 1 << 26),
    (wb.Retention("window", window=2, memory=1 << 13), None),
    (wb.Retention("none", every=3, memory=1 << 13), None),
    (wb.Retention("statistics", window=1, memory=1 << 14), None),
    (wb.Retention("carried", window=2, memory=1 << 14), None),
]
PROGRAMS: dict[str, Callable[[int], tuple[Any, dict[str, Any]]]] = {
    "nesting": lambda seed: Maker(seed).make(),
    "arrays": lambda seed: ArrayMaker(seed).make(),
    "nested": lambda seed: (nested(3), {"start": 0.0}),
    "count": lambda seed: (count(30.0), {"start": 0.0}),
    "wide": lambda seed: (reading_outer(700), {"a": np.arange(700.0)}),
}
CONDITIONS = ["value > 0", "any(value < 2)", "delta != 0", "iteration == 1", "iteration > 2", "isnan(value)"]
#: programs with more events are left out
MOST_EVENTS = 3000
COUNTED = ("step", "step_back", "step_over", "step_back_over", "next_iteration", "previous_iteration")
MOVES = (
    *COUNTED,
    "step_into",
    "step_out",
    "step_back_out",
    "run",
    "resume",
    "reverse_continue",
    "restart",
    "next_branch",
    "previous_branch",
)
COMMANDS = ("move",) * 6 + ("breakpoint", "value") * 2 + ("run_to", "edit", "series", "fork", "update")


class Walk(ExitStack):
    """A pair of sessions on one random program, and what was said to them; left, it closes all of them."""

    programs, settings = PROGRAMS, SETTINGS

    def __init__(self, seed: int) -> None:
        super().__init__()
        self.r = r = random.Random(f"commands {seed}")
        self.said: list[str] = []
        self.outcomes: Counter[str] = Counter()
        self.edited: set[Ref] = set()
        self.kind = r.choice(list(self.programs))
        self.graph, self.feeds = self.programs[self.kind](seed)
        self.setting = r.choice(self.settings)
        trace, budget = self.setting
        self.whole = self.enter_context(wb.Session(self.graph, self.feeds))
        self.thin = self.enter_context(self.other(trace, {} if budget is None else {"memory_budget": budget}))
        nodes, both = self.whole.plan.layout.nodes, self.thin.plan.layout.values
        self.nodes = [n.name for n in nodes if not n.silent and self.graph.nodes[n.name].types]
        self.refs = [Ref(*key) for key in self.whole.plan.layout.values if key in both]

    def other(self, trace: Any, room: dict[str, int]) -> wb.Session:
        return wb.Session(self.graph, self.feeds, trace=trace, **room)

    def walk(self, commands: int) -> None:
        self.whole.step(MOST_EVENTS + 1)
        if self.whole.state != "finished":
            return
        self.whole.restart()
        if not self.nodes:
            return
        for _ in range(commands):
            getattr(self, f"_{self.r.choice(COMMANDS)}")()
            assert not [p for p in self.thin.breakpoints.all() if p.internal]
        self._everything()

    # both sessions

    def both(self, said: str, do: Callable[[wb.Session], Any]) -> tuple[Any, Any]:
        """The same on both: the same comes, or an error with the same slug."""
        self.said.append(said)
        other = told(do, self.thin)
        if getattr(other, "slug", "") == "not-editable":  # statistics of what was edited would be wrong
            self.outcomes["not-editable"] += 1
            return other, other
        one = told(do, self.whole)
        assert isinstance(one, WorkbenchError) == isinstance(other, WorkbenchError), f"{said}: {one!r}, but {other!r}"
        if isinstance(one, WorkbenchError):
            assert one.slug == other.slug, f"{said}: {one!r}, but {other!r}"
            self.outcomes["refused"] += 1
        elif isinstance(one, wb.Stop):
            assert (one.reason, one.event, one.tag) == (other.reason, other.event, other.tag), (
                f"{said}: {one}, but {other}"
            )
            assert one.fired == other.fired and self.whole.state == self.thin.state, said
            self.outcomes[one.reason.name] += 1
        else:
            self.outcomes["answered"] += 1
        return one, other

    def _move(self) -> None:
        command = self.r.choice(MOVES)
        given = (self.r.choice([1, 1, 2, 3, 7, 40]),) if command in COUNTED else ()
        self.both(f"{command}{given}", lambda s: getattr(s, command)(*given))

    def _run_to(self) -> None:
        name, path = self.r.choice(self.nodes), self._path(self.r.choice(self.nodes))
        if self.r.random() < 0.7:
            path = self._path(name)
        self.both(f"run_to({name!r}, {path})", lambda s: s.run_to(name, path))

    def _path(self, name: str) -> tuple[int, ...] | None:
        return tuple(self.r.choice([0, 0, 1, 2, 5]) for _ in self._frames(name)) or None

    def _frames(self, name: str) -> tuple[Any, ...]:
        frame = self.graph.frame_of(name)
        return tuple(frame or ())

    def _breakpoint(self) -> None:
        points = list(self.whole.breakpoints)
        if points and self.r.random() < 0.4:
            number = self.r.choice(points).number
            how = self.r.choice(["remove", "toggle"])
            self.both(f"{how}({number})", lambda s: getattr(s.breakpoints, how)(number))
            return
        if len(points) > 3:
            self.both("clear()", lambda s: s.breakpoints.clear())
            return
        point: dict[str, Any] = {"where": self.r.choice(self.nodes)}
        kind = self.r.randrange(6)
        if kind == 1:
            point["when"] = self.r.choice(CONDITIONS)
        elif kind == 2:
            point["health"] = self.r.choice(["zero", "unchanged", "nan", "inf"])
        elif kind == 3:
            point["watch"] = "change"
        elif kind == 4:
            point = {"where": "*", "op": self.r.choice(["Merge", "add", "Switch", "less"])}
        elif kind == 5:
            point["iteration"] = self.r.randint(0, 3)
        if self.r.random() < 0.3:
            point["hits"] = self.r.randint(1, 4)
        self.both(f"add({point})", lambda s: s.breakpoints.add(**point).number)

    def _edit(self) -> None:
        ref = self.r.choice(self.refs)
        try:
            before = self.whole.value(ref)
        except WorkbenchError:
            return
        value = another(self.r, before)
        if value is not None:
            one, _ = self.both(f"set_value({ref}, {value.tolist()})", lambda s: s.set_value(str(ref), value))
            if isinstance(one, wb.Stop):
                self.edited.add(root(self.graph, ref, ())[0])

    def _update(self) -> None:
        if self.r.random() < 0.7:
            return
        name = self.r.choice([*self.feeds, None])
        value = None if name is None else another(self.r, np.asarray(self.whole.inputs.get(name, 0)))
        if value is not None and self._ends(name, value):
            self.both(f"update({name}={value.tolist()})", lambda s: s.update({name: value}) and None)

    def _ends(self, name: str, value: np.ndarray) -> bool:
        """True if the program ends with another input."""
        with wb.Session(self.graph, {**self.whole.inputs, name: value}, trace="off") as session:
            session.step(MOST_EVENTS)
            return session.state == "finished"

    def _fork(self) -> None:
        one, other = self.both("fork()", lambda s: s.fork())
        if isinstance(one, wb.Session):
            self.enter_context(one)
            self.enter_context(other)
            if self.r.random() < 0.5:
                self.whole, self.thin = one, other

    def _value(self) -> None:
        ref = self.r.choice(self.refs)
        paths = [tuple(p) for p in self.whole.trace[ref].iterations.tolist()]
        path = self.r.choice(paths) if paths and self.r.random() < 0.8 else None
        self._same_value(ref, path)

    def _same_value(self, ref: Ref, path: tuple[int, ...] | None) -> None:
        one, other = self.both(f"value({ref}, {path})", lambda s: s.value(ref, path or None))
        if not isinstance(one, WorkbenchError) and not self._may_show_an_edit(ref):
            assert equal(one, other), f"{ref} at {path} is {other!r}, expected {one!r}"

    def _series(self) -> None:
        ref = self.r.choice([r for r in self.refs if self._frames(r.node)] or self.refs)
        depth = len(self._frames(ref.node))
        if not depth:
            return
        within = tuple(self.r.choice([0, 0, 1]) for _ in range(depth - 1))
        start, step = self.r.randint(0, 2), self.r.choice([1, 1, 2])
        one, other = self.both(
            f"values({ref}, {start}, None, {step}, within={within})",
            lambda s: s.values(ref, start, None, step, within=within),
        )
        if isinstance(one, tuple) and not self._may_show_an_edit(ref):
            assert one[1].dtype == other[1].dtype or not len(one[1]), (
                f"{ref}: {other[1].dtype}, expected {one[1].dtype}"
            )
            assert np.array_equal(one[0], other[0]), f"{ref} has iterations {other[0]}, expected {one[0]}"
            assert all(equal(a, b) for a, b in zip(one[1], other[1], strict=True)), ref

    def _may_show_an_edit(self, ref: Ref) -> bool:
        """A record that holds a value once, under all its names, shows an edit also where it was read before."""
        return root(self.graph, ref, ())[0] in self.edited

    def _everything(self) -> None:
        """Every value of the whole record, read from the thin one."""
        for ref in self.r.sample(self.refs, min(6, len(self.refs))):
            paths = [tuple(p) for p in self.whole.trace[ref].iterations.tolist()]
            for path in self.r.sample(paths, min(4, len(paths))):
                self._same_value(ref, path)


def told(do: Callable[[wb.Session], Any], session: wb.Session) -> Any:
    """The result of a command, or its error: no other than those of workbench."""
    try:
        return do(session)
    except WorkbenchError as error:
        return error


def equal(one: Any, other: Any) -> bool:
    if not isinstance(one, np.ndarray | np.generic):
        return type(one) is type(other)
    a, b = np.asarray(one), np.asarray(other)
    return a.dtype == b.dtype and a.shape == b.shape and a.tobytes() == b.tobytes()
