"""The kernel's part of the JupyterLab extension: ``open_file`` shows a file as a panel, ``close_file`` ends it."""

from workbench.widgets.jupyter.file_panel import close_file, open_file

__all__ = ["close_file", "open_file"]
