"""``OpFollower``: computes every ATen call of a decoding run again in float64, and records the results.

The run itself is not changed. Each floating-point tensor has a copy in float64, computed by the same ops; integers, and
thus the tokens, are those of the run. Values of a dtype coarser than the model's are rounded to it in float64 too,
since that rounding is a part of the program. Random ops are not repeated, so that the random state is the same.
"""

from __future__ import annotations

import hashlib
import importlib
from typing import Any

import numpy as np

from workbench.recorder.decoding.call_log import DecodingLog
from workbench.recorder.decoding.record import DecodingOp
from workbench.recorder.eager.phases import Phases

#: ops that give the values of their argument in another shape: their results are not kept
VIEWS = frozenset(
    "view _unsafe_view t transpose permute unsqueeze squeeze expand detach alias reshape clone lift_fresh as_strided "
    "_reshape_alias contiguous".split()
)

#: prefix of the names of fused attention
ATTENTION = "_scaled_dot_product_"


class OpFollower:
    """Callbacks of the dispatch mode of one run; ``enter`` and ``leave`` are called around each call of the model."""

    def __init__(self, torch: Any, model: Any, log: DecodingLog) -> None:
        self.torch, self.log = torch, log
        self.phases = Phases(torch, model, None)
        weak = importlib.import_module("torch.utils.weak")
        self._doubles: Any = weak.WeakIdKeyDictionary()
        self._places: Any = weak.WeakIdKeyDictionary()
        self._map = importlib.import_module("torch.utils._pytree")
        self._digests: dict[int, str] = {}
        self._eps = _working_eps(torch, model)
        log.record.eps = self._eps
        self._counts: dict[Any, int] = {}
        self.unfollowed: set[str] = set()

    # -- the calls of the model ---------------------------------------------------------------------------------------
    def enter(self, ids: np.ndarray, inputs: dict[str, Any]) -> None:
        """Begin a call of the model with these tokens."""
        self.log.begin(ids)
        self._counts = {}
        self._places.clear()
        for name, tensor in inputs.items():
            self.log.keep(DecodingOp(name, "", "", 0, 0, 0), tensor.detach().cpu().numpy().copy())

    def leave(self, logits: Any) -> None:
        """End the call, whose logits (batch, rows, vocabulary) the model returned."""
        self.log.end(None if logits is None else logits.detach().float().cpu().numpy())

    # -- ops ----------------------------------------------------------------------------------------------------------
    def before(self, func: Any, args: Any, kwargs: Any) -> Any:
        """The arguments in float64, taken before the op may write to them; None for an op without floating-point
        arguments.
        """
        flat, _ = self._map.tree_flatten((args, kwargs))
        tensors = [x for x in flat if isinstance(x, self.torch.Tensor)]
        if not any(self._is_float(x) for x in tensors) or "out" in kwargs:
            return None
        return self._map.tree_map(self._double, (args, kwargs))

    def after(self, func: Any, args: Any, kwargs: Any, doubles: Any, out: Any) -> None:
        """Compute the result ``out`` of an op in float64, and keep it if the model is running."""
        outs = [x for x in self._map.tree_flatten(out)[0] if isinstance(x, self.torch.Tensor)]
        if not any(self._is_float(x) for x in outs):
            return
        name = func._schema.name.partition("::")[2]
        self._compute(func, args, outs, doubles, name)
        if self.log.call is None:
            return
        self._note(name, args, kwargs, outs)

    def _compute(self, func: Any, args: Any, outs: list[Any], doubles: Any, name: str) -> None:
        torch, schema = self.torch, func._schema
        found: list[Any] | None = None
        fused = name.startswith(ATTENTION)
        random = torch.Tag.nondeterministic_seeded in func.tags and not fused
        if doubles is not None and not random:
            given, named = doubles
            if name == "_softmax" and len(given) > 2:
                given = (*given[:2], False)
            try:
                if fused:
                    found = [self._attention(schema, given, named, outs[0]), *map(self._wide, outs[1:])]
                else:
                    found = [x for x in self._map.tree_flatten(func(*given, **named))[0] if isinstance(x, torch.Tensor)]
            except Exception:  # an op without float64, such as those on packed integers
                self.unfollowed.add(name)
        if found is None or len(found) != len(outs):
            for x in outs:
                if self._is_float(x):
                    known = self._doubles.get(x)
                    if known is not None and known.shape == x.shape:
                        known.copy_(x)
                    else:
                        self._doubles[x] = self._wide(x)
            return
        view = bool(schema.returns and schema.returns[0].alias_info and not schema.returns[0].alias_info.is_write)
        for x, double in zip(outs, found, strict=True):
            if not self._is_float(x):
                continue
            if not view and x.dtype.is_floating_point and torch.finfo(x.dtype).eps > self._eps:
                double.copy_(double.to(x.dtype))
            self._doubles[x] = double

    def _attention(self, schema: Any, given: Any, named: Any, out: Any) -> Any:
        """Attention by its definition: the fused op uses the float32 exponential even in float64."""
        values = dict(zip((a.name for a in schema.arguments), given, strict=False)) | named
        q, k, v = values["query"], values["key"], values["value"]
        mask = values.get("attn_mask", values.get("attn_bias"))
        exact = self.torch.ops.aten._scaled_dot_product_attention_math
        options = {"scale": values.get("scale"), "enable_gqa": q.shape[-3] != k.shape[-3]}
        found = exact(q, k, v, mask, 0.0, bool(values.get("is_causal")), **options)[0]
        return self.torch.empty_strided(out.shape, out.stride(), dtype=found.dtype, device=out.device).copy_(found)

    def _note(self, name: str, args: Any, kwargs: Any, outs: list[Any]) -> None:
        flat, _ = self._map.tree_flatten((args, kwargs))
        tensors = [x for x in flat if isinstance(x, self.torch.Tensor)]
        places = [self._places.get(x) or self._outside(x) for x in tensors]
        if name in VIEWS:  # it has the values of its argument, and thus its place
            for x in outs:
                self._places[x] = places[0] if places else 0
            return
        inputs = tuple(p - 1 if isinstance(p, int) else -1 for p in places)
        outside = tuple(p for p in places if isinstance(p, tuple))
        settings = tuple(_setting(x) for x in flat if not isinstance(x, self.torch.Tensor))
        file, line = self.phases.lines.here() or ("", 0)
        key = (name, self.phases.module)
        nth = self._counts[key] = self._counts.get(key, -1) + 1
        for k, x in enumerate(outs):
            if not self._is_float(x) or (k and name.startswith(ATTENTION)) or self.log.call is None:
                continue
            self._places[x] = len(self.log.call.values) + 1
            values = np.array(self._doubles[x].detach().cpu().numpy(), copy=True)
            self.log.keep(DecodingOp(name, self.phases.module, file, line, nth, k), values, inputs, settings, outside)

    def _outside(self, x: Any) -> Any:
        """Name and digest of a parameter or buffer; 0 for any other tensor that no op of the call produced."""
        label = self.phases.name_of(x)
        return (label, self._digest(x)) if label else 0

    # -- numbers ------------------------------------------------------------------------------------------------------
    def _is_float(self, x: Any) -> bool:
        return isinstance(x, self.torch.Tensor) and (x.dtype.is_floating_point or x.dtype.is_complex)

    def _wide(self, x: Any) -> Any:
        return x.detach().to(self.torch.complex128 if x.dtype.is_complex else self.torch.float64, copy=True)

    def _double(self, x: Any) -> Any:
        torch = self.torch
        if isinstance(x, torch.dtype):
            return torch.float64 if x.is_floating_point else torch.complex128 if x.is_complex else x
        if not self._is_float(x):
            return x
        found = self._doubles.get(x)
        if found is None or found.shape != x.shape:
            found = self._doubles[x] = self._wide(x)
        return found

    def _digest(self, x: Any) -> str:
        found = self._digests.get(id(x))
        if found is None:
            array = x.detach().cpu().contiguous().reshape(-1).view(self.torch.uint8).numpy()
            found = self._digests[id(x)] = hashlib.blake2b(array.tobytes(), digest_size=8).hexdigest()
        return found


def mode_of(follower: OpFollower) -> Any:
    """The ``TorchDispatchMode`` of a follower."""
    base = importlib.import_module("torch.utils._python_dispatch").TorchDispatchMode

    class DecodingMode(base):  # type: ignore[misc, valid-type]
        def __torch_dispatch__(self, func: Any, types: Any, args: Any = (), kwargs: Any = None) -> Any:
            named = kwargs or {}
            doubles = follower.before(func, args, named)
            out = func(*args, **named)
            follower.after(func, args, named, doubles, out)
            return out

    return DecodingMode()


def _working_eps(torch: Any, model: Any) -> float:
    """The rounding of the dtype that most parameters of a model have."""
    counts: dict[Any, int] = {}
    for parameter in model.parameters():
        if parameter.dtype.is_floating_point:
            counts[parameter.dtype] = counts.get(parameter.dtype, 0) + parameter.numel()
    dtype = max(counts, key=lambda d: counts[d], default=torch.float32)
    return float(torch.finfo(dtype).eps)


def _setting(value: Any) -> str:
    return repr(value) if isinstance(value, bool | int | float | str | type(None)) else str(value)
