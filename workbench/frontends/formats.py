"""Model formats that are recognised but not read, each with the way to convert it.

Only signatures and the names in an archive are examined. Nothing is unpacked, and a pickle, which can run any code when
it is opened, is never opened.
"""

from __future__ import annotations

import io
import json
import re
import zipfile
from dataclasses import dataclass
from pathlib import Path

from workbench.frontends.protobuf.wire import LENGTH, VARINT, WireError, scan
from workbench.frontends.stablehlo.content import is_program

#: limits: names examined in an archive, and bytes examined of a text
_NAMES, _HEAD = 10_000, 65_536


@dataclass(frozen=True, slots=True)
class Format:
    """``name`` completes "It is ..."; ``fix`` says how to get something that can be read."""

    name: str
    fix: str


_TORCH = "load it in PyTorch and export it: torch.onnx.export(model, example_args, 'model.onnx')."
_TFLITE = "convert it: python -m tf2onnx.convert --tflite model.tflite --output model.onnx."
_KERAS = "export it in Keras: model.export('model.onnx', format='onnx'), or model.export('folder') for a SavedModel."
_SCRIPTED = "load it with torch.jit.load and export it: torch.onnx.export(model, example_args, 'model.onnx')."
_PICKLED = (
    "open it where you trust it, and export the model: skl2onnx.to_onnx(model, X[:1]) for scikit-learn, "
    "torch.onnx.export(model, example_args, 'model.onnx') for PyTorch."
)
_SOURCE = "give the ONNX or TensorFlow model that it was made from."
_WEIGHTS = (
    "it has weights and no graph: load them into their model and export that, with torch.onnx.export or, for a model "
    "of Hugging Face, optimum-cli export onnx."
)
_UNPACK = "unpack it, and give the model file in it."
_MLIR = "lower it to StableHLO, or export the function to ONNX: jax2onnx, or jax2tf and tf2onnx."

PICKLE = Format("a Python pickle, which can run any code and is never opened here", _PICKLED)
TORCH_PICKLE = Format("a PyTorch checkpoint (.pt, .pth), a pickle, which is never opened here", _TORCH)
TORCHSCRIPT = Format("a TorchScript archive (torch.jit.save)", _SCRIPTED)
TORCH_EXPORT = Format("a PyTorch exported program (.pt2)", "read it with wb.load.")
KERAS = Format("a Keras model (.keras)", _KERAS)
HDF5 = Format("an HDF5 file, as Keras wrote models and weights (.h5)", _KERAS)
COREML = Format("a Core ML model (.mlmodel, .mlpackage)", _SOURCE)
ARRAYS = Format("NumPy arrays (.npy, .npz)", "give them as inputs of a model: --input name=@file or numpy.load.")
TRACE = Format("a trace of a run", "open it with wb.Trace.load, or workbench inspect.")
ONNX_ZIP = Format("a zip archive with an ONNX model in it", "unpack it, and give the .onnx file.")
SAMEDIFF = Format("a zip archive with a SameDiff graph in it", "unpack it, and give the .fb file.")
ZIP = Format("a zip archive", _UNPACK)
STABLEHLO = Format("a StableHLO program", "read it with wb.load.")

#: (offset, bytes at that offset, format)
_SIGNATURES: tuple[tuple[int, bytes, Format], ...] = (
    (4, b"TFL3", Format("a TensorFlow Lite model (.tflite)", _TFLITE)),
    (4, b"ORTM", Format("a model in onnxruntime's own format (.ort)", "give the .onnx file that it was made from.")),
    (4, b"ET12", Format("an ExecuTorch program (.pte)", _TORCH)),
    (0, b"\x89HDF\r\n\x1a\n", HDF5),
    (0, b"GGUF", Format("a GGUF file, weights for llama.cpp", _WEIGHTS)),
    (0, b"lmgg", Format("a GGML file, weights for llama.cpp", _WEIGHTS)),
    (0, b"tjgg", Format("a GGML file, weights for llama.cpp", _WEIGHTS)),
    (0, b"ptrt", Format("a TensorRT engine, code for one kind of GPU", "give the ONNX model that it was built from.")),
    (0, b"ML\xefR", Format("MLIR bytecode without operations of StableHLO", _MLIR)),
    (0, b"CBM1", Format("a CatBoost model (.cbm)", "save it as ONNX: model.save_model('model.onnx', format='onnx').")),
    (0, b"RKNN", Format("a model for Rockchip's accelerators (.rknn)", _SOURCE)),
    (0, b"\x93NUMPY", ARRAYS),
    (0, b"\x80\x02\x8a\x0al\xfc\x9cF\xf9 j\xa8P\x19.", TORCH_PICKLE),
    (0, b"\x1f\x8b", Format("a gzip archive", _UNPACK)),
    (257, b"ustar", Format("a tar archive", _UNPACK)),
    (0, b"7z\xbc\xaf\x27\x1c", Format("a 7z archive", _UNPACK)),
    (0, b"\xfd7zXZ\x00", Format("an xz archive", _UNPACK)),
    (0, b"\x28\xb5\x2f\xfd", Format("a zstd archive", _UNPACK)),
    (0, b"version https://git-lfs", Format("a pointer of git-lfs", "fetch the model itself: git lfs pull.")),
    (0, b"7767517\n", Format("an ncnn model (.param)", _SOURCE)),
    (0, b"tree\nversion=", Format("a LightGBM model", "convert it: onnxmltools.convert_lightgbm(model).")),
)
#: pattern near the beginning of a text, after white space -> format
_TEXTS: tuple[tuple[re.Pattern[bytes], Format], ...] = (
    (
        re.compile(rb"(<\?xml[^>]*>\s*)?(<!--.*?-->\s*)*<net\s", re.S),
        Format("the graph of an OpenVINO model (.xml)", _SOURCE),
    ),
    (re.compile(rb"(<\?xml[^>]*>\s*)?<PMML\b"), Format("a PMML model", _SOURCE)),
    (
        re.compile(rb"(<!doctype\s+html|<html)\b", re.I),
        Format("a web page, not a model: the download gave an error or a login", "download the file itself again."),
    ),
    (
        re.compile(rb"\{.*\"(modelTopology|weightsManifest)\"\s*:", re.S),
        Format(
            "a TensorFlow.js model",
            "give the SavedModel that it was made from, or, for a layers model, "
            "tensorflowjs_converter --input_format tfjs_layers_model --output_format keras, then: " + _KERAS,
        ),
    ),
    (
        re.compile(rb"\{.*\"class_name\"\s*:\s*\"(Functional|Sequential|Model)\"", re.S),
        Format("the architecture of a Keras model, without its weights", _KERAS),
    ),
    (
        re.compile(rb"\{\s*\"learner\"\s*:"),
        Format("an XGBoost model", "convert it: onnxmltools.convert_xgboost(model, initial_types=...)."),
    ),
    (
        re.compile(rb"(//[^\n]*\n\s*)*(#[A-Za-z_]+[^\n]*\n\s*)*(module\b|func\.func\b)"),
        Format("MLIR text without operations of StableHLO", _MLIR),
    ),
)


def format_of(data: bytes) -> Format | None:
    """The format of some bytes, if it is known but not supported here."""
    if data.startswith(b"PK\x03\x04"):
        return _archive(data)
    if is_program(data):
        return STABLEHLO
    for at, mark, found in _SIGNATURES:
        if data.startswith(mark, at):
            return found
    if _is_safetensors(data):
        return Format("a safetensors file", _WEIGHTS)
    if _is_pickle(data):
        return PICKLE
    if _is_core_ml(data):
        return COREML
    head = data[:_HEAD].lstrip()
    return next((found for pattern, found in _TEXTS if pattern.match(head)), None)


def format_of_folder(folder: Path) -> Format | None:
    """The format of a folder, if it is known but not supported here."""
    try:
        names = {p.name for p, _ in zip(folder.iterdir(), range(_NAMES), strict=False)}
    except OSError:
        return None
    if "Manifest.json" in names and "Data" in names:
        return COREML
    models = sorted(n for n in names if n.endswith((".onnx", ".pb", ".pbtxt")))
    if models:
        return Format(f"a folder with {', '.join(map(repr, models[:3]))}", "give the path of the model file in it.")
    if {"config.json"} <= names and any(n.endswith((".safetensors", ".bin")) for n in names):
        return Format("a folder of a Hugging Face model", "export it: optimum-cli export onnx --model FOLDER OUTPUT.")
    return None


def _archive(data: bytes) -> Format:
    try:
        with zipfile.ZipFile(io.BytesIO(data)) as archive:
            names = archive.namelist()[:_NAMES]
    except Exception:  # zipfile raises many kinds of exceptions over a broken archive
        return ZIP
    parts = {name.rpartition("/")[2] for name in names}
    if "trace.json" in names:
        return TRACE
    if any(n.endswith("models/model.json") for n in names) or "serialized_exported_program.json" in parts:
        return TORCH_EXPORT
    if "constants.pkl" in parts and any("/code/" in n for n in names):
        return TORCHSCRIPT
    if "data.pkl" in parts:
        return TORCH_PICKLE
    if "config.json" in names and "model.weights.h5" in names:
        return KERAS
    if any(n.endswith(".mlmodel") for n in names):
        return COREML
    if any(n.endswith(".onnx") for n in names):
        return ONNX_ZIP
    if names and all(n.endswith(".npy") for n in names):
        return ARRAYS
    return SAMEDIFF if any(n.endswith(".fb") for n in names) else ZIP


def _is_safetensors(data: bytes) -> bool:
    size = int.from_bytes(data[:8], "little")
    if data[8:9] != b"{" or not 2 <= size <= len(data) - 8:
        return False
    if size > 1 << 24:
        return True
    try:
        return isinstance(json.loads(data[8 : 8 + size]), dict)
    except (ValueError, RecursionError):
        return False


def _is_pickle(data: bytes) -> bool:
    """True if the bytes begin and end as a pickle; nothing between is examined."""
    plain = data[:1] == b"\x80" and data[1:2] in (b"\x02", b"\x03", b"\x04", b"\x05")
    if plain and data[2:3] in (b"\x95", b"c", b"}", b"]", b"(", b"q", b"X", b"\x8c", b"\x8a", b"K", b"J", b"G", b"U"):
        return True
    return data[:1] == b"x" and data[1:2] in (b"\x01", b"\x5e", b"\x9c", b"\xda")  # zlib, as joblib.dump compresses


def _is_core_ml(data: bytes) -> bool:
    """True for a specification version, a description, and a model whose field number is 200 or above."""
    seen: dict[int, int] = {}
    try:
        for number, wire in scan(data):
            seen[number] = wire
    except WireError:
        return False
    kinds = [n for n, wire in seen.items() if 200 <= n <= 3000 and wire == LENGTH]
    return seen.get(1) == VARINT and seen.get(2) == LENGTH and len(kinds) == 1
