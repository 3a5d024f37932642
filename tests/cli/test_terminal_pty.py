"""``workbench debug`` as a user has it: in a real terminal, with keys, Ctrl-C and Ctrl-D."""

from __future__ import annotations

import fcntl
import os
import pty
import re
import select
import signal
import struct
import subprocess
import sys
import termios
import time
from pathlib import Path

import pytest

from tests.cli import models
from workbench.cli import layout

WORKBENCH = Path(sys.executable).with_name("workbench")
COLOUR = re.compile(r"\x1b\[[0-9;]*m")


class User:
    """Somebody at a terminal of so many columns and lines."""

    def __init__(self, *words: str, size: tuple[int, int] = (80, 24), **environment: str) -> None:
        self.end, inside = pty.openpty()
        fcntl.ioctl(inside, termios.TIOCSWINSZ, struct.pack("HHHH", size[1], size[0], 0, 0))
        env = {k: v for k, v in os.environ.items() if k not in ("NO_COLOR", "FORCE_COLOR", "COLUMNS")}
        env |= {"TERM": "xterm-256color", "LC_ALL": "C.UTF-8", "PYTHONUNBUFFERED": "1", **environment}
        self.process = subprocess.Popen(
            [WORKBENCH, *words],
            stdin=inside,
            stdout=inside,
            stderr=inside,
            env=env,
            start_new_session=True,
            preexec_fn=_own_terminal,
        )
        os.close(inside)
        self.seen = ""

    def types(self, text: str) -> None:
        os.write(self.end, text.encode())

    def sees(self, wanted: str, seconds: float = 120.0) -> str:
        """Output up to ``wanted``."""
        limit = time.monotonic() + seconds
        while wanted not in self.plain:
            left = limit - time.monotonic()
            if left <= 0 or not self._more(left):
                raise AssertionError(f"{wanted!r} did not come; this did:\n{self.plain}")
        before, _, after = self.plain.partition(wanted)
        self.seen = after
        return before + wanted

    def presses(self, key: str, wanted: str, times: int = 20) -> None:
        """Presses a key until it helps: readline misses a Ctrl-C between its prompt and its first look at the keys."""
        for _ in range(times):
            self.types(key)
            try:
                self.sees(wanted, 2.0)
                return
            except AssertionError:
                continue
        self.sees(wanted)

    @property
    def plain(self) -> str:
        return COLOUR.sub("", self.seen)

    def _more(self, seconds: float) -> bool:
        ready, _, _ = select.select([self.end], [], [], seconds)
        if not ready:
            return False
        try:
            data = os.read(self.end, 65536)
        except OSError:  # the other end is closed
            return False
        self.seen += data.decode("utf-8", "replace")
        return bool(data)

    def ends(self, seconds: float = 120.0) -> int:
        """Status of the process, once it has ended and all that it wrote has been read."""
        limit = time.monotonic() + seconds
        while self.process.poll() is None and time.monotonic() < limit:
            self._more(0.2)
        while self._more(0.2):
            pass
        return self.process.wait(1.0)

    def close(self) -> None:
        if self.process.poll() is None:
            self.process.kill()
            self.process.wait()
        os.close(self.end)


def _own_terminal() -> None:
    fcntl.ioctl(0, termios.TIOCSCTTY, 0)  # so that Ctrl-C reaches it


@pytest.fixture
def user(tmp_path):
    made: list[User] = []

    def sits_down(graph, *words: str, size: tuple[int, int] = (80, 24), **environment: str) -> User:
        model = models.save(graph, tmp_path / "model.txt")
        environment.setdefault("WORKBENCH_HISTORY", str(tmp_path / "history"))
        made.append(User("debug", str(model), *words, size=size, **environment))
        return made[-1]

    yield sits_down
    for each in made:
        each.close()


@pytest.mark.slow
def test_steps_repeats_and_remembers(user, tmp_path):
    at = user(models.newton(), "-i", "a=2")
    at.sees("help lists the commands")
    at.sees("(top) ")
    at.types("step\r")
    at.sees("event 1\r\n")
    at.sees(") ")
    at.types("\r")
    at.sees("event 2\r\n")
    at.sees(") ")
    at.types("pri\ta\r")  # Tab completes
    at.sees("a = 2.0")
    at.sees(") ")
    at.types("\x1b[A\x1b[A\r")  # the line before the last
    at.sees("event 3\r\n")
    at.sees("(while 0) ")
    at.presses("\x03", "quit or Ctrl-D exits")
    at.types("quit\r")
    assert at.ends() == 0
    assert "step" in (tmp_path / "history").read_text().split()
    again = user(models.newton(), "-i", "a=2")
    again.sees("(top) ")
    again.types("\x1b[A\x1b[A\r")  # before quit: what was typed the last time
    again.sees("event ")
    again.sees("(while 0) ")
    again.types("\x04")
    assert again.ends() == 0


@pytest.mark.slow
def test_ctrl_c_pauses_a_run(user):
    at = user(models.endless(), "-i", "start=1", "--keep", "carried")
    at.sees("(top) ")
    at.types("run\r")
    at.sees("Ctrl-C pauses")
    at.types("\x03")
    at.sees("The run was paused.")
    at.sees(") ")
    at.types("why\r")
    at.sees("the loop never ends")
    at.sees(") ")
    at.types("step\r")
    at.sees("Stepped.")
    at.sees(") ")
    at.types("quit\r")
    assert at.ends() == 0


@pytest.mark.slow
@pytest.mark.parametrize("environment", [{"NO_COLOR": "1"}, {"TERM": "dumb"}])
def test_plain_terminals_get_no_colours(user, environment):
    at = user(models.newton(), "-i", "a=2", "-c", "run", "--batch", **environment)
    at.sees("output x = 1.41421356")
    assert at.ends() == 0 and "\x1b[3" not in at.seen and "\x1b[1m" not in at.seen.replace("\x1b[?", "")


@pytest.mark.slow
@pytest.mark.parametrize("width", [80, 50])
def test_nothing_is_wider_than_the_terminal_and_no_word_is_broken(user, width):
    lines = "help,iteration 4,why,explain x,report,variables all,events,print nosuch,bogus,graph".split(",")
    words = [word for line in lines for word in ("-c", line)]
    at = user(models.newton(), "-i", "a=2", *words, "--batch", size=(width, 24), NO_COLOR="1")
    at.ends()
    shown = at.plain.replace("\r", "").split("\n")
    assert all(layout.cells(line) <= width for line in shown), [line for line in shown if layout.cells(line) > width]
    told = " ".join(" ".join(shown).split())
    assert "help lists the commands. [unknown-command]" in told
    assert "Deciding clause: " in told and "(false in iteration 4: " in told
    assert "explain x all shows all of them." in told


def test_no_color_is_plain_text(user):
    at = user(models.newton(), "-i", "a=2", "-c", "run", "-c", "nosuch", "--batch", NO_COLOR="1")
    at.ends()
    assert "error: Unknown command" in at.seen and "\x1b" not in at.seen


@pytest.mark.slow
def test_colours_are_never_alone(user):
    at = user(models.newton(), "-i", "a=2")
    at.sees("(top) ")
    at.types("nosuch\r")
    at.sees("error: Unknown command")
    at.sees("(top) ")  # what is typed before a prompt may be lost
    at.types("\x04")
    assert at.ends() == 0


@pytest.mark.slow
def test_a_script_from_a_pipe_and_from_a_file(tmp_path):
    model = models.save(models.newton(), tmp_path / "m.txt")
    words = [WORKBENCH, "debug", model, "-i", "a=2"]
    piped = subprocess.run(words, input="step\nrun\nprint x\n", capture_output=True, text=True, timeout=300)
    assert piped.returncode == 0 and "x = 1.41421356" in piped.stdout and "\x1b" not in piped.stdout
    (tmp_path / "s").write_text("run\nprint nosuch\n")
    batch = subprocess.run(
        [*words, "-x", tmp_path / "s", "--batch"], stdin=subprocess.DEVNULL, capture_output=True, text=True, timeout=60
    )
    assert batch.returncode == 1 and "error: " in batch.stdout and "Traceback" not in batch.stderr


@pytest.mark.slow
def test_a_hung_up_terminal_leaves_no_process(user):
    at = user(models.endless(), "-i", "start=1", "--keep", "carried")
    at.sees("(top) ")
    at.types("run\r")
    at.sees("running")
    at.process.send_signal(signal.SIGHUP)
    assert at.process.wait(100) != 0
