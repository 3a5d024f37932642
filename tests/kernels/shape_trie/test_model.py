"""The shape trie against its twin: every operation in any order gives the same answers (a stateful model)."""

from __future__ import annotations

import pytest
from hypothesis import HealthCheck, settings
from hypothesis import strategies as st
from hypothesis.stateful import Bundle, RuleBasedStateMachine, consumes, invariant, rule

from tests.kernels.reference.shape_trie import ShapeTrieTwin
from workbench.kernels.shape_trie import ShapeTrie

# Few values, so that prefixes meet, records are split and nodes go again; some need the wide form.
DIMS = st.one_of(st.sampled_from([0, 1, 2, 3]), st.sampled_from([2**32 - 1, 2**32, 2**63 - 1]))
SHAPES = st.lists(DIMS, max_size=9).map(tuple)


@st.composite
def descriptors(draw):
    shape = draw(SHAPES)
    stride = st.sampled_from([0, 1, 8, -8, 2**31, -(2**31) - 1])
    strides = draw(st.one_of(st.none(), st.lists(stride, min_size=len(shape), max_size=len(shape)).map(tuple)))
    dtype = draw(st.sampled_from([None, "int8", "float64", ">f4", "U3"]))
    return shape, strides, dtype, draw(st.sampled_from("CF")), draw(st.sampled_from([0, 1, 65535]))


class TrieAgainstTwin(RuleBasedStateMachine):
    ids = Bundle("ids")

    def __init__(self) -> None:
        super().__init__()
        self.trie, self.twin = ShapeTrie(), ShapeTrieTwin()
        self.gone: set[int] = set()

    @rule(target=ids, given=descriptors())
    def intern(self, given):
        pair = self.trie.intern(*given), self.twin.intern(*given)
        self.gone.discard(pair[0])
        return pair

    @rule(target=ids, shape=SHAPES)
    def intern_plain(self, shape):
        pair = self.trie.intern(shape), self.twin.intern(shape)
        self.gone.discard(pair[0])
        return pair

    @rule(given=descriptors())
    def lookup(self, given):
        found, expected = self.trie.lookup(*given), self.twin.lookup(*given)
        assert (found is None) == (expected is None)
        if found is not None:
            assert self.trie.get(found)[1:] == self.twin.get(expected)[1:]

    @rule(pair=ids)
    def look_at(self, pair):
        assert self.trie.get(pair[0])[1:] == self.twin.get(pair[1])[1:]
        assert self.trie.refcount(pair[0]) == self.twin.refcount(pair[1])

    @rule(pair=consumes(ids))
    def release(self, pair):
        self.trie.release(pair[0])
        self.twin.release(pair[1])
        try:
            self.twin.refcount(pair[1])
        except ValueError:
            self.gone.add(pair[0])

    @rule()
    def what_is_gone_is_known_to_be_gone(self):
        for id in self.gone:
            with pytest.raises(ValueError):
                self.trie.get(id)

    @rule(prefix=st.lists(DIMS, max_size=4))
    def prefix(self, prefix):
        found = {self.trie.get(i)[1:] for i in self.trie.prefix(prefix)}
        assert found == {self.twin.get(i)[1:] for i in self.twin.prefix(prefix)}
        assert len(self.trie.prefix(prefix)) == len(found)

    @invariant()
    def same_numbers(self):
        mine, theirs = self.trie.stats(), self.twin.stats()
        assert {k: mine[k] for k in theirs} == theirs
        self.trie.check()
        tree = self.trie.tree()
        assert tree["entries"] == theirs["entries"]


TrieAgainstTwin.TestCase.settings = settings(
    max_examples=60, stateful_step_count=40, deadline=None, suppress_health_check=list(HealthCheck)
)
TestTrieAgainstTwin = TrieAgainstTwin.TestCase
