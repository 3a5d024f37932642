"""The server over standard input and output, with the client of the official SDK."""

from __future__ import annotations

import json
import sys
from pathlib import Path

import pytest

from tests.cli import models
from workbench.cli.mcp.listed import TOOLS

pytestmark = pytest.mark.watch

mcp = pytest.importorskip("mcp")


def dialogue(folder: Path, calls: list[tuple[str, dict]]) -> tuple[list[str], list[dict]]:
    """Names of the tools that the server lists, and the answer to each call, from a client that the SDK has."""
    import anyio
    from mcp.client.stdio import StdioServerParameters, stdio_client

    command = ["-m", "workbench.cli.main", "mcp", "--folder", str(folder)]
    parameters = StdioServerParameters(command=sys.executable, args=["-P", *command], cwd=str(folder))

    async def talk() -> tuple[list[str], list[dict]]:
        async with stdio_client(parameters) as (read, write), mcp.ClientSession(read, write) as session:
            await session.initialize()
            names = [tool.name for tool in (await session.list_tools()).tools]
            answers = []
            for name, arguments in calls:
                result = await session.call_tool(f"workbench_{name}", arguments)
                answers.append(json.loads(result.content[0].text))
            return names, answers

    return anyio.run(talk)


def test_why_a_loop_is_endless_in_three_calls(tmp_path):
    models.save(models.endless(), tmp_path / "endless.txt")
    names, (opened, stop, why) = dialogue(
        tmp_path,
        [
            ("open", {"path": "endless.txt", "inputs": {"start": 1}}),
            ("run", {"run": 1, "seconds": 0.1}),
            ("why", {"run": 1}),
        ],
    )
    assert names == [spec.partition(":")[2] for spec in TOOLS]
    assert (opened["run"], stop["state"]) == (1, "paused")
    assert (why["status"], why["outcome"]) == ("PROVED", "never") and why["claims"]


def test_a_refusal_is_an_answer(tmp_path):
    models.save(models.newton(), tmp_path / "newton.txt")
    _, (outside, missing, nowhere) = dialogue(
        tmp_path, [("open", {"path": "/etc/passwd"}), ("open", {"path": "newton.txt"}), ("step", {"run": 7})]
    )
    assert [a["error"]["slug"] for a in (outside, missing, nowhere)] == ["outside", "missing-feed", "no-such-run"]
