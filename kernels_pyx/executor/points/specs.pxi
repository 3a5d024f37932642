# Inputs and outputs of a run of many points, as C structures: created for each call and freed after it.

cdef struct FeedColumn:  # an input: its offset in the row of the outermost level, and its value for each point
    int base
    int offset
    size_t size
    size_t stride    # bytes from one point to the next
    const char* data

cdef struct OutputColumn:  # an output of the outermost level, and whether it was alive
    int base
    int offset
    size_t size
    int first_literal
    int n_literals
    char* data
    unsigned char* alive

cdef struct SeriesColumn:  # the newest values of a loop variable: (points, length) items, right-aligned
    int frame
    int store
    int offset
    int shift
    size_t size
    long long length
    char* data
    long long* counts

cdef struct StatePart:  # a part of the values that a loop carries from one iteration to the next
    int frame
    int store
    int offset
    int shift
    size_t size

cdef struct FrameSpan:  # the instructions inside a frame
    int frame
    int start
    int stop


cdef class PointSpecs:
    """The columns of one call of :func:`run_points`, checked against the machine's program."""

    cdef FeedColumn* feeds
    cdef OutputColumn* outputs
    cdef SeriesColumn* series
    cdef StatePart* states
    cdef FrameSpan* spans
    cdef Literal* literals
    cdef int n_feeds
    cdef int n_outputs
    cdef int n_series
    cdef int n_states
    cdef int n_spans
    cdef list held  # arrays whose memory is used

    def __cinit__(self, Machine machine not None, Py_ssize_t points, list feeds, list outputs, list series, list states,
                  list spans):
        cdef int k
        cdef int n_literals = sum(len(guard) for _, _, guard, _, _ in outputs)
        cdef int at = 0
        self.held = [feeds, outputs, series]
        self.n_feeds, self.n_outputs, self.n_series = len(feeds), len(outputs), len(series)
        self.n_states, self.n_spans = len(states), len(spans)
        self.feeds = <FeedColumn*>calloc(self.n_feeds + 1, sizeof(FeedColumn))
        self.outputs = <OutputColumn*>calloc(self.n_outputs + 1, sizeof(OutputColumn))
        self.series = <SeriesColumn*>calloc(self.n_series + 1, sizeof(SeriesColumn))
        self.states = <StatePart*>calloc(self.n_states + 1, sizeof(StatePart))
        self.spans = <FrameSpan*>calloc(self.n_spans + 1, sizeof(FrameSpan))
        self.literals = <Literal*>calloc(n_literals + 1, sizeof(Literal))
        if not (self.feeds and self.outputs and self.series and self.states and self.spans and self.literals):
            raise MemoryError("no memory for the columns of the points")
        for k, (base, offset, column) in enumerate(feeds):
            _check_column("feed", column, points if len(column) > 1 else 1, 2)
            stride = column.shape[1] if len(column) > 1 else 0
            self.feeds[k] = FeedColumn(base, offset, column.shape[1], stride, <const char*>cnp.PyArray_DATA(column))
        for k, (base, offset, guard, column, alive) in enumerate(outputs):
            _check_column("output", column, points, 2)
            _check_column("mask", alive, points, 1)
            self.outputs[k] = OutputColumn(
                base, offset, column.shape[1], at, len(guard), <char*>cnp.PyArray_DATA(column),
                <unsigned char*>cnp.PyArray_DATA(alive),
            )
            for literal in guard:
                self.literals[at] = Literal(literal[0], literal[1], literal[2])
                at += 1
        for k, (frame, store, offset, shift, column, counts) in enumerate(series):
            _check_column("series", column, points, 3)
            if counts.dtype != np.int64:
                raise TypeError(f"counts of a series: expected int64, got {counts.dtype}")
            _check_column("counts", counts.view(np.uint8), 8 * points, 1)
            self.series[k] = SeriesColumn(
                frame, store, offset, shift, column.shape[2], column.shape[1], <char*>cnp.PyArray_DATA(column),
                <long long*>cnp.PyArray_DATA(counts),
            )
        for k, (frame, store, offset, shift, size) in enumerate(states):
            self.states[k] = StatePart(frame, store, offset, shift, size)
        for k, (frame, start, stop) in enumerate(spans):
            self.spans[k] = FrameSpan(frame, start, stop)

    def __dealloc__(self):
        free(self.feeds)
        free(self.outputs)
        free(self.series)
        free(self.states)
        free(self.spans)
        free(self.literals)


cdef object _check_column(str what, cnp.ndarray column, Py_ssize_t points, int nd):
    """ValueError unless a column has one entry for each point, as contiguous bytes."""
    if column.ndim != nd or len(column) != points or column.dtype != np.uint8 or not column.flags.c_contiguous:
        raise ValueError(
            f"column of a {what}: expected contiguous bytes of {nd} axes for {points} points, got {column.dtype} "
            f"{(<object>column).shape}"
        )
