"""Shows long output one screen at a time on an interactive terminal, never in a pipe."""

from __future__ import annotations

import contextlib
import os
import shlex
import shutil
import signal
import subprocess
import sys
from collections.abc import Iterator
from typing import Any, TextIO


def pager() -> list[str] | None:
    """Command of the pager: $WORKBENCH_PAGER, $PAGER, less or more; None if it is turned off or not installed."""
    for name in ("WORKBENCH_PAGER", "PAGER"):
        given = os.environ.get(name)
        if given is not None:
            words = _words(given)
            return None if not words or words == ["cat"] else words
    found = shutil.which("less") or shutil.which("more")
    return None if found is None else [found]


def _words(text: str) -> list[str]:
    try:
        return shlex.split(text)
    except ValueError:  # an unclosed quote
        return []


def is_long(text: str, stream: Any) -> bool:
    """True if a text does not fit on the screen of the terminal behind a stream."""
    try:
        lines = os.get_terminal_size(stream.fileno()).lines
    except (OSError, ValueError, AttributeError):
        return False
    return lines > 0 and text.count("\n") >= lines


def show(text: str, stream: TextIO | None = None) -> None:
    """Write a text, through the pager if it is longer than the screen and the terminal is interactive."""
    stream = stream or sys.stdout
    words = pager() if _at_a_terminal(stream) and is_long(text, stream) else None
    if words is None or not _paged(words, text):
        stream.write(text)
    stream.flush()


def _at_a_terminal(stream: Any) -> bool:
    try:
        return stream.isatty() and sys.stdin.isatty() and os.environ.get("TERM", "") != "dumb"
    except (AttributeError, ValueError):
        return False


def _paged(words: list[str], text: str) -> bool:
    """Pass a text to the pager; False if it cannot be started."""
    # exits if everything fits, shows colours, leaves the text on the screen
    environment = {"LESS": "FRX"} | dict(os.environ)
    try:
        process = subprocess.Popen(words, stdin=subprocess.PIPE, env=environment)
    except OSError:
        return False
    assert process.stdin is not None
    with _ignoring_interrupts():
        with contextlib.suppress(BrokenPipeError), process.stdin as pipe:  # the user quit before the end
            pipe.write(text.encode("utf-8", "backslashreplace"))
        process.wait()
    return True


@contextlib.contextmanager
def _ignoring_interrupts() -> Iterator[None]:
    """Ignore Ctrl-C while the pager, which handles it, is open."""
    try:
        before = signal.signal(signal.SIGINT, signal.SIG_IGN)
    except ValueError:  # not in the main thread
        yield
        return
    try:
        yield
    finally:
        signal.signal(signal.SIGINT, before)
