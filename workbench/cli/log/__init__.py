"""``workbench log``: its options and its run in ``command``."""

from workbench.cli.log.command import add

__all__ = ["add"]
