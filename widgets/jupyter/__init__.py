"""The kernel's part of the JupyterLab extension: ``open_file`` shows a file as a panel."""

from workbench.widgets.jupyter.file_panel import open_file

__all__ = ["open_file"]
