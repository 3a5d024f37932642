"""The project's terms, each explained in one or two sentences."""

from __future__ import annotations

#: word -> its meaning, in alphabetical order
GLOSSARY: dict[str, str] = {
    "checkpoint": "A saved state of a run. Going back loads the nearest checkpoint and runs forward from there.",
    "clause": "One comparison inside a loop condition, for example abs(x) > tolerance. The loop ends when the "
    "clauses together make the condition false.",
    "condition": "The boolean value that decides before each iteration if a loop continues, or a test attached to "
    "a breakpoint.",
    "dead": "Without a value in this iteration, because the branch that would compute it was not taken. A dead node "
    "does not run.",
    "envelope": "The smallest and largest values in each group of neighbouring iterations. A curve with more points "
    "than pixels is drawn from its envelope, so that no extreme is lost.",
    "firing": "One execution of a node, in one iteration of each enclosing loop.",
    "frame": "The execution context of one loop: its condition, its body and its loop-carried variables. Frames "
    "nest as loops do; the top level is the frame outside all loops.",
    "handle": "A reference to an array of an array manager. An array without a handle or hold can be collected.",
    "hold": "A temporary claim on an array, for example while a node reads it. A held array is not collected.",
    "ledger": "The table of all managed arrays: the one owner of each, and the holds on it.",
    "loop-carried": "Passed from one iteration of a loop to the next, as the variables of the loop are.",
    "plan": "The frozen order of execution of a graph, made once before a run, with the place of every value in "
    "memory.",
    "predicted": "A verdict that is a forecast: what was observed is continued, and an interval says how far off the "
    "end may be. Another course of the loop would make it wrong.",
    "proved": "A verdict that follows from the graph and its values by an exact argument. It holds for every later "
    "iteration, in the arithmetic that the loop runs in.",
    "replay": "Running a part of a run again from a checkpoint, to restore a value or a position. It gives the same "
    "values as the first time.",
    "retention": "The rule that decides which recorded values a trace keeps; the others are recomputed on demand.",
    "slice": "The part of a graph that a loop condition depends on. It is run alone to look ahead and to prove that "
    "the loop ends.",
    "spill": "Writing the oldest rows of a trace to disk when they exceed its memory budget.",
    "tag": "The identity of a firing: the node, its frame, and the iteration of each enclosing loop.",
    "trace": "The record of a run: the values that nodes computed, by iteration, as far as its retention keeps them.",
    "unknown": "A verdict without an answer: there is no proof that the loop ends or goes on for ever, and no forecast "
    "that can be relied on.",
    "verdict": "The answer to the question whether a loop ends: proved, predicted or unknown, with the reason.",
}


def explain_word(word: str) -> str | None:
    """The meaning of ``word``, ignoring case and plural; None for a word that is not in the glossary."""
    key = word.strip().lower().replace(" ", "-")
    return GLOSSARY.get(key) or GLOSSARY.get(key.removesuffix("s"))
