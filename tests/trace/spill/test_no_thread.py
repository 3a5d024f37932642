"""Without a writer thread, the producer writes the rows that a run drops; nothing is lost."""

from __future__ import annotations

import pytest

from tests.limits import in_a_process

pytest.importorskip("pyarrow")


LIMIT = "number of threads"


@pytest.mark.slow
def test_rows_are_written_and_read_without_a_thread_and_by_one_as_soon_as_there_is_one():
    told = in_a_process("from tests.trace.spill import test_no_thread as here; here.both_ways(no_threads)", LIMIT)
    assert told.splitlines() == ["0 all of it, 0 half of it, 1 the rest, 0 closed"] * 9


def both_ways(no_threads) -> None:
    """In a process of its own: a run without a thread, and one that has none for its first half."""
    import tempfile
    import threading
    from pathlib import Path

    import pyarrow.compute
    import pyarrow.ipc  # noqa: F401

    from tests.execution.test_retire import arrays, numbers, objects
    from tests.plan.checks import run_of
    from tests.trace.spill.joined import check_columns, finish, spilling

    def state() -> str:
        store.flush()
        assert store.status.rows > 0 and store.status.waiting == 0
        return str(sum(thread.name == "workbench-spill" for thread in threading.enumerate()))

    no_threads(False)
    with tempfile.TemporaryDirectory() as folder:
        for graph in numbers(20_000), arrays(2_000), objects(2_000):
            whole = finish(run_of(graph, {}, 1 << 34))
            for compression in (None, "lz4", "zstd"):
                options = {"queue_bytes": 50_000, "compression": compression}
                no_threads(True)
                run, store = spilling(graph, {}, Path(folder), **options)
                finish(run)
                told = [state() + " all of it"]
                assert check_columns(run, store, whole) > 100
                store.close()
                run, store = spilling(graph, {}, Path(folder), **options)
                while run.event < whole.event // 2:
                    run.go(whole.event // 2)
                told += [state() + " half of it"]
                no_threads(False)
                finish(run)
                told += [state() + " the rest"]
                assert check_columns(run, store, whole) > 100
                store.close()
                left = sum(thread.name == "workbench-spill" for thread in threading.enumerate())
                print(*told, f"{left} closed", sep=", ")


@pytest.mark.slow
def test_without_a_thread_the_run_stops_where_it_cannot_write_and_goes_on():
    """At the limit of bytes; and files that are kept are completed without a thread."""
    told = in_a_process(
        """
        import tempfile
        from pathlib import Path
        import pyarrow as pa
        from tests.execution.test_retire import numbers
        from tests.plan.checks import run_of
        from tests.trace.spill.joined import check_columns, finish, spilling
        from workbench.trace.spill import SpillError

        no_threads(False)
        place = tempfile.TemporaryDirectory()
        run, store = spilling(numbers(100_000), {}, Path(place.name), limit=300_000, queue_bytes=50_000)
        no_threads(True)
        stops = 0
        while not run.finished or store.status.waiting:
            try:
                finish(run)
                store.flush()
            except wb.WorkbenchError as error:
                assert error.slug == "spill-limit" and store.status.state == "stopped", error
                assert store.extent(1)[1] == run.view.rows(1)[0]
                stops += 1
                store.limit *= 4
        print(stops, check_columns(run, store, finish(run_of(numbers(100_000), {}, 1 << 34))) > 500)
        store.keep = True
        store.close()
        no_threads(False)  # Arrow wants one here
        tables = [pa.ipc.open_file(str(f)).read_all() for f in sorted(store.folder.glob("*.arrow"))]
        print(sum(t.num_rows for t in tables) == store.status.rows > 1000)
        """,
        LIMIT,
    )
    stops, whole, kept = told.split()
    assert int(stops) >= 2 and (whole, kept) == ("True", "True")
