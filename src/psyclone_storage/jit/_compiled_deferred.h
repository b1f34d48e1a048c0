/* The queue of deferred invokes, and the fast path that adds to it: `Pending` and `deferral` of
 * `_pure.py`. Read these first.
 *
 * A step that must not be torn runs no Python code: with the global lock it is atomic, and no interrupt
 * arrives in it. All steps that may run Python code come before. `append` then checks that the state of
 * the queue is still the one that the caller has read. */

/* The invoke that has followed a state of the queue last: the node of the state, the call site, the cache
 * entry and the deferral of the invoke, and the node after it. It is a guess: state, site and arguments
 * are compared. The entry is dropped with its objects, as in the table of calls. */
typedef struct {
    PyObject *node, *code, *entry, *deferral, *next;
    long at;
} Follower;

/* `node` is NULL while the queue is closed; each start of a run increments `epoch`. `runner` is the
 * thread that runs the invokes, or 0; `before` and `count_before` are the node and the number of records
 * at the start of the run. `last` is the deferral that was added last, if it is known, and `follower`
 * that of the empty queue. */
typedef struct {
    PyObject_HEAD
    PyObject *records, *node, *root, *before;
    PyObject *last;
    Follower follower;
    Py_ssize_t epoch, count_before;
    unsigned long runner;
} Pending;

/* The function that adds one invoke. `integers` are the positions of its Python integers. `read` is None or
 * reads the variables of its kernels. */
typedef struct {
    PyObject_HEAD
    Pending *pending;
    PyObject *invoke, *waiting, *integers, *queue, *begin, *read, *add;
    Follower follower;
} Deferral;

static int visit_follower(Follower *follower, visitproc visit, void *arg)
{
    Py_VISIT(follower->node);
    Py_VISIT(follower->code);
    Py_VISIT(follower->entry);
    Py_VISIT(follower->deferral);
    Py_VISIT(follower->next);
    return 0;
}

static PyTypeObject *pending_type, *deferral_type;

/* Return a follower, and clear it. */
static Follower taken_follower(Follower *follower)
{
    Follower old = *follower;
    follower->node = follower->code = follower->entry = follower->deferral = follower->next = NULL;
    return old;
}

/* Release a follower. A chain of deferrals that have no other owners is released by a loop, because a
 * recursion over a long one would exceed the stack. */
static void clear_follower(Follower *follower)
{
    Follower old = taken_follower(follower);
    int goes_on = 1;
    while (goes_on) {
        PyObject *deferral = old.deferral;
        Py_XDECREF(old.node);
        Py_XDECREF(old.code);
        Py_XDECREF(old.entry);
        Py_XDECREF(old.next);
        goes_on = deferral != NULL && Py_REFCNT(deferral) == 1 && Py_TYPE(deferral) == deferral_type;
        if (goes_on)
            old = taken_follower(&((Deferral *)deferral)->follower);
        Py_XDECREF(deferral);
    }
}
static PyObject *name_waiting;

static int Pending_traverse(PyObject *object, visitproc visit, void *arg)
{
    Pending *self = (Pending *)object;
    Py_VISIT(Py_TYPE(object));
    Py_VISIT(self->records);
    Py_VISIT(self->node);
    Py_VISIT(self->root);
    Py_VISIT(self->before);
    Py_VISIT(self->last);
    return visit_follower(&self->follower, visit, arg);
}

static int Pending_clear(PyObject *object)
{
    Pending *self = (Pending *)object;
    Py_CLEAR(self->records);
    Py_CLEAR(self->node);
    Py_CLEAR(self->root);
    Py_CLEAR(self->before);
    Py_CLEAR(self->last);
    clear_follower(&self->follower);
    return 0;
}

static void Pending_dealloc(PyObject *object)
{
    PyTypeObject *type = Py_TYPE(object);
    PyObject_GC_UnTrack(object);
    Pending_clear(object);
    PyObject_GC_Del(object);
    Py_DECREF(type);
}

/* Pending(root) */
static PyObject *Pending_new(PyTypeObject *type, PyObject *args, PyObject *keywords)
{
    PyObject *root;
    if (keywords != NULL && PyDict_Size(keywords)) {
        PyErr_SetString(PyExc_TypeError, "Pending() takes no keywords.");
        return NULL;
    }
    if (!PyArg_ParseTuple(args, "O!", &PyDict_Type, &root))
        return NULL;
    Pending *self = (Pending *)PyType_GenericAlloc(type, 0);
    if (self == NULL)
        return NULL;
    self->node = Py_NewRef(root);
    self->root = Py_NewRef(root);
    self->records = PyList_New(0);
    if (self->records == NULL) {
        Py_DECREF((PyObject *)self);
        return NULL;
    }
    return (PyObject *)self;
}

static Py_ssize_t Pending_length(PyObject *object)
{
    PyObject *records = ((Pending *)object)->records;
    return records == NULL ? 0 : PyList_Size(records);
}

/* state(): the node and the epoch. */
static PyObject *Pending_state(PyObject *object, PyObject *nothing)
{
    Pending *self = (Pending *)object;
    (void)nothing;
    return Py_BuildValue("On", self->node == NULL ? Py_None : self->node, self->epoch);
}

/* Append a record if the state is that of the caller: 1 if it was, 0 if not, -1 with an error. `last` is
 * the deferral that adds it, or NULL. */
static int append_if(Pending *self, PyObject *node, Py_ssize_t epoch, PyObject *next, PyObject *record,
                     PyObject *last)
{
    PyObject *old = self->last;
    if (self->node != node || self->epoch != epoch || self->records == NULL)
        return 0;
    if (PyList_Append(self->records, record) < 0)
        return -1;
    if (node == NULL) /* a running invoke adds it: the records are no longer those of the start */
        self->count_before = -1;
    self->node = Py_XNewRef(next);
    self->last = Py_XNewRef(last);
    Py_XDECREF(node); /* the caller has a reference */
    Py_XDECREF(old);
    return 1;
}

/* append(node, epoch, next, record): whether the state was that of the caller. */
static PyObject *Pending_append(PyObject *object, PyObject *args)
{
    PyObject *node, *next, *record;
    Py_ssize_t epoch;
    if (!PyArg_ParseTuple(args, "OnOO!", &node, &epoch, &next, &PyTuple_Type, &record))
        return NULL;
    if (next != Py_None && !PyDict_Check(next)) {
        PyErr_SetString(PyExc_TypeError, "A node is a dictionary.");
        return NULL;
    }
    int done = append_if((Pending *)object, node == Py_None ? NULL : node, epoch,
                         next == Py_None ? NULL : next, record, NULL);
    return done < 0 ? NULL : PyBool_FromLong(done);
}

/* open(root): continue at the root if the queue is closed and there are no records. */
static PyObject *Pending_open(PyObject *object, PyObject *root)
{
    Pending *self = (Pending *)object;
    PyObject *old = self->root;
    if (!PyDict_Check(root)) {
        PyErr_SetString(PyExc_TypeError, "A node is a dictionary.");
        return NULL;
    }
    self->root = Py_NewRef(root);
    if (self->node == NULL && self->runner == 0 && Pending_length(object) == 0)
        self->node = Py_NewRef(root);
    Py_XDECREF(old);
    Py_RETURN_NONE;
}

/* Enter: close the queue, and return the node. */
static PyObject *Pending_enter(PyObject *object, PyObject *nothing)
{
    Pending *self = (Pending *)object;
    PyObject *old = self->before, *last = self->last;
    (void)nothing;
    self->last = NULL;
    self->before = self->node; /* takes the reference */
    self->node = NULL;
    self->count_before = Pending_length(object);
    self->epoch++;
    self->runner = PyThread_get_thread_ident();
    Py_XDECREF(last);
    Py_XDECREF(old);
    return Py_NewRef(self->before == NULL ? Py_None : self->before);
}

/* Exit: open the queue if there are no records, or if they are those of the start. */
static PyObject *Pending_exit(PyObject *object, PyObject *error)
{
    Pending *self = (Pending *)object;
    Py_ssize_t count = Pending_length(object);
    PyObject *before = self->before;
    (void)error;
    self->runner = 0;
    self->before = NULL;
    if (self->node == NULL && count == 0 && self->root != NULL)
        self->node = Py_NewRef(self->root);
    else if (self->node == NULL && count == self->count_before)
        self->node = Py_XNewRef(before);
    Py_XDECREF(before);
    Py_RETURN_NONE;
}

static PyObject *Pending_is_running(PyObject *object, PyObject *nothing)
{
    (void)nothing;
    return PyBool_FromLong(((Pending *)object)->runner == PyThread_get_thread_ident());
}

/* values(count): the arguments of the first records in a list. */
static PyObject *Pending_values(PyObject *object, PyObject *arg)
{
    Pending *self = (Pending *)object;
    Py_ssize_t count = PyLong_AsSsize_t(arg);
    if (count < 0 || count > Pending_length(object)) {
        if (!PyErr_Occurred())
            PyErr_SetString(PyExc_IndexError, "There are fewer records.");
        return NULL;
    }
    PyObject *all = PyList_New(0);
    for (Py_ssize_t i = 0; all != NULL && i < count; i++) {
        PyObject *values = PyTuple_GetItem(PyList_GetItem(self->records, i), 1);
        Py_ssize_t size = values == NULL ? -1 : PyTuple_Size(values);
        for (Py_ssize_t k = 0; k < size; k++)
            if (PyList_Append(all, PyTuple_GetItem(values, k)) < 0)
                size = -1;
        if (size < 0)
            Py_CLEAR(all);
    }
    return all;
}

/* Set `waiting` of the values at some positions of a list or tuple; -1 with an error. */
static int set_waiting(PyObject *values, PyObject *positions, PyObject *queue)
{
    int listed = PyList_Check(values);
    Py_ssize_t size = listed ? PyList_Size(values) : PyTuple_Size(values);
    for (Py_ssize_t i = 0; i < PyTuple_Size(positions); i++) {
        Py_ssize_t at = PyLong_AsSsize_t(PyTuple_GetItem(positions, i));
        if (at < 0 || at >= size) {
            if (!PyErr_Occurred())
                PyErr_SetString(PyExc_IndexError, "There is no such value.");
            return -1;
        }
        PyObject *value = Py_NewRef(listed ? PyList_GetItem(values, at) : PyTuple_GetItem(values, at));
        int failed = PyObject_SetAttr(value, name_waiting, queue);
        Py_DECREF(value);
        if (failed)
            return -1;
    }
    return 0;
}

/* finish(values, positions, count): remove all records if there are so many; then no value at these
 * positions waits. Return whether there were. */
static PyObject *Pending_finish(PyObject *object, PyObject *args)
{
    Pending *self = (Pending *)object;
    PyObject *values, *positions;
    Py_ssize_t count;
    if (!PyArg_ParseTuple(args, "O!O!n", &PyList_Type, &values, &PyTuple_Type, &positions, &count))
        return NULL;
    if (Pending_length(object) != count)
        Py_RETURN_FALSE;
    if (PyList_SetSlice(self->records, 0, count, NULL) < 0 ||
        set_waiting(values, positions, Py_None) < 0)
        return NULL;
    Py_RETURN_TRUE;
}

static int Deferral_traverse(PyObject *object, visitproc visit, void *arg)
{
    Deferral *self = (Deferral *)object;
    Py_VISIT(Py_TYPE(object));
    Py_VISIT((PyObject *)self->pending);
    Py_VISIT(self->invoke);
    Py_VISIT(self->waiting);
    Py_VISIT(self->integers);
    Py_VISIT(self->queue);
    Py_VISIT(self->begin);
    Py_VISIT(self->read);
    Py_VISIT(self->add);
    return visit_follower(&self->follower, visit, arg);
}

static int Deferral_clear(PyObject *object)
{
    Deferral *self = (Deferral *)object;
    Py_CLEAR(self->pending);
    Py_CLEAR(self->invoke);
    Py_CLEAR(self->waiting);
    Py_CLEAR(self->integers);
    Py_CLEAR(self->queue);
    Py_CLEAR(self->begin);
    Py_CLEAR(self->read);
    Py_CLEAR(self->add);
    clear_follower(&self->follower);
    return 0;
}

static void Deferral_dealloc(PyObject *object)
{
    PyTypeObject *type = Py_TYPE(object);
    PyObject_GC_UnTrack(object);
    Deferral_clear(object);
    PyObject_GC_Del(object);
    Py_DECREF(type);
}

/* deferral(pending, invoke, (waiting, integers), queue, begin, read, add) */
static PyObject *Deferral_new(PyTypeObject *type, PyObject *args, PyObject *keywords)
{
    PyObject *pending, *invoke, *waiting, *integers, *queue, *begin, *read, *add;
    if (keywords != NULL && PyDict_Size(keywords)) {
        PyErr_SetString(PyExc_TypeError, "deferral() takes no keywords.");
        return NULL;
    }
    if (!PyArg_ParseTuple(args, "O!O(O!O!)OOOO", pending_type, &pending, &invoke, &PyTuple_Type, &waiting,
                          &PyTuple_Type, &integers, &queue, &begin, &read, &add))
        return NULL;
    Deferral *self = (Deferral *)PyType_GenericAlloc(type, 0);
    if (self == NULL)
        return NULL;
    self->pending = (Pending *)Py_NewRef(pending);
    self->invoke = Py_NewRef(invoke);
    self->waiting = Py_NewRef(waiting);
    self->integers = Py_NewRef(integers);
    self->queue = Py_NewRef(queue);
    self->begin = Py_NewRef(begin);
    self->read = Py_NewRef(read);
    self->add = Py_NewRef(add);
    return (PyObject *)self;
}

/* Return whether the values at some positions of a tuple are integers of 32 bits; -1 with an error. */
static int are_short(PyObject *values, PyObject *positions)
{
    for (Py_ssize_t i = 0; i < PyTuple_Size(positions); i++) {
        PyObject *value = PyTuple_GetItem(values, PyLong_AsSsize_t(PyTuple_GetItem(positions, i)));
        int overflow = 0;
        long long number = value == NULL ? -1 : PyLong_AsLongLongAndOverflow(value, &overflow);
        if (number == -1 && PyErr_Occurred())
            return -1;
        if (overflow || number < INT32_MIN || number > INT32_MAX)
            return 0;
    }
    return 1;
}

/* Add an invoke in a state, which leads to the node `next`: 1 if done, 0 if the state has changed, -1 with
 * an error. */
static int add_in_state(Deferral *self, PyObject *node, PyObject *next, PyObject *values)
{
    Pending *pending = self->pending;
    PyObject *done, *numbers, *record;
    Py_ssize_t epoch = pending->epoch;
    int added = -1, is_short = are_short(values, self->integers);
    if (is_short <= 0)
        return is_short; /* the general path runs the invoke at once */
    Py_INCREF(node);
    Py_INCREF(next);
    done = Pending_length((PyObject *)pending) ? Py_NewRef(Py_None) : PyObject_CallNoArgs(self->begin);
    numbers = done == NULL            ? NULL
              : self->read == Py_None ? PyTuple_New(0)
                                      : PyObject_CallNoArgs(self->read);
    record = numbers == NULL ? NULL : PyTuple_Pack(3, self->invoke, values, numbers);
    /* Data first: an interrupt must not leave a pending invoke that no value waits for. */
    if (record != NULL && set_waiting(values, self->waiting, self->queue) == 0)
        added = append_if(pending, node, epoch, next, record, (PyObject *)self);
    Py_XDECREF(record);
    Py_XDECREF(numbers);
    Py_XDECREF(done);
    Py_DECREF(next);
    Py_DECREF(node);
    return added;
}

/* Add an invoke to a sequence that is known: 1 if done, 0 if it is not, -1 with an error. */
static int add_known(Deferral *self, PyObject *values)
{
    PyObject *node = self->pending->node;
    PyObject *next = node == NULL ? NULL : PyDict_GetItemWithError(node, self->invoke);
    if (next == NULL)
        return PyErr_Occurred() ? -1 : 0;
    return add_in_state(self, node, next, values);
}

/* Return what has followed the present state of the queue last. */
static Follower *follower_of(Pending *pending)
{
    return pending->last == NULL ? &pending->follower : &((Deferral *)pending->last)->follower;
}

/* Add the invoke that has followed the state of the queue last, if it is the one at this site: 1 if done,
 * 0 if it is not, -1 with an error. */
static int add_follower(Pending *pending, PyObject *code, long at, PyObject *const *about)
{
    Follower *guess = follower_of(pending);
    if (pending->node == NULL || guess->node != pending->node || guess->code != code || guess->at != at)
        return 0;
    Follower held = *guess;
    Py_INCREF(held.node);
    Py_INCREF(held.entry);
    Py_INCREF(held.deferral);
    Py_INCREF(held.next);
    PyObject *values = CachedCall_match(PyTuple_GetItem(held.entry, 0), about, 3);
    int added = values == NULL ? -1 : 0;
    /* The comparison may have run Python code. */
    if (added == 0 && values != Py_None && pending->node == held.node)
        added = add_in_state((Deferral *)held.deferral, held.node, held.next, values);
    Py_XDECREF(values);
    Py_DECREF(held.next);
    Py_DECREF(held.deferral);
    Py_DECREF(held.entry);
    Py_DECREF(held.node);
    return added;
}

/* Add an invoke: on the general path, `add(invoke, arguments)` does so. */
static PyObject *added_invoke(Deferral *self, PyObject *values)
{
    int added = add_known(self, values);
    if (added < 0)
        return NULL;
    if (added)
        Py_RETURN_NONE;
    return PyObject_CallFunctionObjArgs(self->add, self->invoke, values, NULL);
}

/* Called with the arguments of the invoke. */
static PyObject *Deferral_call(PyObject *object, PyObject *values, PyObject *keywords)
{
    if (keywords != NULL && PyDict_Size(keywords)) {
        PyErr_SetString(PyExc_TypeError, "An invoke takes its arguments in their order.");
        return NULL;
    }
    return added_invoke((Deferral *)object, values);
}

/* Add the invoke of a cache entry, and remember that it follows the state of the queue. */
static PyObject *add_and_remember(Deferral *self, PyObject *values, PyObject *entry, PyObject *code, long at)
{
    Pending *pending = self->pending;
    PyObject *node = Py_XNewRef(pending->node), *last = Py_XNewRef(pending->last);
    PyObject *result = added_invoke(self, values);
    if (result != NULL && node != NULL && pending->last == (PyObject *)self && pending->node != NULL) {
        Follower *follower = last == NULL ? &pending->follower : &((Deferral *)last)->follower;
        Follower old = *follower;
        follower->node = Py_NewRef(node);
        follower->code = Py_NewRef(code);
        follower->entry = Py_NewRef(entry);
        follower->deferral = Py_NewRef((PyObject *)self);
        follower->next = Py_NewRef(pending->node);
        follower->at = at;
        clear_follower(&old); /* may run code of the program */
    }
    Py_XDECREF(last);
    Py_XDECREF(node);
    return result;
}

static PyMethodDef Pending_methods[] = {
    {"state", Pending_state, METH_NOARGS, "Return the node and the epoch."},
    {"append", Pending_append, METH_VARARGS, "Append a record if the state is that of the caller."},
    {"open", Pending_open, METH_O, "Continue at the root if there are no records."},
    {"is_running", Pending_is_running, METH_NOARGS, "Return whether this thread runs the invokes."},
    {"__enter__", Pending_enter, METH_NOARGS, "Close the queue, and return the node."},
    {"__exit__", Pending_exit, METH_VARARGS, "Open the queue if there are no records."},
    {"values", Pending_values, METH_O, "Return the arguments of the first records in a list."},
    {"finish", Pending_finish, METH_VARARGS, "Remove all records if their number is that given."},
    {0}};
static PyMemberDef Pending_members[] = {
    {"records", T_OBJECT, offsetof(Pending, records), READONLY, "The pending invokes, in order."}, {0}};
static PyType_Slot Pending_slots[] = {
    {Py_tp_new, Pending_new},           {Py_tp_dealloc, Pending_dealloc},
    {Py_tp_traverse, Pending_traverse}, {Py_tp_clear, Pending_clear},
    {Py_tp_methods, Pending_methods},   {Py_tp_members, Pending_members},
    {Py_sq_length, Pending_length},     {0, NULL}};
static PyType_Spec Pending_spec = {"psyclone_storage.jit._compiled.Pending", sizeof(Pending), 0,
                                   Py_TPFLAGS_DEFAULT | Py_TPFLAGS_HAVE_GC, Pending_slots};
static PyType_Slot Deferral_slots[] = {
    {Py_tp_new, Deferral_new},           {Py_tp_dealloc, Deferral_dealloc},
    {Py_tp_traverse, Deferral_traverse}, {Py_tp_clear, Deferral_clear},
    {Py_tp_call, Deferral_call},         {0, NULL}};
static PyType_Spec Deferral_spec = {"psyclone_storage.jit._compiled.deferral", sizeof(Deferral), 0,
                                    Py_TPFLAGS_DEFAULT | Py_TPFLAGS_HAVE_GC, Deferral_slots};
