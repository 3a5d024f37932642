"""Creates ``text.zip``: SavedModels with tables and vocabularies, and values of ops on strings, by TensorFlow.

Run it with a Python that has TensorFlow and Keras (the archive is from 2.21 and 3.15). The tests read it only::

    python tests/frontends/data/make_text.py [cases of each op, 12]

``models/NAME/...`` is a SavedModel, ``models.json`` holds its feeds and TensorFlow's results; ``ops.json`` holds nodes
with inputs, attributes and outputs, None if TensorFlow refuses them. Bytes are stored as text in Latin-1.
"""

from __future__ import annotations

import io
import json
import random
import shutil
import sys
import tempfile
import zipfile
from collections.abc import Callable
from pathlib import Path
from typing import Any

import keras
import numpy as np
import tensorflow as tf
from make import tidy
from tensorflow.python.ops import lookup_ops

tf1 = tf.compat.v1
MODELS: dict[str, Any] = {}
CASES: list[dict[str, Any]] = []
HERE = Path(__file__).resolve().parent


def plain(value: Any) -> dict[str, Any]:
    """An array for JSON."""
    array = np.asarray(value)
    text = array.dtype.kind in "OSU"
    items = [x.decode("latin-1") if isinstance(x, bytes) else x for x in array.ravel().tolist()]
    return {"dtype": "string" if text else array.dtype.name, "shape": list(array.shape), "items": items}


# -- SavedModels ------------------------------------------------------------------------------------------------------
def words(*items: str) -> np.ndarray:
    return np.array([w.encode() for w in items], object)


class Tables(tf.Module):
    """Tables of all kinds, one from a file by line and one by columns, looked up in a loop and in branches too."""

    def __init__(self, folder: Path) -> None:
        super().__init__()
        pairs, static = tf.lookup.KeyValueTensorInitializer, tf.lookup.StaticHashTable
        self.ids = static(pairs(["a", "b", "é", ""], tf.constant([3, 4, -5, 6], tf.int64)), -1)
        self.names = static(pairs(tf.constant([5, -2, 2**40], tf.int64), ["five", "minus two", "large"]), "none")
        self.next = static(pairs(tf.constant([0, 1, 2], tf.int64), tf.constant([1, 2, 9], tf.int64)), 0)
        self.weights = static(pairs(["a", "b"], tf.constant([0.5, -1.25])), float("nan"))
        self.other = static(pairs(["a", "b"], ["B", "A"]), "?")
        (folder / "lines.txt").write_bytes("x\r\ny\nz z\né\n".encode())
        (folder / "columns.csv").write_bytes(b"one,1.5,u\ntwo,-2e3,v\nthree,7,w\n")
        file = tf.lookup.TextFileInitializer
        whole, line = tf.lookup.TextFileIndex.WHOLE_LINE, tf.lookup.TextFileIndex.LINE_NUMBER
        lines = file(str(folder / "lines.txt"), tf.string, whole, tf.int64, line)
        self.vocabulary = tf.lookup.StaticVocabularyTable(lines, 3)
        columns = file(str(folder / "columns.csv"), tf.string, 0, tf.float32, 1, delimiter=",", vocab_size=2)
        self.columns = static(columns, -9.0)

    @tf.function(
        input_signature=[tf.TensorSpec([None], tf.string, name="w"), tf.TensorSpec([None, None], tf.int64, name="n")]
    )
    def __call__(self, w: tf.Tensor, n: tf.Tensor) -> dict[str, tf.Tensor]:
        steps = tf.constant(0)
        state = n
        while steps < 3:
            state = self.next.lookup(state)
            steps += 1
        chosen = tf.cond(tf.size(w) > 3, lambda: self.other.lookup(w), lambda: tf.strings.join([w, "!"]))
        return {
            "ids": self.ids.lookup(w),
            "names": self.names.lookup(n),
            "state": state,
            "weights": self.weights.lookup(w),
            "chosen": chosen,
            "vocabulary": self.vocabulary.lookup(w),
            "columns": self.columns.lookup(w),
            "sizes": tf.stack([self.ids.size(), self.vocabulary.size(), self.columns.size()]),
        }


class Counted(tf.Module):
    """A table that can change, restored from the checkpoint and only looked up."""

    def __init__(self) -> None:
        super().__init__()
        self.table = tf.lookup.experimental.MutableHashTable(tf.string, tf.int64, -1)
        self.table.insert(["a", "b", "a"], tf.constant([1, 2, 3], tf.int64))
        self.scale = tf.Variable(2, dtype=tf.int64)

    @tf.function(input_signature=[tf.TensorSpec([None], tf.string, name="w")])
    def __call__(self, w: tf.Tensor) -> tf.Tensor:
        return self.table.lookup(w) * self.scale


class Pieces(tf.Module):
    """Ragged tensors of words and characters, a list of strings in a loop, joining by plus."""

    @tf.function(input_signature=[tf.TensorSpec([None], tf.string, name="w")])
    def __call__(self, w: tf.Tensor) -> dict[str, tf.Tensor]:
        parts, letters = tf.strings.split(w), tf.strings.unicode_split(w, "UTF-8")
        counts = tf.strings.to_number(tf.ragged.map_flat_values(tf.strings.regex_replace, parts, "[^0-9]", "1"))
        return {
            "dense": parts.to_tensor("-"),
            "lengths": parts.row_lengths(),
            "letters": letters.to_tensor(),
            "joined": tf.strings.reduce_join(parts, axis=-1, separator="+"),
            "sums": tf.reduce_sum(counts, axis=1),
            "pairs": tf.strings.ngrams(parts, 2).to_tensor(),
            "first": parts[:, :1].to_tensor(),
            "twice": tf.concat([parts, parts], 1).to_tensor(),
            "picked": tf.gather(parts, [1, 0]).to_tensor(),
            "sparse": tf.sparse.to_dense(tf.compat.v1.string_split(w), default_value=""),
            "different": tf.unique(w)[0],
            "mapped": tf.map_fn(lambda s: tf.strings.join([s, "!"]), w),
            "sum": w + "?",
            "same": tf.equal(w, "a"),
            "indices": parts.to_sparse().indices,
            "shape": parts.bounding_shape(),
        }


def kept(name: str, folder: Path, feeds: dict[str, Any], run: Callable[..., dict[str, Any]]) -> None:
    values = run(**{k: tf.constant(v) for k, v in feeds.items()})
    MODELS[name] = {
        "feeds": {k: plain(v) for k, v in feeds.items()},
        "values": {k: plain(v) for k, v in values.items()},
    }
    assets = {p.name: p.read_bytes() for p in (folder / "assets").glob("*")}
    tidy(folder)
    for asset, data in assets.items():
        (folder / "assets").mkdir(exist_ok=True)
        (folder / "assets" / asset).write_bytes(data)


def signature(folder: Path) -> Callable[..., dict[str, Any]]:
    return tf.saved_model.load(str(folder)).signatures["serving_default"]


def second_version(root: Path, scratch: Path) -> None:
    numbers = np.array([[0, 5, 1], [-2, 2**40, 7]], np.int64)
    for name, model, feeds in (
        ("tables", Tables(scratch), {"w": words("a", "é", "", "x", "z z", "one", "two", "three"), "n": numbers}),
        ("mutable", Counted(), {"w": words("a", "b", "c")}),
        ("pieces", Pieces(), {"w": words("a b1 é", "", "cat 日本 22", "a b1 é")}),
    ):
        tf.saved_model.save(model, str(root / name), signatures=model.__call__)
        kept(name, root / name, feeds, signature(root / name))
    texts = np.array([[b"The cat, on  the mat!"], [b"no CAT; \xc3\xa9t\xc3\xa9 " * 3], [b""]], object)
    for name, options in (
        ("vectors", {"output_mode": "int", "output_sequence_length": 6, "max_tokens": 20}),
        ("characters", {"output_mode": "int", "split": "character"}),
        ("pairs", {"output_mode": "multi_hot", "ngrams": 2}),
    ):
        layer = keras.layers.TextVectorization(**options)
        layer.adapt(["the cat sat on the mat", "été on a mat"])
        model = keras.Sequential([keras.Input((1,), dtype="string", name="text"), layer])
        model.export(str(root / name), verbose=False)
        kept(name, root / name, {"text": texts}, signature(root / name))


def first_version(root: Path, scratch: Path) -> None:
    """Tables that the graph itself fills, by the main op of the SavedModel."""
    (scratch / "vocabulary.txt").write_text("alpha\nbeta\ngamma\n")
    with tf.Graph().as_default(), tf1.Session() as session:
        w = tf1.placeholder(tf.string, [None], "w")
        ids = lookup_ops.index_table_from_file(str(scratch / "vocabulary.txt"), num_oov_buckets=2).lookup(w)
        back = lookup_ops.index_to_string_table_from_tensor(["zero", "one", "two"], default_value="many").lookup(ids)
        ranged = lookup_ops.index_table_from_tensor(["beta", "gamma"], default_value=-7).lookup(w)
        session.run(tf1.tables_initializer())
        info = tf1.saved_model.build_tensor_info
        values = {"ids": ids, "back": back, "ranged": ranged}
        builder = tf1.saved_model.Builder(str(root / "first"))
        builder.add_meta_graph_and_variables(
            session,
            ["serve"],
            {
                "serving_default": tf1.saved_model.signature_def_utils.build_signature_def(
                    {"w": info(w)}, {k: info(v) for k, v in values.items()}, "predict"
                )
            },
            main_op=tf1.tables_initializer(),
            strip_default_attrs=True,
            assets_collection=tf1.get_collection(tf1.GraphKeys.ASSET_FILEPATHS),
        )
        builder.save()
        feed = words("gamma", "alpha", "delta", "omega", "")
        found = session.run(values, {w: feed})
    kept("first", root / "first", {"w": feed}, lambda w: found)


# -- ops --------------------------------------------------------------------------------------------------------------
PICK = random.Random(7)
PIECES = ["a", "b", "ab", "c", " ", "  ", ",", ",,", ";", "\t", "\n", "é", "日", "x", "_", "-", "=", "0"]


def text(most: int = 6, spoilt: float = 0.0) -> bytes:
    data = "".join(PICK.choice(PIECES) for _ in range(PICK.randint(0, most))).encode()
    return data + PICK.choice([b"\xff", b"\xc3", b"\xe6\x97"]) + b"a" if PICK.random() < spoilt else data


def texts(*shape: int, most: int = 6, spoilt: float = 0.0) -> np.ndarray:
    out = np.empty(shape, object)
    out.reshape(-1)[:] = [text(most, spoilt) for _ in range(out.size)]
    return out


def case(op: str, inputs: dict[str, Any], implied: dict[str, Any] | None = None, **attrs: Any) -> None:
    """The result of TensorFlow's op; ``inputs`` are in the order of the op, ``implied`` are the attributes that it
    infers from them.
    """
    given = {k: [tf.constant(x) for x in v] if isinstance(v, list) else tf.constant(v) for k, v in inputs.items()}
    shown = {k: {"type": v.name} if isinstance(v, tf.DType) else v for k, v in {**attrs, **(implied or {})}.items()}
    flat = [x for v in inputs.values() for x in (v if isinstance(v, list) else [v])]
    record = {"op": op, "inputs": [plain(x) for x in flat], "attrs": shown, "outputs": None}
    try:
        found = getattr(tf.raw_ops, op)(**given, **attrs)
        record["outputs"] = [plain(v) for v in tf.nest.flatten(found)]
    except (tf.errors.InvalidArgumentError, tf.errors.OutOfRangeError):
        pass
    CASES.append(record)


def ops() -> None:
    for unit in ("BYTE", "UTF8_CHAR"):
        shape = PICK.choice([(4,), (2, 3)])
        at = np.random.default_rng(PICK.randrange(99)).integers(-3, 4, shape).astype(np.int32)
        case("Substr", {"input": texts(*shape), "pos": at, "len": np.abs(at[::-1])}, unit=unit)
        case(
            "Substr",
            {"input": texts(4), "pos": np.int64(PICK.randint(-3, 3)), "len": np.int64(PICK.randint(0, 4))},
            unit=unit,
        )
    case(
        "StringSplit",
        {"input": texts(4), "delimiter": PICK.choice([b"", b",", b",;", b" \t"])},
        skip_empty=PICK.random() < 0.5,
    )
    case(
        "StringSplitV2",
        {"input": texts(4, most=9), "sep": PICK.choice([b"", b"", b",", b",,", b"a"])},
        maxsplit=PICK.choice([-1, 0, 1, 2, 5]),
    )
    shape = PICK.choice([(2, 3), (2, 2, 2), (3,), (0, 2)])
    axes = PICK.sample(range(len(shape)), PICK.randint(0, len(shape)))
    case(
        "ReduceJoin",
        {"inputs": texts(*shape), "reduction_indices": np.array(axes, np.int32)},
        keep_dims=PICK.random() < 0.5,
        separator=PICK.choice(["", "-", ", "]),
    )
    ends = np.array(sorted([0, *(PICK.randint(0, 6) for _ in range(3)), 6]), np.int64)
    case(
        "StringNGrams",
        {"data": texts(6, most=2), "data_splits": ends},
        separator=PICK.choice([" ", ""]),
        ngram_widths=PICK.sample([1, 2, 3, 4], PICK.randint(1, 3)),
        left_pad=PICK.choice(["", "<"]),
        right_pad=">",
        pad_width=PICK.choice([-1, 0, 1, 2]),
        preserve_short_sequences=PICK.random() < 0.5,
    )
    long = np.array(
        [bytes(PICK.randrange(256) for _ in range(PICK.choice([0, 3, 7, 12, 20, 40, 64, 90, 200]))) for _ in range(2)],
        object,
    )
    for op in ("StringToHashBucketFast", "StringToHashBucket"):
        case(op, {"string_tensor" if op.endswith("et") else "input": long}, num_buckets=PICK.choice([7, 2**63 - 1]))
    key = [PICK.getrandbits(62), -PICK.getrandbits(62)]
    case("StringToHashBucketStrong", {"input": long}, num_buckets=2**62, key=key)
    numbers = np.array([bytes(PICK.randrange(256) for _ in range(8)) for _ in range(2)], object)
    case(
        "DecodeRaw",
        {"bytes": numbers},
        little_endian=PICK.random() < 0.5,
        out_type=PICK.choice([tf.uint8, tf.int16, tf.int32, tf.int64, tf.uint16, tf.bool]),
    )
    case("EncodeBase64", {"input": texts(3)}, pad=PICK.random() < 0.5)
    shown = PICK.choice([b"YQ", b"YQ==", b"__4_", b"Y", b"//4/", b"", b"YWI="])
    case("DecodeBase64", {"input": np.array([shown], object)})
    policy = PICK.choice(["replace", "ignore", "strict"])
    for op in ("UnicodeDecode", "UnicodeDecodeWithOffsets"):
        case(op, {"input": texts(3, spoilt=0.3)}, input_encoding="UTF-8", errors=policy)
    points = np.array([PICK.choice([97, 233, 26085, 0x1F600, 0xD800, 0x110000]) for _ in range(4)], np.int32)
    case(
        "UnicodeEncode",
        {"input_values": points, "input_splits": np.array([0, 1, 1, 4], np.int64)},
        output_encoding="UTF-8",
        errors=policy,
    )
    case(
        "UnicodeTranscode",
        {"input": texts(3, spoilt=0.3)},
        input_encoding="UTF-8",
        output_encoding="UTF-8",
        errors=policy,
    )
    case("Add", {"x": texts(2, 1), "y": texts(2)}, {"T": tf.string})
    groups = np.array([PICK.randint(-1, 2) for _ in range(4)], np.int32)
    case(
        "UnsortedSegmentJoin",
        {
            "inputs": texts(*PICK.choice([(4,), (4, 2)])),
            "segment_ids": groups,
            "num_segments": np.int32(PICK.choice([2, 3, 3])),
        },
        separator="/",
    )
    values = np.arange(6, dtype=np.float32)
    places = np.array([[PICK.randint(0, 2), PICK.randint(0, 3)] for _ in range(2)], np.int64)
    case(
        "SparseToDense",
        {
            "sparse_indices": places,
            "output_shape": np.array([2, 4], np.int64),
            "sparse_values": PICK.choice([values[:2], values[1]]),
            "default_value": np.float32(-1),
        },
        validate_indices=PICK.random() < 0.7,
    )
    picked = np.array([PICK.randint(0, 3) for _ in range(4)], np.int32).reshape(PICK.choice([(4,), (2, 2)]))
    case(
        "RaggedGather",
        {"params_nested_splits": [ends], "params_dense_values": texts(6), "indices": picked},
        {"PARAMS_RAGGED_RANK": 1},
        OUTPUT_RAGGED_RANK=picked.ndim,
    )
    outer = np.array([0, 1, 1, PICK.choice([3, 4]), 4], np.int64)
    case(
        "RaggedGather",
        {"params_nested_splits": [outer, ends], "params_dense_values": texts(6, 2), "indices": picked},
        {"PARAMS_RAGGED_RANK": 2},
        OUTPUT_RAGGED_RANK=picked.ndim + 1,
    )
    case("RaggedTensorToSparse", {"rt_nested_splits": [outer, ends], "rt_dense_values": texts(6)}, {"RAGGED_RANK": 2})
    weights = PICK.choice([values, values[:0]])
    case(
        "RaggedBincount",
        {
            "splits": ends,
            "values": np.array([PICK.randint(0, 4) for _ in range(6)]),
            "size": np.int64(3),
            "weights": weights,
        },
        binary_output=PICK.random() < 0.3,
    )
    size = np.array([PICK.choice([-1, -1, 2, 6]), PICK.choice([-1, 1, 3])], np.int64)
    case(
        "RaggedTensorToTensor",
        {"shape": size, "values": values, "default_value": np.float32(-1), "row_partition_tensors": [ends]},
        row_partition_types=["ROW_SPLITS"],
    )
    rows = np.array(sorted(PICK.randint(0, 3) for _ in range(6)), np.int64)
    case(
        "RaggedTensorToTensor",
        {
            "shape": size,
            "values": values,
            "default_value": np.float32(-1),
            "row_partition_tensors": [np.int64(4), rows],
        },
        row_partition_types=["FIRST_DIM_SIZE", "VALUE_ROWIDS"],
    )
    inner = np.array(sorted([0, *(PICK.randint(0, 6) for _ in range(2)), 6]), np.int64)
    case(
        "RaggedTensorToTensor",
        {
            "shape": np.int32(-1),
            "values": values,
            "default_value": np.float32(-1),
            "row_partition_tensors": [np.array([0, 2, 2, 3], np.int64), inner],
        },
        row_partition_types=["ROW_SPLITS", "ROW_SPLITS"],
    )


PATTERNS = (
    (r"[!\"#$%&()\*\+,-\./:;<=>?@\[\\\]^_`{|}~\']", ""),
    (r"\s+", " "),
    (r"^\s+|\s+$", ""),
    (r"(\w+) (\w+)", r"\2 \1"),
    (r"x*", "-"),
    (r"(a|ab)(c|bcd)?", r"<\1|\2>"),
    (r"\b", "|"),
    (r"(?i)AB+", r"[\0]"),
    (r"[^\x00-\x7F]", "?"),
    (r"[[:punct:][:space:]]+", "_"),
    (r"(a*)*|b", "<\\0>"),
    (r"(?:a|b)+?c", "C"),
    (r"\pL+", "L"),
    (r"\p{Lu}|\P{L}", "."),
    (r"a{2,3}", "A"),
    (r"(?m)^.", "^"),
    (r"(?s).+", "S"),
    (r"\Qa.b\E", "Q"),
    (r"[^a]", r"\\"),
    (r"(a)|b", r"<\1>"),
    (r"", "-"),
    (r"[a-c&&b]", "&"),
    (r"(?P<n>é)", r"\1\1"),
    (r"日|é|a", r"\3"),
    (r"\x{e9}|\041", "!"),
    (r"a$", "z"),
)
WRONG = ("(", "a**", "[z-a]", r"\8", "(?=a)", "a{1001}", "[[:foo:]]", r"(?P<n>a)(?P<n>b)", ")", "+a", r"\p{Nope}", "\\")
TEXTS = words("", "a b  c ", "ABab\nabc", "é日 Ü!", "aaaa.bc", "x_x-(1) a.b", "  \t", "abcd aabbc")


def patterns() -> None:
    for pattern, rewrite in PATTERNS:
        for every in (True, False):
            case("StaticRegexReplace", {"input": TEXTS}, pattern=pattern, rewrite=rewrite, replace_global=every)
        case("StaticRegexFullMatch", {"input": TEXTS}, pattern=pattern)
    case("RegexReplace", {"input": TEXTS, "pattern": b"(b)", "rewrite": rb"\1\1"})
    case("RegexFullMatch", {"input": TEXTS, "pattern": b".*b.*"})
    for pattern in WRONG:
        case("StaticRegexFullMatch", {"input": TEXTS[:1]}, pattern=pattern)


def main() -> None:
    count = int(sys.argv[1]) if len(sys.argv) > 1 else 12
    with tempfile.TemporaryDirectory() as made, tempfile.TemporaryDirectory() as scratch:
        second_version(Path(made), Path(scratch))
        for _ in range(count):
            ops()
        patterns()
        first_version(Path(made), Path(scratch))
        files = {"models.json": json.dumps(MODELS).encode(), "ops.json": json.dumps(CASES).encode()}
        for path in sorted(p for p in Path(made).rglob("*") if p.is_file()):
            files[f"models/{path.relative_to(made).as_posix()}"] = path.read_bytes()
    archive = io.BytesIO()
    with zipfile.ZipFile(archive, "w", zipfile.ZIP_DEFLATED, compresslevel=9) as out:
        for name, data in files.items():
            out.writestr(zipfile.ZipInfo(name, (2026, 1, 1, 0, 0, 0)), data, zipfile.ZIP_DEFLATED, 9)
    (HERE / "text.zip").write_bytes(archive.getvalue())
    shutil.rmtree(HERE / "__pycache__", ignore_errors=True)
    refused = sum(c["outputs"] is None for c in CASES)
    print(f"{len(MODELS)} models, {len(CASES)} cases ({refused} refused), {len(archive.getvalue()):,} bytes")


if __name__ == "__main__":
    sys.exit(main())
