"""A model of how the threads of a session wait for each other, and every order of its steps.

A caller's thread makes calls of a session. Before any step of it a signal handler may come, which makes calls of its
own on the same thread; the interrupted call goes on when the handler is through. Beside it are another caller's thread
and the worker. ``explore`` goes through all orders of all steps. A state is good if the calls can still all end from
there; a state from which they cannot is a wait without end. Waits have no time limit here.

The steps are those of ``workbench.session`` (worker, pending_requests, slice_lock) and ``workbench.threads``. ``leaf``
stands for all locks of the class ``Lock`` that the worker takes as well: in a slice, or to end a command.
"""

from __future__ import annotations

from collections import defaultdict
from typing import NamedTuple

#: calls -> their steps; a step is one change that nothing can divide
POST = ("have thread", "begin", "begun", "queue", "awake?", "stop if followed")
WAIT = ("awake?", "put on list", "done?", "sleep", "off the list")
CALLS = {
    "post step": POST,
    "post run": POST,
    "step": ("may wait?", *POST, *WAIT),
    "pause": ("cancel", "stop", "may wait?", *WAIT),
    "read": ("try slices", "may read?", "announce", "slices", "not announced", "leaf", "leave leaf", "leave slices"),
    "look": ("leaf", "leave leaf"),
}
WORKER = (
    "first",
    "be awake",
    "slices",
    "go",
    "cancelled?",
    "leaf",
    "leave leaf",
    "leave slices",
    "more?",
    "leaf",
    "leave leaf",
    "done",
    "remove",
    "wake",
)
#: rules of the protocol that can be left out, to see that the model notices
RULES = frozenset(
    {
        "no wait while a lock is held",
        "no reading while a lock is held",
        "on the list before asking",
        "clear the stop before asking",
        "wake before waiting",
    }
)


class Frame(NamedTuple):
    """A call: its name, its next step, the requests that it waits for."""

    call: str
    at: int = 0
    mine: tuple[int, ...] = ()
    holds: bool = False  # it took the slices


class State(NamedTuple):
    """All that threads share, and where each one stands."""

    open: tuple[tuple[int, str, bool], ...] = ()  # (number, command, cancelled), oldest first
    last: int = 0
    done: frozenset[int] = frozenset()
    current: int = 0
    stop: bool = False
    wakes: bool = False
    started: int = 0  # 0: no worker, 1: on its way, 2: it has begun
    slices: tuple[str, ...] = ()  # owner, once for each time
    leaf: tuple[str, ...] = ()
    starting: tuple[str, ...] = ()
    readers: int = 0
    listed: frozenset[tuple[str, int]] = frozenset()  # waiting calls by thread and depth
    woken: frozenset[tuple[str, int]] = frozenset()
    worker: tuple[int, bool] = (0, False)  # next step, whether the command must end
    main: tuple[Frame, ...] = ()
    other: tuple[Frame, ...] = ()
    calls: int = 1  # that the main thread may still make
    handlers: int = 2  # that may still come
    others: int = 1


def free(lock: tuple[str, ...], who: str) -> bool:
    return not lock or lock[0] == who


def step_of_call(s: State, who: str, rules: frozenset[str]) -> State | None:
    """The state after the next step of a thread's innermost call; None while it has to wait."""
    stack: tuple[Frame, ...] = getattr(s, who)
    frame, depth = stack[-1], len(stack)
    steps = CALLS[frame.call]
    name, at, me = steps[frame.at], frame.at + 1, (who, depth)
    if name in ("leaf", "slices"):
        if not free(getattr(s, name), who):
            return None
        s = s._replace(**{name: (who, *getattr(s, name))})
        frame = frame._replace(holds=frame.holds or name == "slices")
    elif name in ("leave leaf", "leave slices"):
        lock = name.split()[1]
        s = s._replace(**{lock: getattr(s, lock)[1:]})
    elif name == "may wait?":
        held = bool(s.slices and s.slices[0] == who)
        if "no wait while a lock is held" in rules:
            held = held or who in (*s.leaf[:1], *s.starting[:1])
        at = len(steps) if held else at
    elif name == "have thread":
        if s.starting and s.starting[0] == who or s.started == 2:
            at = steps.index("queue")
        elif not free(s.starting, who):
            return None
        else:
            s = s._replace(starting=(who, *s.starting))
    elif name == "begin":
        s = s._replace(started=max(s.started, 1))
    elif name == "begun":
        if s.started < 2:
            return None
        s = s._replace(starting=s.starting[1:])
    elif name == "queue":
        number = s.last + 1
        command = "run" if frame.call == "post run" else "step"
        s, frame = s._replace(last=number, open=(*s.open, (number, command, False))), frame._replace(mine=(number,))
    elif name == "awake?":
        again = steps[at] == "put on list"
        s = s._replace(wakes=s.wakes or not again or "wake before waiting" in rules)
    elif name == "stop if followed":
        s = s._replace(stop=s.stop or s.current != 0 and must_end(s, s.current))
    elif name == "cancel":
        frame = frame._replace(mine=tuple(number for number, *_ in s.open))
        s = s._replace(open=tuple((number, command, True) for number, command, _ in s.open))
    elif name == "stop":
        s = s._replace(stop=s.stop or s.current != 0)
    elif name == "put on list":
        if "on the list before asking" in rules:
            s = s._replace(listed=s.listed | {me})
    elif name == "done?":
        if s.done.issuperset(frame.mine):
            at = steps.index("off the list")
    elif name == "sleep":
        if "on the list before asking" not in rules and me not in s.listed and me not in s.woken:
            s, at = s._replace(listed=s.listed | {me}), frame.at
        elif me not in s.woken:
            return None
    elif name == "off the list":
        s = s._replace(listed=s.listed - {me}, woken=s.woken - {me})
        if not s.done.issuperset(frame.mine):
            at = steps.index("put on list") - 1
    elif name == "try slices":
        if free(s.slices, who):
            s, frame, at = s._replace(slices=(who, *s.slices)), frame._replace(holds=True), steps.index("leaf")
    elif name == "may read?":
        if "no reading while a lock is held" in rules and who in (*s.leaf[:1], *s.starting[:1]):
            at = len(steps)
    elif name == "announce":
        s = s._replace(readers=s.readers + 1, stop=s.stop or s.current != 0)
    elif name == "not announced":
        s = s._replace(readers=s.readers - 1)
    stack = stack[:-1] if at == len(steps) else (*stack[:-1], frame._replace(at=at))
    return s._replace(**{who: stack})


def must_end(s: State, number: int) -> bool:
    """True for a request that is cancelled, or an open-ended one that another follows."""
    found = next((r for r in s.open if r[0] == number), None)
    return found is not None and (found[2] or found[1] == "run" and s.open[-1][0] != number)


def step_of_worker(s: State, rules: frozenset[str]) -> list[State]:
    """The states after the next step of the worker: none while it has to wait, two where a slice may end or go on."""
    at, ending = s.worker
    if s.started != 2:
        return [s._replace(started=2)] if s.started == 1 else []
    name, to = WORKER[at], (at + 1) % len(WORKER)
    if name == "first":
        s, to = (s._replace(current=s.open[0][0]), WORKER.index("slices")) if s.open else (s, to)
    elif name == "be awake":
        if not s.wakes:
            return []
        s, to = s._replace(wakes=False), 0
    elif name in ("slices", "leaf"):
        if not free(getattr(s, name), "worker"):
            return []
        s = s._replace(**{name: ("worker",)})
    elif name in ("leave leaf", "leave slices"):
        s = s._replace(**{name.split()[1]: ()})
    elif name in ("go", "cancelled?"):
        if (name == "go") == ("clear the stop before asking" in rules):
            s = s._replace(stop=False)
        else:
            ending = must_end(s, s.current)
    elif name == "more?":
        command = next(r[1] for r in s.open if r[0] == s.current)
        if command == "run" and not ending:  # a slice without end unless it is stopped
            return [s._replace(worker=(WORKER.index("slices"), False))] if s.stop else []
    elif name == "done":
        s, ending = s._replace(done=s.done | {s.current}), False
    elif name == "remove":
        s = s._replace(open=tuple(r for r in s.open if r[0] != s.current), current=0)
    elif name == "wake":
        s = s._replace(woken=s.woken | s.listed, listed=frozenset())
    return [s._replace(worker=(to, ending))]


def following(s: State, rules: frozenset[str]) -> list[State]:
    """All states one step later."""
    found = step_of_worker(s, rules)
    for who in ("main", "other"):
        if getattr(s, who) and (after := step_of_call(s, who, rules)) is not None:
            found.append(after)
    for call in CALLS:
        if not s.main and s.calls:
            found.append(s._replace(main=(Frame(call),), calls=s.calls - 1))
        elif s.main and s.handlers:
            found.append(s._replace(main=(*s.main, Frame(call)), handlers=s.handlers - 1))
        if not s.other and s.others:
            found.append(s._replace(other=(Frame(call),), others=s.others - 1))
    return found


def explore(start: State, rules: frozenset[str] = RULES) -> tuple[int, State | None]:
    """Number of states that can be reached, and one from which not all calls can end."""
    before: defaultdict[State, list[State]] = defaultdict(list)
    seen, todo, good = {start}, [start], []
    while todo:
        s = todo.pop()
        if not s.main and not s.other:
            good.append(s)
        for after in following(s, rules):
            before[after].append(s)
            if after not in seen:
                seen.add(after)
                todo.append(after)
    ends = set(good)
    while good:
        for s in before[good.pop()]:
            if s not in ends:
                ends.add(s)
                good.append(s)
    return len(seen), next(iter(seen - ends), None)
