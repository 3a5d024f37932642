"""``record_decoding``: runs a decoding loop and records the computation for each token."""

from __future__ import annotations

import os
import sys
import weakref
from collections.abc import Callable
from typing import Any

import numpy as np

from workbench.errors import WatchError
from workbench.frontends import load
from workbench.frontends.python.decorator import GraphFunction
from workbench.ir import Graph
from workbench.recorder.decoding.call_log import DecodingLog
from workbench.recorder.decoding.follower import OpFollower, mode_of
from workbench.recorder.decoding.graph_calls import GraphCalls, greedy
from workbench.recorder.decoding.located import locate
from workbench.recorder.decoding.record import DecodingRecord

MEMORY = 512 * 2**20
#: arguments of a model that are recorded as values of a call
_INPUTS = ("position_ids",)


def record_decoding(
    model: Any,
    prompt: Any,
    /,
    *,
    generate: Callable[..., Any] | None = None,
    name: str | None = None,
    tokenizer: Any = None,
    memory: int = MEMORY,
    **options: Any,
) -> DecodingRecord:
    """Decode with a language model, and record each op for each token.

    Parameters
    ----------
    model : module of PyTorch, Graph, function of ``@wb.graph``, or path of a model
        The model, for example of transformers; or a graph that computes one step, such as an ONNX model with inputs
        ``input_ids`` and ``past...``, and new keys and values among its outputs.
    prompt : tensor or array of integers
        The tokens of the prompt, (batch, length) or (length,); rows of different lengths are padded on the left.
    generate : function, optional
        ``generate(model, prompt, **options)`` decodes with your own loop and returns all tokens; by default
        ``model.generate`` is called. For a graph, ``model`` is a function that runs it: ``model(input_ids=ids, ...)``
        returns the outputs by name; the default is greedy, with ``max_new_tokens`` and ``eos_token_id``.
    name : str, optional
        The name of the run in texts.
    tokenizer : object with ``decode``, optional
        Writes tokens as text.
    memory : int, default 512 MiB
        Maximum bytes of the record, which ends with a note when it reaches them.
    **options
        Arguments of ``generate``, such as ``max_new_tokens``, ``use_cache`` or ``assistant_model``.

    Returns
    -------
    DecodingRecord
        The run; ``wb.diff`` of two of them names the first token and op at which they part.

    Raises
    ------
    WatchError
        For a prompt that has no tokens (``bad-prompt``), a model without ``generate`` (``no-generate``) or with an
        encoder (``encoder-decoder``), a beam search (``beams``), and a loop that did not call the model (``no-calls``)
        or returned no tokens (``bad-tokens``).

    Examples
    --------
    >>> cached = wb.record_decoding(model, prompt, max_new_tokens=20)  # doctest: +SKIP
    >>> whole = wb.record_decoding(model, prompt, max_new_tokens=20, use_cache=False)  # doctest: +SKIP
    >>> print(wb.diff(whole, cached))  # doctest: +SKIP
    """
    if isinstance(model, (str, os.PathLike, bytes)):
        model = load(model)
    given = _prompt(prompt)
    if isinstance(model, (Graph, GraphFunction)):
        return _of_graph(model, given, generate, name, getattr(tokenizer, "decode", None), memory, options)
    torch = sys.modules.get("torch")
    call = generate or getattr(model, "generate", None)
    if torch is None or not isinstance(model, torch.nn.Module) or not callable(call):
        raise WatchError(
            f"record_decoding: expected a module of PyTorch with a method generate, or a graph, got a "
            f"{type(model).__name__}.",
            slug="no-generate",
            fix="write generate=f, where f(model, prompt) decodes with a loop of your own and returns all tokens.",
        )
    if getattr(getattr(model, "config", None), "is_encoder_decoder", False):
        raise WatchError(
            f"record_decoding: a {type(model).__name__} has an encoder: its decoder does not read the prompt.",
            slug="encoder-decoder",
            fix="record a model that has a decoder only.",
        )
    config = getattr(model, "generation_config", None)
    pad, ends = getattr(config, "pad_token_id", None), _ends(getattr(config, "eos_token_id", None))
    pads = _pads(given, options.get("attention_mask"), options.get("pad_token_id", pad))
    record = DecodingRecord(
        name or type(model).__name__,
        given,
        pads,
        _ends(options.get("eos_token_id")) or ends,
        getattr(tokenizer, "decode", None),
    )
    record.item = next((p.element_size() for p in model.parameters()), 4)
    record.bound = int(getattr(getattr(model, "config", None), "max_position_embeddings", 0) or 0)
    record.model = weakref.ref(model)
    log = DecodingLog(record, memory, int(options.get("max_new_tokens") or 0))
    follower = OpFollower(torch, model, log)
    tokens = torch.as_tensor(given, device=next((p.device for p in model.parameters()), None))
    with _Hooked(follower, model), torch.no_grad():
        result = call(tokens, **options) if generate is None else call(model, tokens, **options)
    whole = _sequences(result, given)
    _finish(record, log, follower.unfollowed, whole)
    record.tokens = [
        _row(row[n:], record, options.get("pad_token_id", pad)) for row, n in zip(whole, pads, strict=True)
    ]
    return record


def _of_graph(
    graph: Any, prompt: np.ndarray, generate: Any, name: str | None, decode: Any, memory: int, options: dict[str, Any]
) -> DecodingRecord:
    pads, ends = np.zeros(len(prompt), np.int64), _ends(options.get("eos_token_id"))
    own = graph.name if isinstance(graph, Graph) else getattr(graph, "__name__", "")
    record = DecodingRecord(str(name or own or "graph"), prompt, pads, ends, decode)
    log = DecodingLog(record, memory, int(options.get("max_new_tokens") or 0))
    step = GraphCalls(graph, log)
    whole = _sequences((generate or greedy)(step, prompt, **options), prompt)
    _finish(record, log, step.unfollowed, whole)
    record.tokens = list(whole)
    return record


def _finish(record: DecodingRecord, log: DecodingLog, unfollowed: set[str], whole: np.ndarray) -> None:
    """Locate the calls in the finished sequence, and note what could not be recorded."""
    wider = next((n for n, call in enumerate(record.calls, 1) if len(call.ids) > len(whole)), None)
    if wider is not None:
        raise WatchError(
            f"record_decoding: call {wider} of {record.name} has {len(record.calls[wider - 1].ids)} rows of tokens, "
            f"but the run returned {len(whole)}: rows that compete, as beams do, change places from call to call.",
            slug="beams",
            fix="decode greedily or with num_beams=1; of a beam search the best sequence can be given as the prompt.",
        )
    if not record.calls and not log.full:
        raise WatchError(
            f"record_decoding: the loop did not call {record.name}.",
            slug="no-calls",
            fix="let generate(model, prompt) call the model that it is given.",
        )
    locate(record.calls, whole)
    record.settle()
    if log.full:
        record.notes.append(log.full)
    if unfollowed:
        record.followed = False
        names = ", ".join(sorted(unfollowed)[:4])
        record.notes.append(f"Values are compared as they are rounded, since these have no float64: {names}.")
    if not all(call.finite for call in record.calls):
        first = next(k for k, call in enumerate(record.calls, 1) if not call.finite)
        record.notes.append(f"From call {first} on no logit is finite.")


class _Hooked:
    """The hooks and the mode of a follower, for one run."""

    def __init__(self, follower: OpFollower, model: Any) -> None:
        self._follower, self._model, self._mode = follower, model, mode_of(follower)
        self._handles: list[Any] = []

    def __enter__(self) -> None:
        follower, torch = self._follower, self._follower.torch

        def entered(module: Any, args: Any, kwargs: Any) -> None:
            ids = kwargs.get("input_ids", args[0] if args else None)
            if follower.log.full or not isinstance(ids, torch.Tensor) or ids.dtype.is_floating_point or ids.dim() != 2:
                return
            inputs = {k: kwargs[k] for k in _INPUTS if isinstance(kwargs.get(k), torch.Tensor)}
            follower.enter(ids.detach().cpu().numpy().copy(), inputs)

        def left(module: Any, args: Any, output: Any) -> None:
            logits = getattr(output, "logits", output[0] if isinstance(output, (tuple, list)) else output)
            follower.leave(logits if isinstance(logits, torch.Tensor) and logits.dim() == 3 else None)

        self._handles = [
            self._model.register_forward_pre_hook(entered, with_kwargs=True, prepend=True),
            self._model.register_forward_hook(left),
        ]
        follower.phases.open()
        self._mode.__enter__()

    def __exit__(self, kind: Any, error: Any, traceback: Any) -> None:
        self._mode.__exit__(kind, error, traceback)
        self._follower.phases.close()
        for handle in self._handles:
            handle.remove()


def _numpy(value: Any) -> Any:
    return value.detach().cpu().numpy() if hasattr(value, "detach") else value


def _prompt(prompt: Any) -> np.ndarray:
    try:
        found = np.asarray(_numpy(prompt))
    except (TypeError, ValueError):
        found = np.empty(0)
    if found.ndim == 1:
        found = found[None]
    if found.ndim != 2 or not found.size or found.dtype.kind not in "iu":
        raise WatchError(
            f"record_decoding: expected the tokens of a prompt as integers (batch, length), got "
            f"{type(prompt).__name__} of shape {found.shape} and dtype {found.dtype}.",
            slug="bad-prompt",
            fix='write tokenizer(text, return_tensors="pt").input_ids.',
        )
    return found.astype(np.int64)


def _ends(value: Any) -> tuple[int, ...]:
    if value is None:
        return ()
    return tuple(int(v) for v in np.atleast_1d(np.asarray(value)))


def _pads(prompt: np.ndarray, mask: Any, pad: Any) -> np.ndarray:
    """Number of positions of each row that are padding on the left."""
    own = np.asarray(_numpy(mask)) != 0 if mask is not None else None
    if own is None or own.shape != prompt.shape:
        own = prompt != pad if isinstance(pad, int) and (prompt == pad).any() else np.ones(prompt.shape, bool)
    return np.asarray(np.argmax(own, axis=1))


def _sequences(result: Any, prompt: np.ndarray) -> np.ndarray:
    """All tokens of a run, from the return value of ``generate``."""
    found = np.asarray(_numpy(getattr(result, "sequences", result)))
    found = found[None] if found.ndim == 1 else found
    if found.ndim != 2 or found.shape[0] != prompt.shape[0] or found.dtype.kind not in "iu":
        raise WatchError(
            f"record_decoding: expected generate to return tokens (batch, length), got shape {found.shape}.",
            slug="bad-tokens",
            fix="return the prompt and the generated tokens; beams and several sequences a prompt cannot be compared.",
        )
    n = prompt.shape[1]
    if found.shape[1] < n or not np.array_equal(found[:, :n], prompt):
        found = np.concatenate([prompt, found], axis=1)
    return found


def _row(tokens: np.ndarray, record: DecodingRecord, pad: Any) -> np.ndarray:
    """The tokens of a row, without the padding after its end."""
    length = len(tokens)
    if len(record.pads) > 1 and isinstance(pad, int):
        while length and tokens[length - 1] == pad and pad not in record.ends:
            length -= 1
    return tokens[:length]
