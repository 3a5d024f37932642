"""``watch_states``: records the forward passes of a looped model, and reports on them."""

from __future__ import annotations

import contextlib
import sys
from collections.abc import Callable
from typing import Any

import numpy as np

from workbench.analysis.text import count
from workbench.errors import WatchError
from workbench.libraries import needed
from workbench.recorder.looped.blocks import RepeatedBlock, find_blocks
from workbench.recorder.looped.calls import MEMORY, CallLog, ForwardPass
from workbench.recorder.looped.carried import CarriedState, find_state
from workbench.recorder.looped.modules import bad_watch, module_ids, named_modules
from workbench.recorder.looped.paths import TokenPaths
from workbench.recorder.looped.readout import HALTS, Gate, Head, find_gate, find_head, gate_of, losses, probabilities
from workbench.recorder.looped.spectrum import SpectralNorm, spectral_norm
from workbench.recorder.looped.states_report import StatesReport
from workbench.recorder.looped.update import NoUpdate, Update
from workbench.text import harmless, similar_names, words_html

#: maximum number of modules named in an error
MAX_MODULES = 8


class StatesWatch:
    """Records the states of a block that a forward pass calls repeatedly; made by ``workbench.watch_states``.

    Examples
    --------
    >>> with wb.watch_states(model) as states:  # doctest: +SKIP
    ...     model(tokens)
    >>> print(states.report())  # doctest: +SKIP
    """

    def __init__(
        self,
        model: Any,
        *,
        block: Any = None,
        head: Any = None,
        gate: Any = None,
        threshold: float | None = None,
        halts: str = "each",
        target: Any = None,
        loss: Callable[..., Any] | None = None,
        tolerance: float | None = None,
        memory: int = MEMORY,
    ) -> None:
        torch = needed("torch", "wb.watch_states", "pip install torch.")
        self._torch = torch
        self._named = named_modules(torch, model)
        self.name = type(next(iter(self._named.values()))).__name__
        self._only = None if block is None else self._ids("block", block)
        if halts not in HALTS:
            raise bad_watch(f"halts must be one of {', '.join(map(repr, HALTS))}, got {halts!r}", "leave it away.")
        if head is not None and not callable(head):
            raise bad_watch(
                f"head must be a function of the state, got a {type(head).__name__}", "write head=lambda h: ..."
            )
        if tolerance is not None and not 0 < tolerance < 1:
            raise bad_watch(f"tolerance must be between 0 and 1, got {tolerance!r}", "leave it away.")
        if gate is not None and not callable(gate):
            self._ids("gate", gate)
        self._gate, self._head, self._target, self._loss = gate, head, target, loss
        self._threshold, self._halts, self._tolerance = threshold, halts, tolerance
        always = set(self._only or ()) | (self._ids("gate", gate) if self._is_module(gate) else set())
        self._log = CallLog(torch, self._named, always, memory)
        self._stance: Any = contextlib.nullcontext()
        #: the exception that left the block, in words
        self.error = ""

    # -- recording ----------------------------------------------------------------------------------------------------
    def __enter__(self) -> StatesWatch:
        if "torch._dynamo" in sys.modules or any(hasattr(m, "_orig_mod") for m in self._named.values()):
            stance = getattr(self._torch.compiler, "set_stance", None)
            if stance is not None:  # compiled functions, which call no hooks, run uncompiled
                self._stance = stance("force_eager")
        self._stance.__enter__()
        self._log.open()
        return self

    def __exit__(self, kind: Any, error: Any, traceback: Any) -> None:
        self._log.close()
        self._stance.__exit__(kind, error, traceback)
        if error is not None:
            self.error = f"{type(error).__name__}: {' '.join(str(error).split())[:200]}"

    @property
    def passes(self) -> list[ForwardPass]:
        """The forward passes with a repeatedly called block, in order."""
        return [run for run, _ in self._found()]

    @property
    def blocks(self) -> list[str]:
        """The names of the repeatedly called blocks of the last pass, those with the most parameters first."""
        found = self._found()
        return [block.name for block in found[-1][1]] if found else []

    def _found(self) -> list[tuple[ForwardPass, list[RepeatedBlock]]]:
        found = [(run, find_blocks(run, self._only)) for run in self._log.passes]
        found = [(run, blocks) for run, blocks in found if blocks]
        if not found and len(self._log.passes) > 1:  # the caller runs the loop: each call of the block is a pass
            run = ForwardPass()
            for other in self._log.passes:
                for call in other.calls:
                    call.order, call.ended = call.order + run.count, call.ended + run.count if call.ended >= 0 else -1
                    run.calls.append(call)
                run.count += other.count + 1
            self._log.passes = [run]
            blocks = find_blocks(run, self._only)
            found = [(run, blocks)] if blocks else []
        return found

    # -- the report ---------------------------------------------------------------------------------------------------
    def report(self, block: str | int = 0, which: int = -1, *, spectrum: bool = True) -> StatesReport:
        """The report on the states of one pass.

        Parameters
        ----------
        block : str or int, default 0
            The block, by its name or its index in ``blocks``.
        which : int, default -1
            The index of the pass, the last one by default.
        spectrum : bool, default True
            Whether to compute the spectral norm of the update, for which the block runs again.

        Returns
        -------
        StatesReport

        Raises
        ------
        WatchError
            If no block was called repeatedly (``no-loop``), the states have several shapes (``states-differ``), or the
            pass or block does not exist.
        """
        found = self._found()
        if not found:
            raise self._no_loop()
        if not -len(found) <= which < len(found):
            raise bad_watch(
                f"there is no pass {which}: {len(found)} were recorded", "count from 0, or from -1 backwards."
            )
        run, blocks = found[which]
        carried = self._carried(blocks, block)
        torch, notes = self._torch, []
        if self.error:
            notes.append(f"The forward pass ended with {self.error}; the report is about the loops before.")
        if run.full:
            notes.append(f"Later loops are missing: {run.full}.")
        if self._log.dropped:
            notes.append(f"The oldest {count(self._log.dropped, 'pass', 'passes')} were given up for memory=.")
        arrays = [_array(torch, s) for s in carried.states]
        paths = TokenPaths(arrays, _eps(torch, carried.states[-1]), carried.begins)
        update, why = self._update(carried)
        if why:
            notes.append(f"A loop of {carried.block.name} cannot be computed again: {why}.")
        if update is not None and update.changing:
            notes.append(f"{update.changing[0]} is another in each loop: nothing is known of further loops.")
        steady = update is not None and not update.changing and spectrum
        norm, at = self._spectrum(update, carried, paths) if steady else (None, 0)
        with torch.no_grad():
            head, outputs, remarks = self._outputs(run, carried)
            gate = self._gates(run, carried)
        notes += remarks
        values = None
        if outputs and (self._target is not None or self._loss is not None):
            values = losses(torch, outputs, self._target, self._loss)
        elif self._target is not None:
            notes.append("There is no loss, because no head was found: give head= as a function of the state.")
        return StatesReport(
            self.name, carried, paths, tolerance=self._tolerance, update=update, spectral=norm, spectral_at=at,
            gate=gate, head=head, outputs=_stacked(torch, outputs), losses=values, notes=notes,
        )  # fmt: skip

    def _carried(self, blocks: list[RepeatedBlock], wanted: str | int) -> CarriedState:
        names = [b.name for b in blocks]
        if isinstance(wanted, str):
            if wanted not in names:
                near = similar_names(wanted, names) or names[:MAX_MODULES]
                raise bad_watch(f"no block {wanted!r} was called repeatedly", f"choose {', '.join(map(repr, near))}.")
            wanted = names.index(wanted)
        if not -len(blocks) <= wanted < len(blocks):
            raise bad_watch(
                f"there is no block {wanted}: there are {len(blocks)}", f"choose {', '.join(map(repr, names))}."
            )
        carried = find_state(self._torch, blocks[wanted])
        if carried is None:
            raise WatchError(
                f"The block {names[wanted]!r} gives no tensor of real numbers.",
                slug="no-state",
                fix="name the module whose output is the state: wb.watch_states(model, block=...).",
            )
        return carried

    def _update(self, carried: CarriedState) -> tuple[Update | None, str]:
        try:
            return Update(self._torch, carried), ""
        except NoUpdate as why:
            return None, str(why)

    def _spectrum(self, update: Any, carried: CarriedState, paths: TokenPaths) -> tuple[SpectralNorm | None, int]:
        """The spectral norm at the last finite state, and its loop."""
        torch = self._torch
        good = np.flatnonzero(paths.finite.all(axis=1))
        if not len(good):
            return None, 0
        state = carried.states[int(good[-1])].detach()
        if state.element_size() < 4:
            update, state = update.in_float32(), state.float()
        try:
            return spectral_norm(torch, update, state), int(good[-1]) + paths.begins
        except Exception:  # an op without derivatives: the report leaves the norm out
            return None, 0

    def _outputs(self, run: ForwardPass, carried: CarriedState) -> tuple[str, list[Any], list[str]]:
        """(name of the head, output after each loop, notes)."""
        torch = self._torch
        head = Head("head", self._head) if self._head is not None else find_head(torch, run, carried)
        if head is None:
            return "", [], []
        states = carried.states[1 - carried.begins :]
        try:
            made = [head.function(state) for state in states]
        except Exception as error:
            if self._head is not None:
                raise WatchError(
                    f"watch_states: head= failed on a state of shape {tuple(states[0].shape)}: "
                    f"{type(error).__name__}: {str(error)[:300]}",
                    slug="bad-head",
                    fix="give a function of the state after a loop that returns the output.",
                ) from error
            return "", [], [f"The head was not computed: {type(error).__name__}: {str(error)[:200]}."]
        if not all(isinstance(o, torch.Tensor) for o in made):
            raise WatchError(
                f"watch_states: head= gave a {type(made[0]).__name__}; a tensor was expected.",
                slug="bad-head",
                fix="return the tensor of the output, as its .logits.",
            )
        return head.name, made, []

    def _gates(self, run: ForwardPass, carried: CarriedState) -> Gate | None:
        torch, gate = self._torch, self._gate
        if gate is not None and callable(gate) and not self._is_module(gate):
            outputs = [gate(state) for state in carried.states[1 - carried.begins :]]
            name = getattr(gate, "__name__", "gate").strip("<>")
        else:
            names = set() if gate is None else {self._named_as(key) for key in self._ids("gate", gate)}
            found = find_gate(torch, run, carried, names)
            if found is None:
                return None
            name, outputs = found
        values = np.stack([_array(torch, torch.as_tensor(o)).reshape(-1) for o in outputs])
        name, values = probabilities(name, values.astype(np.float64))
        return gate_of(name, values, self._threshold, self._halts)

    # -- modules ------------------------------------------------------------------------------------------------------
    def _is_module(self, value: Any) -> bool:
        return isinstance(value, (str, self._torch.nn.Module)) or (
            isinstance(value, list | tuple) and all(isinstance(m, self._torch.nn.Module) for m in value)
        )

    def _named_as(self, key: int) -> str:
        return next((name for name, module in self._named.items() if id(module) == key), "")

    def _ids(self, what: str, given: Any) -> set[int]:
        return module_ids(self._torch, self._named, what, given)

    def _no_loop(self) -> WatchError:
        seen = self._log.seen
        if self._log.compiled:
            return WatchError(
                "The model was compiled while it was watched, so that its modules were not seen.",
                slug="compiled",
                fix="compile it before the block of the watch, or watch it as it is.",
            )
        if not seen:
            return WatchError(
                f"No module of {self.name} was called.",
                slug="no-forward",
                fix="call the model inside of the block: with wb.watch_states(model) as states: model(x).",
            )
        names = ", ".join(list(seen)[:MAX_MODULES]) + (", ..." if len(seen) > MAX_MODULES else "")
        ended = f" The forward pass ended with {self.error}." if self.error else ""
        return WatchError(
            f"No module with parameters was called twice in one forward pass of {self.name}; called once: {names}."
            f"{ended}",
            slug="no-loop",
            fix="watch a model that calls a block again and again; of a loop of yours give the block: "
            "wb.watch_states(block).",
        )

    @harmless
    def __str__(self) -> str:
        try:
            return str(self.report())
        except WatchError as error:
            return str(error)

    @harmless
    def _repr_html_(self) -> str:
        return words_html(str(self))

    @harmless
    def __repr__(self) -> str:
        return f"<StatesWatch of {self.name}: {len(self._log.passes)} forward passes>"


def _array(torch: Any, tensor: Any) -> np.ndarray:
    tensor = tensor.detach().cpu()
    return np.asarray((tensor.float() if tensor.dtype in (torch.bfloat16, torch.float16) else tensor).numpy())


def _eps(torch: Any, tensor: Any) -> float:
    return float(torch.finfo(tensor.dtype).eps)


def _stacked(torch: Any, outputs: list[Any]) -> np.ndarray | None:
    if not outputs or len({tuple(o.shape) for o in outputs}) > 1:
        return None
    return np.stack([_array(torch, o).astype(np.float64) for o in outputs])
