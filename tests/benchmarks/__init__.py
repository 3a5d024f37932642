"""Speed, side by side with other engines. ``make bench`` runs all; ``python -m tests.benchmarks.loops newton`` one."""

import tests.conftest  # noqa: F401  python -m puts the repository root on sys.path, where ./workbench would be imported
