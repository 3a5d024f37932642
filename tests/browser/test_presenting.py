"""A panel that is presented: one strip, one large number, the whole graph, and bookmarks by Page Down."""

from __future__ import annotations

import pytest

from tests.browser.audit import AUDIT
from tests.browser.cells import NEWTON
from tests.browser.panel import Panel
from tests.browser.waits import until

CELLS = [NEWTON, "panel.session.run()\npanel.session.previous_iteration(2)"]
PRESENT = "panel.querySelector('[data-view=present]').click()"
#: what is in sight of the strips, and of what a panel is set with
HEADS = """const heads = [...panel.querySelectorAll('.workbench-is-evolution .workbench-head-strip')];
           return heads.map(h => h.querySelector('b').textContent)"""
CONTROLS = """const kinds = ['tabs', 'graphbar', 'runs', 'legend', 'value-tabs'].map(k => `.workbench-${k}`);
              return kinds.filter(s => [...panel.querySelectorAll(s)].some(e => e.offsetWidth))"""
WHOLE = """const graph = panel.querySelector('.workbench-is-graph .workbench-scroll');
           const number = panel.querySelector('.workbench-value-number');
           const size = parseFloat(getComputedStyle(number).fontSize);
           return graph.scrollWidth <= graph.clientWidth + 2 && graph.scrollHeight <= graph.clientHeight + 2
             && number.offsetHeight < 1.6 * size
             && number.scrollWidth <= panel.querySelector('.workbench-area-value').clientWidth"""


@pytest.mark.parametrize("size", [(1440, 900), (1280, 720), (1024, 768)])
def test_the_content_grows_and_the_controls_go_and_come_back(opened, size):
    opened.page.set_viewport_size(dict(zip(("width", "height"), size, strict=True)))
    panel = Panel(opened.page, 0)
    panel.show()
    before = panel.ask(HEADS)
    large = "return parseFloat(getComputedStyle(panel.querySelector('.workbench-value-number')).fontSize)"
    assert len(before) > 1 and panel.ask(CONTROLS)
    small = panel.ask(large)
    panel.ask(PRESENT)
    panel.until("return panel.dataset.presenting === 'true'")
    until(lambda: panel.ask(HEADS), [panel.ask("return panel.querySelector('.workbench-value-named input')?.value")])
    assert panel.ask(CONTROLS) == [] and panel.ask(large) > 1.5 * small
    panel.until(WHOLE)  # the whole graph, and a number in one line
    until(lambda: [fault for fault in opened.page.evaluate(AUDIT) if not fault.startswith("high")], [])
    opened.page.evaluate("document.exitFullscreen()")
    panel.until("return panel.dataset.presenting === 'false'")
    until(lambda: panel.ask(HEADS), before)
    assert panel.ask(CONTROLS)


def test_page_down_goes_to_the_next_bookmark_and_shows_its_words(opened):
    panel = Panel(opened.page, 0)
    opened.kernel(
        "from workbench.widgets.live.selection import Moment\n"
        "path = next(p for p in panel.session.graph.frames if p)\n"
        "for k, words in ((1, 'far away'), (2, '<i>half</i> way')):\n"
        "    panel.selection.look_at(Moment(path, (k,)))\n    panel.bookmark(words)\npanel.selection.look_at(None)"
    )
    panel.show()
    caption = "return panel.querySelector('.workbench-caption').textContent"
    panel.ask(PRESENT)
    panel.until("return panel.dataset.presenting === 'true'")
    pressed = (("PageDown", "far away", 1), ("PageDown", "<i>half</i> way", 2), ("PageUp", "far away", 1))
    for key, words, iteration in pressed:
        opened.page.keyboard.press(key)
        until(lambda: panel.ask(caption), words)
        opened.heard(f"panel.selection.moment.iteration == ({iteration},)")
    opened.page.evaluate("document.exitFullscreen()")
    panel.until("return panel.dataset.presenting === 'false'")
