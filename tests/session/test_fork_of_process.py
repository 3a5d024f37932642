"""Sessions in a forked process: each command says at once that it cannot be, and nothing there hangs or harms the
parent, whatever the session did at the moment of the fork."""

from __future__ import annotations

import pytest

from tests.session.test_no_hang import in_a_process

#: what a session may be doing when the process forks
STATES = {
    "ready": "pass",
    "paused": "session.step(5)",
    "closed": "session.step(); session.close()",
    "running": "session.run(wait=False); time.sleep(0.05)",
}


@pytest.mark.slow
@pytest.mark.parametrize("state", STATES)
def test_a_forked_process_is_told_and_harms_nobody(state, tmp_path):
    told = in_a_process(f"""
    import asyncio, faulthandler, gc, os, sys, time
    session = wb.Session(endless(), {{"start": 0.0}}, trace=wb.Retention(spill={str(tmp_path)!r}, memory=1 << 20))
    other = wb.Session(count(), {{"start": 0.0}})
    other.subscribe(print)
    {STATES[state]}
    arguments = {{"run_to": ("x",), "set_value": ("x", 1.0), "post": ("step",)}}
    waits = (
        "run resume step step_back step_over step_back_over next_iteration previous_iteration step_into step_out "
        "step_back_out next_branch previous_branch run_to_branch reverse_continue restart run_to set_value update "
        "post pause wait fork termination apply_fix"
    ).split()

    def child():
        slugs = set()
        for name in waits:
            try:
                getattr(session, name)(*arguments.get(name, ()))
                slugs.add(name)
            except wb.WorkbenchError as error:
                slugs.add(error.slug)
        try:
            asyncio.run(session.wait_async())
        except wb.WorkbenchError as error:
            slugs.add(error.slug)
        session.snapshot(), session.state, repr(session), session.memory_now()
        return slugs

    sys.stdout.flush()
    for k in range(6):
        pid = os.fork()
        if pid == 0:
            faulthandler.dump_traceback_later(100, exit=True)
            found = child()
            if k % 2:
                session.close()
                with other:
                    pass
            del session, other
            gc.collect()
            if found != {{"forked"}}:
                print("child", found)
            sys.exit(0 if found == {{"forked"}} else 5)  # the end of the interpreter, atexit functions included
        assert os.waitstatus_to_exitcode(os.waitpid(pid, 0)[1]) == 0
    if session.state != "closed":
        session.pause()
        session.step(), session.run_to("x", 20_000), session.pause()
        values = session.trace["x"].values  # those that were put on disk, too
        assert values.tolist() == list(range(len(values))), values
    session.close()
    print("parent", len(os.listdir({str(tmp_path)!r})))
    """)
    assert told.splitlines()[-1] == "parent 0", told


def test_multiprocessing_by_fork():
    told = in_a_process("""
    import multiprocessing, os
    def child(session, answers):
        try:
            session.step()
        except wb.WorkbenchError as error:
            answers.put(error.slug)
        own = wb.Session(count(), {"start": 0.0})
        answers.put(own.run().reason.name)
    session = wb.Session(count(), {"start": 0.0})
    session.step()
    context = multiprocessing.get_context("fork")
    answers = context.Queue()
    process = context.Process(target=child, args=(session, answers))
    process.start()
    print(answers.get(timeout=100), answers.get(timeout=100))
    process.join(100)
    print(process.exitcode, session.run().reason.name)
    """)
    assert told.split() == ["forked", "FINISHED", "0", "FINISHED"]
