"""The MCP server over standard input and output, with the official SDK."""

from __future__ import annotations

from workbench.cli.mcp import drawing, looking, moving, runs  # noqa: F401  their tools
from workbench.cli.mcp.answers import TOOLS
from workbench.libraries import install, needed

INSTRUCTIONS = (
    "Debug dataflow graphs with loops: workbench_open a model, workbench_run or workbench_step it, then ask "
    "workbench_why a loop ends or never does, workbench_nan for the first NaN, workbench_value for values. "
    "Each answer is JSON; a refusal is an answer with error.fix, which says what to call instead."
)


def serve() -> None:
    """Answer calls until standard input ends."""
    server = needed("mcp.server", "The server", install("mcp")).MCPServer("workbench", instructions=INSTRUCTIONS)
    for name, function in TOOLS.items():
        server.add_tool(function, name=name, description=function.__doc__)
    server.run("stdio")
