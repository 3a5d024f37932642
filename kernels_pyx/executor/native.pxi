# Loops of a program in machine code. The code generator (workbench/plan/native) reads the instructions of a loop and
# the offsets of the engine's fields here, and registers an address; the fast path enters it at the head of the loop.
#
# Such a function has the interface of a packed instruction and executes these instructions iteration by iteration: it
# writes the rows, counts events, and exits, before an instruction or at the back jump, exactly where the fast path
# would.


cdef extern from *:
    """
    #define WB_FIELD(type, field) ((long long)offsetof(type, field))
    static long long wb_field_places[] = {
        WB_FIELD(wb_engine, base), WB_FIELD(wb_engine, frames), WB_FIELD(wb_engine, code), WB_FIELD(wb_engine, events),
        WB_FIELD(wb_engine, poll_at), WB_FIELD(wb_engine, stop_flag), WB_FIELD(wb_engine, fast_ops),
        WB_FIELD(wb_engine, fast_op_of), WB_FIELD(wb_engine, at), WB_FIELD(wb_engine, go),
        WB_FIELD(wb_engine, unwritten), WB_FIELD(wb_rows, cur), WB_FIELD(wb_rows, end), WB_FIELD(wb_rows, row),
        WB_FIELD(wb_rows, first_row), WB_FIELD(wb_rows, per_chunk), WB_FIELD(wb_rows, opened),
        sizeof(wb_rows), sizeof(wb_fast_op), sizeof(wb_instr),
        WB_HAS_TAIL_CALLS};
    """
    long long wb_field_places[21]

FIELDS = (
    "base", "frames", "code", "events", "poll_at", "stop_flag", "fast_ops", "fast_op_of", "at", "go", "unwritten",
    "cur", "end", "row", "first_row", "per_chunk", "opened", "rows_size", "fast_op_size", "instruction_size", "tail_calls",
)


def native_fields():
    """name -> byte offset in the engine, in a store of rows, or size of a structure."""
    cdef int k
    return {name: wb_field_places[k] for k, name in enumerate(FIELDS)}


def native_loop_call():
    """Address of the function (engine, instruction) that runs one of NumPy's inner loops on one item."""
    return <size_t>&wb_call_loop_once


def innermost_loops(Program program not None):
    """[(head, back jump)] of the loops without an inner loop."""
    cdef int k, start = -1
    found = []
    for k in range(program.length):
        if program.code[k].op == OP_LOOP:
            start = program.code[k].frame
        elif program.code[k].op == OP_BACK:
            if program.code[k].frame == start:
                found.append((program.code[k].jump, k))
            start = -1
    return found


def loop_instructions(Program program not None, int head, int back):
    """The instructions from ``head`` to ``back`` as dicts: opcode, name of the scalar op or None, operands and places
    (base, offset), literals of guards, addresses of compiled functions."""
    cdef int k, j
    cdef Instr* i
    found = []
    for k in range(head, back + 1):
        i = &program.code[k]
        literals = []
        if i.op == OP_GUARD:
            for j in range(i.x0, i.x0 + i.x1):
                literals.append((program.literals[j].base, program.literals[j].offset, program.literals[j].expect))
        found.append({
            "ip": k,
            "op": i.op,
            "name": wb_scalar_ops[i.scalar_op].name.decode() if i.scalar_op >= 0 else None,
            "operands": [at for j, at in enumerate(((i.ba, i.oa), (i.bb, i.ob), (i.bc, i.oc))) if i.given & 1 << j],
            "out": (i.bo, i.oo) if i.given & 8 else None,
            "places": ((i.bo, i.oo), (i.ba, i.oa), (i.bb, i.ob), (i.bc, i.oc)),
            "frame": i.frame,
            "jump": i.jump,
            "events": i.n_events,
            "literals": literals,
            "function": <size_t>i.fn,
            "check": <size_t>i.data if i.op == OP_CALL else 0,
            "sizes": <size_t>(program.sizes + 4 * k),
        })
    return found


def native_context(Program program not None, int frame):
    """(bytes of a row of the frame, whether it has arrays of known shape, bytes of the pool)."""
    arrays = any([s[0] == frame for s in program.stores])
    return program.frames[frame].row_bytes, arrays, (<char*>program.pool)[:program.pool_bytes]


def adopt_native(Program program not None, int head, int back, size_t address, owner):
    """Let machines of a program run the loop from ``head`` to ``back`` by a function; ``owner`` keeps its code
    alive.
    """
    if not 0 <= head <= back < program.length or program.code[back].op != OP_BACK or program.code[back].jump != head:
        raise ValueError(f"instructions {head} to {back} are no loop of the program")
    if program.natives == NULL:
        program.native_backs = <int*>calloc(program.length, sizeof(int))
        program.natives = <void**>calloc(program.length, sizeof(void*))
        program.native_owners = []
        if program.natives == NULL or program.native_backs == NULL:
            raise MemoryError("no memory for the machine code of a loop")
    program.native_owners.append(owner)
    program.native_backs[head] = back
    program.natives[head] = <void*>address
    program.native_version += 1


cdef int take_natives(Machine machine) except -1:
    """Pack the fast path again if there is new machine code; called at the beginning of each run."""
    if machine.native_version == machine.program.native_version:
        return 0
    machine.native_version = machine.program.native_version
    machine.e.natives, machine.e.native_backs = machine.program.natives, machine.program.native_backs
    return link(&machine.e, machine.program.length)


def groups_of(Machine machine not None):
    """Chains of array instructions that the fast path currently runs block by block: (first, last instruction, those
    whose results are not in memory, number of fused pairs of ops).
    """
    cdef Engine* e = &machine.e
    cdef int k, j, last = 0, pairs = 0
    found = []
    for k in range(machine.program.length):
        if wb_group_facts(e, k, &last, &pairs) >= 0:
            found.append((k, last, [j for j in range(k, last + 1) if e.elided[j]], pairs))
    return found
