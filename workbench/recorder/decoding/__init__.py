"""Decoding loops, token by token: two runs of a language model compared, and the first op at which they differ.

::

    model.generate ─► OpFollower: every ATen call once more in float64 ─┐ calls: tokens, ops, values
    graph(ids=...) ─► GraphCalls: the graph, and its copy in float64 ─┤
                                                                      ▼
          located (which positions a call computes) ─► axes (which axis has them) ─► DecodingRecord
                                                                      ▼
          pairing (which op is which) ─► compare (the same token in both runs) ─► DecodingDiff

A run with a cache computes one new position per call, a run without one all positions, a speculative run several:
values are aligned by the index of the token, never by the call. In float64, runs that round differently agree to many
digits, so that a remaining difference comes from another computation. torch is imported by the first recording that
needs it.
"""

from workbench.recorder.decoding.compare import compare
from workbench.recorder.decoding.record import DecodingRecord
from workbench.recorder.decoding.recording import record_decoding

__all__ = ["DecodingRecord", "compare", "record_decoding"]
