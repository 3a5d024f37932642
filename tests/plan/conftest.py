"""Every program that these tests plan is verified as soon as it is made."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

import pytest

from workbench.kernels import machine


class VerifiedProgram(machine.Program):
    """A program that has passed its own checks."""

    def __init__(self, *given: Any, **named: Any) -> None:
        self.verify()


@pytest.fixture(autouse=True)
def programs_are_verified(monkeypatch: pytest.MonkeyPatch) -> Iterator[None]:
    monkeypatch.setattr(machine, "Program", VerifiedProgram)
    yield
