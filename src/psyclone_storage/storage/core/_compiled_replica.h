/* What all records share, and the replicas of a buffer: see _compiled.c. */
typedef unsigned long long Mask;

/* -- records: objects whose first members are references ---------------------------------------- */

#define FIELDS(self) ((PyObject **)((char *)(self) + sizeof(PyObject)))

static int visit_fields(PyObject *self, int count, visitproc visit, void *arg)
{
    Py_VISIT(Py_TYPE(self));
    for (int i = 0; i < count; i++)
        Py_VISIT(FIELDS(self)[i]);
    return 0;
}

static int clear_fields(PyObject *self, int count)
{
    for (int i = 0; i < count; i++)
        Py_CLEAR(FIELDS(self)[i]);
    return 0;
}

static void free_record(PyObject *self, int count)
{
    PyTypeObject *type = Py_TYPE(self);
    PyObject_GC_UnTrack(self);
    clear_fields(self, count);
    PyObject_GC_Del(self);
    Py_DECREF(type);
}

#define RECORD(Name, count)                                                                        \
    static int Name##_traverse(PyObject *self, visitproc visit, void *arg)                         \
    {                                                                                              \
        return visit_fields(self, count, visit, arg);                                              \
    }                                                                                              \
    static int Name##_clear(PyObject *self) { return clear_fields(self, count); }                  \
    static void Name##_dealloc(PyObject *self) { free_record(self, count); }

#define COLLECTED(Name)                                                                            \
    {Py_tp_traverse, Name##_traverse}, {Py_tp_clear, Name##_clear}, {Py_tp_dealloc, Name##_dealloc}

#define OBJECT(Name, member) {#member, T_OBJECT_EX, offsetof(Name, member), 0, NULL}
#define HIDDEN(Name, member) {"_" #member, T_OBJECT_EX, offsetof(Name, member), 0, NULL}
#define FLAGS (Py_TPFLAGS_DEFAULT | Py_TPFLAGS_HAVE_GC | Py_TPFLAGS_BASETYPE)
#define METHOD(name, function, how) {name, (PyCFunction)(void (*)(void))(function), how, NULL}
#define NO_MORE {0, 0, 0, 0, 0}

static void set_field(PyObject **field, PyObject *value)
{
    PyObject *old = *field;
    Py_XINCREF(value);
    *field = value;
    Py_XDECREF(old);
}

/* Do `set_field` with a reference that becomes the field's. */
static void give_field(PyObject **field, PyObject *value)
{
    PyObject *old = *field;
    *field = value;
    Py_XDECREF(old);
}

static PyTypeObject *AccessType, *LedgerType, *AcquirableType, *ReplicaType, *GateType;
static PyTypeObject *SidesType, *WindowsType, *SliceableType, *BlockType, *TalliesType;
static PyTypeObject *BlocksType, *LeaseType, *PieceType, *HoldType, *LaneType;

/* What `register` was told. */
static struct {
    PyObject *read, *read_write, *auto_, *plain, *token, *arguments, *block;
    PyObject *array, *bound, *lock, *timed, *total, *pages, *page, *piece, *pin, *host;
    PyObject *opening, *modes;
} words;

/* Names of methods and attributes. */
static struct {
    PyObject *acquire_carefully, *release_carefully, *release, *picked, *backing, *enter, *leave;
    PyObject *writes, *space, *bit, *things, *refuse, *give_all_back, *device, *gpu;
    PyObject *host_accessible, *jobs, *copies_plainly, *pointer, *capacity, *writable, *pending;
    PyObject *bring_carefully, *view, *to_numpy, *labels, *origin, *dims, *address, *nothing;
    PyObject *pins, *queue, *notes, *lane, *ptr, *access_carefully;
} names;

static PyObject *no_things; /* a tuple */

static int is_given(PyObject *thing) { return thing != NULL && thing != Py_None; }

/* The first subclass of each type that was met, with a reference that is kept: nearly all objects
 * are of it, and to look through the classes of an object takes longer than all else. */
static struct {
    PyTypeObject *Ledger, *Acquirable, *Replica, *Sides, *Windows, *Sliceable;
} usual;

static int is_kind(PyObject *thing, PyTypeObject *type, PyTypeObject **met)
{
    PyTypeObject *own = Py_TYPE(thing);
    if (!PyType_IsSubtype(own, type))
        return 0;
    if (*met == NULL)
        *met = (PyTypeObject *)Py_NewRef((PyObject *)own);
    return 1;
}

#define IS(thing, Name)                                                                            \
    ((thing) != NULL && (Py_TYPE(thing) == usual.Name || is_kind(thing, Name##Type, &usual.Name)))

/* -- Gate: a lock that shows whether somebody is inside ------------------------------------------ */

typedef struct {
    PyObject_HEAD
    PyObject *lock, *take, *give;
    char held;
} Gate;
RECORD(Gate, 3)

/* Most locks are never taken: they are made when one is. To make one may run anything, other threads
 * that want the lock included: who comes first has made the one that all have. */
static int gate_bind(Gate *self)
{
    if (self->give != NULL)
        return 0;
    PyObject *lock = PyObject_CallNoArgs(words.lock);
    PyObject *take = lock == NULL ? NULL : PyObject_GetAttrString(lock, "acquire");
    PyObject *give = take == NULL ? NULL : PyObject_GetAttrString(lock, "release");
    if (give != NULL && self->give == NULL) {
        self->lock = Py_NewRef(lock);
        self->take = Py_NewRef(take);
        self->give = Py_NewRef(give);
    }
    Py_XDECREF(lock);
    Py_XDECREF(take);
    Py_XDECREF(give);
    return self->give != NULL ? 0 : -1;
}

/* From the moment that `take` returns until `held` is set nobody else runs. While `take` waits with
 * the lock in hand for the interpreter, `held` may be 0: its caller is not inside yet. */
static PyObject *Gate_acquire(Gate *self, PyObject *args, PyObject *keywords)
{
    if (gate_bind(self) < 0)
        return NULL;
    PyObject *taken = PyObject_Call(self->take, args, keywords);
    if (taken == Py_True)
        self->held = 1;
    return taken;
}

static PyObject *Gate_release(Gate *self, PyObject *unused)
{
    (void)unused;
    if (gate_bind(self) < 0)
        return NULL;
    self->held = 0;
    return PyObject_CallNoArgs(self->give);
}

static PyObject *Gate_enter(Gate *self, PyObject *unused)
{
    (void)unused;
    if (gate_bind(self) < 0)
        return NULL;
    PyObject *taken = PyObject_CallNoArgs(self->take);
    if (taken != NULL)
        self->held = 1;
    return taken;
}

static PyObject *Gate_exit(Gate *self, PyObject *const *args, Py_ssize_t count)
{
    (void)args, (void)count;
    return Gate_release(self, NULL);
}

static PyObject *Gate_locked(Gate *self, PyObject *unused)
{
    (void)unused;
    if (gate_bind(self) < 0)
        return NULL;
    return PyObject_CallMethod(self->lock, "locked", NULL);
}

static PyObject *Gate_renew(Gate *self, PyObject *unused)
{
    (void)unused;
    if (gate_bind(self) < 0)
        return NULL;
    self->held = 0;
    return PyObject_CallMethod(self->lock, "_at_fork_reinit", NULL);
}

static PyMethodDef Gate_methods[] = {
    METHOD("acquire", Gate_acquire, METH_VARARGS | METH_KEYWORDS),
    METHOD("release", Gate_release, METH_NOARGS),
    METHOD("locked", Gate_locked, METH_NOARGS),
    METHOD("_at_fork_reinit", Gate_renew, METH_NOARGS),
    METHOD("__enter__", Gate_enter, METH_NOARGS),
    METHOD("__exit__", Gate_exit, METH_FASTCALL),
    {0},
};
static PyType_Slot Gate_slots[] = {
    COLLECTED(Gate), {Py_tp_methods, Gate_methods}, {0, NULL}};
static PyType_Spec Gate_spec = {
    "psyclone_storage.storage.core._compiled.Gate", sizeof(Gate), 0, FLAGS, Gate_slots};

/* -- masks: one bit for each memory space, more than 64 of them if need be ----------------------- */

typedef struct {
    PyObject *wide; /* the mask itself where it does not fit, else NULL */
    Mask low;
} Bits;

static PyObject *bits_get(PyObject *self, void *offset)
{
    Bits *bits = (Bits *)((char *)self + (Py_ssize_t)(size_t)offset);
    if (bits->wide != NULL)
        return Py_NewRef(bits->wide);
    return PyLong_FromUnsignedLongLong(bits->low);
}

static int bits_set(PyObject *self, PyObject *value, void *offset)
{
    Bits *bits = (Bits *)((char *)self + (Py_ssize_t)(size_t)offset);
    if (value == NULL || !PyLong_Check(value)) {
        PyErr_SetString(PyExc_TypeError, "A mask is an integer.");
        return -1;
    }
    PyObject *wide = NULL;
    Mask low = PyLong_AsUnsignedLongLong(value);
    if (low == (Mask)-1 && PyErr_Occurred()) {
        PyErr_Clear();
        low = PyLong_AsUnsignedLongLongMask(value);
        wide = Py_NewRef(value);
    }
    PyObject *old = bits->wide;
    bits->wide = wide;
    bits->low = low;
    Py_XDECREF(old);
    return 0;
}

#define BITS(Name, member) {#member, bits_get, bits_set, NULL, (void *)offsetof(Name, member)}

/* -- Lane: the stream of a device to which all threads submit work by default -------------------- */

/* `current` returns the current stream of the calling thread, `place` its current device, None if there
 * is only device `number`. `notes` are those on reading and on writing, each a tuple of one `LastUse`,
 * for all blocks since the last event: the event of their uses is recorded when it is needed. They are
 * None after that; `renew` records the event now, and makes other notes. */
typedef struct {
    PyObject_HEAD
    PyObject *current, *place, *number, *stream, *queue, *notes, *renew;
} Lane;
RECORD(Lane, 7)

static int Lane_init(Lane *self, PyObject *args, PyObject *keywords)
{
    static char *known[] = {"current", "place", "number", "stream", "queue", "renew", NULL};
    PyObject *current, *place, *number, *stream, *queue, *renew;
    if (!PyArg_ParseTupleAndKeywords(args, keywords, "OOOOOO", known, &current, &place, &number,
                                     &stream, &queue, &renew))
        return -1;
    set_field(&self->current, current);
    set_field(&self->place, place);
    set_field(&self->number, number);
    set_field(&self->stream, stream);
    set_field(&self->queue, queue);
    set_field(&self->notes, Py_None);
    set_field(&self->renew, renew);
    return 0;
}

/* Say whether the calling thread submits its work there now: yes (1), no (0), or with an error (-1). */
static int lane_is_current(Lane *self)
{
    if (self->current == NULL || self->stream == NULL)
        return 0;
    if (is_given(self->place)) {
        PyObject *number = PyObject_CallNoArgs(self->place);
        int here = number == NULL ? -1 : PyObject_RichCompareBool(number, self->number, Py_EQ);
        Py_XDECREF(number);
        if (here <= 0)
            return here;
    }
    PyObject *stream = PyObject_CallNoArgs(self->current);
    if (stream == NULL)
        return -1;
    int same = stream == self->stream;
    if (!same) { /* another object for the default stream has the same handle, 0 */
        PyObject *handle = PyObject_GetAttr(stream, names.ptr);
        int other = handle == NULL ? -1 : PyObject_IsTrue(handle);
        Py_XDECREF(handle);
        same = other < 0 ? -1 : !other;
    }
    Py_DECREF(stream);
    return same;
}

static PyMemberDef Lane_members[] = {
    OBJECT(Lane, queue), OBJECT(Lane, notes), OBJECT(Lane, stream), NO_MORE};
static PyType_Slot Lane_slots[] = {
    COLLECTED(Lane), {Py_tp_init, Lane_init}, {Py_tp_members, Lane_members}, {0, NULL}};
static PyType_Spec Lane_spec = {
    "psyclone_storage.storage.core._compiled.Lane", sizeof(Lane), 0, FLAGS, Lane_slots};

/* -- Piece: the fields of an allocation ----------------------------------------------------------- */

typedef struct {
    PyObject_HEAD
    PyObject *space, *pointer, *capacity, *held, *owner, *label, *pending, *failures;
    char writable, lent, alive;
} Piece;

/* -- Replica ------------------------------------------------------------------------------------- */

/* `jobs` is what the device of the memory still has to do, None for a memory without a device; `lane` is
 * given for a GPU, whose work is ordered by events, and NULL for all others.
 * `piece` is the allocation if it is one of this file. `address` is where the allocation is, 0 where only its memory can copy from there and to there. */
typedef struct {
    PyObject_HEAD
    PyObject *memory, *space, *allocation, *jobs, *lane;
    Bits bit;
    Piece *piece;
    char *address;
    Py_ssize_t room;
    char on_host, is_plain;
} Replica;

static int Replica_traverse(PyObject *self, visitproc visit, void *arg)
{
    return visit_fields(self, 5, visit, arg);
}

static int Replica_clear(PyObject *self)
{
    ((Replica *)self)->piece = NULL;
    return clear_fields(self, 5);
}

static void Replica_dealloc(PyObject *self)
{
    Py_CLEAR(((Replica *)self)->bit.wide);
    free_record(self, 5);
}

/* Return whether an attribute is true; -1 with an error. */
static int is_true(PyObject *thing, PyObject *name)
{
    PyObject *found = PyObject_GetAttr(thing, name);
    int answer = found == NULL ? -1 : PyObject_IsTrue(found);
    Py_XDECREF(found);
    return answer;
}

/* Note where memory is that can be copied like any other; -1 with an error. */
static int replica_locate(Replica *self, PyObject *allocation)
{
    self->address = NULL;
    self->room = 0;
    if (!self->is_plain || !is_given(allocation))
        return 0;
    PyObject *pointer = PyObject_GetAttr(allocation, names.pointer);
    PyObject *capacity = PyObject_GetAttr(allocation, names.capacity);
    if (pointer != NULL && capacity != NULL) {
        self->room = PyLong_AsSsize_t(capacity);
        self->address = PyLong_AsVoidPtr(pointer);
    }
    Py_XDECREF(pointer);
    Py_XDECREF(capacity);
    return PyErr_Occurred() ? -1 : 0;
}

static PyObject *Replica_get_allocation(Replica *self, void *unused)
{
    (void)unused;
    return Py_NewRef(self->allocation == NULL ? Py_None : self->allocation);
}

static int Replica_set_allocation(Replica *self, PyObject *allocation, void *unused)
{
    (void)unused;
    if (replica_locate(self, allocation) < 0)
        return -1;
    int is_piece = allocation != NULL && PyObject_TypeCheck(allocation, PieceType);
    self->piece = is_piece ? (Piece *)allocation : NULL;
    set_field(&self->allocation, allocation);
    return 0;
}

static int Replica_init(Replica *self, PyObject *args, PyObject *keywords)
{
    static char *known[] = {"memory", "allocation", NULL};
    PyObject *memory, *allocation = Py_None;
    if (!PyArg_ParseTupleAndKeywords(args, keywords, "O|O", known, &memory, &allocation))
        return -1;
    PyObject *space = PyObject_GetAttr(memory, names.space);
    PyObject *bit = space == NULL ? NULL : PyObject_GetAttr(space, names.bit);
    int failed = bit == NULL || bits_set((PyObject *)self, bit, (void *)offsetof(Replica, bit)) < 0;
    int on_host = failed ? -1 : is_true(space, names.host_accessible);
    if (on_host < 0)
        PyErr_Clear();
    if (!failed) {
        set_field(&self->memory, memory);
        set_field(&self->space, space);
        self->on_host = on_host > 0;
        give_field(&self->jobs, on_host < 0 ? NULL : PyObject_GetAttr(memory, names.jobs));
        if (self->jobs == NULL) /* a memory that says nothing of jobs */
            PyErr_Clear();
        int plain = self->jobs == NULL ? 0 : is_true(memory, names.copies_plainly);
        self->is_plain = plain > 0;
        PyObject *lane = PyObject_GetAttr(memory, names.lane);
        if (lane == NULL) /* a memory that says nothing of lanes */
            PyErr_Clear();
        int is_lane = lane != NULL && PyObject_TypeCheck(lane, LaneType);
        set_field(&self->lane, is_lane ? lane : NULL);
        Py_XDECREF(lane);
        failed = plain < 0 || Replica_set_allocation(self, allocation, NULL) < 0;
    }
    Py_XDECREF(space);
    Py_XDECREF(bit);
    return failed ? -1 : 0;
}

/* Return a replica of another buffer in the same memory, without an allocation. */
static Replica *replica_beside(Replica *self)
{
    Replica *made = (Replica *)PyType_GenericAlloc(Py_TYPE((PyObject *)self), 0);
    if (made == NULL)
        return NULL;
    made->memory = Py_XNewRef(self->memory);
    made->space = Py_XNewRef(self->space);
    made->jobs = Py_XNewRef(self->jobs);
    made->lane = Py_XNewRef(self->lane);
    made->bit.wide = Py_XNewRef(self->bit.wide);
    made->bit.low = self->bit.low;
    made->on_host = self->on_host;
    made->is_plain = self->is_plain;
    return made;
}

/* Return a replica of another buffer in the same memory. */
static PyObject *Replica_beside(Replica *self, PyObject *allocation)
{
    Replica *made = replica_beside(self);
    if (made != NULL && Replica_set_allocation(made, allocation, NULL) < 0)
        Py_CLEAR(made);
    return (PyObject *)made;
}

static PyObject *Replica_beside_in(Replica *self, PyObject *const *args, Py_ssize_t count);

static PyMemberDef Replica_members[] = {
    OBJECT(Replica, memory), OBJECT(Replica, space), NO_MORE};
static PyGetSetDef Replica_getset[] = {
    BITS(Replica, bit),
    {"allocation", (getter)Replica_get_allocation, (setter)Replica_set_allocation, NULL, NULL},
    NO_MORE};
static PyMethodDef Replica_methods[] = {
    METHOD("beside", Replica_beside, METH_O),
    METHOD("beside_in", Replica_beside_in, METH_FASTCALL), {0}};
static PyType_Slot Replica_slots[] = {
    COLLECTED(Replica), {Py_tp_init, Replica_init}, {Py_tp_members, Replica_members},
    {Py_tp_getset, Replica_getset}, {Py_tp_methods, Replica_methods}, {0, NULL}};
static PyType_Spec Replica_spec = {
    "psyclone_storage.storage.core._compiled.Replica", sizeof(Replica), 0, FLAGS, Replica_slots};

/* Return whether work that was to write to the memory has failed, or whether that is unknown. */
static inline Py_ALWAYS_INLINE int has_failed(Replica *replica)
{
    Piece *piece = replica->piece;
    return piece != NULL && piece->failures != no_things &&
           (piece->failures == NULL || !PyTuple_CheckExact(piece->failures) ||
            PyTuple_Size(piece->failures));
}

/* Say whether a device, if the memory has one, has nothing to do; no if that is not known, as for a GPU
 * and for pages that one may use without a copy. `known` are
 * the jobs of the device that was found idle last, without anything in between that could give it
 * some: nearly always all replicas that are asked about are of one device. */
static inline Py_ALWAYS_INLINE int is_idle(Replica *replica, PyObject **known)
{
    PyObject *jobs = replica->jobs;
    if (has_failed(replica) || replica->lane != NULL ||
        (replica->piece != NULL && replica->piece->lent && !replica->is_plain))
        return 0;
    if (jobs == Py_None || (jobs == *known && jobs != NULL))
        return 1;
    if (jobs == NULL || !PySet_Check(jobs) || PySet_Size(jobs))
        return 0;
    *known = jobs;
    return 1;
}
