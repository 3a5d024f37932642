# Conditions of breakpoints: set by the driver, checked by the interpreter before an instruction or after it.

CONDITION_OPS = (
    "value", "previous", "iteration", "number", "neg", "abs", "+", "-", "*", "/", "%", "<", "<=", ">", ">=", "==", "!=", "both",
    "and", "or", "not", "isnan", "isinf", "isfinite", "sqrt",
)
CONDITION_KINDS = ("always", "code", "items", "changed", "same", "flip", "quick")


cdef void free_conditions(Machine m) noexcept:
    cdef int k
    if m.e.conditions != NULL:
        for k in range(m.e.n_conditions):
            free(m.e.conditions[k].events)
    free(m.e.conditions)
    free(m.e.condition_literals)
    free(m.e.condition_steps)
    free(m.e.condition_code)
    free(m.e.reported)
    m.e.conditions, m.e.condition_literals, m.e.condition_steps, m.e.condition_code, m.e.reported = NULL, NULL, NULL, NULL, NULL
    m.e.n_conditions = m.e.n_reported = 0


def set_conditions(Machine machine not None, list conditions not None, list sites not None):
    """Check these conditions from now on instead of the previous ones; ``reported`` returns indices of ``sites``.

    A site is (number of the condition, instruction of the node, base and offset of the current value, its store or -1,
    its offset in any row). A condition is a dict: ``front`` (checked before the node, otherwise after it has fired),
    ``kind`` (of CONDITION_KINDS), ``frame``; for all except "always", of the value: ``shift``, ``letter`` (of its
    dtype), ``n`` items; ``guard``: (base, offset, expect) literals that hold if the value is alive; ``steps``: (frame,
    iteration) in which to check; ``stride``: every k-th iteration only; ``code``: (op of CONDITION_OPS, number) in
    postfix order; ``items``: (operand, op, whether of its magnitude, number): comparisons of a number that must all
    hold ("quick"), or one that an item of an array must satisfy ("items").
    """
    cdef int k, ip, n_literals = 0, n_steps = 0, n_code = 0
    cdef int number, base, offset, store, place
    cdef Condition* a
    cdef Condition* compiled
    cdef int length = machine.program.length
    for spec in conditions:
        n_literals += len(spec.get("guard", ()))
        n_steps += len(spec.get("steps", ()))
        n_code += len(spec.get("code", ())) + len(spec.get("items", ()))
        if len(spec.get("code", ())) > 400:
            raise ValueError("a condition has at most 400 operations")
    for number, ip, base, offset, store, place in sites:
        if not 0 <= ip < length:
            raise ValueError(f"expected an instruction from 0 to {length - 1}, got {ip}")
        if not 0 <= number < len(conditions):
            raise ValueError(f"expected a condition from 0 to {len(conditions) - 1}, got {number}")
    free_conditions(machine)
    for k in range(length):
        machine.e.code[k].condition = machine.e.code[k].condition_before = machine.e.code[k].condition_after = 0
    machine.e.conditions = <Condition*>calloc(len(sites) + 1, sizeof(Condition))
    machine.e.condition_literals = <Literal*>calloc(n_literals + 1, sizeof(Literal))
    machine.e.condition_steps = <ConditionStep*>calloc(n_steps + 1, sizeof(ConditionStep))
    machine.e.condition_code = <ConditionOp*>calloc(n_code + 1, sizeof(ConditionOp))
    machine.e.reported = <int*>calloc(len(sites) + 1, sizeof(int))
    compiled = <Condition*>calloc(len(conditions) + 1, sizeof(Condition))
    if not (machine.e.conditions and machine.e.condition_literals and machine.e.condition_steps and machine.e.condition_code and machine.e.reported
            and compiled):
        free(compiled)
        free_conditions(machine)
        raise MemoryError("no memory for breakpoints")
    n_literals = n_steps = n_code = 0
    try:
        for k, spec in enumerate(conditions):
            a = &compiled[k]
            a.kind = CONDITION_KINDS.index(spec["kind"])
            a.front = spec["front"]
            a.frame = spec["frame"]
            a.shift = spec.get("shift", 0)
            a.letter = ord(spec.get("letter", "d"))
            a.n = spec.get("n", 1)
            a.stride = spec.get("stride", 1)
            a.guard = n_literals
            for base, offset, expect in spec.get("guard", ()):
                machine.e.condition_literals[n_literals] = Literal(base, offset, expect)
                n_literals += 1
            a.n_guard = n_literals - a.guard
            a.step = n_steps
            for frame, iteration in spec.get("steps", ()):
                machine.e.condition_steps[n_steps] = ConditionStep(frame, iteration)
                n_steps += 1
            a.n_steps = n_steps - a.step
            a.code = n_code
            for op, value in spec.get("code", ()):
                machine.e.condition_code[n_code] = ConditionOp(CONDITION_OPS.index(op), 0, 0, value)
                n_code += 1
            for of, op, magnitude, value in spec.get("items", ()):
                machine.e.condition_code[n_code] = ConditionOp(CONDITION_OPS.index(op), CONDITION_OPS.index("-" if of == "delta" else of), magnitude, value)
                a.op, a.absolute, a.number = CONDITION_OPS.index(op), magnitude, value
                n_code += 1
            a.n_code = n_code - a.code
            ops = [op for op, _ in spec.get("code", ())] + [of for of, *_ in spec.get("items", ())]
            a.back = spec["kind"] in ("changed", "same", "flip") or "previous" in ops or "delta" in ops
            a.counts = a.stride > 1 or "iteration" in ops
        for k in range(len(sites) - 1, -1, -1):  # in reverse, so that chains run in the order of the list
            number, ip, base, offset, store, place = sites[k]
            a = &machine.e.conditions[k]
            a[0] = compiled[number]
            a.node, a.base, a.offset, a.store, a.place = ip, base, offset, store, place
            a.event = machine.e.code[ip].ev_index
            if not a.front:  # after the last instruction of the node
                while ip + 1 < length and not machine.e.code[ip + 1].is_event and not wb_is_control(machine.e.code[ip + 1].op):
                    ip += 1
            a.next = machine.e.code[ip].condition
            machine.e.code[ip].condition = k + 1
            if a.front:
                machine.e.code[ip].condition_before = 1
            else:
                machine.e.code[ip].condition_after = 1
        machine.e.n_conditions = len(sites)
    finally:
        free(compiled)
    link(&machine.e, length)


def reported(Machine machine not None):
    """Indices of the sites whose conditions stopped the machine last."""
    cdef int k
    return [machine.e.reported[k] for k in range(machine.e.n_reported)]


def skip_hits(Machine machine not None, int number, long long left):
    """Do not stop at the next ``left`` hits of a site."""
    if not 0 <= number < machine.e.n_conditions:
        raise ValueError(f"expected a site from 0 to {machine.e.n_conditions - 1}, got {number}")
    machine.e.conditions[number].left = left


def drain_hits(Machine machine not None):
    """(site, hits without a stop since the last call, events of the newest of them) of each site with such hits."""
    cdef int k
    cdef Condition* a
    cdef long long n, j, first
    cdef cnp.ndarray out
    found = []
    for k in range(machine.e.n_conditions):
        a = &machine.e.conditions[k]
        if a.passed:
            n = min(a.passed, a.room)
            out = np.empty(n, np.int64)
            first = (a.passed - n) & (a.room - 1) if n else 0
            j = min(n, a.room - first)
            memcpy(cnp.PyArray_DATA(out), a.events + first, j * sizeof(long long))
            memcpy(<long long*>cnp.PyArray_DATA(out) + j, a.events, (n - j) * sizeof(long long))
            found.append((k, a.passed, out))
            a.passed = 0
    return found
