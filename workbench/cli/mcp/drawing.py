"""The drawing tool: a picture of the variables of a loop, or of the graph, that clients show as an image."""

from __future__ import annotations

import tempfile
from pathlib import Path
from typing import Any

from workbench.cli.mcp.answers import ImageAnswer, ToolError, tool
from workbench.cli.mcp.held import held

#: maximum bytes of a picture; a larger one is drawn again with fewer pixels
MOST_BYTES = 400_000
#: pixels of the file per pixel of the view; the first that fits is used
SCALES = (1.5, 1.0, 0.5)


@tool
def workbench_picture(run: int, what: str = "variables", names: list | None = None, dark: bool = False) -> Any:
    """A picture (PNG) of a run: "variables" of a loop over its iterations, or "graph" with values in its boxes.

    names: the variables to draw; by default those of the loop that the run is in. Needs kaleido and Chrome or Chromium.
    """
    source = held(run)
    from workbench.widgets import EvolutionView, GraphView  # plotly and ipywidgets: imported only for drawing

    if what == "variables":
        view: Any = EvolutionView(source, [str(name) for name in names] if names else None)
    elif what == "graph":
        view = GraphView(source)
    else:
        raise ToolError(f'what must be "variables" or "graph", got {what!r}.', fix='pass what="variables".')
    try:
        with tempfile.TemporaryDirectory() as folder:
            for scale in SCALES:
                data = view.to_image(Path(folder, "picture.png"), "dark" if dark else "light", scale).read_bytes()
                if len(data) <= MOST_BYTES:
                    return ImageAnswer(data, {"run": run, "picture": what, "names": list(getattr(view, "names", ()))})
    finally:
        view.close()
    raise ToolError(
        f"The picture has more than {MOST_BYTES:,} bytes.", slug="too-large", fix="pass names of fewer variables."
    )
