"""The page of an analysis in a real browser: offline, light and dark, reachable by keyboard."""

from __future__ import annotations

import contextlib

import workbench as wb
from tests.analysis.report.test_report import relaxation
from tests.browser.lab import patient
from tests.browser.waits import until

# fill colours of the page and of the text in the plot, and the number of drawn lines
LOOK = """() => ({
  page: getComputedStyle(document.body).backgroundColor,
  words: getComputedStyle(document.querySelector('.wb-report')).color,
  ticks: getComputedStyle(document.querySelector('.xtick text')).fill,
  lines: document.querySelectorAll('.plotly-graph-div .scatterlayer .trace').length,
})"""


def brightness(colour: str) -> float:
    parts = [float(p) for p in colour.removeprefix("rgba(").removeprefix("rgb(").rstrip(")").split(",")[:3]]
    return sum(parts) / 3


def test_the_page_of_an_analysis(browser, tmp_path):
    with wb.Session(relaxation(), {"x0": 50.0}) as session:
        for _ in range(60):
            session.next_iteration()
        path = wb.analyze(session).to_html(tmp_path / "report.html")
    context = patient(browser, viewport={"width": 900, "height": 900}, color_scheme="light")
    with contextlib.closing(context):
        page = context.new_page()
        requests: list[str] = []
        errors: list[str] = []
        page.on("request", lambda request: requests.append(request.url))
        page.on("pageerror", lambda error: errors.append(str(error)))
        page.goto(path.as_uri())
        page.wait_for_selector(".xtick text", state="attached")
        light = until(lambda: page.evaluate(LOOK), lambda light: light["lines"] == 3)  # values, band and forecast
        assert brightness(light["page"]) > 200 > 100 > brightness(light["words"])
        assert brightness(light["ticks"]) < 100
        page.emulate_media(color_scheme="dark")
        page.wait_for_function(f"() => ({LOOK})().ticks !== '{light['ticks']}'")
        until(
            lambda: {part: brightness(ink) for part, ink in page.evaluate(LOOK).items() if part != "lines"},
            lambda dark: dark["page"] < 60 < 180 < dark["words"] and dark["ticks"] > 180,
        )
        page.wait_for_function("() => document.body.scrollWidth <= window.innerWidth")
        # the numbers behind the plot, by keyboard alone
        for _ in range(30):
            page.keyboard.press("Tab")
            if page.evaluate("() => document.activeElement.tagName") == "SUMMARY":
                break
        page.keyboard.press("Enter")
        page.wait_for_function("() => document.querySelector('details').open")
        table = page.inner_text("details table")
        assert "iteration" in table and "(forecast)" in table
        assert not errors and not [r for r in requests if not r.startswith(("file:", "data:", "blob:"))]
