"""A law that continues to predict the values is not tested again at each question."""

import numpy as np

from workbench.analysis import TerminationMonitor
from workbench.analysis.forecast import operand


def test_evidence_against_a_crossing_is_not_sought_at_each_question(monkeypatch):
    looked = []
    classify = operand.classify_history

    def counted(history):
        looked.append(history)
        return classify(history)

    monkeypatch.setattr(operand, "classify_history", counted)
    noise = np.random.default_rng(0).normal(size=150)
    monitor, answers = TerminationMonitor(), []
    for k in range(150):
        error = float(np.exp(-0.03 * k + 0.4 * noise[k]))
        monitor.observe({}, True, [(error, ">", 1e-3)])
        if k >= 64:
            answers.append(monitor.prediction())
    assert all(a.outcome == "terminates" for a in answers)
    left = [213 - 64 - i for i in range(len(answers))]
    assert all(a.interval[0] <= k <= a.interval[1] for a, k in zip(answers, left, strict=True))
    assert np.median([abs(a.remaining - k) for a, k in zip(answers, left, strict=True)]) < 20
    assert 0 < len(looked) < len(answers) / 4
