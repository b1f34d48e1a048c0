/* Who holds a buffer, who waits for it, and which of its replicas are valid: see _compiled.c. */

/* -- Access -------------------------------------------------------------------------------------- */

typedef struct {
    PyObject_HEAD
    PyObject *buffer, *replica, *space, *chunks, *mode, *policy, *owner, *request, *turn, *block;
    char active, in_flight;
} Access;

static int Access_traverse(PyObject *self, visitproc visit, void *arg)
{
    return visit_fields(self, 10, visit, arg);
}

static int Access_clear(PyObject *self) { return clear_fields(self, 10); }

/* Tokens come and go with each access: some that are gone are kept, empty, for the next ones. */
enum { SPARES = 32 };
static PyObject *spare_tokens[SPARES];
static int spare_count;

static void Access_dealloc(PyObject *self)
{
    PyTypeObject *type = Py_TYPE(self);
    if (type != (PyTypeObject *)words.token || spare_count == SPARES) {
        free_record(self, 10);
        return;
    }
    PyObject_GC_UnTrack(self);
    clear_fields(self, 10);
    if (spare_count < SPARES) /* what was cleared may have filled it */
        spare_tokens[spare_count++] = self;
    else
        PyObject_GC_Del(self);
    Py_DECREF(type);
}

static Access *spare_token(void)
{
    PyObject *self = spare_tokens[--spare_count];
    PyObject_Init(self, (PyTypeObject *)words.token);
    PyObject_GC_Track(self);
    ((Access *)self)->active = ((Access *)self)->in_flight = 0;
    return (Access *)self;
}

/* Return the number of the calling thread; it is nearly always the one that asked before. */
static PyObject *this_thread(void)
{
    static unsigned long last;
    static PyObject *number;
    unsigned long me = PyThread_get_thread_ident();
    if (number == NULL || me != last) {
        PyObject *made = PyLong_FromUnsignedLong(me);
        if (made == NULL)
            return NULL;
        give_field(&number, made);
        last = me;
    }
    return Py_NewRef(number);
}

/* Take the references of `self` to what a new access has. */
static int access_fill(Access *self, PyObject *buffer, PyObject *replica, PyObject *space,
                       PyObject *chunks)
{
    PyObject *owner = this_thread();
    if (owner == NULL)
        return -1;
    give_field(&self->owner, owner);
    set_field(&self->buffer, buffer);
    set_field(&self->replica, replica);
    set_field(&self->space, space);
    set_field(&self->chunks, chunks);
    set_field(&self->request, words.plain);
    set_field(&self->turn, Py_None);
    set_field(&self->block, Py_None);
    return 0;
}

static int Access_init(Access *self, PyObject *args, PyObject *keywords)
{
    static char *known[] = {"buffer", "replica", "place", "mode", "policy", NULL};
    PyObject *buffer, *replica, *space, *chunks, *mode, *policy;
    if (!PyArg_ParseTupleAndKeywords(args, keywords, "OO(OO)OO", known, &buffer, &replica, &space,
                                     &chunks, &mode, &policy))
        return -1;
    set_field(&self->mode, mode);
    set_field(&self->policy, policy);
    self->active = self->in_flight = 0;
    return access_fill(self, buffer, replica, space, chunks);
}

/* Return a new token that has not begun. */
static Access *access_new(PyObject *buffer, PyObject *replica, PyObject *space, PyObject *chunks,
                          PyObject *mode, PyObject *policy)
{
    /* A new object may start a garbage collection, which may run anything. */
    PyObject *held[] = {buffer, replica, space, chunks, mode, policy};
    for (int i = 0; i < 6; i++)
        Py_XINCREF(held[i]);
    Access *self = spare_count > 0
                       ? spare_token()
                       : (Access *)PyType_GenericAlloc((PyTypeObject *)words.token, 0);
    if (self != NULL && access_fill(self, buffer, replica, space, chunks) == 0) {
        self->mode = Py_NewRef(mode);
        self->policy = Py_NewRef(policy);
    } else
        Py_CLEAR(self);
    for (int i = 0; i < 6; i++)
        Py_XDECREF(held[i]);
    return self;
}

/* Say whether the access writes; -1 with an error. */
static inline Py_ALWAYS_INLINE int access_writes(Access *self)
{
    if (self->mode == words.read)
        return 0;
    if (self->mode == words.read_write)
        return 1;
    if (self->mode == NULL) {
        PyErr_SetString(PyExc_AttributeError, "mode");
        return -1;
    }
    PyObject *writes = PyObject_GetAttr(self->mode, names.writes);
    int found = writes == NULL ? -1 : PyObject_IsTrue(writes);
    Py_XDECREF(writes);
    return found;
}

static Access *as_access(PyObject *thing)
{
    if (PyObject_TypeCheck(thing, AccessType))
        return (Access *)thing;
    PyErr_SetString(PyExc_TypeError, "This is no access.");
    return NULL;
}

static PyObject *buffer_release(PyObject *buffer, Access *token, PyObject *error);

static PyObject *Access_release(Access *self, PyObject *const *args, Py_ssize_t count,
                                PyObject *keywords)
{
    Py_ssize_t named = keywords == NULL ? 0 : PyTuple_Size(keywords);
    if (count + named > 1 ||
        (named && PyUnicode_CompareWithASCIIString(PyTuple_GetItem(keywords, 0), "error"))) {
        PyErr_SetString(PyExc_TypeError, "release() takes one argument at most, the error.");
        return NULL;
    }
    if (self->buffer == NULL) {
        PyErr_SetString(PyExc_AttributeError, "buffer");
        return NULL;
    }
    return buffer_release(self->buffer, self, count + named ? args[0] : Py_None);
}

static PyMemberDef Access_members[] = {
    OBJECT(Access, buffer),  OBJECT(Access, replica), OBJECT(Access, space),
    OBJECT(Access, chunks),  OBJECT(Access, mode),    OBJECT(Access, policy),
    OBJECT(Access, owner),   OBJECT(Access, request), OBJECT(Access, turn),
    HIDDEN(Access, block),   {"active", T_BOOL, offsetof(Access, active), 0, NULL},
    {"in_flight", T_BOOL, offsetof(Access, in_flight), 0, NULL}, NO_MORE};
static PyMethodDef Access_methods[] = {
    METHOD("release", Access_release, METH_FASTCALL | METH_KEYWORDS), {0}};
static PyType_Slot Access_slots[] = {
    COLLECTED(Access), {Py_tp_init, Access_init}, {Py_tp_members, Access_members},
    {Py_tp_methods, Access_methods}, {0, NULL}};
static PyType_Spec Access_spec = {
    "psyclone_storage.storage.core._compiled.Access", sizeof(Access), 0, FLAGS, Access_slots};

/* -- Ledger -------------------------------------------------------------------------------------- */

/* Most often one access holds a buffer: where it is the only one it stands in `first`, and not in
 * the list, until Python looks at the list. */
typedef struct {
    PyObject_HEAD
    PyObject *lock, *holders, *queue, *last_writer, *first, *valid, *touched;
    Bits everywhere, anywhere;
    Py_ssize_t writers, nbytes;
    char attention, barred;
} Ledger;

static int Ledger_traverse(PyObject *self, visitproc visit, void *arg)
{
    return visit_fields(self, 7, visit, arg);
}

static int Ledger_clear(PyObject *self) { return clear_fields(self, 7); }

static void Ledger_dealloc(PyObject *self)
{
    Py_CLEAR(((Ledger *)self)->everywhere.wide);
    Py_CLEAR(((Ledger *)self)->anywhere.wide);
    free_record(self, 7);
}

/* Note that nothing has values, in so many chunks; -1 with an error. */
static int ledger_clear(Ledger *self, Py_ssize_t count)
{
    PyObject *nothing = PyLong_FromLong(0), *valid = NULL, *touched = NULL;
    if (nothing != NULL) {
        valid = PyList_New(count);
        touched = PyList_New(count);
    }
    for (Py_ssize_t i = 0; valid != NULL && touched != NULL && i < count; i++) {
        PyList_SetItem(valid, i, Py_NewRef(nothing));
        PyList_SetItem(touched, i, Py_NewRef(nothing));
    }
    Py_XDECREF(nothing);
    if (valid == NULL || touched == NULL) {
        Py_XDECREF(valid);
        Py_XDECREF(touched);
        return -1;
    }
    give_field(&self->valid, valid);
    give_field(&self->touched, touched);
    Py_CLEAR(self->everywhere.wide);
    Py_CLEAR(self->anywhere.wide);
    self->everywhere.low = self->anywhere.low = 0;
    return 0;
}

static int Ledger_set_nbytes(Ledger *self, PyObject *nbytes, void *unused);

static int Ledger_init(Ledger *self, PyObject *args, PyObject *keywords)
{
    static char *known[] = {"chunks", "nbytes", NULL};
    PyObject *given[2] = {NULL, NULL};
    if (keywords == NULL && PyTuple_Size(args) == 2) {
        given[0] = PyTuple_GetItem(args, 0);
        given[1] = PyTuple_GetItem(args, 1);
    } else if (!PyArg_ParseTupleAndKeywords(args, keywords, "|OO", known, given, given + 1))
        return -1;
    Py_ssize_t chunks = given[0] == NULL ? 0 : PyLong_AsSsize_t(given[0]);
    if ((chunks < 0 && PyErr_Occurred()) ||
        (given[1] != NULL && Ledger_set_nbytes(self, given[1], NULL) < 0))
        return -1;
    PyObject *lock = PyObject_CallNoArgs((PyObject *)GateType);
    PyObject *holders = PyList_New(0);
    if (lock == NULL || holders == NULL || ledger_clear(self, chunks < 0 ? 0 : chunks) < 0) {
        Py_XDECREF(lock);
        Py_XDECREF(holders);
        return -1;
    }
    give_field(&self->lock, lock);
    give_field(&self->holders, holders);
    set_field(&self->queue, Py_None);
    set_field(&self->last_writer, Py_None);
    return 0;
}

/* Say whether the ledger must be left to Python code: it is in use, or was taken apart. */
static inline Py_ALWAYS_INLINE int is_busy(Ledger *self)
{
    return self->lock == NULL || self->holders == NULL || !PyList_CheckExact(self->holders) ||
           Py_TYPE(self->lock) != GateType || ((Gate *)self->lock)->held;
}

/* Say whether anybody waits; an empty line is none. -1 with an error. */
static inline Py_ALWAYS_INLINE int has_queue(Ledger *self)
{
    return is_given(self->queue) ? PyObject_IsTrue(self->queue) : 0;
}

static inline Py_ALWAYS_INLINE int is_held(Ledger *self) { return self->first != NULL || Py_SIZE(self->holders) > 0; }

/* Put the only holder into the list. */
static int ledger_spill(Ledger *self)
{
    if (self->first == NULL)
        return 0;
    if (PyList_Append(self->holders, self->first) < 0)
        return -1;
    Py_CLEAR(self->first); /* the list has it, so that nothing ends */
    return 0;
}

static PyObject *Ledger_get_holders(Ledger *self, void *unused)
{
    (void)unused;
    if (self->holders == NULL) {
        PyErr_SetString(PyExc_AttributeError, "holders");
        return NULL;
    }
    if (PyList_CheckExact(self->holders) && ledger_spill(self) < 0)
        return NULL;
    return Py_NewRef(self->holders);
}

static int Ledger_set_holders(Ledger *self, PyObject *holders, void *unused)
{
    (void)unused;
    set_field(&self->first, NULL);
    set_field(&self->holders, holders);
    return 0;
}

static inline Py_ALWAYS_INLINE int ledger_grant(Ledger *self, Access *token, int writes)
{
    if (!is_held(self))
        self->first = Py_NewRef((PyObject *)token);
    else if (ledger_spill(self) < 0 || PyList_Append(self->holders, (PyObject *)token) < 0)
        return -1;
    self->writers += writes;
    token->active = 1;
    return 1;
}

/* Each of the following says yes (1), no (0), or has an error (-1). */

/* Begin an access whose replica has been looked at, if the values are there and nobody else is. */
static inline Py_ALWAYS_INLINE int ledger_begin_valid(Ledger *self, Access *token, int writes)
{
    Bits *bit = &((Replica *)token->replica)->bit;
    int queue = has_queue(self);
    if (queue < 0)
        return -1;
    if (is_busy(self) || self->writers || queue || bit->wide != NULL)
        return 0;
    if (writes) {
        if (self->everywhere.wide != NULL || self->anywhere.wide != NULL ||
            self->everywhere.low != bit->low || self->anywhere.low != bit->low ||
            is_held(self))
            return 0;
    } else if (!(self->everywhere.low & bit->low))
        return 0;
    return ledger_grant(self, token, writes);
}

static inline Py_ALWAYS_INLINE int ledger_begin(Ledger *self, Access *token, PyObject **known)
{
    int writes = access_writes(token);
    if (writes < 0)
        return -1;
    if (!IS(token->replica, Replica) || self->attention ||
        !is_idle((Replica *)token->replica, known))
        return 0;
    return ledger_begin_valid(self, token, writes);
}

/* Strike a claim out; the caller keeps it alive. */
static inline Py_ALWAYS_INLINE int ledger_strike(Ledger *self, Access *claim, int writes)
{
    if (self->first == (PyObject *)claim)
        Py_CLEAR(self->first);
    else {
        PyObject *holders = self->holders;
        Py_ssize_t at = PyList_Size(holders) - 1;
        while (at >= 0 && PyList_GetItem(holders, at) != (PyObject *)claim)
            at--;
        if (at < 0) {
            PyErr_SetString(PyExc_ValueError, "list.remove(x): x not in list");
            return -1;
        }
        if (PyList_SetSlice(holders, at, at + 1, NULL) < 0)
            return -1;
    }
    self->writers -= writes;
    claim->active = 0;
    if (claim->turn != Py_None)
        set_field(&claim->turn, Py_None);
    return 1;
}

static inline Py_ALWAYS_INLINE int ledger_end(Ledger *self, Access *token, PyObject **known)
{
    int writes = access_writes(token), queue = has_queue(self);
    if (writes < 0 || queue < 0)
        return -1;
    if (!token->active || is_busy(self) || queue || self->attention)
        return 0;
    if (!IS(token->replica, Replica) || !is_idle((Replica *)token->replica, known))
        return 0;
    if (writes && token->replica != self->last_writer)
        return 0;
    return ledger_strike(self, token, writes);
}

static int ledger_drop(Ledger *self, Access *claim)
{
    int writes = access_writes(claim), queue = has_queue(self);
    if (writes < 0 || queue < 0)
        return -1;
    return is_busy(self) || queue ? 0 : ledger_strike(self, claim, writes);
}

static PyObject *answered(int answer)
{
    return answer < 0 ? NULL : PyBool_FromLong(answer);
}

static int ledger_begin_one(Ledger *self, Access *token)
{
    PyObject *known = NULL;
    return ledger_begin(self, token, &known);
}

static int ledger_end_one(Ledger *self, Access *token)
{
    PyObject *known = NULL;
    return ledger_end(self, token, &known);
}

#define ANSWERING(name, work)                                                                      \
    static PyObject *Ledger_##name(Ledger *self, PyObject *thing)                                  \
    {                                                                                              \
        Access *claim = as_access(thing);                                                          \
        return claim == NULL ? NULL : answered(work(self, claim));                                 \
    }
ANSWERING(begin, ledger_begin_one)
ANSWERING(end, ledger_end_one)
ANSWERING(drop, ledger_drop)

static PyObject *Ledger_strike(Ledger *self, PyObject *thing)
{
    Access *claim = as_access(thing);
    int writes = claim == NULL ? -1 : access_writes(claim);
    if (writes < 0 || ledger_strike(self, claim, writes) < 0)
        return NULL;
    Py_RETURN_NONE;
}

static PyObject *Ledger_clear_masks(Ledger *self, PyObject *chunks)
{
    Py_ssize_t count = PyLong_AsSsize_t(chunks);
    if ((count < 0 && PyErr_Occurred()) || ledger_clear(self, count) < 0)
        return NULL;
    Py_RETURN_NONE;
}

static PyMemberDef Ledger_members[] = {
    OBJECT(Ledger, lock), OBJECT(Ledger, queue), OBJECT(Ledger, last_writer),
    OBJECT(Ledger, valid), OBJECT(Ledger, touched), {"writers", T_PYSSIZET, offsetof(Ledger, writers), 0, NULL},
    {"attention", T_BOOL, offsetof(Ledger, attention), 0, NULL},
    {"barred", T_BOOL, offsetof(Ledger, barred), 0, NULL}, NO_MORE};
static PyObject *Ledger_get_nbytes(Ledger *self, void *unused)
{
    (void)unused;
    return PyLong_FromSsize_t(self->nbytes);
}

/* What is too much for any memory is never copied: it counts as nothing. */
static int Ledger_set_nbytes(Ledger *self, PyObject *nbytes, void *unused)
{
    (void)unused;
    self->nbytes = nbytes == NULL ? 0 : PyLong_AsSsize_t(nbytes);
    if (self->nbytes != -1 || !PyErr_Occurred())
        return 0;
    self->nbytes = 0;
    if (!PyErr_ExceptionMatches(PyExc_OverflowError))
        return -1;
    PyErr_Clear();
    return 0;
}

static PyGetSetDef Ledger_getset[] = {
    {"nbytes", (getter)Ledger_get_nbytes, (setter)Ledger_set_nbytes, NULL, NULL},
    BITS(Ledger, everywhere), BITS(Ledger, anywhere),
    {"holders", (getter)Ledger_get_holders, (setter)Ledger_set_holders, NULL, NULL}, NO_MORE};
static PyMethodDef Ledger_methods[] = {
    METHOD("try_begin", Ledger_begin, METH_O), METHOD("try_end", Ledger_end, METH_O),
    METHOD("try_drop", Ledger_drop, METH_O),
    METHOD("drop", Ledger_strike, METH_O), METHOD("clear_masks", Ledger_clear_masks, METH_O), {0}};
static PyType_Slot Ledger_slots[] = {
    COLLECTED(Ledger), {Py_tp_init, Ledger_init}, {Py_tp_members, Ledger_members},
    {Py_tp_getset, Ledger_getset}, {Py_tp_methods, Ledger_methods}, {0, NULL}};
static PyType_Spec Ledger_spec = {
    "psyclone_storage.storage.core._compiled.Ledger", sizeof(Ledger), 0, FLAGS, Ledger_slots};

