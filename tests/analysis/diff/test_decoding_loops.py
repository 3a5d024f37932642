"""Graphs with a decoding loop: the token, layer and op of planted faults, and no fault in equal pairs."""

from __future__ import annotations

import numpy as np
import pytest

import workbench as wb
from tests.analysis.diff.decoding_loops import decoder, weights
from workbench.ir.token_loops import token_loops

FIRST = {"first": np.array([3])}
#: fault -> (iteration, op, layer)
FAULTS = {
    "position one too low": (5, "gather", "embed"),
    "wrong scale": (0, "divide", "layers.0.attention"),
    "cache of another layer": (1, "concat", "layers.1.attention"),
    "wrong activation": (0, "tanh", "layers.1.mlp"),
    "cache not updated": (6, "concat", "layers.0.attention"),
    "quantised head": (0, "matmul", "lm_head"),
    "wrong choice": (0, "argmax", ""),
}


@pytest.fixture(scope="module")
def right() -> wb.Graph:
    return wb.load(decoder(weights()))


@pytest.mark.parametrize("fault", FAULTS)
def test_token_layer_and_op_of_a_fault_are_named(right: wb.Graph, fault: str) -> None:
    found = wb.diff(right, decoder(weights(), fault), FIRST)
    (parting,) = found.tokens
    iteration, op, layer = FAULTS[fault]
    assert not found.equal
    assert (parting.iteration, parting.op, parting.layer) == ((iteration,), op, layer), str(found)
    assert f"it parts at its token {iteration} " in str(found) and layer in str(parting)
    with wb.Session(right, FIRST) as one, wb.Session(wb.load(decoder(weights(), fault)), FIRST) as other:
        one.run()
        other.run()
        tokens = [[int(v[0]) for v in s.trace["decode/token"].values] for s in (one, other)]
    apart = next((k for k, (x, y) in enumerate(zip(*tokens, strict=True)) if x != y), None)
    assert parting.token == tokens[0][iteration] and parting.compared == len(tokens[0])
    told = None if apart is None else ((apart,), tokens[0][apart], tokens[1][apart])
    assert parting.choice == told


def test_equal_graphs_have_no_difference(right: wb.Graph) -> None:
    for names in ("", "other/"):
        found = wb.diff(right, decoder(weights(), names=names), FIRST)
        assert found.equal and found.firings > 800
        assert str(found.tokens[0]) == "The loop decode decodes: all 13 tokens are alike."


@wb.graph
def written(prompt, table, w, head):  # type: ignore[no-untyped-def]
    tokens, n = prompt, 0
    while n < 8:
        x = table[tokens]
        scores = (x @ w) @ np.transpose(x)
        shares = np.exp(scores - np.max(scores, axis=-1, keepdims=True))
        x = (shares / np.sum(shares, axis=-1, keepdims=True)) @ x
        tokens = np.concatenate([tokens, np.reshape(np.argmax(x[-1] @ head), (1,))])
        n = n + 1
    return tokens


@wb.graph
def regrouped(prompt, table, w, head):  # type: ignore[no-untyped-def]
    tokens, n = prompt, 0
    while n < 8:
        x = table[tokens]
        scores = x @ (w @ np.transpose(x))
        shares = np.exp(scores - np.max(scores, axis=-1, keepdims=True))
        x = (shares @ x) / np.sum(shares, axis=-1, keepdims=True)
        tokens = np.concatenate([tokens, np.reshape(np.argmax(x[-1] @ head), (1,))])
        n = n + 1
    return tokens


@wb.graph
def summed(prompt, table, w, head):  # type: ignore[no-untyped-def]
    tokens, n = prompt, 0
    while n < 8:
        x = table[tokens]
        scores = (x @ w) @ np.transpose(x)
        shares = np.exp(scores - np.max(scores, axis=-1, keepdims=True))
        x = (shares / np.sum(shares)) @ x
        tokens = np.concatenate([tokens, np.reshape(np.argmax(x[-1] @ head), (1,))])
        n = n + 1
    return tokens


def test_loops_of_python_that_hold_all_tokens_are_compared_by_their_newest_one() -> None:
    rng = np.random.default_rng(11)
    made = {"table": rng.normal(size=(24, 8)), "w": rng.normal(size=(8, 8)), "head": rng.normal(size=(8, 24))}
    given = {"prompt": np.array([3, 5]), **{k: v.astype(np.float32) for k, v in made.items()}}
    graphs = [f.graph_for(**given) for f in (written, regrouped, summed)]
    same, wrong = (wb.diff(graphs[0], g, given) for g in graphs[1:])
    assert same.equal and "all 9 tokens are alike" in str(same), str(same)
    (parting,) = wrong.tokens
    assert (parting.iteration, parting.token, parting.op) == ((0,), 5, "sum")
    assert parting.row is not None and "np.sum(shares" in str(parting.row.source)


def test_other_loops_do_not_decode() -> None:
    @wb.graph
    def rows(table, n):  # type: ignore[no-untyped-def]
        total, k = table[0], 0
        while k < n:
            total = total + table[k]
            k = k + 1
        return total

    graph = rows.graph_for(table=np.eye(4), n=3)
    assert token_loops(graph) == ()  # a counter reads rows, and no float chooses it
    assert wb.diff(graph, graph, {"table": np.eye(4), "n": 3}).tokens == ()


def test_tokens_are_codes_whose_repetition_is_told_with_its_period_and_caches_have_a_bound() -> None:
    model = decoder(weights(7, placed=False), steps=60, end=99)
    with wb.Session(wb.load(model), FIRST) as session:
        for _ in range(31):
            session.next_iteration()
        found = wb.analyze(session).variables
        grown = found["decode/keys_0"]
        assert "ends after 30 more iterations" in grown.evolution.why[0] and "comes to 60." in grown.evolution.why[0]
        session.run()
        tokens = [int(v[0]) for v in session.trace["decode/token"].values]
        told = wb.analyze(session).variables["decode/token"].evolution
        assert tokens[-9:] == 3 * tokens[-3:] and len(set(tokens[-3:])) == 3
        assert (told.label, told.period) == (wb.Pattern.OSCILLATING, 3.0)
    with wb.Session(wb.load(decoder(weights(0), steps=40)), FIRST) as session:
        session.run()
        variables = wb.analyze(session, ["decode/token", "token"]).variables
        for name in ("decode/token", "token"):  # neither noise around a mean nor a limit
            assert variables[name].evolution.label is wb.Pattern.UNKNOWN
            assert "Its values are tokens: " in variables[name].evolution.why[0]
            assert variables[name].evolution.limit is None
