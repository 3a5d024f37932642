# A call: the place where it is made, the rows of its results, and their events.

cdef enum:
    FINITE = 0
    INF = 1
    NAN = 2
    INF_MEANT = 4

INFINITE, NOT_A_NUMBER, MEANT = INF, NAN, INF_MEANT


cdef class CallPlace:
    """An op at a line, in a module and a phase: how often it was called in an iteration, and the sites of the calls."""

    cdef Py_ssize_t iteration, calls
    cdef list sites


cdef class OpCalls:
    """Records ATen calls: ``before`` and ``took`` are called around each.

    The subclass implements rare operations: ``describe`` (the facts of an overload), ``given`` (results other than one
    tensor), ``from_outside`` (the event of a tensor that no recorded op wrote), ``operands_at``, ``was`` and
    ``wrapped`` (integers), ``meant`` (infinities), ``site`` (the number of a new site) and ``no_steps``.
    """

    cdef readonly object torch, phases, log
    cdef readonly Storages storages
    cdef readonly OpEvent unwritten
    cdef public Py_ssize_t iteration
    #: the events of the current iteration
    cdef readonly list current
    #: the newest numbers that Python read from tensors, and the events of these
    cdef readonly list read_back
    #: facts of autograd recorded during the search for the op of a silent fault
    cdef public object examined
    cdef StepCalls _steps
    cdef dict _infos, _places, _lines_of, _types
    cdef list _reads
    cdef OpInfo _info
    cdef object _tensor, _parameter, _strided, _node, _grad_enabled, _sequence, _append, _was
    cdef bint _keeps

    def __init__(self, torch, phases, log, dict types):
        self.torch, self.phases, self.log, self._append = torch, phases, log, log.append
        self.storages, self.unwritten = Storages(torch.UntypedStorage), OpEvent(-1, -1, -1, (), 0, False)
        self.iteration, self.current, self.read_back, self.examined = 0, [], [], None
        self._infos, self._places, self._lines_of, self._types, self._reads = {}, {}, {}, types, []
        self._tensor, self._parameter, self._strided = torch.Tensor, torch.nn.Parameter, torch.strided
        self._node, self._grad_enabled = torch._C._current_autograd_node, torch.is_grad_enabled
        self._sequence, self._was, self._steps, self._keeps = torch.autograd._get_sequence_nr, None, None, False

    @property
    def steps(self):
        """The recorder of the calls of the newest iterations; None if they are not kept."""
        return self._steps

    @steps.setter
    def steps(self, StepCalls steps):
        self._steps = steps
        self._keeps = steps is not None

    cpdef OpInfo info(self, func):
        """The facts of an overload."""
        found = self._infos.get(func)
        if found is None:
            found = self._infos[func] = self.describe(func)
        return found

    cpdef before(self, func, tuple args, dict kwargs):
        """Record the arguments of the next call, so that it can be repeated."""
        cdef OpInfo info = self.info(func)
        self._info = info
        if info.view:
            return
        cdef list reads = []
        self._reads = reads
        if info.wrapping:
            self._was = self.was(info, args)
        if self._keeps:
            if not info.gives and not info.reads_back:
                return
            try:
                self._steps.before(info, args, kwargs, reads)
                return
            except Exception as error:
                self.no_steps(error)
        self._reads = [(t, t.untyped_storage()._cdata) for t in self.operands(info, args, kwargs)]

    cpdef took(self, tuple args, dict kwargs, out):
        """Record that the call has returned ``out``."""
        cdef OpInfo info = self._info
        cdef list given
        cdef list made = []
        cdef CallPlace place
        cdef tuple base
        cdef tuple parents = ()
        cdef Py_ssize_t k, n, width
        if info.view:
            if self.examined is not None:
                self.examined.took(info, args, [])
            return
        if info.reads_back:
            self.read_back.append((out, self.storages.writer(args[0])))
            if self._keeps:
                self._steps.read(info, out)
            return
        if info.single and self.is_plain(out):
            given = [out]
        else:
            given = self.given(info, args, kwargs, out)
        if not given:
            if self._keeps and info.gives:
                self._steps.nothing()
            return
        if info.unwritten:
            for tensor in given:
                self.storages.wrote(tensor.untyped_storage(), self.unwritten)
        else:
            base = self._base(info)
            found = self._places.get(base)
            if found is None:
                place = CallPlace.__new__(CallPlace)
                place.iteration, place.calls, place.sites = self.iteration, 0, []
                self._places[base] = place
            else:
                place = <CallPlace> found
                if place.iteration != self.iteration:
                    place.iteration, place.calls = self.iteration, 0
            n = place.calls
            place.calls += 1
            if n == len(place.sites):
                place.sites.append([])
            if info.by_index:
                width = _longest(args)
            else:
                parents = self._parents(base)
            for k in range(len(given)):
                if info.by_index:
                    parents = tuple([self.event(t, base) for t in self.operands_at(args, kwargs, k % width)])
                made.append(self._add(info, base, <list> place.sites[n], n, k, given[k], parents, args))
            if self.examined is not None:
                self.examined.took(info, args, made)
        if self._keeps:
            try:
                outs = [self._steps.part(t, t.untyped_storage(), True) for t in given]
                self._steps.after(info, outs, tuple([(<OpEvent> e).row for e in made]))
            except Exception as error:
                self.no_steps(error)

    cpdef bint is_plain(self, value) except -1:
        """True for a tensor of torch's own class whose numbers are in one storage."""
        kind = type(value)
        return (kind is self._tensor or kind is self._parameter) and value.layout is self._strided

    cdef tuple _parents(self, tuple base):
        """The events of the tensors that the call read."""
        cdef list parents = []
        cdef dict writers = self.storages.writers
        for tensor, key in self._reads:
            found = writers.get(key)
            parents.append(self.from_outside(tensor, base) if found is None else (<tuple> found)[1])
        return tuple(parents)

    cpdef OpEvent event(self, tensor, tuple base):
        """The event that last wrote an operand; a tensor from outside gets a new row."""
        found = self.storages.writer(tensor)
        return self.from_outside(tensor, base) if found is None else found

    cdef OpEvent _add(
        self, OpInfo info, tuple base, list sites, Py_ssize_t n, Py_ssize_t k, tensor, tuple parents, tuple args
    ):
        """The row and the event of one tensor of a call."""
        if k < len(sites):
            site = sites[k]
        else:
            site = self.site(info, base, n, k)
            sites.append(site)
        cdef int status = self.scan(site, tensor)
        cdef int flag = FINITE
        cdef bint made = False
        cdef bint bad = False
        cdef OpEvent parent, event
        if status > 0:
            for parent in parents:
                bad |= (parent.flag & (INF | NAN)) != 0
            if status == NAN:
                flag, made = NAN, not bad
            elif bad:
                flag = INF
            elif self.meant(info, args, parents):
                flag = INF_MEANT
            else:
                flag, made = INF, True
        event = OpEvent.__new__(OpEvent)
        event.site, event.row, event.iteration = site, len(self.log) - 1 if status >= 0 else -1, self.iteration
        event.parents, event.flag, event.made = parents, flag, made
        self.current.append(event)
        self.storages.wrote(tensor.untyped_storage(), event)
        if info.wrapping and not tensor.dtype.is_floating_point:
            self.wrapped(info, event, args if self._was is None else (self._was, *args[1:]), tensor)
        return event

    cpdef int scan(self, site, tensor) except -2:
        """Append the statistics of a tensor; -1 if its dtype has none."""
        code = self._types.get(tensor.dtype)
        if code is None:
            return -1
        if not tensor.is_cpu:
            tensor = tensor.cpu()
        if not tensor.is_contiguous():
            tensor = tensor.contiguous()
        return self._append(site, tensor.data_ptr(), tensor.numel(), code, code)

    cdef tuple _base(self, OpInfo info):
        """(facts, line, module, phase) of a call that just returned."""
        phases = self.phases
        node = self._node()
        if node is None:
            if phases.in_optimizer:
                return info, phases.step_line or phases.lines.here(), "", "optimizer"
            where, stack = phases.lines.here(), phases.stack
            module = stack[-1] if stack else ""
            if self._grad_enabled():
                self._lines_of.setdefault(self._sequence() - 1, (where, module))
            return info, where, module, "forward"
        known = self._lines_of.get(node._sequence_nr())
        if not type(node).__name__[-1:].isdigit():  # a Function written in Python
            here = phases.lines.here()
            return info, here, "" if known is None else known[1], "backward"
        where, module = known if known is not None else (phases.lines.here(), "")
        return info, where, module, "backward"

    def next(self, Py_ssize_t most):
        """Begin an iteration; the lines of autograd nodes are dropped if there are more than ``most``."""
        self.iteration += 1
        self.current, self.read_back = [], []
        if len(self._lines_of) > most:
            self._lines_of = {}


cdef Py_ssize_t _longest(tuple args) except -1:
    """The length of the longest list among the arguments; 1 if there is none."""
    cdef Py_ssize_t found = 1
    for value in args:
        if isinstance(value, (tuple, list)):
            found = max(found, len(value))
    return found
