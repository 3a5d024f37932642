"""Boxes of detected objects: suppression of overlapping boxes, and drawing.

Boxes are written y1, x1, y2, x2, any two opposite corners; the overlap of two is their intersection over their union.
Suppression visits the boxes in order of decreasing score, the first of equals first, and drops a box whose overlap with
a kept one is above ``iou_threshold``. With a ``sigma`` above 0 it is soft: boxes are not dropped for overlaps, but the
score is multiplied by ``exp(-overlap**2 / (2 sigma))`` for each kept box.

Sources: https://www.tensorflow.org/api_docs/python/tf/image/non_max_suppression_with_scores; N. Bodla et al.,
"Soft-NMS", https://arxiv.org/abs/1704.04503.
"""

from __future__ import annotations

import heapq
import math

import numpy as np

from workbench.ir.types import TensorType
from workbench.ops.define import define
from workbench.ops.neural.windows import checked
from workbench.ops.rules import WRONG_ATTR, WRONG_SHAPE, RuleError, need_kinds, need_rank

FAMILY = "images"
TF = "https://www.tensorflow.org/api_docs/python/tf/image/"
#: red, green, blue, alpha of successive boxes if no colours are given
COLORS = np.array(
    [
        (1, 1, 0, 1),
        (0, 0, 1, 1),
        (1, 0, 0, 1),
        (0, 1, 0, 1),
        (0.5, 0, 0.5, 1),
        (0.5, 0.5, 0, 1),
        (0.5, 0, 0, 1),
        (0, 0, 0.5, 1),
        (0, 1, 1, 1),
        (1, 0, 1, 1),
    ],
    np.float32,
)
SETTINGS = (("iou_threshold", 0.5), ("score_threshold", -math.inf), ("sigma", 0.0))


def _suppression_type(types, attrs, values):
    boxes, scores, count = types[:3]
    need_kinds(boxes, "f", "boxes", "real numbers")
    need_kinds(scores, "f", "scores", "real numbers")
    need_kinds(count, "iu", "count", "an integer")
    need_rank(scores, 1, "scores")
    if not TensorType(boxes.dtype, (None, 4)).accepts(boxes):
        raise RuleError(WRONG_SHAPE, f"takes boxes of shape [?,4], but got {boxes}.", "Give y1, x1, y2, x2 for each.")
    sizes = {t.shape[0] for t in (boxes, scores) if t.shape is not None} - {None}
    if len(sizes) > 1:
        raise RuleError(WRONG_SHAPE, f"got {boxes} and {scores}.", "Give one score for each box.")
    for x in types[2:]:
        need_rank(x, 0, "count and thresholds")
    for i, (key, default) in enumerate(SETTINGS, 3):
        if i < len(types):
            need_kinds(types[i], "f", key, "a real number")
            if attrs.get(key) is not None:
                raise RuleError(WRONG_ATTR, f"got {key!r} both as an attr and as an input.", "Leave one of them out.")
        value = values[i] if i < len(types) else attrs.get(key, default)
        if key == "iou_threshold" and value is not None and not 0 <= float(value) <= 1:
            raise RuleError(WRONG_ATTR, f"got the {key} {float(value):g}.", "Give a number from 0 to 1.")
    wanted = None
    if attrs.get("pad", False) and values[2] is not None:
        wanted = max(0, int(values[2]))
    return TensorType("int32", (wanted,)), TensorType(scores.dtype, (wanted,)), TensorType("int32", ())


def overlap(box: np.ndarray, others: np.ndarray) -> np.ndarray:
    """Intersection over union of one box with others; corners in order; 0 where an area is 0."""
    height = np.minimum(box[2], others[:, 2]) - np.maximum(box[0], others[:, 0])
    width = np.minimum(box[3], others[:, 3]) - np.maximum(box[1], others[:, 1])
    both = np.maximum(height, 0) * np.maximum(width, 0)
    area = (box[2] - box[0]) * (box[3] - box[1])
    areas = (others[:, 2] - others[:, 0]) * (others[:, 3] - others[:, 1])
    sound = (areas > 0) & (area > 0)
    return np.where(sound, both / np.where(sound, area + areas - both, 1), 0)


def suppress(
    boxes: np.ndarray, scores: np.ndarray, count: int, iou: float, least: float, sigma: float
) -> tuple[list[int], list[float]]:
    """Indices and final scores of the kept boxes, at most ``count``."""
    ordered = np.concatenate([np.minimum(boxes[:, :2], boxes[:, 2:]), np.maximum(boxes[:, :2], boxes[:, 2:])], axis=1)
    kept = np.empty((min(max(count, 0), len(boxes)), 4), ordered.dtype)
    chosen: list[int] = []
    final: list[float] = []
    # (minus score, box, number of kept boxes already included in the score)
    waiting = [(-float(s), i, 0) for i, s in enumerate(scores) if s > least]
    heapq.heapify(waiting)
    while waiting and len(chosen) < len(kept):
        minus, i, seen = heapq.heappop(waiting)
        overlaps = overlap(ordered[i], kept[seen : len(chosen)])
        if sigma <= 0 and overlaps.size and overlaps.max() > iou:
            continue
        score = -minus
        if sigma > 0:
            score = float(scores.dtype.type(-minus * float(np.exp(-0.5 / sigma * np.square(overlaps)).prod())))
        if score == -minus:
            kept[len(chosen)] = ordered[i]
            chosen.append(i)
            final.append(score)
        elif score > least:
            heapq.heappush(waiting, (-score, i, len(chosen)))
    return chosen, final


def _suppression(arrays, attrs):
    boxes, scores, count = arrays[0], arrays[1], int(arrays[2])
    given = [
        float(arrays[i]) if i < len(arrays) else float(attrs[key]) if attrs.get(key) is not None else default
        for i, (key, default) in enumerate(SETTINGS, 3)
    ]
    dtype = np.result_type(boxes.dtype, np.float32) if boxes.dtype.itemsize > 2 else np.dtype(np.float32)
    chosen, final = suppress(boxes.astype(dtype, copy=False), scores, count, *given)
    found, kept, valid = np.array(chosen, np.int32), np.array(final).astype(scores.dtype), np.int32(len(chosen))
    if attrs.get("pad", False):
        missing = (0, max(0, count - len(chosen)))
        found, kept = np.pad(found, missing), np.pad(kept, missing)
    return found, kept, valid


def _draw_type(types, attrs, values):
    image, boxes = types[:2]
    for x in types:
        need_kinds(x, "f", "input", "real numbers", "Cast it to floats first.")
    need_rank(image, 4, "image")
    if not TensorType(boxes.dtype, (None, None, 4)).accepts(boxes):
        raise RuleError(WRONG_SHAPE, f"takes boxes of shape [batch,?,4], but got {boxes}.", "Give y1, x1, y2, x2.")
    if image.shape is not None and boxes.shape is not None:
        a, b = image.shape[0], boxes.shape[0]
        if None not in (a, b) and a != b:
            raise RuleError(WRONG_SHAPE, f"got boxes for {b} images of {a}.", "Give boxes for each image.")
    depth = None if image.shape is None else image.shape[3]
    if len(types) == 3:
        need_rank(types[2], 2, "colors")
        own = None if types[2].shape is None else types[2].shape[1]
        empty = types[2].shape is not None and types[2].shape[0] == 0
        if not empty and depth is not None and own is not None and own < depth:
            raise RuleError(WRONG_SHAPE, f"got colours of {own} numbers for {depth} channels.", "Give more.")
    elif depth is not None and depth > 4:
        raise RuleError(WRONG_SHAPE, f"has no colours of its own for {depth} channels.", "Give the colours.")
    return image


def _draw(arrays, attrs):
    image, boxes = np.array(arrays[0]), arrays[1].astype(np.float32, copy=False)
    _, height, width, depth = image.shape
    colors = arrays[2] if len(arrays) == 3 and len(arrays[2]) else np.where(depth == 1, 1, COLORS)
    # toward zero, as in a cast
    places = np.trunc(boxes * np.array([height - 1, width - 1] * 2, np.float32)).astype(np.int64)
    for canvas, own in zip(image, places, strict=True):
        for number, (top, left, bottom, right) in enumerate(own):
            if top > bottom or left > right or top >= height or bottom < 0 or left >= width or right < 0:
                continue
            color = colors[number % len(colors), :depth]
            rows, columns = slice(max(top, 0), bottom + 1), slice(max(left, 0), right + 1)
            for row in (r for r in (top, bottom) if 0 <= r < height):
                canvas[row, columns] = color
            for column in (c for c in (left, right) if 0 <= c < width):
                canvas[rows, column] = color
    return image


define(
    "non_max_suppression",
    "boxes scores count iou_threshold? score_threshold? sigma?",
    _suppression_type,
    checked(_suppression_type, _suppression),
    "The best boxes that do not overlap a better one: their numbers, their scores, and how many there are. `pad` "
    "fills up to `count` with zeros.",
    FAMILY,
    outputs="indices scores valid",
    attrs={"iou_threshold": None, "score_threshold": None, "sigma": None, "pad": False},
    source=f"{TF}non_max_suppression_with_scores",
)
define(
    "draw_bounding_boxes",
    "image boxes colors?",
    _draw_type,
    checked(_draw_type, _draw),
    "The image with the outlines of the boxes, one pixel thick; corners are parts of height and width less one.",
    FAMILY,
    source=f"{TF}draw_bounding_boxes",
)
