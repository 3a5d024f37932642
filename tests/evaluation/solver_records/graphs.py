"""Iterations of networkx on graphs that it brings: one of each is asked for, from where the one before had come."""

from __future__ import annotations

from collections.abc import Iterator

import networkx as nx
import numpy as np

from tests.evaluation.solver_records.record import SolverRecord, maker, record

GRAPHS = {
    "karate": nx.karate_club_graph(),
    "les miserables": nx.les_miserables_graph(),
    "florentine": nx.florentine_families_graph(),
    "southern women": nx.davis_southern_women_graph(),
}
ANY = 1e9


@maker
def powers() -> Iterator[SolverRecord]:
    """The change of the vector in one iteration, summed, which is what networkx compares with its tolerance."""
    for name, graph in GRAPHS.items():
        for kind, step, bound in (
            ("pagerank 0.95", lambda x, g=graph: nx.pagerank(g, 0.95, nstart=x, max_iter=1, tol=ANY), 1e-9),
            ("pagerank 0.6", lambda x, g=graph: nx.pagerank(g, 0.6, nstart=x, max_iter=1, tol=ANY), 1e-12),
            (
                "eigenvector centrality",
                lambda x, g=graph: nx.eigenvector_centrality(g, nstart=x, max_iter=1, tol=ANY),
                1e-9,
            ),
            (
                "Katz centrality",
                lambda x, g=graph: nx.katz_centrality(
                    g, 0.04, nstart=x, max_iter=1, tol=ANY, normalized=False, weight=None
                ),
                1e-9,
            ),
        ):
            x, told = {v: 1.0 / (i + 2) for i, v in enumerate(graph)}, []
            for _ in range(400):
                y = step(x)
                told.append(sum(abs(y[v] - x[v]) for v in y))
                if told[-1] == 0.0:
                    break
                x = y
            yield record(f"networkx {kind}", name, told, bound)


@maker
def layouts() -> Iterator[SolverRecord]:
    """The way of the nodes in one iteration of ``spring_layout``."""
    for name, graph in GRAPHS.items():
        rng = np.random.default_rng(5)
        position = {v: rng.normal(size=2) for v in graph}
        told = []
        for _ in range(200):
            after = nx.spring_layout(graph, pos=position, iterations=1, scale=None, seed=1, threshold=0.0)
            told.append(np.sqrt(sum(float(((after[v] - position[v]) ** 2).sum()) for v in graph)))
            position = after
        yield record("networkx spring layout", name, told, 0.02 * max(told))
