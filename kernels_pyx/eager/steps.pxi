# The arguments and results of calls, as parts of storages, from which an iteration can be run again.


cdef class StepCallList:
    """The calls of the current iteration, as (facts, arguments, keyword arguments, outputs, grad mode)."""

    cdef readonly list calls, rows
    cdef readonly list numbers
    #: index of each call's first float
    cdef readonly list floats
    #: address of a storage -> its number in this iteration
    cdef readonly dict locals
    #: number of a storage -> its number in the iteration before; its bytes from outside; its length
    cdef readonly dict previous, given, lengths
    #: by call: the random state before it, and the number that Python read
    cdef readonly dict random, read

    def __init__(self):
        self.calls, self.rows, self.numbers, self.floats = [], [], [], []
        self.locals, self.previous, self.given, self.lengths = {}, {}, {}, {}
        self.random, self.read = {}, {}


cdef class StepCalls:
    """Records calls: for each, ``before`` is called, then ``after``, ``read`` or ``nothing``.

    ``part_class`` is the named tuple (number, dtype, size, stride, offset) of a part of a storage, and ``float_mark``
    replaces a float among arguments.
    """

    cdef object _part_class, _float_mark, _tensor, _generator, _parameter, _grad_enabled, _rng_state
    cdef readonly StepCallList now
    #: address of a storage -> its number in the iteration before
    cdef public dict known
    cdef list _args, _kwargs, _expected
    cdef object _random
    #: number of bytes kept
    cdef public Py_ssize_t bytes

    def __init__(self, torch, part_class, float_mark):
        self._part_class, self._float_mark = part_class, float_mark
        self._tensor, self._parameter, self._generator = torch.Tensor, torch.nn.Parameter, torch.Generator
        self._grad_enabled, self._rng_state = torch.is_grad_enabled, torch.get_rng_state
        self.known, self.bytes, self._args, self._kwargs, self._random = {}, 0, [], [], None

    def begin(self, StepCallList calls, list expected=None):
        """Begin an iteration. Calls equal to the ``expected`` ones reuse these objects, because long-lived new objects
        would cause Python's garbage collector to search all objects of torch from time to time.
        """
        self.now, self._expected = calls, expected

    cdef before(self, OpInfo info, tuple args, dict kwargs, list reads):
        """Record the arguments of the next call; (tensor, address) of the tensors that it reads are added to
        ``reads``.
        """
        cdef StepCallList now = self.now
        cdef Py_ssize_t k
        now.floats.append(len(now.numbers))
        cdef list frozen = []
        self._args, self._kwargs = frozen, []
        for k in range(len(args)):
            value = args[k]
            if type(value) is self._tensor or type(value) is self._parameter:
                storage = value.untyped_storage()
                frozen.append(self.part(value, storage, False))
                if not info.overwritten or k not in info.overwritten:
                    reads.append((value, storage._cdata))
            else:
                frozen.append(self._frozen(value, reads))
        if kwargs:
            for name in sorted(kwargs):
                self._kwargs.append((name, self._frozen(kwargs[name], [] if name in info.written_names else reads)))
        self._random = None
        if info.random:  # of the generator passed to it, or of torch's own
            generator = kwargs.get("generator")
            self._random = self._rng_state() if generator is None else generator.get_state()

    cdef _frozen(self, value, list reads):
        if type(value) is float:
            self.now.numbers.append(value)
            return self._float_mark
        if isinstance(value, (list, tuple)):
            return [self._frozen(v, reads) for v in value]
        if isinstance(value, self._tensor):
            storage = value.untyped_storage()
            reads.append((value, storage._cdata))
            return self.part(value, storage, False)
        return type(value) if isinstance(value, self._generator) else value

    cdef after(self, OpInfo info, list outs, tuple rows):
        """Record the parts of storages that the call returned, and their rows in the record of the iteration."""
        cdef StepCallList now = self.now
        if self._random is not None:
            now.random[len(now.calls)] = self._random
            self.bytes += self._random.nbytes
        cdef tuple call = (info, self._args, self._kwargs, outs, self._grad_enabled())
        if self._expected is not None and len(now.calls) < len(self._expected):
            expected = self._expected[len(now.calls)]
            if call == expected:
                call = expected
        now.calls.append(call)
        now.rows.append(rows)

    cdef read(self, OpInfo info, number):
        """Record a number that Python read."""
        self.now.read[len(self.now.calls)] = number
        self.after(info, [], ())

    cdef nothing(self):
        """Record that the current call returned nothing that is kept."""
        del self.now.numbers[self.now.floats.pop():]

    cdef part(self, tensor, storage, bint new):
        """The part of a storage for a tensor; ``new`` ones were created by the call."""
        key = storage._cdata
        number = self.now.locals.get(key)
        if number is None:
            number = self._numbered(key, tensor, storage, new)
        return tuple.__new__(
            self._part_class, (number, tensor.dtype, tensor.shape, tensor.stride(), tensor.storage_offset())
        )

    cdef _numbered(self, key, tensor, storage, bint new):
        cdef StepCallList now = self.now
        cdef Py_ssize_t nbytes = storage.nbytes()
        number = now.locals[key] = len(now.lengths)
        now.lengths[number] = nbytes
        if not new:
            before = self.known.get(key)
            if before is None:
                now.given[number] = tensor.detach().as_strided((nbytes // tensor.element_size(),), (1,), 0).clone()
                self.bytes += nbytes
            else:
                now.previous[number] = before
        return number

    def forget(self, tensor):
        """Record that a storage was written outside recorded calls: the next call that reads it gets a copy from
        outside.
        """
        key = tensor.untyped_storage()._cdata
        self.known.pop(key, None)
        self.now.locals.pop(key, None)
