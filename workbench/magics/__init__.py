"""IPython magics: ``%%watch`` records the loops of a cell, ``%wb`` and ``%%wb`` show a captured function."""

from workbench.magics.register import register

__all__ = ["register"]
