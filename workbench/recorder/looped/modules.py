"""The modules of a model by their names."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from workbench.errors import WatchError
from workbench.text import printable, similar_names


def bad_watch(message: str, fix: str) -> WatchError:
    """The error for invalid arguments."""
    return WatchError(f"watch_states: {message}.", slug="bad-watch", fix=fix)


def named_modules(torch: Any, model: Any) -> dict[str, Any]:
    """All modules by name; the model itself is named by its class."""
    if isinstance(model, Mapping):
        roots = {str(name): module for name, module in model.items()}
    elif isinstance(model, list | tuple):
        roots = {str(k): module for k, module in enumerate(model)}
    else:
        roots = {"": model}
    if not roots or not all(isinstance(m, torch.nn.Module) for m in roots.values()):
        kinds = ", ".join(sorted({type(m).__name__ for m in roots.values()})) or "nothing"
        raise bad_watch(f"expected a torch.nn.Module, or several, got {kinds}", "write wb.watch_states(model).")
    found: dict[str, Any] = {}
    for root, module in roots.items():
        module = getattr(module, "_orig_mod", module)
        for path, inner in module.named_modules():
            inner = getattr(inner, "_orig_mod", inner)
            path = path.replace("_orig_mod.", "").removesuffix("._orig_mod")
            found.setdefault(".".join(p for p in (root, path) if p) or type(module).__name__, inner)
    return found


def module_ids(torch: Any, named: dict[str, Any], what: str, given: Any) -> set[int]:
    """The ids of modules that are given as objects, as a list, or by name; a list of modules stands for its items."""
    found: set[int] = set()
    known = {id(module) for module in named.values()}
    for item in given if isinstance(given, list | tuple) else [given]:
        module = named.get(item) if isinstance(item, str) else item
        if not isinstance(module, torch.nn.Module):
            near = similar_names(str(item), named) if isinstance(item, str) else []
            hint = f"did you mean {' or '.join(map(repr, near))}?" if near else "name a module of the model."
            raise bad_watch(f"{what}={printable(repr(item), 80)} is not a module of the model", hint)
        containers = (torch.nn.ModuleList, torch.nn.ModuleDict)
        parts = list(module.children()) if isinstance(module, containers) else [module]
        if any(id(part) not in known for part in parts):
            raise bad_watch(
                f"{what}= is a {type(module).__name__} that the model does not have", "name one of its own."
            )
        found |= {id(part) for part in parts}
    return found
