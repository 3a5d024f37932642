"""Plain Python functions as graphs: ``wb.graph``.

::

    decorator ─► source_text (syntax tree) ─► engine ──┬── control: blocks, branching, logic, iterating, looping
       │                                               ├── statements, assigning, expressions, comprehensions
       │                                               ├── calls: call_dispatch ─► inlining (plain functions),
       │                                               │          builtin_objects, methods, library_calls
       │                                               └── values: items, iteration_space, arithmetic
       │                                                        ─► operators (semantics: numbers, NumPy)
       ├── signatures: arguments ─► inputs
       └── results, dead_code: the function's result ◄─ outputs of the graph

    state of a capture       objects, scopes; memory: arrays, lists and dicts by their identity
    branches                 control: branch_state, merging
    loops                    control: widening, aliasing (arrays that may be the same)
    both                     values: pytree (kinds and types), pytree_leaves (values at the leaves)

Modules that handle a kind of expression or statement register it in ``engine.EXPRESSIONS`` and ``engine.STATEMENTS``;
``decorator`` imports them all.
"""
