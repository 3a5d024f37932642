"""The stop button of a notebook: the run pauses, KeyboardInterrupt ends the cell, and the cells after it do not run."""

from __future__ import annotations

import os
import signal
import subprocess
import sys
import time

import pytest

jupyter_client = pytest.importorskip("jupyter_client")

ENDLESS = """
import workbench as wb
b = wb.GraphBuilder("endless")
i = b.while_loop(lambda i: i > -1.0, lambda i: i + 1.0, {"i": b.constant(0.0)})
graph = b.build(i)
session = wb.Session(graph, memory_budget=1 << 24)
"""
#: says that the main thread has gone into a call of ours
BEGINS = """
import os, sys, threading, time
def tell():
    inside = False
    while not inside:
        time.sleep(0.05)
        frame = sys._current_frames()[threading.main_thread().ident]
        while frame is not None and not inside:
            inside = frame.f_code.co_filename.startswith(os.path.dirname(wb.__file__))
            frame = frame.f_back
    print('begins', flush=True)
threading.Thread(target=tell, daemon=True).start()
"""
#: with a panel, whose views are served by a thread, and without
CELLS = {"session": ENDLESS, "panel": ENDLESS + "panel = wb.debug(session)\n"}


@pytest.fixture(scope="module")
def kernel():
    manager, client = jupyter_client.manager.start_new_kernel(kernel_name="python3", startup_timeout=120)
    yield manager, client
    client.stop_channels()
    manager.shutdown_kernel(now=True)


def reply(client, number: str) -> dict:
    while True:
        message = client.get_shell_msg(timeout=300)
        if message["parent_header"].get("msg_id") == number:
            return message["content"]


def said(client, code: str) -> str:
    found = []
    answer = client.execute_interactive(
        code, timeout=300, output_hook=lambda m: found.append(m["content"].get("text", "")), store_history=False
    )
    assert answer["content"]["status"] == "ok", answer["content"]
    return "".join(found).strip()


@pytest.mark.slow
@pytest.mark.parametrize("call", ["session.run()", "session.wait()", "graph.run()"])
@pytest.mark.parametrize("cell", CELLS)
def test_an_interrupt_ends_the_cell_and_the_queue(kernel, cell, call):
    manager, client = kernel
    said(client, CELLS[cell] + ("session.run(wait=False)" if "wait" in call else ""))
    first = client.execute(f"{BEGINS}{call}")
    second = client.execute("reached = True")
    while client.get_iopub_msg(timeout=300)["content"].get("text", "").strip() != "begins":
        pass
    time.sleep(0.3)
    manager.interrupt_kernel()
    ended = reply(client, first)
    assert ended["status"] == "error" and ended["ename"] == "KeyboardInterrupt", ended
    assert reply(client, second)["status"] == "aborted", "the cells after it are not run"
    if "graph" not in call:
        assert said(client, "print(session.state)") == "paused"
        assert said(client, "event = session.position.event; print(event == session.position.event)") == "True"
    said(client, "session.close()")


def test_a_plain_script_gets_keyboard_interrupt(tmp_path):
    script = tmp_path / "script.py"
    script.write_text(
        f"{ENDLESS}{BEGINS}try:\n    session.run()\n    print('returned')\n"
        "except KeyboardInterrupt:\n    print('interrupted', session.state)\nsession.close()\n"
    )
    process = subprocess.Popen([sys.executable, str(script)], stdout=subprocess.PIPE, text=True)
    assert process.stdout is not None and process.stdout.readline().strip() == "begins"
    time.sleep(0.5)
    os.kill(process.pid, signal.SIGINT)
    assert process.communicate(timeout=300)[0].strip() == "interrupted paused"
