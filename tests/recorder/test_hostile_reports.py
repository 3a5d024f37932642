"""The reports of a notebook receive the messages of every valid worker, whatever else is sent to their port."""

from __future__ import annotations

import contextlib
import json
import random
import resource
import socket
import threading
import time

import pytest

import workbench as wb
from tests.recorder.test_remote import fit
from workbench.recorder.outlook import Outlooks, plain
from workbench.recorder.remote import listener as listening
from workbench.recorder.remote.message import FORM, LONGEST, VARIABLE, VERSION, read, written
from workbench.recorder.remote.reporter import answer


@pytest.fixture
def reports():
    with wb.WatchReports() as made:
        yield made


def good():
    """A message as a watch sends it."""
    watch = wb.watch("fit", until={"error": ("<", 1e-3)}, show=False)
    for k in range(20):
        watch(error=0.5**k, x=[1.0, 2.0**-k])
    watch.finish()
    return {"host": "here", "pid": 1, "number": 1, **plain(Outlooks().look(watch))}


def connected(reports):
    """An authenticated socket."""
    made = socket.create_connection((reports.address.host, reports.address.port), 30)
    made.sendall(answer(reports.address.secret, made.recv(128)))
    return made


def closed(one):
    """True once the other side has closed the socket."""
    one.settimeout(60)
    try:
        return one.recv(1) == b""
    except ConnectionError:
        return True


def until(condition):
    for _ in range(6000):
        if condition():
            return
        time.sleep(0.01)
    raise AssertionError("it did not happen")


#: values of every type and size in JSON
VALUES = ["", "x", "\x1b]0;x\x07", -1, 1, 10**400, 1e308, -0.5, True, None, [], {}, [[]], [{}], {"a": []}, ["a"] * 2000]


def mutations(seed):
    """Lines that are not messages: wrong types in each field, missing fields, other versions, and values that are not
    objects.
    """
    message = good()
    rows = [{**message, name: value} for name in FORM for value in VALUES]
    rows += [{k: v for k, v in message.items() if k != name} for name in FORM]
    variable = message["variables"][0]
    rows += [{**message, "variables": [{**variable, name: value}]} for name in VARIABLE for value in VALUES]
    rows += [{**message, "variables": [{k: v for k, v in variable.items() if k != name}]} for name in VARIABLE]
    lines = [written(row) for row in rows]
    lines += [
        json.dumps({**message, "version": v}).encode() + b"\n" for v in (None, 0, VERSION + 1, "1", True, [], 1e99)
    ]
    lines += [json.dumps(value).encode() + b"\n" for value in VALUES]
    lines += [json.dumps(message).encode() + b"\n"]
    deep = 100_000
    lines += [b"[" * deep + b"\n", b'{"a":' * deep + b"\n", b"[" * deep + b"]" * deep + b"\n", b'"' * deep + b"\n"]
    lines += [
        b'"\\' + b'"\\' * deep + b"\n",
        b'"\\\n',
        b"\n",
        b"\xff\xfe[\x00\n",
        b"NaN\n",
        b"1" * 9999 + b"\n",
        b"\x00\n",
    ]
    lines += ["[".encode("utf-16") * 9 + b"\n", (chr(0x2200) + "[" * 2000).encode("utf-16-le") + b"\n"]
    whole, luck = written(message), random.Random(seed)
    for _ in range(500):
        cut = bytearray(whole[:-1])
        for _ in range(luck.randint(1, 4)):
            at = luck.randrange(len(cut))
            cut[at : at + luck.randint(0, 30)] = luck.choice(
                [b"", b"[", b'"', b"\\", b"}", b"9" * 400, b"\x1b", b"null"]
            )
        lines.append(bytes(cut).replace(b"\n", b" ") + b"\n")
    return lines


def test_every_line_is_a_message_or_a_value_error():
    refused = 0
    lines = mutations(1)
    for line in lines:
        try:
            told = read(line.rstrip(b"\n"))
        except ValueError:
            refused += 1
        else:
            assert told.keys() == FORM.keys()
            assert all(row.keys() == VARIABLE.keys() for row in told["variables"])
            assert "\x1b" not in str(told["name"])
    assert len(lines) > 900 and refused > 600


def test_a_message_of_a_watch_has_the_form():
    message = good()
    assert message.keys() == FORM.keys()
    assert all(row.keys() == VARIABLE.keys() for row in message["variables"])
    assert read(written(message)) == message


def test_good_workers_are_heard_beside_hostile_messages(reports):
    view = reports.view()
    lines, refused = mutations(2), 0
    for line in lines:
        try:
            read(line.rstrip(b"\n"))
        except ValueError:
            refused += 1
    sockets = []
    for start in range(0, len(lines), 50):  # a connection is closed after 100 lines that are not messages
        sockets.append(connected(reports))
        sockets[-1].sendall(b"".join(lines[start : start + 50]))
    until(lambda: reports.dropped.get("messages") == refused)
    fit(1, reports)
    until(lambda: [run["iteration"] for run in reports.runs if run["name"] == "fit 1"] == [20])
    for one in sockets:
        one.close()
    fit(2, reports)
    runs = {run["name"]: run["state"] for run in reports.wait(2)}
    assert runs["fit 1"] == runs["fit 2"] == "finished"
    assert f"{refused:,} messages of another form" in repr(reports) and "listeners" not in reports.dropped
    until(lambda: f"{refused:,} messages" in view._words.value)
    view.close()
    assert reports.count_listeners == []


def test_a_connection_of_bad_messages_or_of_one_endless_line_is_bounded(reports):
    with connected(reports) as worker:
        worker.sendall(b"{}\n" * (listening.BAD - 1) + written(good()))
        until(lambda: len(reports.runs) == 1)
        with contextlib.suppress(OSError):
            worker.sendall(b"x" * (3 * LONGEST) + b"\n")  # one line, dropped as a whole, and one too many
        until(lambda: reports.dropped["messages"] == listening.BAD)
        assert closed(worker)
    with connected(reports) as worker:
        worker.sendall(b"x" * (3 * LONGEST) + b"\n" + written({**good(), "name": "after"}))
        until(lambda: len(reports.runs) == 2)
        assert reports.runs[1]["name"] == "after"
    assert reports.dropped == {"messages": listening.BAD + 1}


@pytest.mark.slow
def test_connections_without_the_secret_are_bounded_in_number_and_time(reports):
    before = set(threading.enumerate())
    place = (reports.address.host, reports.address.port)
    strangers = [socket.create_connection(place, 30) for _ in range(3 * listening.STRANGERS)]
    until(lambda: reports.dropped.get("strangers", 0) >= 2 * listening.STRANGERS)
    assert not set(threading.enumerate()) - before, "a thread for a stranger"
    fit(1, reports)
    assert reports.wait(1)[0]["state"] == "finished"
    until(lambda: reports.dropped["strangers"] == len(strangers))  # the others time out
    slow = socket.create_connection(place, 30)
    slow.settimeout(0.01)
    begun = time.monotonic()
    with pytest.raises(OSError, match=r"reset|pipe|aborted"):  # single bytes from time to time do not extend the limit
        while time.monotonic() < begun + 60:
            slow.sendall(b"0")
            time.sleep(0.05)
    with socket.create_connection(place, 30) as long:
        long.sendall(b"0" * 1000)
    until(lambda: reports.dropped["strangers"] == len(strangers) + 2)
    for one in [*strangers, slow]:
        one.close()


def test_a_failed_accept_is_counted_and_tried_again(reports, monkeypatch):
    """The process runs out of file descriptors while a worker connects."""
    soft, hard = resource.getrlimit(resource.RLIMIT_NOFILE)
    worker = socket.socket()
    steps: list[tuple[bool, float]] = []
    step = listening.Listener._ready_to_accept

    def noted(listener, ready):
        step(listener, ready)
        steps.append((ready, listener._pause))

    monkeypatch.setattr(listening.Listener, "_ready_to_accept", noted)
    try:
        # no new one is below this limit, whatever else is closed in this process meanwhile
        resource.setrlimit(resource.RLIMIT_NOFILE, (3, hard))
        with pytest.raises(OSError, match="Too many open files"):
            socket.socket()
        worker.settimeout(30)
        worker.connect((reports.address.host, reports.address.port))
        until(lambda: reports.dropped.get("accepts", 0) >= 3)
        # each failure is followed by a pause, twice as long as the one before
        first = listening.PAUSES[0]
        assert steps[:5] == [(False, first), (True, first), (False, 2 * first), (True, 2 * first), (False, 4 * first)]
    finally:
        resource.setrlimit(resource.RLIMIT_NOFILE, (soft, hard))
    with worker:
        worker.sendall(answer(reports.address.secret, worker.recv(128)))
        worker.sendall(written(good()))
        until(lambda: len(reports.runs) == 1)
    assert "accepts that failed" in repr(reports)
    fit(1, reports)
    until(lambda: [run["state"] for run in reports.runs] == ["finished", "finished"])
