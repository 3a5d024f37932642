"""Every screen shows how random loops ended, in agreement with Python; at random stops it shows their state."""

from __future__ import annotations

import random
from collections import Counter
from dataclasses import replace

import pytest

import workbench as wb
from tests.analysis.ends.random_ends import Program, graph_of, program, truth
from workbench.analysis.ends.end_claims import KINDS
from workbench.analysis.standing import Standing

#: words of screens about unfinished loops
GOING = {s.word for s in Standing if not s.over}


def screens(session: wb.Session) -> dict[str, str]:
    """All texts about the one loop of a session."""
    report = wb.analyze(session)
    (loop,) = report.loops.values()
    data = report.data()["loops"][0]
    answer = session.termination()
    return {
        "answer": str(answer),
        "table": str(answer.table()["end"]["standing"]),
        "report": report.report(200),
        "page": report._repr_html_(),
        "data": str(data["end"]["standing"]),
        "first": report.verdict[0].sentence,
        "trace": wb.analyze(session.trace).report(200),
        "loop": loop.end.standing.slug,
    }


def check_end(found: Program, session: wb.Session, said: tuple[str, int]) -> None:
    slug, iterations = said
    end = session.termination().end
    assert end is not None and (end.standing.slug, end.iterations) == said, found.source
    (claim,) = session.termination().claims
    assert (
        claim.check() and claim.data["iterations"] == iterations and claim.sentence == end.sentence(claim.data["loop"])
    )
    assert (
        not replace(claim, iterations=iterations + 1).check() and not replace(claim, iterations=iterations - 1).check()
    )
    for kind in KINDS.values():
        same = type(claim) is kind
        assert kind(loop="", iterations=iterations, evidence=claim.evidence).check() is same, (kind, found.source)
    seen = screens(session)
    assert seen["table"] == seen["data"] == seen["loop"] == slug, (found.source, seen)
    for name in ("answer", "report", "page", "trace"):
        assert end.word.lower() in seen[name].lower(), (name, found.source)
        for other in Standing:
            if other.over and other.slug != slug and not other.word.startswith(end.word):
                assert f"{other.word[0].upper()}{other.word[1:]} after" not in seen[name], (name, other, found.source)
    assert seen["answer"].splitlines()[0] == f"{end.headline}."
    assert "PROVED" not in seen["answer"].splitlines()[0]
    assert f"{iterations:,} iteration" in seen["first"], seen["first"]


def run_all(seed: int, many: int) -> Counter[str]:
    counts: Counter[str] = Counter()
    rng = random.Random(seed)
    for k in range(many):
        found = program(rng)
        graph = graph_of(found, f"<random end {seed} {k}>")
        with wb.Session(graph, dict(zip(graph.inputs, found.arguments, strict=False))) as session:
            said = truth(found)
            for step in range(rng.randint(0, 3)):  # at random stops no screen says too early that it has ended
                assert not session.termination().over
                seen = screens(session)
                head = next(line for line in seen["report"].splitlines() if line.startswith("Loop "))
                assert any(f": {word}, " in head for word in GOING), head
                assert "has ended" not in seen["report"], seen["report"]
                session.next_iteration()
                if session.state == "finished":
                    break
                counts["stops"] += 1
                if step == 0 and session.position.tag is not None and session.position.tag.frame:
                    assert session.termination().end.standing is Standing.ABOUT_TO_BEGIN
                    claim = next(c for c in session.termination().claims if c.kind == "about-to-begin")
                    assert claim.check()
            session.run()
            check_end(found, session, said)
            counts[said[0]] += 1
    return counts


@pytest.mark.slow
@pytest.mark.parametrize("seed", range(3))
def test_how_random_loops_ended(seed: int):
    counts = run_all(seed, 25)
    assert sum(counts[s.slug] for s in Standing) == 25


@pytest.mark.sweep
@pytest.mark.timeout(900)
@pytest.mark.parametrize("seed", range(1000, 1008))
def test_how_many_random_loops_ended(seed: int):
    counts = run_all(seed, 80)
    assert sum(counts[s.slug] for s in Standing) == 80


def test_random_loops_end_in_every_way():
    rng = random.Random(1000)
    counts = Counter(truth(program(rng))[0] for _ in range(640))
    assert min(counts[s] for s in ("ended", "left", "cut-off", "not-finite")) >= 20, counts
