"""An ONNX model run by another library, value by value, also inside Loop, Scan, If and SequenceMap.

::

    ModelProto ─► lowered: our graph, and its public name for every value of the model
               └► Driver ── straight stretches of nodes ─► engine (onnxruntime, the onnx reference evaluator)
                     │          every value of a stretch is one of its outputs
                     └ control flow: the trips of a loop, one branch of an If, driven here, body by body

Libraries show only the outputs of a graph. The values inside a body are therefore obtained by running the body itself,
trip by trip, with the library's own kernels; none of the arithmetic is ours.
"""

from workbench.frontends.onnx.external_run.drive import Driver
from workbench.frontends.onnx.external_run.engines import ENGINES, engine

__all__ = ["ENGINES", "Driver", "engine"]
