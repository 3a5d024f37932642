"""The tools in a server of Jupyter: jupyter-server-mcp finds them by their entry point; a client of MCP calls them."""

from __future__ import annotations

import json
import os
import shutil
import subprocess
import sys
import time
import urllib.request
from collections.abc import Iterator
from pathlib import Path

import pytest

from tests.cli import models
from tests.ports import free_port
from workbench.cli.mcp.folders import VARIABLE
from workbench.cli.mcp.listed import TOOLS

pytestmark = pytest.mark.watch

pytest.importorskip("jupyter_server_mcp")
CHROME = shutil.which("chromium")


@pytest.fixture(scope="module")
def server(tmp_path_factory) -> Iterator[tuple[str, str, Path]]:
    """The address of the tools and that of the server itself, and the folder that the tools may read."""
    folder = tmp_path_factory.mktemp("served")
    models.save(models.endless(), folder / "endless.txt")
    models.save(models.newton(), folder / "newton.txt")
    tools, port = free_port(), free_port()
    environment = os.environ | {
        VARIABLE: str(folder),
        "JUPYTER_RUNTIME_DIR": str(folder / "runtime"),
        "JUPYTER_CONFIG_DIR": str(folder / "config"),
        **({"BROWSER_PATH": CHROME} if CHROME else {}),
    }
    command = [sys.executable, "-P", "-m", "jupyter_server", "--no-browser", "--allow-root", f"--port={port}"]
    command += ["--ServerApp.port_retries=0", "--IdentityProvider.token="]
    command += ["--ServerApp.jpserver_extensions=jupyter_server_mcp=True", f"--MCPExtensionApp.mcp_port={tools}"]
    with (folder / "log.txt").open("wb") as log:
        process = subprocess.Popen(command, cwd=folder, env=environment, stdout=log, stderr=subprocess.STDOUT)
    try:
        own = f"http://localhost:{port}/api/status"
        for _ in range(600):
            if _answers(own) and _answers(f"http://localhost:{tools}/mcp", refused=True):
                break
            assert process.poll() is None, (folder / "log.txt").read_text()
            time.sleep(0.2)
        yield f"http://localhost:{tools}/mcp", own, folder
    finally:
        process.terminate()
        process.wait(30)


def _answers(address: str, refused: bool = False) -> bool:
    """True if there is an answer; ``refused``: one of any status."""
    try:
        with urllib.request.urlopen(address, timeout=10):
            return True
    except urllib.error.HTTPError:
        return refused
    except OSError:
        return False


def dialogue(address: str, calls: list[tuple[str, dict]], beside=None) -> tuple[list[str], list]:
    """Names of the tools, and the answer to each call; ``beside`` is called again and again until the last is there."""
    import anyio
    from mcp.client.session import ClientSession
    from mcp.client.streamable_http import streamable_http_client

    async def look(done: anyio.Event) -> None:
        while not done.is_set():
            await anyio.to_thread.run_sync(beside)

    async def talk() -> tuple[list[str], list]:
        async with streamable_http_client(address) as streams, ClientSession(streams[0], streams[1]) as session:
            await session.initialize()
            names = [tool.name for tool in (await session.list_tools()).tools]
            answers = []
            async with anyio.create_task_group() as group:
                done = anyio.Event()
                if beside is not None:
                    group.start_soon(look, done)
                for name, arguments in calls:
                    answers.append((await session.call_tool(f"workbench_{name}", arguments)).content)
                done.set()
            return names, answers

    return anyio.run(talk)


def test_a_client_of_the_server_finds_the_tools_and_why_a_loop_is_endless(server):
    address, _, _ = server
    names, answers = dialogue(
        address,
        [
            ("open", {"path": "endless.txt", "inputs": {"start": 1}}),
            ("run", {"run": 1, "seconds": 0.1}),
            ("why", {"run": 1}),
        ],
    )
    opened, stop, why = (json.loads(content[0].text) for content in answers)
    assert set(names) >= {spec.partition(":")[2] for spec in TOOLS}
    assert (opened["run"], stop["state"]) == (1, "paused")
    assert (why["status"], why["outcome"]) == ("PROVED", "never") and why["claims"]


def test_the_server_answers_others_while_a_tool_runs(server):
    """A tool runs for ten seconds; a server that waits for it answers once at most, when the call has not begun."""
    address, own, _ = server
    _, (opened,) = dialogue(address, [("open", {"path": "endless.txt", "inputs": {"start": 1}})])
    looks: list[bool] = []

    def look() -> None:
        looks.append(_answers(own))

    dialogue(address, [("run", {"run": json.loads(opened[0].text)["run"], "seconds": 10.0})], look)
    assert all(looks) and len(looks) > 3


def test_files_outside_of_the_folder_are_refused(server):
    address, _, _ = server
    _, (outside, link) = dialogue(address, [("open", {"path": "/etc/passwd"}), ("log", {"path": "../x"})])
    assert [json.loads(c[0].text)["error"]["slug"] for c in (outside, link)] == ["outside", "outside"]


@pytest.mark.skipif(CHROME is None, reason="no Chromium: `make browser`")
def test_a_picture_is_an_image_of_the_protocol(server):
    import base64

    address, _, _ = server
    _, (opened,) = dialogue(address, [("open", {"path": "newton.txt", "inputs": {"a": 2.0}})])
    run = json.loads(opened[0].text)["run"]
    _, (stop, curve, graph) = dialogue(
        address,
        [("run", {"run": run}), ("picture", {"run": run}), ("picture", {"run": run, "what": "graph", "dark": True})],
    )
    assert json.loads(stop[0].text)["state"] == "finished"
    for content, what in ((curve, "variables"), (graph, "graph")):
        facts, picture = content
        assert json.loads(facts.text)["picture"] == what and picture.mime_type == "image/png"
        assert base64.b64decode(picture.data)[:8] == b"\x89PNG\r\n\x1a\n"
