# What breakpoints ask: set by the driver, asked by the interpreter in front of an instruction or behind it.

ASK_OPS = (
    "value", "previous", "iteration", "number", "neg", "abs", "+", "-", "*", "/", "%", "<", "<=", ">", ">=", "==", "!=", "both",
    "and", "or", "not", "isnan", "isinf", "isfinite", "sqrt",
)
ASK_KINDS = ("always", "code", "items", "changed", "same", "flip", "quick")


cdef void free_asks(Machine m) noexcept:
    cdef int k
    if m.e.asks != NULL:
        for k in range(m.e.n_asks):
            free(m.e.asks[k].events)
    free(m.e.asks)
    free(m.e.ask_literals)
    free(m.e.ask_steps)
    free(m.e.ask_code)
    free(m.e.reported)
    m.e.asks, m.e.ask_literals, m.e.ask_steps, m.e.ask_code, m.e.reported = NULL, NULL, NULL, NULL, NULL
    m.e.n_asks = m.e.n_reported = 0


def set_asks(Machine machine not None, list questions not None, list sites not None):
    """Ask these from now on, instead of those before; the index in ``sites`` is what ``reported`` gives.

    A site is (number of the question, instruction of the node, base and offset of the value now, its store or -1, its
    offset in any row). A question is a dict: ``front`` (asked in front of the node, else when it has fired), ``kind`` (of
    ASK_KINDS), ``frame``; for all but "always" of the value: ``shift``, ``letter`` (of its dtype), ``n`` items; ``guard``:
    (base, offset, expect) literals of a living value; ``steps``: (frame, iteration) in which to ask; ``stride``: at every
    so manieth iteration; ``code``: (op of ASK_OPS, number) in postfix order; ``items``: (of what, op, whether of its
    magnitude, number): comparisons of a number that all hold ("quick"), or the one that some item of an array meets
    ("items").
    """
    cdef int k, ip, n_literals = 0, n_steps = 0, n_code = 0
    cdef int number, base, offset, store, place
    cdef Ask* a
    cdef Ask* made
    cdef int length = machine.program.length
    for spec in questions:
        n_literals += len(spec.get("guard", ()))
        n_steps += len(spec.get("steps", ()))
        n_code += len(spec.get("code", ())) + len(spec.get("items", ()))
        if len(spec.get("code", ())) > 400:
            raise ValueError("an ask has at most 400 operations")
    for number, ip, base, offset, store, place in sites:
        if not 0 <= ip < length:
            raise ValueError(f"the program has no instruction {ip}")
        if not 0 <= number < len(questions):
            raise ValueError(f"there is no question {number}")
    free_asks(machine)
    for k in range(length):
        machine.e.code[k].ask = machine.e.code[k].asks_front = machine.e.code[k].asks_after = 0
    machine.e.asks = <Ask*>calloc(len(sites) + 1, sizeof(Ask))
    machine.e.ask_literals = <Literal*>calloc(n_literals + 1, sizeof(Literal))
    machine.e.ask_steps = <AskStep*>calloc(n_steps + 1, sizeof(AskStep))
    machine.e.ask_code = <AskOp*>calloc(n_code + 1, sizeof(AskOp))
    machine.e.reported = <int*>calloc(len(sites) + 1, sizeof(int))
    made = <Ask*>calloc(len(questions) + 1, sizeof(Ask))
    if not (machine.e.asks and machine.e.ask_literals and machine.e.ask_steps and machine.e.ask_code and machine.e.reported
            and made):
        free(made)
        free_asks(machine)
        raise MemoryError("no memory for breakpoints")
    n_literals = n_steps = n_code = 0
    try:
        for k, spec in enumerate(questions):
            a = &made[k]
            a.kind = ASK_KINDS.index(spec["kind"])
            a.front = spec["front"]
            a.frame = spec["frame"]
            a.shift = spec.get("shift", 0)
            a.letter = ord(spec.get("letter", "d"))
            a.n = spec.get("n", 1)
            a.stride = spec.get("stride", 1)
            a.guard = n_literals
            for base, offset, expect in spec.get("guard", ()):
                machine.e.ask_literals[n_literals] = Literal(base, offset, expect)
                n_literals += 1
            a.n_guard = n_literals - a.guard
            a.step = n_steps
            for frame, iteration in spec.get("steps", ()):
                machine.e.ask_steps[n_steps] = AskStep(frame, iteration)
                n_steps += 1
            a.n_steps = n_steps - a.step
            a.code = n_code
            for op, value in spec.get("code", ()):
                machine.e.ask_code[n_code] = AskOp(ASK_OPS.index(op), 0, 0, value)
                n_code += 1
            for of, op, magnitude, value in spec.get("items", ()):
                machine.e.ask_code[n_code] = AskOp(ASK_OPS.index(op), ASK_OPS.index("-" if of == "delta" else of), magnitude, value)
                a.op, a.absolute, a.number = ASK_OPS.index(op), magnitude, value
                n_code += 1
            a.n_code = n_code - a.code
            ops = [op for op, _ in spec.get("code", ())] + [of for of, *_ in spec.get("items", ())]
            a.back = spec["kind"] in ("changed", "same", "flip") or "previous" in ops or "delta" in ops
            a.counts = a.stride > 1 or "iteration" in ops
        for k in range(len(sites) - 1, -1, -1):  # the last in front: chains then run in the order of the list
            number, ip, base, offset, store, place = sites[k]
            a = &machine.e.asks[k]
            a[0] = made[number]
            a.node, a.base, a.offset, a.store, a.place = ip, base, offset, store, place
            a.event = machine.e.code[ip].ev_index
            if not a.front:  # behind the last instruction of the node
                while ip + 1 < length and not machine.e.code[ip + 1].is_event and machine.e.code[ip + 1].op & ~OP_TRAP < OP_GUARD:
                    ip += 1
            a.next = machine.e.code[ip].ask
            machine.e.code[ip].ask = k + 1
            if a.front:
                machine.e.code[ip].asks_front = 1
            else:
                machine.e.code[ip].asks_after = 1
        machine.e.n_asks = len(sites)
    finally:
        free(made)
    link(&machine.e, length)


def reported(Machine machine not None):
    """Numbers of the asks for which the machine stopped last."""
    cdef int k
    return [machine.e.reported[k] for k in range(machine.e.n_reported)]


def let_pass(Machine machine not None, int number, long long left):
    """So many hits of an ask pass without a stop from now on."""
    if not 0 <= number < machine.e.n_asks:
        raise ValueError(f"there is no ask {number}")
    machine.e.asks[number].left = left


def take_passed(Machine machine not None):
    """(number, how many hits have passed since this was called last, events of the newest of them) of each ask."""
    cdef int k
    cdef Ask* a
    cdef long long n, j, first
    cdef cnp.ndarray out
    found = []
    for k in range(machine.e.n_asks):
        a = &machine.e.asks[k]
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
