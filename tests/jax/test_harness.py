"""A part of JAX's own cases of every primitive; ``python -m tests.jax.harness`` runs all of them."""

from __future__ import annotations

import numpy as np
import pytest

from tests.jax.harness import cases, difference, outcome
from workbench.frontends.jax.foreign import call_of

pytestmark = pytest.mark.jax
#: cases of one group of primitives
MOST = 4
GROUPS = sorted({h.group_name for h in cases()})


@pytest.mark.parametrize(
    ("wanted", "given", "ulps", "differs"),
    [
        ([1.0, 2.0], [1.0, 2.0], 0, False),
        ([1.0, 2.0], [1.0, np.nextafter(np.float32(2.0), np.float32(3.0))], 0, True),
        ([1.0, 2.0], [1.0, np.nextafter(np.float32(2.0), np.float32(3.0))], 1, False),
        ([1.0, 2.0], [1.0, 2.000001], 1, True),
        ([np.nan], [np.nan], 0, False),
        ([np.nan], [1.0], 1, True),
        ([np.inf], [-np.inf], 1, True),
        ([0.0], [1e-40], 0, True),
        ([0.0], [1e-40], 1, False),
        ([0.0], [1e-30], 1, True),
    ],
)
def test_a_difference_is_seen(wanted, given, ulps, differs):
    found = difference(np.array(wanted, np.float32), np.array(given, np.float32), ulps)
    assert (found is not None) is differs
    assert difference(np.zeros(2, np.int32), np.array([0, 1], np.int32), 1) is not None
    assert difference(np.zeros(2), np.zeros(3), 1) is not None


@pytest.mark.parametrize("group", GROUPS)
def test_cases_of_a_primitive_equal_jax(group):
    found = cases(group)
    chosen = found[:: max(1, len(found) // MOST)][:MOST]
    outcomes = [outcome(h) for h in chosen]
    call_of.cache_clear()
    assert [o for o in outcomes if o.kind in ("differs", "raised")] == []
