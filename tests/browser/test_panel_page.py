"""The exported page, opened offline in Chromium: its slider moves the pictures; nothing is asked of any network."""

from __future__ import annotations

import workbench as wb
from tests.widgets.graphs import EVIL, evil, nested, newton

MOMENTS = "() => JSON.parse(document.getElementById('workbench-data').textContent).moments"


def test_the_slider_of_the_page_moves_the_pictures(offline, tmp_path):
    panel = wb.debug(newton(), {"a": 2.0, "x0": 100.0})
    panel.session.run()
    panel.panes.show("stack")
    path = panel.to_html(tmp_path / "newton.html", "auto")
    panel.close()
    assert path.stat().st_size < 8_000_000
    page = offline(path)
    page.screenshot(path=str(tmp_path / "light.png"))
    shown = []
    for k in (0, 3, 7):
        page.evaluate(
            """k => { const range = document.querySelector('input[type=range]');
                      range.value = k; range.dispatchEvent(new Event('input')); }""",
            k,
        )
        page.wait_for_function(f"() => document.querySelector('output').textContent === 'iteration {k}'")
        picture = "document.querySelector('.workbench-picture').innerText"
        page.wait_for_function(f"seen => !seen.includes({picture})", arg=shown)  # the graph shows other values at each
        shown.append(page.evaluate(f"() => {picture}"))
    page.locator("input[type=range]").focus()
    page.keyboard.press("End")
    page.wait_for_function("() => document.querySelector('output').textContent === 'newest state'")
    ink = page.evaluate("() => getComputedStyle(document.querySelector('.xtick text')).fill")
    page.emulate_media(color_scheme="dark")
    page.wait_for_function(f"() => getComputedStyle(document.querySelector('.xtick text')).fill !== '{ink}'")
    page.screenshot(path=str(tmp_path / "dark.png"))
    print("screenshots:", tmp_path)
    assert page.errors_ == []
    assert [r for r in page.requests_ if not r.startswith(("file:", "data:", "blob:"))] == []


def test_names_with_tags_are_shown_and_not_obeyed(offline, tmp_path):
    panel = wb.debug(evil(), {f"x{EVIL}": 0.0})
    panel.session.run()
    path = panel.to_html(tmp_path / "evil.html")
    panel.close()
    page = offline(path)
    assert page.evaluate("() => document.querySelectorAll('main img').length") == 0
    assert EVIL in page.evaluate("() => document.querySelector('h1').innerText")
    assert page.errors_ == []


def test_nested_loops_and_a_run_that_has_not_begun(offline, tmp_path):
    panel = wb.debug(nested(), {"n": 5})
    empty = panel.to_html(tmp_path / "empty.html")
    panel.session.run()
    panel.time.choose(("outer", "inner") if ("outer", "inner") in panel.session.graph.frames else panel.time._loops[-1])
    panel.time.look(3, depth=1)
    full = panel.to_html(tmp_path / "nested.html", "dark")
    panel.close()
    assert offline(empty).errors_ == []
    page = offline(full)
    assert page.errors_ == []
    assert "outer 3" in page.evaluate(MOMENTS)[0]
