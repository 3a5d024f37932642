"""Exports of PyTorch with one planted fault each, and clean ones: does ``wb.diff`` name the node?

``files/`` holds each module as its ``.pt2`` file, its ONNX model and its inputs, so that no test needs PyTorch;
``python -m tests.evaluation.exports.make`` writes them. A fault is planted into the ONNX model by the name of a value.
``held`` modules and faults were left out of development and scored once before any of them was looked at: 19 of 20
faults were named, and none in the 20 clean ones. What the one that was missed showed is mended since.
"""
