"""Runs an ONNX model by another library and records every value, also inside Loop, Scan, If and SequenceMap.

::

    ModelProto ─► lowered: our graph, and its public name for every value of the model
               └► Driver ── stretches without branches ─► engine (onnxruntime, the onnx reference evaluator)
                     │          every value of a stretch is one of its outputs
                     └ control flow: trips of a loop, one branch of an If, run here, body by body

Libraries return only the outputs of a graph. The values inside a body are therefore obtained by running the body
itself, trip by trip, with the library's own kernels; the workbench does none of the arithmetic.
"""

from workbench.frontends.onnx.external_run.drive import Driver
from workbench.frontends.onnx.external_run.engines import ENGINES, engine

__all__ = ["ENGINES", "Driver", "engine"]
