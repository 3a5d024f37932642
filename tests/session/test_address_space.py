"""Limits of the address space (``ulimit -v``): the shapes take a small share of it, and all else goes on."""

from __future__ import annotations

import sys

import pytest

from tests.limits import in_a_process

pytestmark = pytest.mark.skipif(not sys.platform.startswith("linux"), reason="other systems do not enforce the limit")

GIB = 1 << 30


@pytest.mark.slow
@pytest.mark.parametrize("space", [6 * GIB, 5 * GIB, 9 * GIB // 2, 2 * GIB, GIB])
def test_under_a_limit_sessions_run_one_after_the_other(space):
    told = in_a_process(
        """
        from workbench.kernels import ShapeTrie
        def used():
            return int(open("/proc/self/statm").read().split()[0]) * resource.getpagesize()
        print(used() < resource.getrlimit(resource.RLIMIT_AS)[0] // 2)
        ends = []
        for k in range(50):
            session = wb.Session(count(50.0), {"start": float(k)})
            session.run()
            ends += [float(v) for v in session.outputs.values()]
        print(ends == [50.0] * 50)
        before = used()
        tries = [ShapeTrie() for _ in range(5)]
        for k, trie in enumerate(tries):
            for n in range(2000):
                trie.intern((n, k, 3))
        print([len(trie) for trie in tries], used() - before < resource.getrlimit(resource.RLIMIT_AS)[0] // 2)
        """,
        space=space,
    )
    assert told.splitlines() == ["True", "True", "[2000, 2000, 2000, 2000, 2000] True"]


def test_without_any_address_space_the_error_says_so():
    told = in_a_process(
        """
        from workbench.kernels import ShapeTrie
        size = int(open("/proc/self/statm").read().split()[0]) * resource.getpagesize()
        before = resource.getrlimit(resource.RLIMIT_AS)
        resource.setrlimit(resource.RLIMIT_AS, (size + (1 << 20), before[1]))
        try:
            ShapeTrie()
        except MemoryError as error:
            print(error)
        resource.setrlimit(resource.RLIMIT_AS, before)
        trie = ShapeTrie()
        trie.intern((2, 3))
        print(len(trie))
        """
    )
    assert told.splitlines() == [
        "shape trie: the system gives no address space; raise the limit of the process (ulimit -v)",
        "1",
    ]
