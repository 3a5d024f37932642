"""Frozen graphs of TensorFlow 1 with loops as frames: Enter, Switch, Merge, NextIteration, Exit."""

from __future__ import annotations

from pathlib import Path

from tests.models.recipe import Half, Made, Recipe

A = ("newton", "cond", "map", "collatz", "while_in_cond")
B = ("nested", "scan", "arrays", "case", "rnn", "matrix")


def _frozen(name: str, half: Half) -> Recipe:
    def make(folder: Path) -> Made:
        from tests.models.bases.tf1_programs import frozen

        return frozen(name, folder)

    return Recipe("tf1_frames", name, half, make)


RECIPES = [*(_frozen(n, "A") for n in A), *(_frozen(n, "B") for n in B)]
