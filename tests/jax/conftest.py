"""These tests run where JAX is installed: ``make test-jax``. Elsewhere none of them is collected."""

from __future__ import annotations

import importlib.util

collect_ignore_glob = [] if importlib.util.find_spec("jax") else ["test_*.py"]
