"""The README's pictures of the panel, light and dark, from a really started JupyterLab: .github/panel-*.png.

``.ci/pictures.py`` takes them. The notebook is made here, and is not part of the course.
"""

from __future__ import annotations

import sys
from pathlib import Path

import nbformat

ROOT = Path(__file__).resolve().parents[1]
sys.path.insert(1, str(ROOT))

from tests.browser import lab  # noqa: E402

CELL = """
import workbench as wb

b = wb.GraphBuilder("newton")
a = b.placeholder("a", "float64")
x = b.while_loop(lambda x: abs(x * x - a) > 1e-9, lambda x: (x + a / x) * 0.5, {"x": a})

panel = wb.debug(b.build(x), {"a": 2e4})
panel.session.breakpoints.add("x", when="value < 150")
panel.session.next_iteration(10)
panel.session.step(6)
panel
"""
READY = """() => { const p = document.querySelector('.workbench-debugger');
  const figures = p ? [...p.querySelectorAll('.workbench-figure')] : [];
  return figures.length >= 5 && figures.every(g => !g.offsetWidth || g._fullLayout && g.data.length); }"""
WIDTH, HEIGHT = 1500, 980


def take(folder: Path, work: Path, url: str, token: str) -> None:
    """Both pictures into ``folder``, from a server of JupyterLab in ``work``."""
    kernel = {"display_name": "Python 3 (ipykernel)", "language": "python", "name": "python3"}
    cells = [nbformat.v4.new_code_cell(CELL.strip())]
    notebook = nbformat.v4.new_notebook(cells=cells, metadata={"kernelspec": kernel})
    nbformat.write(notebook, work / "notebooks" / "screenshot.ipynb")
    with lab.browser_page(url, token, WIDTH, HEIGHT) as page:
        page.open("screenshot.ipynb")
        page.run_all()
        page.page.wait_for_function(READY, timeout=120_000)
        for theme in ("Light", "Dark"):
            page.theme(theme)
            page.page.wait_for_timeout(8000)  # figures are drawn again in the theme's colours
            panel = page.page.locator(".workbench-debugger").first
            panel.scroll_into_view_if_needed()
            page.page.wait_for_timeout(1000)
            panel.screenshot(path=str(folder / f"panel-{theme.lower()}.png"))
            print(folder / f"panel-{theme.lower()}.png")
        page.theme("Light")
