"""Runs the code blocks of one page as its reader does: in page order, in an empty folder, with the page's own names.

``python -m tests.page_runner PAGE`` runs in the current folder. ``python`` blocks share their names, and one that is
followed by a ``text`` block has to print it (``...`` stands for anything). Of ``sh`` blocks the lines that begin with
``workbench`` or a pipe into it are run: with status 0, or with that of the comment, ``# status N``. ``ipython`` blocks
are cells of an IPython shell.
"""

from __future__ import annotations

import contextlib
import doctest
import io
import linecache
import re
import shlex
import subprocess
import sys
from collections.abc import Iterator
from pathlib import Path
from typing import Any, NamedTuple

BLOCK = re.compile(r"^(```)(\w*)\n(.*?)^```$", re.DOTALL | re.MULTILINE)
#: what a shell line of the documentation may begin with to be run
RUN = re.compile(r"(printf .*\| *)?workbench (?!lab|mcp|course)")
FLAGS = doctest.ELLIPSIS | doctest.NORMALIZE_WHITESPACE


class Block(NamedTuple):
    line: int
    kind: str
    text: str
    printed: str | None


def blocks(page: str) -> list[Block]:
    """The code blocks of a page, each with the ``text`` block that follows it directly."""
    found = [(m.start(), m[2], m[3], m.end()) for m in BLOCK.finditer(page)]
    result = []
    for k, (start, kind, text, end) in enumerate(found):
        if kind in ("python", "sh", "ipython"):
            after = found[k + 1] if k + 1 < len(found) else None
            follows = after is not None and after[1] == "text" and not page[end : after[0]].strip()
            result.append(Block(page.count("\n", 0, start) + 1, kind, text, after[2] if after and follows else None))
    return result


def shell_lines(text: str) -> Iterator[tuple[str, int]]:
    """The lines of a shell block that are run, each with the status that it has to have."""
    for line in text.replace("\\\n", " ").splitlines():
        if RUN.match(line):
            status = re.search(r"#.*\bstatus (\d)", line)
            yield line, int(status[1]) if status else 0


def run_shell(text: str) -> None:
    own = f'workbench() {{ {shlex.quote(sys.executable)} -P -m workbench.cli.main "$@"; }}\n'
    for line, wanted in shell_lines(text):
        done = subprocess.run(["bash", "-c", own + line], stdin=subprocess.DEVNULL, capture_output=True, text=True)
        print(done.stdout, end="")
        if done.returncode != wanted:
            raise AssertionError(f"{line}\nstatus {done.returncode}, not {wanted}\n{done.stdout}{done.stderr}")


def run(page: str, names: dict[str, Any]) -> None:
    """Run all blocks; the first that fails, or prints something else, raises with its line."""
    shell = None
    if "```ipython\n" in page:
        from IPython.core.interactiveshell import InteractiveShell

        shell = InteractiveShell.instance(user_ns=names)
    for block in blocks(page):
        out = io.StringIO()
        try:
            with contextlib.redirect_stdout(out):
                if block.kind == "sh":
                    run_shell(block.text)
                elif block.kind == "ipython":
                    assert shell is not None
                    shell.run_cell(block.text).raise_error()
                else:
                    file = f"<line {block.line}>"
                    linecache.cache[file] = (len(block.text), None, block.text.splitlines(True), file)
                    exec(compile(block.text, file, "exec"), names)
        except Exception as error:
            raise AssertionError(f"the block at line {block.line} fails: {type(error).__name__}: {error}") from error
        if (
            block.printed is not None
            and block.kind != "sh"
            and not doctest.OutputChecker().check_output(block.printed, out.getvalue(), FLAGS)
        ):
            raise AssertionError(f"the block at line {block.line} prints\n{out.getvalue()}\nnot\n{block.printed}")


if __name__ == "__main__":
    run(Path(sys.argv[1]).read_text(encoding="utf-8"), vars(sys.modules["__main__"]))
