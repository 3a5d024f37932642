"""Plain Python functions as graphs: ``wb.graph``.

::

    decorator ─► source_text (syntax tree) ─► engine ──┬── control: blocks, branching, logic, iterating, looping
       │                                               ├── statements, assigning, expressions, comprehensions
       │                                               ├── calls: call_dispatch ─► inlining (plain functions),
       │                                               │          builtin_objects, methods, library_calls
       │                                               └── values: items, iteration_space, arithmetic
       │                                                        ─► operators (what they mean: numbers, NumPy)
       ├── signatures: arguments ─► inputs
       └── results, dead_code: what Python would return ◄─ outputs of the graph

    what variables hold      objects, scopes; memory: arrays, lists and dicts by their identity
    through a branch         control: branch_state, merging
    around a loop            control: widening, aliasing (which arrays may be one)
    both                     values: pytree (kinds and types), pytree_leaves (values in their places)

Modules that handle a kind of expression or statement register it in ``engine.EXPRESSIONS`` and ``engine.STATEMENTS``;
``decorator`` imports them all.
"""
