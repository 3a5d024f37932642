"""Tools for programs that debug on a user's behalf: functions with JSON in and out, and an MCP server.

::

    workbench_open ─► workbench_run, _step, _back, _break ─► workbench_value, _why, _nan, _diff
    answers: an error is an answer, and each is bounded      held: sessions by number
    folders: those that may be read                          server: MCP over stdio

The functions of ``TOOLS`` are also listed in the entry-point group ``jupyter_server_mcp.tools``, so that a Jupyter
server with jupyter-server-mcp offers them.
"""

from workbench.cli.mcp.command import add

__all__ = ["add"]
