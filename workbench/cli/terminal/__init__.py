"""The debugger in a terminal, with the commands of the panel by name, without a notebook.

::

    lines (readline, script) ─► shell.Terminal.do ─► table.find ─► moving, looking, points, changing ─► session
                                       ▲                                         │
                                       └────────── screen (rich) ◄───────────────┘
"""

from workbench.cli.terminal import changing, looking, moving, points, printing  # noqa: F401  they fill the table of commands
from workbench.cli.terminal.shell import Terminal, terminal

__all__ = ["Terminal", "terminal"]
