"""``workbench diff``: its options and its run in ``command``."""

from workbench.cli.diff.command import add

__all__ = ["add"]
