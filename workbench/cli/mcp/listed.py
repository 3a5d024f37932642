"""The tools in the form expected by a Jupyter server: ``module:function``."""

from __future__ import annotations

from workbench.cli.mcp import drawing, looking, moving, runs  # noqa: F401  their tools
from workbench.cli.mcp.answers import TOOLS as _TOOLS

TOOLS = [f"{function.__module__}:{name}" for name, function in _TOOLS.items()]
