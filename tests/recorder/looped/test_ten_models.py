"""Ten small looped models: label, loop and cause, compared with NumPy's results from the weights alone."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest

import workbench as wb

pytestmark = pytest.mark.watch
torch = pytest.importorskip("torch")
nn = torch.nn

D = 8


class Affine(nn.Module):
    """h -> W h + e, or its tanh."""

    def __init__(self, weight: Any, tanh: bool = False) -> None:
        super().__init__()
        self.weight, self.tanh = nn.Parameter(torch.as_tensor(weight, dtype=torch.float64)), tanh

    def forward(self, h: Any, e: Any) -> Any:
        h = h @ self.weight.T + e
        return h.tanh() if self.tanh else h


class Looped(nn.Module):
    """Calls ``core`` a number of times, and the gate and the head if there are any."""

    def __init__(self, core: Any, loops: int, gate: Any = None, head: Any = None) -> None:
        super().__init__()
        self.core, self.loops, self.exit_gate, self.head = core, loops, gate, head

    def forward(self, h: Any, e: Any) -> Any:
        for _ in range(self.loops):
            h = self.core(h, e)
            if self.exit_gate is not None:
                self.exit_gate(h)
        return h if self.head is None else self.head(h)


def turned(angle: float) -> np.ndarray:
    """A rotation by an angle in each of the planes (0, 1), (2, 3) ..."""
    plane = np.array([[np.cos(angle), -np.sin(angle)], [np.sin(angle), np.cos(angle)]])
    return np.kron(np.eye(D // 2), plane)


def symmetric(values: Any) -> np.ndarray:
    """A symmetric matrix with these eigenvalues."""
    basis = np.linalg.qr(np.random.default_rng(1).normal(size=(D, D)))[0]
    return basis @ np.diag(values) @ basis.T


def start(tokens: int = 3) -> tuple[np.ndarray, np.ndarray]:
    random = np.random.default_rng(0)
    return random.normal(size=(1, tokens, D)), random.normal(size=(1, tokens, D))


def iterated(weight: Any, loops: int, h: Any, e: Any, tanh: bool = False) -> np.ndarray:
    """The states computed by NumPy."""
    found = [h]
    for _ in range(loops):
        h = h @ np.asarray(weight).T + e
        h = np.tanh(h) if tanh else h
        found.append(h)
    return np.array(found)[:, 0]


def watched(model: Any, h: Any, e: Any, **options: Any) -> Any:
    with wb.watch_states(model, **options) as states:
        model(torch.from_numpy(h), torch.from_numpy(e))
    return states.report()


def kinds(report: Any) -> set[str]:
    return {sentence.kind for sentence in report.sentences()}


def linear(out: int, weight: Any, bias: float = 0.0) -> Any:
    made = nn.Linear(D, out, dtype=torch.float64)
    with torch.no_grad():
        made.weight[:] = torch.as_tensor(weight)
        made.bias[:] = bias
    return made


def rests_since(states: np.ndarray) -> int:
    """The first state from which on no loop moves any token by more than a relative 64 roundings."""
    moved = np.linalg.norm(np.diff(states, axis=0), axis=-1) / np.linalg.norm(states[1:], axis=-1)
    return int(np.flatnonzero((moved > 64 * np.finfo(float).eps).any(axis=1))[-1]) + 1


def test_a_fixed_point_with_the_loop_and_the_rate():
    weight, (h, e) = 0.5 * turned(0.7), start()
    report = watched(Looped(Affine(weight), 80), h, e)
    truth = iterated(weight, 80, h, e)
    limit = np.linalg.solve(np.eye(D) - weight, e[0].T).T
    assert report.label.name == "FIXED_POINT" and abs(report.since - rests_since(truth)) <= 1
    assert report.rate == pytest.approx(0.5, rel=1e-4) and report.spectral.value == pytest.approx(0.5, rel=1e-6)
    np.testing.assert_allclose(report.states[-1], limit, rtol=1e-12)
    np.testing.assert_allclose(report.steps[:20], np.linalg.norm(np.diff(truth, axis=0), axis=-1)[:20], rtol=1e-9)
    assert {"FIXED_POINT", "rate", "spectral_norm"} <= kinds(report)


def test_a_contraction_of_a_known_rate_that_has_not_arrived():
    weight, (h, e) = symmetric([0.9, *[0.1] * (D - 1)]), start()
    report = watched(Looped(Affine(weight), 24), h, e)
    left = np.linalg.norm(np.linalg.solve(np.eye(D) - weight, e[0].T).T - iterated(weight, 24, h, e)[-1], axis=-1)
    assert report.label.name == "CONVERGING" and report.since is None
    assert report.rate == pytest.approx(np.abs(np.linalg.eigvalsh(weight)).max(), rel=1e-6)
    assert report.spectral.value == pytest.approx(np.linalg.norm(weight, 2), rel=1e-4)
    assert [c.left for c in report.courses] == pytest.approx(list(left), rel=1e-5)


def test_a_cycle_of_two_by_overshooting():
    weight, (h, e) = -3.0 * np.eye(D), start()
    report = watched(Looped(Affine(weight, tanh=True), 40), h, 0 * e)
    truth = iterated(weight, 40, h, 0 * e, tanh=True)
    back = np.linalg.norm(truth[2:] - truth[:-2], axis=-1) <= 0.1 * np.linalg.norm(truth[-1] - truth[-2], axis=-1)
    since = int(np.flatnonzero(~back.all(axis=1))[-1]) + 1 if not back.all() else 0
    assert (report.label.name, report.period, report.since) == ("CYCLE", 2, since)
    assert {"CYCLE", "reversal"} <= kinds(report)


def test_a_cycle_of_five():
    weight, (h, e) = turned(2 * np.pi / 5), start()
    report = watched(Looped(Affine(weight), 30), h, e)
    truth = iterated(weight, 30, h, e)
    np.testing.assert_allclose(truth[5:], truth[:-5], atol=1e-12)
    assert (report.label.name, report.period, report.since) == ("CYCLE", 5, 0)
    assert report.spectral.value == pytest.approx(1.0, rel=1e-9) and "reversal" not in kinds(report)


def test_a_slow_drift():
    weight, (h, e) = np.eye(D), start()
    report = watched(Looped(Affine(weight), 30), h, 0.01 * e)
    truth = iterated(weight, 30, h, 0.01 * e)
    assert report.label.name == "DRIFTING" and report.since is None
    np.testing.assert_allclose(report.to_end, np.linalg.norm(truth - truth[-1], axis=-1), atol=1e-12)
    assert [c.turn for c in report.courses] == pytest.approx([1.0] * 3) and {"DRIFTING", "push"} <= kinds(report)


def test_an_explosion_by_a_known_factor():
    weight, (h, e) = 1.5 * turned(0.3), start()
    report = watched(Looped(Affine(weight), 40), h, e)
    assert report.label.name == "EXPLODING" and report.since is None
    assert report.rate == pytest.approx(np.abs(np.linalg.eigvals(weight)).max(), rel=1e-3)
    assert report.spectral.value == pytest.approx(1.5, rel=1e-9)


def gated(bias: float) -> tuple[Any, np.ndarray]:
    """The report of a contraction with a gate, and the gate's numbers by NumPy."""
    weight, (h, e), direction = 0.6 * np.eye(D), start(2), np.ones((1, D)) / D
    report = watched(Looped(Affine(weight), 80, gate=linear(1, direction, bias)), 0 * h, np.abs(e))
    logits = iterated(weight, 80, 0 * h, np.abs(e))[1:] @ direction.T + bias
    return report, (1 / (1 + np.exp(-logits)))[..., 0]


def test_a_gate_that_never_opens_as_the_state_rests():
    report, truth = gated(-9.0)
    np.testing.assert_allclose(report.gate.values, truth, rtol=1e-9)
    assert report.label.name == "FIXED_POINT" and (truth < 0.5).all() and not report.gate.opened.any()
    assert {"gate_never", "gate_cause"} <= kinds(report) and "gate_opens" not in kinds(report)


def test_a_gate_that_opens_after_a_known_loop():
    report, truth = gated(-1.3)
    opened = (truth >= 0.5).argmax(axis=0) + 1
    assert (truth >= 0.5).any(axis=0).all() and opened.min() > 1
    assert (
        list(report.gate.opened) == list(opened)
        and {"gate_opens"} <= kinds(report)
        and "gate_never" not in kinds(report)
    )


def test_the_best_number_of_loops():
    weight, (h, e), readout = 1.1 * turned(0.4), start(), np.random.default_rng(2).normal(size=(3, D))
    truth = iterated(weight, 12, h, 0 * e)
    target = truth[7] @ readout.T + 0.01
    losses = ((truth[1:] @ readout.T - target) ** 2).mean(axis=(1, 2))
    model = Looped(Affine(weight), 12, head=linear(3, readout))
    report = watched(model, h, 0 * e, target=torch.from_numpy(target[None]))
    np.testing.assert_allclose(report.losses, losses, rtol=1e-9)
    assert (report.best, int(losses.argmin()) + 1) == (7, 7) and {"best", "EXPLODING"} <= kinds(report)


class Each(nn.Module):
    """h -> a h + (1 - a) e with a factor for each token."""

    def __init__(self, factors: Any) -> None:
        super().__init__()
        self.factors = nn.Parameter(torch.tensor(factors, dtype=torch.float64)[:, None])

    def forward(self, h: Any, e: Any) -> Any:
        return self.factors * h + (1 - self.factors) * e


def test_each_token_has_its_own_course():
    factors, (h, e) = [0.1, 0.5, 0.95, -1.0, 1.2], start(5)
    report = watched(Looped(Each(factors), 64), h, e)
    names = ["FIXED_POINT", "FIXED_POINT", "CONVERGING", "CYCLE", "EXPLODING"]
    assert [c.course.name for c in report.courses] == names and report.label.name == "MIXED"
    assert [c.rate for c in report.courses if c.rate] == pytest.approx([0.1, 0.5, 0.95, 1.2], rel=1e-2)
    since = [next(k for k in range(65) if abs(f) ** k * 1.0 <= 64 * 2**-52) for f in (0.1, 0.5)]
    assert [c.since for c in report.courses[:2]] == pytest.approx(since, abs=4)
    assert report.courses[3].period == 2 and set(names) <= kinds(report)
