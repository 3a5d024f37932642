"""An explanation prints what a person reads: the nearest values, in lines of a page, and how to see the others."""

from __future__ import annotations

import numpy as np
import pytest

import workbench as wb
from tests.cli import models
from workbench.cli.main import main
from workbench.trace.provenance import SHOWN, WIDTH


def long_names() -> wb.Graph:
    b = wb.GraphBuilder("long")
    scope = "module/encoder/layer/attention/self/" * 3
    a = b.placeholder(f"{scope}a", "float64", (3,))
    x = b.while_loop(
        lambda **v: b.op("sum", *v.values()) > 1e-3,
        lambda **v: {n: (x + a) * 0.25 for n, x in v.items()},
        {f"{scope}x": a * 1.0},
        name=f"{scope}loop",
        max_trips=40,
    )
    return b.build({"x": x[f"{scope}x"]})


@pytest.fixture
def session():
    with wb.Session(long_names(), {next(iter(long_names().inputs)): np.arange(3.0)}) as made:
        made.run()
        yield made


def test_the_nearest_values_are_printed_and_the_others_counted(session):
    found = session.explain("x")
    lines = str(found).splitlines()
    assert len(found) == 200 and not found.complete
    told = [line for line in lines if " <- " in line]
    assert 0 < len({line.strip() for line in told if "see above" not in line}) <= SHOWN
    assert max(map(len, lines)) <= WIDTH
    assert f"{len(found) - SHOWN} more values" in lines[-1] and "most=None" in lines[-1] and "continues" in lines[-1]
    assert all(str(link.value)[:4] in text for link, text in [(found.links[0], lines[0])])
    whole = found.text(most=None, width=None).splitlines()
    assert len(whole) > len(found) and max(map(len, whole)) > WIDTH
    assert "more values" not in whole[-1] and "max_links" in whole[-1]


def test_a_short_chain_is_printed_whole():
    b = wb.GraphBuilder("short")
    a = b.placeholder("a", "float64", ())
    with wb.Session(b.build({"y": a * 2.0 + 1.0}), {"a": 1.5}) as session:
        session.run()
        lines = str(session.explain("y")).splitlines()
        assert len(lines) == 5 and lines[0].startswith("y = 4.0") and all(" <- " in line for line in lines)


def test_html_is_as_short(session):
    html = session.explain("x")._repr_html_()
    assert html.count("\n") < 2 * SHOWN and "more values" in html


def test_the_command_prints_the_nearest_in_lines_of_a_page(tmp_path, capsys):
    path = tmp_path / "m.txt"
    path.write_text(long_names().text(), encoding="utf-8")
    name = next(iter(long_names().inputs))
    assert main(["explain", str(path), "x", "-i", f"{name}=[0, 1, 2]"]) == 0
    out = capsys.readouterr().out.splitlines()
    assert len(out) <= 2 * SHOWN and max(map(len, out)) <= WIDTH
    assert "--all shows all of them." in out[-1]
    models.save(models.newton(), tmp_path / "newton.txt")
    assert main(["explain", str(tmp_path / "newton.txt"), "x", "-i", "a=2", "--all"]) == 0
    every = capsys.readouterr().out.splitlines()
    assert len(every) > 2 * SHOWN
