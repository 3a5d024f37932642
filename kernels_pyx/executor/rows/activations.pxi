# The activations of a frame: the row at which each begins, and the row of the enclosing frame that started it. They are
# stored in blocks, so that the oldest can be freed.

cdef inline long long act_start(Rows* rows, long long number) noexcept nogil:
    return rows.acts[number // ACTS - rows.base_act][number % ACTS]


cdef inline long long act_parent(Rows* rows, long long number) noexcept nogil:
    return rows.acts[number // ACTS - rows.base_act][ACTS + number % ACTS]


cdef inline long long acts_to_come(Rows* rows) noexcept nogil:
    """Bytes that one more activation takes from the system."""
    cdef long long more = ACT_BYTES if rows.act_spare == NULL else 0
    if rows.n_acts // ACTS < rows.act_blocks:
        return 0
    if rows.act_blocks - rows.base_act == rows.act_room:  # the directory may have to grow
        more += (rows.act_room + 4) * <long long>sizeof(long long*)
    return more


cdef int room_in_tables(Rows* rows, PyThread_type_lock lock) noexcept nogil:
    """Make room for one more activation. -1: no memory."""
    cdef long long gone = rows.first_act // ACTS - rows.base_act
    cdef long long room = 2 * rows.act_room + 4
    cdef long long* block
    cdef long long** grown
    if rows.n_acts // ACTS < rows.act_blocks:
        return 0
    block = rows.act_spare if rows.act_spare != NULL else <long long*>malloc(ACT_BYTES)
    rows.act_spare = NULL
    if block == NULL:
        return -1
    PyThread_acquire_lock(lock, 1)
    if rows.act_blocks - rows.base_act == rows.act_room:
        if gone > rows.act_room // 2:
            memmove(rows.acts, rows.acts + gone, (rows.act_blocks - rows.base_act - gone) * sizeof(long long*))
            rows.base_act += gone
        else:
            grown = <long long**>realloc(rows.acts, room * sizeof(long long*))
            if grown != NULL:
                rows.acts = grown
                rows.act_room = room
    if rows.act_blocks - rows.base_act < rows.act_room:
        rows.acts[rows.act_blocks - rows.base_act] = block
        rows.act_blocks += 1
        block = NULL
    PyThread_release_lock(lock)
    rows.act_spare = block
    return 0 if block == NULL else -1


cdef void free_blocks(Rows* rows, long long start, long long stop) noexcept nogil:
    """Free blocks of activations by index; one is kept for reuse. The caller holds the lock."""
    cdef long long number
    for number in range(start, stop):
        if rows.act_spare == NULL:
            rows.act_spare = rows.acts[number - rows.base_act]
        else:
            free(rows.acts[number - rows.base_act])
        rows.acts[number - rows.base_act] = NULL


cdef void push_activation(Rows* rows, long long parent_row) noexcept nogil:
    """Record a new activation, for which there is room."""
    set_activation(rows, rows.n_acts, rows.row, parent_row)
    wb_publish(&rows.n_acts, rows.n_acts + 1)


cdef void set_activation(Rows* rows, long long number, long long start, long long parent) noexcept nogil:
    cdef long long* block = rows.acts[number // ACTS - rows.base_act]
    block[number % ACTS] = start
    block[ACTS + number % ACTS] = parent
