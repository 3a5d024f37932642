"""Ops on strings that TensorFlow and the workbench share."""

from __future__ import annotations

from workbench.frontends.tf.graphdef import NodeDef
from workbench.frontends.tf.rules.base import Constant, LoweredNode, Rule, attrs, plain, same


def _texts(op: str, **names: str) -> Rule:
    """A rule that keeps attributes as bytes: a pattern need not be UTF-8."""

    def rule(node: NodeDef, constant: Constant) -> LoweredNode:
        found = {ours: node.attrs[theirs] for ours, theirs in names.items() if theirs in node.attrs}
        return LoweredNode(op, node.inputs, found)

    return rule


def _split(node: NodeDef, constant: Constant) -> LoweredNode:
    skip = bool(node.attrs.get("skip_empty", True))
    return LoweredNode("string_split", node.inputs, {"any_of": True, "skip_empty": skip})


def _buckets(method: str) -> Rule:
    def rule(node: NodeDef, constant: Constant) -> LoweredNode:
        found = {"buckets": node.attrs.get("num_buckets"), "method": method}
        key = node.attrs.get("key")
        return LoweredNode("string_to_hash_bucket", node.inputs, {**found, "key": plain(key)} if key else found)

    return rule


def _code_points(op: str, outputs: tuple[int, ...] | None, *encodings: str) -> Rule:
    def rule(node: NodeDef, constant: Constant) -> LoweredNode | None:
        named = {str(plain(node.attrs.get(e, b"UTF-8"))).upper() for e in encodings}
        if named - {"UTF-8", "UTF8"} or node.attrs.get("replace_control_characters"):
            return None
        names = {"errors": "errors", "replacement": "replacement_char", "splits": "Tsplits"}
        if op != "unicode_decode":
            del names["splits"]
        found = {ours: plain(node.attrs[theirs]) for ours, theirs in names.items() if theirs in node.attrs}
        return LoweredNode(op, node.inputs, found, outputs=outputs)

    return rule


_REPLACE = {"pattern": "pattern", "rewrite": "rewrite", "every": "replace_global"}

RULES: dict[str, Rule] = {
    "StringLower": attrs("string_lower", encoding="encoding"),
    "StringUpper": attrs("string_upper", encoding="encoding"),
    "StringStrip": same("string_strip"),
    "StringLength": attrs("string_length", unit="unit"),
    "StringJoin": attrs("string_join", separator="separator"),
    "StringToNumber": attrs("string_to_number", dtype="out_type"),
    "AsString": attrs(
        "as_string", precision="precision", scientific="scientific", shortest="shortest", width="width", fill="fill"
    ),
    "StaticRegexReplace": _texts("regex_replace", **_REPLACE),
    "RegexReplace": _texts("regex_replace", every="replace_global"),
    "StaticRegexFullMatch": _texts("regex_full_match", pattern="pattern"),
    "RegexFullMatch": same("regex_full_match"),
    "StringSplit": _split,
    "StringSplitV2": attrs("string_split", most="maxsplit"),
    "Substr": attrs("substring", unit="unit"),
    "ReduceJoin": _texts("string_reduce_join", separator="separator", keepdims="keep_dims"),
    "StringNGrams": _texts(
        "string_ngrams",
        widths="ngram_widths",
        separator="separator",
        left_pad="left_pad",
        right_pad="right_pad",
        pad_width="pad_width",
        preserve_short="preserve_short_sequences",
    ),
    "StringToHashBucketFast": _buckets("fingerprint"),
    "StringToHashBucket": _buckets("murmur"),
    "StringToHashBucketStrong": _buckets("keyed"),
    "DecodeRaw": attrs("decode_raw", dtype="out_type", little_endian="little_endian"),
    "EncodeBase64": attrs("encode_base64", pad="pad"),
    "DecodeBase64": same("decode_base64"),
    "UnicodeDecode": _code_points("unicode_decode", (0, 1), "input_encoding"),
    "UnicodeDecodeWithOffsets": _code_points("unicode_decode", (0, 1, 2), "input_encoding"),
    "UnicodeTranscode": _code_points("unicode_transcode", None, "input_encoding", "output_encoding"),
    "UnsortedSegmentJoin": _texts("string_segment_join", separator="separator"),
    "UnicodeEncode": _code_points("unicode_encode", None, "output_encoding"),
}
