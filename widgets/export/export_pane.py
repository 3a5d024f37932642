"""Export: the page that works offline, and the finding that can be opened again; files next to the notebook."""

from __future__ import annotations

import re
from collections.abc import Mapping
from pathlib import Path
from typing import Any

from workbench.errors import WorkbenchError
from workbench.widgets.base.html_view import HtmlPart
from workbench.widgets.export.notes import MOST_NOTE
from workbench.widgets.live.background import BackgroundTasks

#: a larger file stays on the kernel's side: it is not sent through the notebook's connection
MAX_DOWNLOAD = 64 << 20
SUFFIX = {"page": ".html", "finding": ".wbfinding"}


def offered_name(name: str) -> str:
    """A file name made from the name of a graph."""
    return re.sub(r"[^A-Za-z0-9_.-]+", "_", name).strip("._")[:60] or "finding"


class ExportTools(HtmlPart):
    """A field for a note, and two buttons with file names; the file is written by the kernel, and a link downloads it
    to the browser's side."""

    title = "Export"

    def __init__(self, panel: Any) -> None:
        self._panel = panel
        self._aside = BackgroundTasks()
        self._written: dict[str, Path] = {}
        name = offered_name(panel.source.graph.name)
        self._state: dict[str, Any] = {"name": name, "busy": "", "error": "", "done": {}, "suffix": SUFFIX}
        self._state["note"] = panel.note
        super().__init__("export/export.js", dict(self._state), self._do)

    def _do(self, kind: str, content: Mapping[str, Any]) -> None:
        if kind == "note":
            self._panel.note = str(content.get("text") or "")[:MOST_NOTE]
            self._say(note=self._panel.note)
            return
        what = str(content.get("what"))
        if what not in SUFFIX or self._state["busy"]:
            return
        if kind == "write":
            self._say(busy=what, error="")
            self._aside.do(lambda: self._write(what, str(content.get("name"))))
        elif kind == "download" and what in self._written:
            self._aside.do(lambda: self._download(what))

    def _write(self, what: str, name: str) -> None:
        try:
            path = Path(self.write(what, name))
            self._written[what] = path
            done = {**self._state["done"], what: {"path": str(path), "bytes": path.stat().st_size}}
            self._say(busy="", done=done)
        except (WorkbenchError, OSError, ValueError) as error:
            self._say(busy="", error=str(error)[:2000])

    def write(self, what: str, name: str) -> Path:
        """Write the "page" or the "finding" under a file name; folders in it are left out."""
        stem = offered_name(Path(name).name.removesuffix(SUFFIX[what]))
        path = Path(stem + SUFFIX[what])
        if what == "page":
            self._panel.to_html(path, "auto")
            self._panel.selection.did(f"panel.to_html({str(path)!r})")
        else:
            self._panel.save(path)
            self._panel.selection.did(f"panel.save({str(path)!r})")
        return path.resolve()

    def _download(self, what: str) -> None:
        path = self._written[what]
        try:
            if path.stat().st_size > MAX_DOWNLOAD:
                raise WorkbenchError(
                    f"The file is larger than {MAX_DOWNLOAD >> 20} MiB, too large to download.",
                    slug="too-large",
                    fix=f"copy {path}.",
                )
            self.send({"kind": "file", "name": path.name}, buffers=[path.read_bytes()])
        except (WorkbenchError, OSError) as error:
            self._say(error=str(error)[:2000])

    def _say(self, **changes: Any) -> None:
        self._state = {**self._state, **changes}
        self.offer(dict(self._state))

    def close(self) -> None:
        super().close()
        self._aside.close()
