"""The place of an op in the user's program: its line, the module whose ``forward`` runs, the step of an optimizer."""

from __future__ import annotations

import importlib
import os
from collections.abc import Callable
from typing import Any

from workbench.recorder.eager.user_line import UserLines


class Phases:
    """Follows modules and optimizers by torch's own hooks, while it is open.

    ``modules`` is a module, or a mapping or sequence of modules; ``optimizer`` one optimizer or several.
    """

    def __init__(self, torch: Any, modules: Any, optimizer: Any) -> None:
        self._torch = torch
        self.lines = UserLines(os.path.dirname(torch.__file__))
        self.roots: dict[str, Any] = {}
        self.optimizers: list[Any] = []
        self._paths: dict[int, str] = {}
        #: paths of the modules whose ``forward`` run
        self.stack: list[str] = []
        self._handles: list[Any] = []
        self.in_optimizer = False
        #: the line that called ``step`` of a torch optimizer; all ops of the step belong to it
        self.step_line: tuple[str, int] | None = None
        #: functions that are called with an optimizer before it steps
        self.before_step: Callable[[Any], None] | None = None
        self._names: dict[int, str] = {}
        self.follow(modules, optimizer)

    def follow(self, modules: Any, optimizer: Any) -> None:
        """Set the modules and optimizers if none are set yet."""
        if modules is not None and not self.roots:
            self.roots = _named(self._torch, modules)
            for root, module in self.roots.items():
                for path, inner in module.named_modules():
                    self._paths.setdefault(id(inner), ".".join(p for p in (root, path) if p))
        if optimizer is not None and not self.optimizers:
            given = optimizer if isinstance(optimizer, (list, tuple)) else [optimizer]
            self.optimizers = [getattr(o, "optimizer", o) for o in given]  # Accelerate wraps the optimizer
        self.rename()

    def rename(self, tensor: Any = None) -> str:
        """Look up the names of parameters and buffers again, and return the name of ``tensor``."""
        self._names = {id(t): name for name, t in self.state()}
        return self._names.get(id(tensor), "")

    def state(self) -> list[tuple[str, Any]]:
        """Parameters and buffers with their names; optimizer parameters without a module are "group 0/1"."""
        found: dict[int, tuple[str, Any]] = {}
        for root, module in self.roots.items():
            for name, tensor in [*module.named_parameters(), *module.named_buffers()]:
                found.setdefault(id(tensor), (".".join(p for p in (root, name) if p), tensor))
        for optimizer in self.optimizers:
            for g, group in enumerate(optimizer.param_groups):
                for k, tensor in enumerate(group["params"]):
                    found.setdefault(id(tensor), (f"group {g}/{k}", tensor))
        return list(found.values())

    def buffers_in_training(self) -> list[tuple[str, Any]]:
        """The buffers of modules in training mode, with their names."""
        ids = {
            id(b)
            for root in self.roots.values()
            for module in root.modules()
            if module.training
            for b in module.buffers(recurse=False)
        }
        return [(name, tensor) for name, tensor in self.state() if id(tensor) in ids]

    def optimizer_state(self) -> list[tuple[str, Any]]:
        """Tensors of the optimizers' states, named as "encoder.weight.exp_avg"."""
        names = {id(tensor): name for name, tensor in self.state()}
        return [
            (f"{names.get(id(parameter), 'state')}.{key}", value)
            for optimizer in self.optimizers
            for parameter, state in optimizer.state.items()
            if isinstance(state, dict)
            for key, value in state.items()
            if isinstance(value, self._torch.Tensor) and value.layout is self._torch.strided
        ]

    def name_of(self, tensor: Any) -> str:
        """The name of a parameter or a buffer; "" for any other tensor."""
        return self._names.get(id(tensor), "")

    @property
    def module(self) -> str:
        """Path of the innermost module whose ``forward`` runs."""
        return self.stack[-1] if self.stack else ""

    def open(self) -> None:
        """Begin to follow."""
        hooks = self._torch.nn.modules.module
        steps = importlib.import_module("torch.optim.optimizer")

        def entered(module: Any, inputs: Any) -> None:
            self.stack.append(
                self._paths.get(id(module)) or (type(module).__name__ if not self._paths else self.module)
            )

        def left(module: Any, inputs: Any, output: Any) -> None:
            if self.stack:
                self.stack.pop()

        def stepping(optimizer: Any, args: Any, kwargs: Any) -> None:
            if self.before_step is not None and optimizer in self.optimizers:
                self.before_step(optimizer)
            plain = type(optimizer).__module__.startswith("torch.") and not any(args[1:]) and not any(kwargs.values())
            self.step_line = self.lines.here() if plain else None
            self.in_optimizer = True

        def stepped(optimizer: Any, args: Any, kwargs: Any) -> None:
            self.in_optimizer = False

        self._handles = [
            hooks.register_module_forward_pre_hook(entered),
            hooks.register_module_forward_hook(left, always_call=True),
            steps.register_optimizer_step_pre_hook(stepping),
            steps.register_optimizer_step_post_hook(stepped),
        ]

    def close(self) -> None:
        """Stop following; may be called again."""
        for handle in self._handles:
            handle.remove()
        self._handles, self.stack, self.in_optimizer = [], [], False


def _named(torch: Any, modules: Any) -> dict[str, Any]:
    if modules is None:
        return {}
    if isinstance(modules, torch.nn.Module):
        return {"": modules}
    if isinstance(modules, dict):
        return dict(modules)
    return {str(k): module for k, module in enumerate(modules)}
