"""Execution of ``%%watch`` cells: an input transformer reads the first line, an AST transformer inserts the calls.

IPython runs the cell like any other: ``await``, errors, line numbers and output are unchanged.
"""

from __future__ import annotations

import ast
import contextlib
from typing import Any

from workbench.magics.insert import insert
from workbench.magics.watch_line import WatchLine, parse_line


class WatchedCells:
    """The transformers of one shell, and the end of its watched cells."""

    def __init__(self, shell: Any) -> None:
        self.shell = shell
        self._armed: WatchLine | None = None
        self._probe: Any = None
        self._count = 0

    def install(self) -> None:
        """Register the transformers, which then apply to all cells of the shell."""
        self.shell.input_transformers_cleanup.insert(0, self.take_line)
        self.shell.ast_transformers.append(self)
        self.shell.events.register("post_run_cell", self.end)

    def take_line(self, lines: list[str]) -> list[str]:
        """Turn the ``%%`` line into a comment, which keeps the line numbers of the others, and store its request."""
        self._armed = None
        first = next((k for k, line in enumerate(lines) if line.strip()), None)
        if first is None:
            return lines
        head = lines[first].strip()
        word, _, rest = head.partition(" ")
        if head.endswith("?"):
            return lines
        if word == "%%watch":
            self._armed = parse_line(rest)
            return [*lines[:first], f"# {head}\n", *lines[first + 1 :]]
        if word == "%%wb":
            from workbench.magics.graph_line import read_line

            read_line(rest)
            shown = f"get_ipython().run_line_magic('wb', {rest!r})\n"
            return [*lines[:first], f"# {head}\n", *lines[first + 1 :], "\n", shown]
        return lines

    def visit(self, tree: ast.AST) -> ast.AST:
        """The AST transformer. It never raises, because IPython would then unregister it."""
        line, self._armed = self._armed, None
        if line is None or not isinstance(tree, ast.Module):
            return tree
        self._count += 1
        name = f"_wb_probe_{self._count}"
        loops = insert(tree, name)
        from workbench.magics.probe import Probe

        self._probe = self.shell.user_ns[name] = Probe(line, loops)
        self.shell.user_ns_hidden[name] = self._probe
        return tree

    def end(self, result: Any) -> None:
        """End the watches of the cell and assign them to its variable."""
        probe, self._probe = self._probe, None
        if probe is None:
            return
        note = probe.finish(failed=not result.success)
        if note:
            with contextlib.suppress(OSError):
                print(note)
        if probe.watches:
            found = probe.watches[0] if len(probe.watches) == 1 else list(probe.watches)
            self.shell.user_ns["_watch"] = found
            if probe.line.target is not None:
                self.shell.user_ns[probe.line.target] = found
