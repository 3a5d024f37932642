"""The debugger panel on a page: its buttons, status line and figures."""

from __future__ import annotations

import json
from collections.abc import Callable
from typing import Any

from tests.browser import waits
from tests.browser.page import kernel_output
from tests.browser.waits import PATIENCE_S

# Clicks a button and gives the milliseconds until the status line answers, measured in the browser: it shows the state
# that is asked for (else any but "running"), and either that or the number of events is new. Its other words are no
# answer: what is told of the state before, such as its health, comes when it is found.
CLICK = """async ([index, command, state]) => {
  const panel = document.querySelectorAll('.workbench-debugger')[index];
  const stand = () => panel.querySelector('.workbench-state').dataset.state;
  const event = () => panel.querySelector('.workbench-event').textContent;
  const before = [stand(), event()];
  const wanted = () => (state ? stand() === state : stand() !== 'running');
  const done = () => wanted() && (stand() !== before[0] || event() !== before[1]);
  const button = panel.querySelector(`button[data-command=${command}]`);
  if (button.disabled) throw new Error(`${command} cannot be pressed while the session is ${stand()}`);
  const started = performance.now();
  button.click();
  while (!done()) {
    if (performance.now() - started > 120000) {
      throw new Error('no answer to ' + command + ': ' + panel.querySelector('.workbench-status').textContent);
    }
    await new Promise(r => setTimeout(r, 1));
  }
  return performance.now() - started;
}"""

# What the kernel knows when a panel gives no answer.
REPORT = """
import gc, sys, traceback
from workbench.widgets import Toolbar
for bar in [o for o in (*gc.get_objects(1), *gc.get_objects(2)) if isinstance(o, Toolbar)]:
    session, pump = bar.session, bar.pump
    print(session.graph.name, session.state, session.version, bar._version, bar.status.get("state"), bar.push,
          bar._acknowledged, "views", bar._views, "asleep", bar._asleep, "closed", bar.comm is None,
          None if pump is None else (pump, pump.errors))
for name, frame in sys._current_frames().items():
    print(name, *traceback.format_stack(frame)[-4:], sep="\\n")
"""

# The sessions that stand still while a view in a browser has not shown that yet, or shows it and has not answered.
LATE = """
from workbench.widgets.live.pump import Pump
import gc
for pump in [o for o in (*gc.get_objects(1), *gc.get_objects(2)) if type(o) is Pump and not o._closed]:
    mark = (pump.session.version, None)
    sinks = [(sink, shown) for sink, shown in list(pump._shown.items()) if sink.views > 0]
    late = any(shown != mark or getattr(sink, "in_flight", 0) for sink, shown in sinks)
    if late and pump.session.snapshot().state != "running":
        print(pump)
"""

#: the views that are always there, by their titles
FIGURES = ("graph", "evolution", "termination", "control flow", "value")


class Panel:
    """The ``index``-th panel of the notebook."""

    def __init__(self, page: Any, index: int) -> None:
        self.page, self.index = page, index
        page.wait_for_function(
            """([i, views]) => {
                 const p = document.querySelectorAll('.workbench-debugger')[i];
                 const drawn = view => p.querySelector(`.workbench-is-${view} .workbench-figure`)?._fullLayout;
                 return p && views.every(drawn); }""",
            arg=[index, [f.replace(" ", "-") for f in FIGURES]],
            timeout=PATIENCE_S * 1000,
        )

    @classmethod
    def fresh(cls, page: Any, index: int) -> Panel:
        """The panel in sight, standing before its first node."""
        panel = cls(page, index)
        panel.show()
        if panel.state() == "running":
            panel.click("pause", "paused")
        if panel.state() != "ready":
            panel.click("restart", "ready")
        return panel

    def ask(self, body: str, *values: Any) -> Any:
        """Evaluate ``body`` with ``panel`` bound to the panel's element and ``args`` to the values."""
        return self.page.evaluate(
            f"([i, ...args]) => {{ const panel = document.querySelectorAll('.workbench-debugger')[i]; {body} }}",
            [self.index, *values],
        )

    def click(self, command: str, state: str = "") -> float:
        """Click; milliseconds until the status line shows where the command has led (which has to be ``state``)."""
        try:
            return self.page.evaluate(CLICK, [self.index, command, state])
        except Exception as error:
            raise AssertionError(f"{error}\n{self._state_in_the_kernel()}") from None

    def _state_in_the_kernel(self) -> str:
        """The toolbars, the states of their sessions and the stacks of all threads, for the report of a failure."""
        try:
            return kernel_output(self.page, REPORT)
        except Exception as error:  # a kernel that does not answer; the failure itself is to be told nevertheless
            return f"the kernel tells nothing: {error}"

    def status(self, field: str = "status") -> str:
        return self.ask("return panel.querySelector('.workbench-' + args[0]).textContent", field)

    def state(self) -> str:
        return self.ask("return panel.querySelector('.workbench-state').dataset.state")

    def event(self) -> int:
        """The number of events that the status line tells."""
        return int("".join(c for c in self.status("event") if c.isdigit()))

    def until_event(self, condition: str, *values: Any) -> None:
        """Until the number of ``event``, as ``event``, fulfils a condition in JavaScript."""
        number = "Number(panel.querySelector('.workbench-event').textContent.replace(/\\D/g, ''))"
        self.until(f"const event = {number}; return {condition}", *values)

    def until_moved(self, before: int) -> None:
        """Until the session stands still, and at another event than ``before``."""
        still = "panel.querySelector('.workbench-state').dataset.state !== 'running'"
        self.until_event(f"{still} && event !== args[0]", before)

    def until_drawn(self) -> None:
        """Until all views show the newest state of their session, if that stands still."""
        try:
            waits.until(lambda: kernel_output(self.page, LATE), "")
        except AssertionError as error:
            raise AssertionError(f"not drawn: {error}\n{self._state_in_the_kernel()}") from None

    def data(self, figure: str) -> str:
        """x, y and text of all traces of a figure, as JSON: what it shows now."""
        found = self.ask(
            """const g = panel.querySelector(`.workbench-is-${args[0]} .workbench-figure`);
               return JSON.stringify(g.data.map(t => [Array.from(t.x ?? []), Array.from(t.y ?? []), t.text ?? []]));""",
            figure.replace(" ", "-"),
        )
        return json.dumps(json.loads(found))

    def wait_for(self, figure: str, condition: Callable[[Any], bool]) -> Any:
        """The traces of a figure as soon as they fulfil a condition; between two updates there may be none at all."""
        return waits.until(lambda: json.loads(self.data(figure)), condition)

    def wait_for_change(self, figure: str, before: str) -> None:
        """Until a figure shows something else than before."""
        self.wait_for(figure, lambda traces: json.dumps(traces) != before)

    def show(self) -> None:
        self.ask("panel.scrollIntoView()")
        self.page.wait_for_timeout(300)

    def until(self, body: str, *values: Any, seconds: float = PATIENCE_S) -> None:
        """Until ``body`` (see ``ask``) gives something true."""
        self.page.wait_for_function(
            f"([i, ...args]) => {{ const panel = document.querySelectorAll('.workbench-debugger')[i]; {body} }}",
            arg=[self.index, *values],
            timeout=seconds * 1000,
        )

    def time(self, value: int, level: int = 0) -> None:
        """Drag a slider to an iteration, and wait until the kernel has answered."""
        self.until(
            "return Number(panel.querySelectorAll('.workbench-time input[type=range]')[args[0]]?.max) >= args[1]",
            level,
            value,
        )
        self.ask(
            """const range = panel.querySelectorAll('.workbench-time input[type=range]')[args[0]];
               range.value = args[1]; range.dispatchEvent(new Event('input'));""",
            level,
            value,
        )
        self.until(
            """const range = panel.querySelectorAll('.workbench-time input[type=range]')[args[0]];
               return range.dataset.set === 'true' && range.ariaValueText.startsWith(`iteration ${args[1]} of `)""",
            level,
            value,
        )

    def looks_at(self, words: str) -> None:
        """Until the time slider says this."""
        waits.until(lambda: self.ask("return panel.querySelector('.workbench-time-told').textContent"), words)

    # -- panes ------------------------------------------------------------------------------------------------------
    def pane(self, key: str) -> None:
        """Open a pane by its tab, if it is not the one in sight."""
        self.ask(
            """const button = panel.querySelector(`[data-pane=${args[0]}]`);
               const open = button.ariaExpanded === 'true' && button.ariaSelected === 'true';
               if (!open) button.click();""",
            key,
        )
        self.until("return panel.querySelector(`.workbench-is-${args[0]}`)?.innerText", key)

    def press(self, view: str, label: str) -> None:
        """Press a button of a view by its label, as soon as it is there and can be pressed."""
        button = "[...panel.querySelectorAll(`.workbench-is-${args[0]} button`)].find(b => b.innerText === args[1])"
        pressed = f"const button = {button}; if (!button || button.disabled) return false; button.click(); return true"
        self.until(pressed, view.replace(" ", "-"), label)

    def card(self, name: str, *words: str) -> str:
        """Title and detail of a card as soon as it says all this."""
        read = lambda: self.ask("return panel.querySelector(`.workbench-card-${args[0]}`).textContent", name)  # noqa: E731
        return waits.until(read, lambda text: all(w.lower() in text.lower() for w in words))

    def why(self, card: str) -> None:
        """Open what is behind a card, by its button."""
        self.until("return panel.querySelector(`.workbench-card-${args[0]} .workbench-why-open`)?.offsetWidth", card)
        self.ask("panel.querySelector(`.workbench-card-${args[0]} .workbench-why-open`).click()", card)
        self.until("return panel.dataset.why === args[0]", card)

    def words(self, view: str) -> str:
        """Text of a view."""
        return self.ask("return panel.querySelector(`.workbench-is-${args[0]}`).innerText", view.replace(" ", "-"))

    def says(self, view: str, *words: str) -> str:
        """The text of a view as soon as it says all this, in upper or lower case."""
        return waits.until(lambda: self.words(view), lambda text: all(w.lower() in text.lower() for w in words))
