"""The only place that imports TensorFlow, which is optional and slow to import."""

from __future__ import annotations

import functools
import importlib
import importlib.util
import re
from typing import Any

from workbench.errors import UnknownOpError
from workbench.libraries import install, needed

FIX = f"{install('tensorflow')}, with which TensorFlow evaluates such nodes"
#: Ops that access anything except their arrays: files (two take a file name as an attribute), other processes, Python
#: code, devices, state that outlives them, and frames.
_OUTSIDE = re.compile(
    "File|Dataset|Iterator|Reader|Save|Restore|Checkpoint|Summary|Print|PyFunc|Python|Send|Recv|Rpc|Debug|Proto$|ProtoV2"
    "|Xla|XLA|TPU|Tpu|Collective|Nccl|Remote|Distribut|Service|Socket|Session|Timestamp|Assert|Abort|Host|Wrapper|Load"
    "|Unigram|ImmutableConst|GenerateVocab|Queue|Barrier|Stack(Push|Pop|Close)|^Batch$|Unbatch|Accumulator|TensorArray"
    "|Enter$|Exit$|NextIteration|Merge$|Switch$|LoopCond|Table|Infeed|Outfeed|Prelinearize|Sdca|Variable|^Const$"
    "|^Placeholder|^Assign|Apply|SymbolicGradient|MapDefun|BatchFunction|PartitionedCall|^Copy$"
)
_RESOURCE = 20
#: The only stateful ops that are evaluated, and only those that take seeds.
_RANDOM = re.compile("Random|Multinomial|TruncatedNormal|CandidateSampler|RandomShuffle")


def installed() -> bool:
    """True if TensorFlow can be found; this does not import it."""
    try:
        return importlib.util.find_spec("tensorflow") is not None
    except (ImportError, ValueError):
        return False


def hint() -> str:
    """Hint for errors about ops without a counterpart; empty if TensorFlow is already installed."""
    return "" if installed() else f", or {FIX}"


@functools.lru_cache(maxsize=1)
def tensorflow() -> Any:
    return needed(
        "tensorflow", "Evaluating this op", f"{FIX}.", error=UnknownOpError, slug="missing-extra", called="TensorFlow"
    )


def definition(op: str) -> Any:
    """TensorFlow's own definition of an op; None for unknown ops and those that are not evaluated here."""
    if _OUTSIDE.search(op) or not hasattr(tensorflow().raw_ops, op):
        return None
    found = importlib.import_module("tensorflow.python.framework.op_def_registry").get(op)
    if found is None or any(arg.is_ref or arg.type == _RESOURCE for arg in (*found.input_arg, *found.output_arg)):
        return None
    seeded = {"seed", "seed2"} <= {a.name for a in found.attr}
    return None if found.is_stateful and not (seeded and _RANDOM.search(op)) else found
