"""The terminal debugger: reads a line, executes it, and shows the run's position."""

from __future__ import annotations

import sys
import threading
import time
from collections.abc import Iterable
from contextlib import contextmanager, nullcontext, suppress
from typing import Any, TextIO

from workbench.analysis.text import count
from workbench.cli.advice import DEBUGGER, error_text
from workbench.cli.terminal import lines as reading
from workbench.cli.terminal.screen import Screen
from workbench.cli.terminal.table import find
from workbench.cli.terminal.where import show_stop
from workbench.cli.terminal.words import split
from workbench.errors import SessionError, WorkbenchError
from workbench.text import printable
from workbench.threads import Event

#: seconds between two progress lines of a long run
TICK = 0.5
#: lines of logpoints that are printed after a move
LOGGED = 20
#: groups of commands whose output is only read, so that a pager may show it
READ = ("Inspecting", "Breakpoints", "Files", "Terminal")


class Terminal:
    """Commands on one session and its forks. :meth:`close` closes the forks, never the session.

    ``code`` is the history of commands as Python; ``failed`` counts commands that failed.
    """

    def __init__(self, session: Any, out: TextIO | None = None) -> None:
        self.sessions: list[Any] = [session]
        self.current = 0
        self.screen = Screen(out)
        self.code: list[str] = []
        self.shown: list[str] = []  # names shown at every stop
        self.failed = 0
        self.error: Exception | None = None  # error of the last line
        self.over = False
        self._again: str | None = None

    @property
    def session(self) -> Any:
        """The session that commands act on; ``use`` changes it."""
        return self.sessions[self.current]

    @property
    def variable(self) -> str:
        """Variable name of the current session in ``code``."""
        return "session" if self.current == 0 else f"fork{self.current}"

    def adopt(self, fork: Any, code: str) -> int:
        """Add a fork and switch to it; returns its number."""
        self.sessions.append(fork)
        self.code.append(f"fork{len(self.sessions) - 1} = {code}")
        self.current = len(self.sessions) - 1
        return self.current

    # -- the loop ----------------------------------------------------------------------------------------------------
    def interact(self, source: TextIO | None = None) -> int:
        """Read and execute lines until ``quit`` or the end of the input; returns the number of commands that failed."""
        source = source or sys.stdin
        ask = source.isatty()
        self.greet(ask)
        self.screen.pages = ask and self.screen.tty
        with reading.prepared(self, ask):
            while not self.over:
                try:
                    line = reading.read(self, source, ask)
                except KeyboardInterrupt:
                    self.screen.say("\n(quit or Ctrl-D exits)", "quiet")
                    continue
                if line is None:
                    break
                self.do(line)
        return self.failed

    def run_lines(self, lines: Iterable[str]) -> None:
        """Execute prepared lines, each shown before its answer."""
        for line in lines:
            if self.over:
                break
            if line.strip() and not line.lstrip().startswith("#"):
                self.screen.pairs((self.prompt, "quiet"), (line.strip(), "strong"))
                self.do(line)

    def do(self, line: str) -> None:
        """Execute one line; an empty line repeats the last move. An error is printed as one sentence, and the terminal
        continues."""
        line = line.strip()
        if not line:
            if self._again is None:
                return
            line = self._again
        self.error = None
        if line.startswith("#"):
            return
        try:
            word, _, rest = line.partition(" ")
            found = find(word)
            self._again = line if found.repeat else None
            with self.screen.paged() if found.group in READ else nullcontext():
                found.carry(self, split(rest), rest.strip())
        except KeyboardInterrupt:
            self.screen.say("\ninterrupted", "quiet")
        except BrokenPipeError:
            raise
        except Exception as error:  # an error in one command must not end a long debugging session
            self.failed += 1
            self.error = error
            self._again = None
            text = error_text(error, DEBUGGER)
            if not isinstance(error, WorkbenchError):
                text = f"{type(error).__name__}: {text}"
            self.screen.pairs(("error: ", "bad"), (text[:2000], ""))

    def greet(self, ask: bool) -> None:
        """Print the name and size of the graph, and where to find help."""
        graph = self.session.graph
        loops = len(graph.frames) - 1
        self.screen.pairs(
            (graph.name, "strong"),
            (
                f": {count(len(graph.nodes), 'node')}, {count(loops, 'loop')}."
                + (" help lists the commands; Ctrl-C pauses a run." if ask else ""),
                "",
            ),
        )
        show_stop(self, self.session.stop)

    @property
    def prompt(self) -> str:
        """Prompt with the current position: ``(newton 3) ``."""
        position, state = self.session.position, self.session.state
        fork = f"copy {self.current}, " if self.current else ""
        if state in ("finished", "failed", "closed", "running"):
            return f"({fork}{state}) "
        open_frames = zip(position.frame, position.iteration, strict=False)
        places = [f"{printable(f.rstrip('/').rsplit('/', 1)[-1])[:24]} {i}" for f, i in open_frames]
        return f"({fork}{' › '.join(places[-3:]) or 'top'}) "

    # -- moving ------------------------------------------------------------------------------------------------------
    def move(self, command: str, *arguments: Any, **named: Any) -> None:
        """Execute a command of the session and show where it stopped. Ctrl-C pauses it."""
        method = getattr(self.session, command, None)
        if method is None:
            raise SessionError(
                f"This session has no command {command}.", slug="unknown-command", fix="update the workbench."
            )
        given = [repr(a) for a in arguments] + [f"{k}={v!r}" for k, v in named.items()]
        seen = len(getattr(self.session.breakpoints, "log", ()))
        try:
            with self._ticking():
                stop = method(*arguments, **named)
        except KeyboardInterrupt:  # the session has been paused
            stop = None
        self.code.append(f"{self.variable}.{command}({', '.join(given)})")
        logged = list(getattr(self.session.breakpoints, "log", ()))[seen:]
        if len(logged) > LOGGED:
            self.screen.say(f"... {len(logged) - LOGGED:,} earlier lines; log prints them", "quiet")
        for line in logged[-LOGGED:]:
            self.screen.pairs(("log ", "name"), (line, ""))
        show_stop(self, stop or self.session.stop)

    @contextmanager
    def _ticking(self) -> Any:
        """Show the progress of a running command in one line, only on terminals."""
        if not self.screen.tty:
            yield
            return
        done = Event()

        def tick() -> None:
            began, shown = time.monotonic(), False
            while not done.wait(TICK):
                snapshot = self.session.snapshot()
                text = f"running {time.monotonic() - began:.0f} s, event {snapshot.event:,}; Ctrl-C pauses"
                self.screen.file.write(f"\r{text[: self.screen.console.width - 1]}")
                self.screen.file.flush()
                shown = True
            if shown:
                self.screen.file.write("\r" + " " * (self.screen.console.width - 1) + "\r")

        thread = threading.Thread(target=tick, daemon=True, name="workbench terminal")
        with suppress(RuntimeError, MemoryError):  # if no thread is available, no progress is shown
            thread.start()
        try:
            yield
        finally:
            done.set()
            if thread.ident is not None:
                thread.join(2.0)

    def close(self) -> None:
        """Close the forks created here."""
        for fork in self.sessions[1:]:
            fork.close()


def terminal(
    session: Any, *, commands: Iterable[str] = (), source: TextIO | None = None, out: TextIO | None = None
) -> int:
    """Debug a session in a terminal, with the commands of the panel: ``help`` lists them.

    Parameters
    ----------
    session:
        A :class:`workbench.Session`. It stays open, so that it can be inspected further.
    commands:
        Lines to execute first.
    source, out:
        Source of the lines and destination of the answers; by default standard input and output. If ``source`` is not a
        terminal, its lines are read to the end and shown before their answers.

    Returns
    -------
    int
        The number of commands that failed.
    """
    made = Terminal(session, out)
    try:
        made.run_lines(commands)
        return made.interact(source)
    finally:
        made.close()


__all__ = ["Terminal", "terminal"]
