"""Counting what a person does in a story: a click, a text with Enter, a turn of the wheel."""

from __future__ import annotations

from tests.browser.page import Page
from tests.browser.panel import Panel


class Actions:
    """Counts what a person does."""

    def __init__(self, most: int) -> None:
        self.most, self.done = most, 0

    def __enter__(self) -> Actions:
        return self

    def __call__(self, *_: object) -> None:
        self.done += 1

    def __exit__(self, kind: object, *_: object) -> None:
        assert kind is not None or self.done <= self.most, f"{self.done} actions, at most {self.most} were promised"


def typed(opened: Page, panel: Panel, selector: str, words: str) -> None:
    """Write in a field and press Enter."""
    field = opened.page.locator(".workbench-debugger").nth(panel.index).locator(selector)
    field.fill(words)
    field.press("Enter")
