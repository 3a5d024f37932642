"""ONNX models with loops and branches, written with the onnx library's own text parser."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest

onnx = pytest.importorskip("onnx", reason="the extra onnx is not installed")
from onnx import parser  # noqa: E402

HEAD = '<ir_version: 8, opset_import: ["" : 17]>\n'


def model(text: str, head: str = HEAD) -> Any:
    """A checked ModelProto."""
    proto = parser.parse_model(head + text)
    onnx.checker.check_model(proto, full_check=True)
    return proto


def f(value: Any) -> np.ndarray:
    return np.array(value, np.float32)


def i(value: Any) -> np.ndarray:
    return np.array(value, np.int64)


def b(value: Any) -> np.ndarray:
    return np.array(value, np.bool_)


#: name -> (text of the graph, feeds of each run)
CASES: dict[str, tuple[str, list[dict[str, np.ndarray]]]] = {
    "newton with trip count, condition and scan output": (
        """g (float a, float x0, int64 M) => (float xN, float[K] xs) {
             true = Constant <value = bool {1}> ()
             xN, xs = Loop (M, true, x0) <body = body (int64 it, bool c, float x) => (bool co, float xo, float x_each) {
               half = Constant <value = float {0.5}> ()
               q = Div(a, x)
               s = Add(x, q)
               xo = Mul(s, half)
               d = Sub(xo, x)
               ad = Abs(d)
               tol = Constant <value = float {1e-6}> ()
               co = Greater(ad, tol)
               x_each = Identity(xo)
             }>
           }""",
        [{"a": f(2), "x0": f(1), "M": i(m)} for m in (50, 3, 1, 0, -4)],
    ),
    "condition only": (
        """g (float x0) => (float xN, float[K,2] ys) {
             true = Constant <value = bool {1}> ()
             xN, ys = Loop (, true, x0) <body = body (int64 it, bool c, float x) => (bool co, float xo, float[2] y) {
               one = Constant <value = float {1}> ()
               lim = Constant <value = float {5}> ()
               two = Constant <value = int64[1] {2}> ()
               xo = Add(x, one)
               fi = Cast <to = 1> (it)
               yy = Mul(fi, xo)
               y = Expand(yy, two)
               co = Less(xo, lim)
             }>
           }""",
        [{"x0": f(0)}, {"x0": f(10)}],
    ),
    "trip count only": (
        """g (int64 M, float x0) => (float xN) {
             xN = Loop (M, , x0) <body = body (int64 it, bool c, float x) => (bool co, float xo) {
               fi = Cast <to = 1> (it)
               xo = Add(x, fi)
               co = Identity(c)
             }>
           }""",
        [{"M": i(5), "x0": f(0)}, {"M": i(0), "x0": f(3)}],
    ),
    "neither trip count nor condition": (
        """g (float x0) => (float xN) {
             xN = Loop (, , x0) <body = body (int64 it, bool c, float x) => (bool co, float xo) {
               one = Constant <value = float {1}> ()
               lim = Constant <value = float {5}> ()
               xo = Add(x, one)
               co = Less(xo, lim)
             }>
           }""",
        [{"x0": f(0)}],
    ),
    "scan output only": (
        """g (int64 M) => (int64[K] squares) {
             squares = Loop (M, ,) <body = body (int64 it, bool c) => (bool co, int64 sq) {
               sq = Mul(it, it)
               co = Identity(c)
             }>
           }""",
        [{"M": i(6)}, {"M": i(0)}],
    ),
    "nested loops, captured values, scan outputs of both": (
        """g (int64 M, int64 N, float x0, float w) => (float xN, float[K,L] zs) {
             true = Constant <value = bool {1}> ()
             xN, zs = Loop (M, true, x0) <body = outer (int64 it, bool c, float x) => (bool co, float xo, float[L] z) {
               xo, z = Loop (N, c, x) <body = inner (int64 j, bool c2, float y) => (bool co2, float yo, float z2) {
                 fi = Cast <to = 1> (it)
                 t = Add(y, fi)
                 yo = Add(t, w)
                 z2 = Identity(t)
                 co2 = Identity(c2)
               }>
               co = Identity(c)
             }>
           }""",
        [{"M": i(m), "N": i(n), "x0": f(1), "w": f(0.5)} for m, n in ((3, 2), (0, 2), (1, 4))],
    ),
    "inner loop that reads nothing of the outer one": (
        """g (int64 M, int64 N, float x0) => (float xN) {
             true = Constant <value = bool {1}> ()
             xN = Loop (M, true, x0) <body = outer (int64 it, bool c, float x) => (bool co, float xo) {
               s = Loop (N, true, x0) <body = inner (int64 j, bool c2, float y) => (bool co2, float yo) {
                 yo = Add(y, x0)
                 co2 = Identity(true)
               }>
               xo = Add(s, x)
               co = Identity(true)
             }>
           }""",
        [{"M": i(m), "N": i(n), "x0": f(1)} for m, n in ((3, 2), (0, 2), (2, 0))],
    ),
    "branches in a loop": (
        """g (int64 M, float x0) => (float xN, float[K] cs) {
             true = Constant <value = bool {1}> ()
             xN, cs = Loop (M, true, x0) <body = body (int64 it, bool c, float x) => (bool co, float xo, float cc) {
               lim = Constant <value = float {10}> ()
               big = Greater(x, lim)
               xo = If (big) <
                 then_branch = then () => (float r) { three = Constant <value = float {3}> () r = Sub(x, three) },
                 else_branch = else () => (float r2) {
                   fi = Cast <to = 1> (it)
                   two = Constant <value = float {2}> ()
                   m = Mul(x, two)
                   r2 = Add(m, fi)
                 }>
               cc = If (true) <
                 then_branch = then2 () => (float q) { q = Constant <value = float {7}> () },
                 else_branch = else2 () => (float q2) { q2 = Identity(x0) }>
               co = Identity(c)
             }>
           }""",
        [{"M": i(12), "x0": f(1)}, {"M": i(0), "x0": f(1)}],
    ),
    "a loop in a branch": (
        """g (bool p, int64 M, float x0) => (float y, float y2) {
             y, y2 = If (p) <
               then_branch = then () => (float r, float rr) {
                 true = Constant <value = bool {1}> ()
                 r = Loop (M, true, x0) <body = body (int64 it, bool c, float x) => (bool co, float xo) {
                   one = Constant <value = float {1}> ()
                   xo = Add(x, one)
                   co = Identity(c)
                 }>
                 rr = Identity(x0)
               },
               else_branch = else () => (float r2, float rr2) {
                 half = Constant <value = float {0.5}> ()
                 r2 = Mul(x0, half)
                 rr2 = Identity(r2)
               }>
           }""",
        [{"p": b(p), "M": i(4), "x0": f(1)} for p in (True, False)],
    ),
    "branches in branches": (
        """g (bool p, bool q, float x) => (float y) {
             y = If (p) <
               then_branch = a () => (float ya) {
                 ya = If (q) <then_branch = aa () => (float yaa) { yaa = Neg(x) },
                              else_branch = ab () => (float yab) { yab = Exp(x) }>
               },
               else_branch = b () => (float yb) { yb = Sqrt(x) }>
           }""",
        [{"p": b(p), "q": b(q), "x": f(2)} for p in (True, False) for q in (True, False)],
    ),
    "a variable that grows": (
        """g (int64 M, float[N] x0) => (float[P] xN) {
             true = Constant <value = bool {1}> ()
             xN = Loop (M, true, x0) <body = body (int64 it, bool c, float[A] x) => (bool co, float[B] xo) {
               xo = Concat <axis = 0> (x, x)
               co = Identity(c)
             }>
           }""",
        [{"M": i(4), "x0": f([1, -2])}],
    ),
    "scan, forward": (
        """g (float s0, float[N,2] xs) => (float sN, float[N,2] ys) {
             sN, ys = Scan <num_scan_inputs = 1, body = body (float s, float[2] x) => (float so, float[2] y) {
               t = ReduceSum <keepdims = 0> (x)
               so = Add(s, t)
               y = Mul(x, so)
             }> (s0, xs)
           }""",
        [{"s0": f(1), "xs": f([[1, 2], [3, 4], [5, 6]])}],
    ),
    "scan backward, other axes, captured values": (
        """g (float[2] s0, float w, float[2,3] xs, float[3] vs) => (float[2] sN, float[2,3] ys, float[3] zs) {
             sN, ys, zs = Scan <num_scan_inputs = 2, scan_input_axes = [1, 0], scan_input_directions = [1, 0],
                 scan_output_axes = [-1, 0], scan_output_directions = [0, 1],
                 body = body (float[2] s, float[2] x, float v) => (float[2] so, float[2] y, float z) {
               t = Mul(x, v)
               so = Add(s, t)
               y = Mul(so, w)
               z = Mul(v, w)
             }> (s0, xs, vs)
           }""",
        [{"s0": f([1, 2]), "w": f(2), "xs": f([[1, 2, 3], [4, 5, 6]]), "vs": f([1, 10, 100])}],
    ),
    "a scan in a loop": (
        """g (int64 M, float s0, float[4] xs) => (float sN, float[K,4] ys) {
             true = Constant <value = bool {1}> ()
             sN, ys = Loop (M, true, s0) <body = outer (int64 it, bool c, float s) => (bool co, float so, float[4] y) {
               so, y = Scan <num_scan_inputs = 1, body = body (float u, float x) => (float uo, float e) {
                 uo = Add(u, x)
                 e = Identity(uo)
               }> (s, xs)
               co = Identity(c)
             }>
           }""",
        [{"M": i(m), "s0": f(0), "xs": f([1, 2, 3, 4])} for m in (3, 0)],
    ),
    "ops that only the reference evaluator has": (
        """g (int64 M, float[3] x0) => (float[3] xN) {
             true = Constant <value = bool {1}> ()
             xN = Loop (M, true, x0) <body = body (int64 it, bool c, float[3] x) => (bool co, float[3] xo) {
               y = ThresholdedRelu <alpha = 0.5> (x)
               z = Celu(y)
               xo = Mean(z, x, x)
               co = Identity(c)
             }>
           }""",
        [{"M": i(4), "x0": f([1, -2, 3])}],
    ),
}
