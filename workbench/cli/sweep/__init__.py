"""``workbench sweep``: its options and its run in ``command``."""

from workbench.cli.sweep.command import add

__all__ = ["add"]
