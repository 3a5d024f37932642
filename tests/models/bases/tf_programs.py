"""Functions of TensorFlow with their signatures and inputs; names of arguments are in alphabetical order."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path
from typing import Any

import numpy as np
import tensorflow as tf

Program = tuple[Callable[..., Any], list[Any], list[np.ndarray]]
_FLOATS = tf.TensorSpec([None], tf.float32, "a")
_TEXTS = tf.TensorSpec([None], tf.string, "a")
TEXTS = np.array([b"The cat, sat!", b"on  the Mat", b"", b"42 Times"], object)


def _some(*shape: int) -> np.ndarray:
    return np.random.default_rng(17).standard_normal(shape).astype(np.float32)


def collatz(folder: Path) -> Program:
    def run(a):
        steps = tf.constant(0)
        while a != 1:
            if a % 2 == 0:
                a = a // 2
            else:
                a = 3 * a + 1
            steps += 1
        return {"steps": steps, "last": a}

    return run, [tf.TensorSpec([], tf.int32, "a")], [np.array(27, np.int32)]


def newton(folder: Path) -> Program:
    def run(a):
        x = tf.while_loop(
            lambda x: tf.reduce_any(tf.abs(x * x - a) > 1e-5 * a),
            lambda x: ((x + a / x) * 0.5,),
            (a,),
            maximum_iterations=50,
        )[0]
        return {"root": x}

    return run, [_FLOATS], [np.array([2, 9, 10], np.float32)]


def nested(folder: Path) -> Program:
    def run(a):
        total = tf.zeros([])
        for i in tf.range(5):
            for j in tf.range(i + 1):
                if a[j % tf.size(a)] > 0:
                    total += a[j % tf.size(a)]
                else:
                    total -= 0.5
                if total > 4:
                    break
        return {"total": total}

    return run, [_FLOATS], [_some(6)]


def fold(folder: Path) -> Program:
    def run(a):
        kept = tf.scan(lambda s, x: s * 0.5 + tf.tanh(x), a, tf.zeros([3]))
        last = tf.foldl(lambda s, x: tf.maximum(s, x), a)
        each = tf.map_fn(lambda x: (tf.reduce_sum(x), tf.argmax(x)), a, (tf.float32, tf.int64))
        return {"kept": kept, "last": last, "sums": each[0], "best": each[1]}

    return run, [tf.TensorSpec([None, 3], tf.float32, "a")], [_some(5, 3)]


def array_loop(folder: Path) -> Program:
    def run(a):
        array = tf.TensorArray(tf.float32, 0, dynamic_size=True)
        x = a
        for i in tf.range(6):
            x = tf.sin(x) * 2
            if i % 2 == 0:
                array = array.write(array.size(), x)
        return {"all": array.stack(), "joined": array.concat()}

    return run, [_FLOATS], [_some(4)]


def switch(folder: Path) -> Program:
    def run(a, b):
        one = tf.switch_case(b, [lambda: a + 1, lambda: a * 2, lambda: -a], default=lambda: tf.zeros_like(a))
        case = tf.case([(a[0] > 10, lambda: 1), (a[1] > -10, lambda: 2)], default=lambda: 3)
        return {"one": one, "case": case}

    return run, [_FLOATS, tf.TensorSpec([], tf.int32, "b")], [_some(3), np.array(1, np.int32)]


def strings(folder: Path) -> Program:
    def run(a):
        low = tf.strings.lower(a)
        plain = tf.strings.regex_replace(low, "[^a-z0-9 ]", "")
        numbers = tf.strings.as_string(tf.strings.length(plain))
        joined = tf.strings.join([plain, numbers], separator=":")
        return {
            "joined": joined,
            "all": tf.strings.reduce_join(joined, separator="|"),
            "upper": tf.strings.upper(a),
            "part": tf.strings.substr(joined, 0, 2),
            "stripped": tf.strings.strip(a),
            "full": tf.strings.regex_full_match(low, ".*the.*"),
            "bucket": tf.strings.to_hash_bucket_fast(a, 100),
        }

    return run, [_TEXTS], [TEXTS]


def split_words(folder: Path) -> Program:
    def run(a):
        words = tf.strings.split(tf.strings.lower(a))
        dense = words.to_tensor("")
        return {"flat": words.values, "rows": words.row_splits, "dense": dense, "long": words.row_lengths()}

    return run, [_TEXTS], [TEXTS]


def _table(keys: Any) -> Any:
    return tf.lookup.StaticHashTable(keys, -1)


def table(folder: Path) -> Program:
    keys = tf.constant(["red", "green", "blue"])
    found = _table(tf.lookup.KeyValueTensorInitializer(keys, tf.constant([3, 5, 7], tf.int64)))

    def run(a):
        return {"numbers": found.lookup(a), "size": found.size()}

    run.kept = found  # type: ignore[attr-defined]
    return run, [_TEXTS], [np.array([b"blue", b"pink", b"red"], object)]


def vocabulary_file(folder: Path) -> Program:
    file = folder / "words.txt"
    file.write_text("cat\ndog\nmouse\n", encoding="utf-8")
    index, word = tf.lookup.TextFileIndex, tf.lookup.TextFileInitializer
    found = _table(word(str(file), tf.string, index.WHOLE_LINE, tf.int64, index.LINE_NUMBER))
    back = tf.lookup.StaticHashTable(
        word(str(file), tf.int64, index.LINE_NUMBER, tf.string, index.WHOLE_LINE), tf.constant("?")
    )

    def run(a):
        numbers = found.lookup(a)
        return {"numbers": numbers, "words": back.lookup(numbers)}

    run.kept = (found, back)  # type: ignore[attr-defined]
    return run, [_TEXTS], [np.array([b"dog", b"pig", b"mouse"], object)]


def variables(folder: Path) -> Program:
    weight, count = tf.Variable(_some(3, 3)), tf.Variable(0)

    def run(a):
        count.assign(0)
        x = a
        while tf.reduce_sum(tf.abs(x)) < 100 and count < 30:
            x = tf.linalg.matvec(weight, x) * 1.5
            count.assign_add(1)
        return {"x": x, "count": count.read_value()}

    run.kept = (weight, count)  # type: ignore[attr-defined]
    return run, [tf.TensorSpec([3], tf.float32, "a")], [_some(3)]


def search(folder: Path) -> Program:
    def run(a):
        unique, where = tf.unique(tf.cast(a * 2, tf.int32))
        best = tf.math.top_k(a, 2)
        masked = tf.boolean_mask(a, a > 0)
        parts = tf.math.unsorted_segment_sum(a, where, tf.size(unique))
        order = tf.gather(a, tf.argsort(a))
        return {
            "unique": unique,
            "values": best.values,
            "indices": best.indices,
            "masked": masked,
            "parts": parts,
            "order": order,
            "at": tf.searchsorted(order, [0.0, 0.5]),
            "spread": tf.linalg.diag(a),
            "written": tf.tensor_scatter_nd_update(a, [[1], [3]], [9.0, 8.0]),
        }

    return run, [_FLOATS], [_some(9)]


def pictures(folder: Path) -> Program:
    def run(a):
        big = tf.image.resize(a, [12, 14])
        near = tf.image.resize(a, [5, 5], method="nearest")
        cut = tf.image.central_crop(a[0], 0.5)
        grey = tf.image.rgb_to_grayscale(a)
        flipped = tf.image.flip_left_right(a)
        return {
            "big": big,
            "near": near,
            "cut": cut,
            "grey": grey,
            "flipped": flipped,
            "even": tf.image.per_image_standardization(a),
        }

    return run, [tf.TensorSpec([None, 8, 10, 3], tf.float32, "a")], [_some(1, 8, 10, 3)]


PROGRAMS: dict[str, Callable[[Path], Program]] = {
    f.__name__: f
    for f in (
        collatz,
        newton,
        nested,
        fold,
        array_loop,
        switch,
        strings,
        split_words,
        table,
        vocabulary_file,
        variables,
        search,
        pictures,
    )
}
