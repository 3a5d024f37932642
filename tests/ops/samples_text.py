"""Calls of the ops on strings and on ragged rows of them."""

from __future__ import annotations

import numpy as np

WORDS = np.array([[b"a b  c", b""], [b" x,y ", "é日".encode()]], object)
SPLITS = np.array([0, 3, 3, 4])
NUMBERS = np.arange(4, dtype=np.float32)


def text(value: bytes) -> np.ndarray:
    return np.array(value, object)


SAMPLES: dict[str, list] = {
    "string_split": [
        ((WORDS[0], text(b"")), {}),
        ((WORDS[1], text(b",")), {"most": 1}),
        ((WORDS[1], text(b", ")), {"any_of": True, "skip_empty": False}),
    ],
    "substring": [
        ((WORDS, np.int64(0), np.int64(2)), {"unit": "UTF8_CHAR"}),
        ((WORDS[:1, :1], np.array([[1], [-2]]), np.array([[2], [9]])), {}),
    ],
    "string_reduce_join": [
        ((WORDS, np.array([1, 0])), {"separator": "-"}),
        ((WORDS, np.array(0)), {"keepdims": True}),
        ((WORDS, np.array([], np.int32)), {}),
    ],
    "string_ngrams": [
        ((WORDS.ravel(), SPLITS), {"widths": (1, 2), "separator": " ", "left_pad": "<"}),
        ((WORDS.ravel(), SPLITS.astype(np.int32)), {"widths": (9,), "pad_width": 0, "preserve_short": True}),
    ],
    "decode_raw": [
        ((np.array([b"abcd", b"efgh"], object),), {"dtype": "int16", "little_endian": False}),
        ((WORDS[:0],), {}),
    ],
    "encode_base64": [((WORDS,), {"pad": True}), ((WORDS,), {})],
    "decode_base64": [((np.array([b"YQ==", b"_-8"], object),), {})],
    "unicode_decode": [((WORDS[1],), {}), ((np.array([b"\xffa"], object),), {"errors": "ignore", "splits": "int32"})],
    "unicode_encode": [((np.array([97, 233, 0xD800], np.int32), np.array([0, 0, 3])), {})],
    "string_to_hash_bucket": [((WORDS,), {"buckets": 10, "method": m}) for m in ("fingerprint", "murmur", "keyed")],
    "regex_full_match": [((WORDS,), {"pattern": b"\\w.*"}), ((WORDS, text(b"")), {})],
    "regex_replace": [
        ((WORDS,), {"pattern": b"\\s+", "rewrite": b"_"}),
        ((WORDS, text(b"(.)"), text(b"\\1\\1")), {"every": False}),
    ],
    "ragged_to_dense": [
        ((np.array([-1, 2]), NUMBERS, np.float32(-1), SPLITS), {"partition_types": ("ROW_SPLITS",)}),
        (
            (np.array(-1), WORDS.ravel(), text(b"?"), np.array(3), np.array([0, 2, 2, 2])),
            {"partition_types": ("FIRST_DIM_SIZE", "VALUE_ROWIDS")},
        ),
    ],
    "ragged_gather": [
        ((SPLITS, WORDS.reshape(4), np.array([[2, 0], [1, 1]])), {"ragged_rank": 1, "num": 3}),
        ((np.array([0, 1, 3]), SPLITS, NUMBERS, np.array([1])), {"ragged_rank": 2, "num": 3}),
    ],
    "ragged_to_sparse": [((SPLITS, NUMBERS), {}), ((np.array([0, 1, 3]), SPLITS, WORDS.reshape(4, 1)), {})],
    "sparse_to_dense": [
        ((np.array([[0, 1], [2, 0]]), np.array([3, 2]), NUMBERS[:2], np.float32(-1)), {}),
        ((np.array([3, 1]), np.array([4]), WORDS[0, 0:1].reshape(()), text(b"-")), {"checked": False}),
    ],
    "string_segment_join": [
        ((WORDS, np.array([1, 1]), np.array(2)), {"separator": "-"}),
        ((WORDS, np.array([[1, 0], [0, 0]]), np.array(3)), {}),
    ],
    "unicode_transcode": [((WORDS,), {}), ((np.array([b"\xffa"], object),), {"errors": "ignore"})],
    "ragged_bincount": [
        ((SPLITS, np.array([0, 1, 1, 7]), np.array(3), NUMBERS), {}),
        ((SPLITS, np.array([0, 1, 1, 7]), np.array(3), NUMBERS[:0]), {"binary": True}),
    ],
}
