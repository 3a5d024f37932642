# Programs as text, and checks of programs: for people and for tests, not for runs.

cdef tuple EXPECTED = ("is false", "is true", ">= 0", "< 0")  # by Literal.expect


class ProgramError(ValueError):
    """An invalid program, which the executor must not run; the message names the instruction."""


# -- listing ---------------------------------------------------------------------------------------------------------
cdef str _place(Program p, int frame, int base, int offset):
    """An operand as text, seen from the rows of ``frame``: ``row``, ``arrays`` (of known shape), ``pool``, ``const``."""
    cdef int k = base - 1, of
    cdef str name, before = ""
    if base == 0:
        return f"pool+{offset}"
    if k < p.n_frames:
        name, of = "row", k
        if offset < 0:
            before, offset = "[-1]", offset + p.frames[k].row_bytes
    elif k < p.n_frames + 3 * len(p.stores):
        name, of = "arrays", p.stores[(k - p.n_frames) // 3][0]
        before = ("", "[-1]", "[again]")[(k - p.n_frames) % 3]
    else:
        k -= p.n_frames + 3 * len(p.stores)
        if k < len(p.constants):
            return f"const{k}+{offset}"
        return f"at frame{p.pointers[k - len(p.constants)].frame}.row[-1]+{p.pointers[k - len(p.constants)].offset}+{offset}"
    return f"{name if of == frame else f'frame{of}.{name}'}{before}+{offset}"


cdef list _operands(Program p, Instr* i):
    """The operands of an instruction, as text."""
    cdef list places = [(i.ba, i.oa), (i.bb, i.ob), (i.bc, i.oc)]
    return [_place(p, i.frame, base, offset) for k, (base, offset) in enumerate(places) if i.given & 1 << k]


cdef str _line(Program p, int ip):
    """The effect of one instruction, as text."""
    cdef Instr* i = &p.code[ip]
    cdef Literal* literal
    cdef int k
    cdef list parts
    if i.op == OP_CALL:
        function, inputs, outputs, *_ = p.calls[i.x0]
        name = getattr(function, "__qualname__", type(function).__qualname__)
        out = ", ".join([_place(p, i.frame, base, offset) for base, offset, *_ in outputs])
        given = ", ".join([_place(p, i.frame, base, offset) for base, offset, *_ in inputs])
        return f"{out} = {name}({given})"
    if i.op == OP_REGION:
        _, inputs, outputs = p.regions[i.x0]
        return f"{len(inputs)} inputs, {len(outputs)} outputs -> {i.jump}"
    if i.op == OP_GUARD:
        parts = []
        for k in range(i.x0, i.x0 + i.x1):
            literal = &p.literals[k]
            parts.append(f"{_place(p, i.frame, literal.base, literal.offset)} {EXPECTED[literal.expect]}")
        return f"{' and '.join(parts)}, else -> {i.jump}"
    if i.op == OP_TEST:
        return f"{_operands(p, i)[0]} -> {i.jump}"
    if i.op == OP_BACK:
        return f"frame {i.frame} -> {i.jump}"
    if i.op == OP_LOOP or i.op == OP_START:
        return f"frame {i.frame}"
    if not i.given & 8:
        return ""
    if i.op == OP_ARRAY:
        name = ARRAY_KINDS[(<Array*>i.data).kind]
    elif i.op == OP_MOVE:
        name = "reference"
    else:
        name = wb_opcodes[i.op].name.decode().lower() if i.scalar_op < 0 else wb_scalar_ops[i.scalar_op].name.decode()
    return f"{_place(p, i.frame, i.bo, i.oo)} = {name}({', '.join(_operands(p, i))})"


cdef str program_listing(Program p):
    cdef int ip
    cdef list lines = []
    for ip in range(p.length):
        name = wb_opcodes[p.code[ip].op].name.decode()
        event = "*" if p.code[ip].is_event else " "
        lines.append(f"{ip:>5}{event} {name:<6}  {_line(p, ip)}".rstrip())
    return "\n".join(lines) + "\n"


# -- checks ----------------------------------------------------------------------------------------------------------
cdef object _fault(Program p, int ip, str what):
    return ProgramError(f"instruction {ip} ({wb_opcodes[p.code[ip].op].name.decode()}): {what}")


cdef int _check_place(Program p, int ip, str name, int base, int offset, bint written, bint is_object=False) except -1:
    """Check that an operand is inside a row, the pool or a constant, and that only rows are written."""
    cdef int k = base - 1, low = 0, high, of
    if not 0 <= base < p.n_bases:
        raise _fault(p, ip, f"{name} has base {base}, expected 0 to {p.n_bases - 1}")
    if base == 0:
        high = p.pool_bytes
    elif k < p.n_frames:
        high = p.frames[k].row_bytes
        low = -high if k else 0
    elif k < p.n_frames + 3 * len(p.stores):
        high, recorded = p.stores[(k - p.n_frames) // 3][1], p.stores[(k - p.n_frames) // 3][4]
        low, high = (recorded, high) if (k - p.n_frames) % 3 == 2 else (0, recorded)
    else:
        of = k - p.n_frames - 3 * <int>len(p.stores)
        if of < len(p.constants):
            high = p.constants[of].nbytes
        else:
            dtype, shape = p.pointer_types[of - <int>len(p.constants)]
            high = dtype.itemsize * math.prod(shape)
    if not low <= offset < max(high, 1):  # an empty array may begin at the end of an empty row
        raise _fault(p, ip, f"{name} is at byte {offset} of base {base}, expected {low} to {high - 1}")
    if written and (base == 0 or k >= p.n_frames + 3 * len(p.stores)):
        raise _fault(p, ip, f"{name} is a constant (base {base}); results go to rows")
    if is_object and 0 <= k < p.n_frames and (offset if offset >= 0 else offset + high) not in p.object_offsets[k]:
        raise _fault(p, ip, f"{name} at byte {offset} of frame {k} holds no object reference")
    return 0


cdef int _check_operands(Program p, int ip) except -1:
    cdef Instr* i = &p.code[ip]
    cdef Literal* literal
    cdef int k
    cdef bint is_object = i.op == OP_MOVE
    for k, (name, base, offset) in enumerate((("a", i.ba, i.oa), ("b", i.bb, i.ob), ("c", i.bc, i.oc), ("out", i.bo, i.oo))):
        if i.given & 1 << k:
            _check_place(p, ip, name, base, offset, name == "out", is_object)
    if i.op == OP_KERNEL or i.op == OP_UFUNC:
        if i.fn == NULL or not i.given & 8:
            raise _fault(p, ip, "expected a compiled function and a place for its result")
        if i.op == OP_UFUNC and not 0 <= i.x0 <= 3:
            raise _fault(p, ip, f"expected 0 to 3 inputs, got {i.x0}")
    elif i.op == OP_ARRAY:
        if i.data == NULL or not i.given & 8:
            raise _fault(p, ip, "expected a description of the array operation and a place for its result")
    elif i.op == OP_MOVE or i.op == OP_TEST:
        if not i.given & 1 or (i.op == OP_MOVE and not i.given & 8):
            raise _fault(p, ip, "an operand is missing")
    elif i.op == OP_CALL:
        if not 0 <= i.x0 < len(p.calls):
            raise _fault(p, ip, f"expected a call from 0 to {len(p.calls) - 1}, got {i.x0}")
        _, inputs, outputs, *_ = p.calls[i.x0]
        for k, (base, offset, dtype, _) in enumerate(inputs):
            _check_place(p, ip, f"input {k}", base, offset, False, dtype is None)
        for k, (base, offset, dtype, _) in enumerate(outputs):
            _check_place(p, ip, f"output {k}", base, offset, True, dtype is None)
    elif i.op == OP_REGION:
        _check_region(p, ip)
    elif i.op == OP_GUARD:
        if not (i.x1 > 0 and 0 <= i.x0 <= p.n_literals - i.x1):
            raise _fault(p, ip, f"expected literals from 0 to {p.n_literals - 1}, got {i.x0} to {i.x0 + i.x1 - 1}")
        for k in range(i.x0, i.x0 + i.x1):
            literal = &p.literals[k]
            _check_place(p, ip, f"literal {k}", literal.base, literal.offset, False)
            if not 0 <= literal.expect <= 3:
                raise _fault(p, ip, f"literal {k} expects {literal.expect}, expected 0 to 3")
    return 0


cdef int _check_region(Program p, int ip) except -1:
    """Check that a region is part of one straight run."""
    cdef Instr* i = &p.code[ip]
    cdef int k
    if not 0 <= i.x0 < len(p.regions):
        raise _fault(p, ip, f"expected a region from 0 to {len(p.regions) - 1}, got {i.x0}")
    if not ip < i.jump < p.length:
        raise _fault(p, ip, f"jumps to {i.jump}, expected {ip + 1} to {p.length - 1}")
    for k in range(ip, i.jump):
        if wb_is_control(p.code[k].op) or p.code[k].frame != i.frame or k > ip and p.code[k].op == OP_REGION:
            raise _fault(p, ip, f"instruction {k} of the region is not one that computes in frame {i.frame}")
    _, inputs, outputs = p.regions[i.x0]
    for k, (base, offset, dtype, _) in enumerate(inputs):
        _check_place(p, ip, f"input {k}", base, offset, False, dtype is None)
    for k, (base, offset, dtype, _) in enumerate(outputs):
        _check_place(p, ip, f"output {k}", base, offset, True, dtype is None)
    return 0


cdef int _check_jump(Program p, int ip, dict started) except -1:
    """Check that guards and tests jump forward and BACK into its own loop, always to the beginning of a
    straight run.
    """
    cdef Instr* i = &p.code[ip]
    cdef int first = ip + 1, last = p.length - 1
    if i.op == OP_BACK:
        first, last = started[i.frame] + 1, ip
    if not first <= i.jump <= last:
        raise _fault(p, ip, f"jumps to {i.jump}, expected {first} to {last}")
    if p.code[i.jump].ev_index:
        raise _fault(p, ip, f"jumps to {i.jump}, behind {p.code[i.jump].ev_index} events of a straight run that would count")
    return 0


cdef int verify_program(Program p) except -1:
    cdef int ip, k, count = 0
    cdef int frame = 0        # the innermost open frame at the instruction
    cdef Instr* i
    cdef dict started = {}    # frame -> its START, once that was met
    cdef set begun = {0}, closed = set()
    if p.length == 0 or p.code[p.length - 1].op != OP_HALT:
        raise ProgramError("expected HALT at the end of the program")
    for k in range(1, p.n_frames):
        if not 0 <= p.frames[k].parent < k:
            raise ProgramError(f"frame {k} has parent {p.frames[k].parent}, expected 0 to {k - 1}")
    for ip in range(p.length):
        i = &p.code[ip]
        if not 0 <= i.frame < p.n_frames:
            raise _fault(p, ip, f"expected a frame from 0 to {p.n_frames - 1}, got {i.frame}")
        if i.op == OP_HALT and ip < p.length - 1:
            raise _fault(p, ip, "only the last instruction ends the program")
        if i.ev_index != count:
            raise _fault(p, ip, f"{count} events of the straight run come before it, {i.ev_index} are counted")
        if wb_is_control(i.op):
            if i.is_event:
                raise _fault(p, ip, "an instruction of control flow is an event; it would not be counted")
            if i.n_events != count:
                raise _fault(p, ip, f"its straight run has {count} events, {i.n_events} are counted")
            count = 0
        elif i.is_event:
            count += 1
        while frame in closed and frame != (p.frames[i.frame].parent if i.op == OP_LOOP else i.frame):
            frame = p.frames[frame].parent
        if i.op == OP_LOOP:
            if i.frame in begun or frame != p.frames[i.frame].parent:
                raise _fault(p, ip, f"frame {i.frame} starts inside of frame {frame}, or a second time")
            begun.add(i.frame)
            frame = i.frame
        if frame != i.frame:
            raise _fault(p, ip, f"runs in frame {i.frame}, expected frame {frame}")
        if i.op == OP_START:
            if i.frame == 0 or i.frame in started:
                raise _fault(p, ip, f"frame {i.frame} starts a second time, or before its LOOP")
            started[i.frame] = ip
        elif i.op == OP_BACK:
            if i.frame not in started or i.frame in closed:
                raise _fault(p, ip, f"frame {i.frame} goes back before its START, or a second time")
            closed.add(i.frame)
        _check_operands(p, ip)
        if i.op == OP_GUARD or i.op == OP_TEST or i.op == OP_BACK:
            _check_jump(p, ip, started)
    for k in range(p.n_releases):
        if k and p.releases[k].until < p.releases[k - 1].until:
            raise ProgramError(f"release {k} is out of order")
        if p.releases[k].offset not in p.object_offsets[0]:
            raise ProgramError(f"release {k}: byte {p.releases[k].offset} of frame 0 holds no object reference")
    return 0
