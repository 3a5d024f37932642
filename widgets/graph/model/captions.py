"""Positions of the captions of frames: at the upper left, or further right if lines cross that."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

Box = dict[str, Any]
#: height of a caption, and space beside it
TALL, ASIDE = 20.0, 6.0
#: width of a character
CHAR = 7.0


def place_captions(frames: Mapping[str, Box], edges: Sequence[Box], lengths: Mapping[str, float]) -> None:
    """Give each frame ``caption_x``, the left end of its caption; ``lengths`` are their widths in pixels."""
    spans = [(min(y for _, y in e["points"]), max(y for _, y in e["points"])) for e in edges]
    for key, frame in frames.items():
        top, left, right = frame["y"] - frame["h"] / 2, frame["x"] - frame["w"] / 2, frame["x"] + frame["w"] / 2
        taken = [
            span
            for edge, (low, high) in zip(edges, spans, strict=True)
            if low < top + TALL and high > top
            for span in _crossing(edge["points"], top, top + TALL)
        ]
        length = lengths[key]
        places = [left + ASIDE, *sorted(end + ASIDE for _, end in taken if end > left)]
        frame["caption_x"] = next(
            (
                x
                for x in places
                if x + length <= right - ASIDE and not any(a < x + length and b > x - ASIDE / 2 for a, b in taken)
            ),
            left + ASIDE,
        )


def caption_box(frame: Box, state: str) -> Box:
    """The caption of a frame with its state (``iteration 3``) as a box, to be marked as boxes of nodes are."""
    words = len(frame["caption"]) + 2 + (len(state) + 3 if state else 0)
    wide = words * CHAR
    return {"x": frame["caption_x"] + wide / 2, "y": frame["y"] - frame["h"] / 2 + 12.0, "w": wide, "h": TALL - 4.0}


def _crossing(points: Sequence[tuple[float, float]], top: float, bottom: float) -> list[tuple[float, float]]:
    """The stretches of a band that lines occupy."""
    found = []
    for (x0, y0), (x1, y1) in zip(points, points[1:], strict=False):
        low, high = max(min(y0, y1), top), min(max(y0, y1), bottom)
        if low > high:
            continue
        if y0 == y1:
            found.append((min(x0, x1), max(x0, x1)))
            continue
        at = [x0 + (x1 - x0) * (y - y0) / (y1 - y0) for y in (low, high)]
        found.append((min(at), max(at)))
    return found
