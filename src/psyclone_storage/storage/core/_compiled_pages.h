/* Pages of the host and who has them: see _compiled.c. */

/* Blocks that nobody has are in `free`, by size. Nothing here lets another thread in while a block is
 * between `free` and a lease. */
typedef struct {
    PyObject_HEAD
    PyObject *free;
    Py_ssize_t cached, in_use, high_water, limit;
} Blocks;
RECORD(Blocks, 1)

enum { LARGE = 1 << 17 };

static int Blocks_init(Blocks *self, PyObject *args, PyObject *keywords)
{
    static char *known[] = {"limit", NULL};
    self->limit = (Py_ssize_t)1 << 30;
    if (!PyArg_ParseTupleAndKeywords(args, keywords, "|n", known, &self->limit))
        return -1;
    give_field(&self->free, PyDict_New());
    return self->free != NULL ? 0 : -1;
}

/* Return the bytes of a block in which `nbytes` have their alignment; 0 where there are none so
 * large. */
static Py_ssize_t size_of_block(Py_ssize_t nbytes, Py_ssize_t alignment)
{
    Py_ssize_t step = 256, page = PyLong_AsSsize_t(words.page);
    if (nbytes < 0 || alignment < 1 || nbytes > PY_SSIZE_T_MAX / 2 - alignment)
        return 0;
    if (!(nbytes >= LARGE && page % alignment == 0))
        nbytes += alignment;
    while (step <= nbytes / 16)
        step *= 2;
    Py_ssize_t size = (nbytes + step - 1) / step * step;
    return size >= LARGE ? (size + page - 1) / page * page : size;
}

/* The bytes of one allocation, for NumPy to look at; their end gives the block back. */
typedef struct {
    PyObject_HEAD
    PyObject *pool, *block;
    char *address;
    Py_ssize_t nbytes, size;
} Lease;

static void Lease_dealloc(PyObject *object)
{
    Lease *self = (Lease *)object;
    PyTypeObject *type = Py_TYPE(object);
    Blocks *pool = (Blocks *)self->pool;
    PyObject *kind, *value, *trace;
    PyErr_Fetch(&kind, &value, &trace);
    if (pool != NULL && self->block != NULL) {
        pool->in_use -= self->size;
        int keeps = pool->free != NULL && pool->cached + self->size <= pool->limit;
        PyObject *size = keeps ? PyLong_FromSsize_t(self->size) : NULL;
        PyObject *kept = size == NULL ? NULL : PyDict_GetItemWithError(pool->free, size);
        if (size != NULL && kept == NULL) {
            kept = PyList_New(0);
            if (kept != NULL && PyDict_SetItem(pool->free, size, kept) < 0)
                Py_CLEAR(kept);
            Py_XDECREF(kept); /* the dictionary has it */
        }
        if (kept != NULL && PyList_Append(kept, self->block) == 0)
            pool->cached += self->size;
        Py_XDECREF(size);
    }
    PyErr_Restore(kind, value, trace);
    Py_XDECREF(self->pool);
    Py_XDECREF(self->block);
    ((freefunc)PyType_GetSlot(type, Py_tp_free))(object);
    Py_DECREF(type);
}

static int Lease_buffer(PyObject *self, Py_buffer *view, int flags)
{
    return PyBuffer_FillInfo(view, self, ((Lease *)self)->address, ((Lease *)self)->nbytes, 0,
                             flags);
}

static PyObject *Lease_get_address(Lease *self, void *unused)
{
    (void)unused;
    return PyLong_FromVoidPtr(self->address);
}

static PyGetSetDef Lease_getset[] = {{"address", (getter)Lease_get_address, NULL, NULL, NULL},
                                     NO_MORE};
static PyType_Slot Lease_slots[] = {
    {Py_tp_dealloc, Lease_dealloc}, {Py_tp_getset, Lease_getset},
    {Py_bf_getbuffer, Lease_buffer}, {0, NULL}};
static PyType_Spec Lease_spec = {
    "psyclone_storage.storage.core._compiled.Lease", sizeof(Lease), 0,
    Py_TPFLAGS_DEFAULT | Py_TPFLAGS_DISALLOW_INSTANTIATION, Lease_slots};

/* Take a block of a size from those that nobody has; NULL where there is none, or with an error. */
static PyObject *block_kept(Blocks *self, Py_ssize_t size)
{
    PyObject *key = PyLong_FromSsize_t(size), *block = NULL;
    PyObject *kept = key == NULL ? NULL : PyDict_GetItemWithError(self->free, key);
    Py_XDECREF(key);
    Py_ssize_t last = kept == NULL ? -1 : PyList_Size(kept) - 1;
    if (last >= 0) {
        block = Py_NewRef(PyList_GetItem(kept, last));
        if (PyList_SetSlice(kept, last, last + 1, NULL) < 0)
            Py_CLEAR(block);
        else
            self->cached -= size;
    }
    return block;
}

/* Return a lease of what the arguments say, bytes and alignment; NULL with an error. */
static Lease *blocks_lease(Blocks *self, PyObject *const *args, Py_ssize_t count)
{
    Py_ssize_t nbytes = count > 0 ? PyLong_AsSsize_t(args[0]) : -1;
    Py_ssize_t alignment = count > 1 ? PyLong_AsSsize_t(args[1]) : 64;
    if (self->free == NULL && !PyErr_Occurred())
        PyErr_SetString(PyExc_TypeError, "The blocks were not initialised.");
    if (PyErr_Occurred())
        return NULL;
    Py_ssize_t size = size_of_block(nbytes, alignment);
    if (!size || count > 2) {
        PyErr_SetString(PyExc_OverflowError, "There is no block of so many bytes.");
        return NULL;
    }
    PyObject *block = block_kept(self, size);
    if (block == NULL && !PyErr_Occurred())
        block = PyObject_CallFunction(words.pages, "n", size);
    PyObject *start = block == NULL ? NULL : PyObject_GetAttr(block, names.address);
    char *address = start == NULL ? NULL : PyLong_AsVoidPtr(start);
    Py_XDECREF(start);
    Lease *lease = address == NULL ? NULL : (Lease *)PyType_GenericAlloc(LeaseType, 0);
    if (lease == NULL) {
        Py_XDECREF(block);
        return NULL;
    }
    lease->pool = Py_NewRef((PyObject *)self);
    lease->block = block;
    lease->address = address + ((size_t)alignment - (size_t)address % alignment) % alignment;
    lease->nbytes = nbytes;
    lease->size = size;
    self->in_use += size;
    if (self->in_use > self->high_water)
        self->high_water = self->in_use;
    return lease;
}

static PyObject *Blocks_lease(Blocks *self, PyObject *const *args, Py_ssize_t count)
{
    return (PyObject *)blocks_lease(self, args, count);
}

static PyObject *Blocks_trim(Blocks *self, PyObject *unused)
{
    (void)unused;
    PyObject *empty = PyDict_New();
    if (empty == NULL)
        return NULL;
    self->cached = 0;
    give_field(&self->free, empty);
    Py_RETURN_NONE;
}

static PyObject *Blocks_sums(Blocks *self, PyObject *unused)
{
    (void)unused;
    return Py_BuildValue("nnn", self->in_use, self->cached, self->high_water);
}

RECORD(Piece, 8)

/* Be as a new allocation is, but for what is told of it. */
static void piece_begin(Piece *self)
{
    set_field(&self->owner, Py_None);
    set_field(&self->label, names.nothing);
    set_field(&self->pending, no_things);
    set_field(&self->failures, no_things);
    self->writable = self->alive = 1;
    self->lent = 0;
}

static int Piece_init(Piece *self, PyObject *args, PyObject *keywords)
{
    static char *known[] = {"space", "pointer", "capacity", "held", NULL};
    PyObject *given[4];
    if (keywords == NULL && PyTuple_Size(args) == 4) {
        for (int i = 0; i < 4; i++)
            given[i] = PyTuple_GetItem(args, i);
    } else if (!PyArg_ParseTupleAndKeywords(args, keywords, "OOOO", known, given, given + 1,
                                            given + 2, given + 3))
        return -1;
    for (int i = 0; i < 4; i++)
        set_field(FIELDS(self) + i, given[i]);
    piece_begin(self);
    return 0;
}

#define FLAG(Name, member) {#member, T_BOOL, offsetof(Name, member), 0, NULL}
static PyMemberDef Piece_members[] = {
    OBJECT(Piece, space), OBJECT(Piece, pointer), OBJECT(Piece, capacity), OBJECT(Piece, held),
    OBJECT(Piece, owner), OBJECT(Piece, label), OBJECT(Piece, pending), OBJECT(Piece, failures),
    FLAG(Piece, writable), FLAG(Piece, lent), FLAG(Piece, alive), NO_MORE};

/* swap_pending(before, after): yes and done, where the notes still are the very ones that were. */
static PyObject *Piece_swap_pending(Piece *self, PyObject *const *args, Py_ssize_t count)
{
    if (count != 2 || !PyTuple_CheckExact(args[1])) {
        PyErr_SetString(PyExc_TypeError, "swap_pending() takes notes, which are a tuple, twice.");
        return NULL;
    }
    if (self->pending != args[0])
        Py_RETURN_FALSE;
    set_field(&self->pending, args[1]);
    Py_RETURN_TRUE;
}

static PyMethodDef Piece_methods[] = {
    METHOD("swap_pending", Piece_swap_pending, METH_FASTCALL), {0}};
static PyType_Slot Piece_slots[] = {
    COLLECTED(Piece), {Py_tp_init, Piece_init}, {Py_tp_members, Piece_members},
    {Py_tp_methods, Piece_methods}, {0, NULL}};
static PyType_Spec Piece_spec = {
    "psyclone_storage.storage.core._compiled.Piece", sizeof(Piece), 0, FLAGS, Piece_slots};

/* Return an allocation that a lease holds; NULL with an error. */
static Piece *blocks_piece(Blocks *self, PyObject *space, PyObject *const *args, Py_ssize_t count)
{
    Lease *lease = blocks_lease(self, args, count);
    PyObject *pointer = lease == NULL ? NULL : PyLong_FromVoidPtr(lease->address);
    Piece *piece = pointer == NULL
                       ? NULL
                       : (Piece *)PyType_GenericAlloc((PyTypeObject *)words.piece, 0);
    if (piece == NULL) {
        Py_XDECREF((PyObject *)lease);
        Py_XDECREF(pointer);
        return NULL;
    }
    piece->space = Py_NewRef(space);
    piece->pointer = pointer;
    piece->capacity = Py_NewRef(args[0]);
    piece->held = (PyObject *)lease;
    piece_begin(piece);
    return piece;
}

/* piece(space, nbytes, alignment=64) */
static PyObject *Blocks_piece(Blocks *self, PyObject *const *args, Py_ssize_t count)
{
    if (count < 2) {
        PyErr_SetString(PyExc_TypeError, "piece() takes a space and a number of bytes.");
        return NULL;
    }
    return (PyObject *)blocks_piece(self, args[0], args + 1, count - 1);
}

/* beside_in(pool, nbytes, alignment, label): a replica of another buffer in the same memory, with an
 * allocation from a pool. */
static PyObject *Replica_beside_in(Replica *self, PyObject *const *args, Py_ssize_t count)
{
    if (self->space == NULL) {
        PyErr_SetString(PyExc_TypeError, "The replica was not initialised.");
        return NULL;
    }
    if (count != 4 || !PyObject_TypeCheck(args[0], BlocksType)) {
        PyErr_SetString(PyExc_TypeError, "beside_in() takes a pool, two numbers and a label.");
        return NULL;
    }
    Piece *piece = blocks_piece((Blocks *)args[0], self->space, args + 1, 2);
    Replica *made = piece == NULL ? NULL : replica_beside(self);
    if (made == NULL) {
        Py_XDECREF((PyObject *)piece);
        return NULL;
    }
    set_field(&piece->label, args[3]);
    if (made->is_plain) {
        made->address = ((Lease *)piece->held)->address;
        made->room = ((Lease *)piece->held)->nbytes;
    }
    made->allocation = (PyObject *)piece;
    made->piece = piece;
    return (PyObject *)made;
}

static PyMethodDef Blocks_methods[] = {
    METHOD("lease", Blocks_lease, METH_FASTCALL), METHOD("piece", Blocks_piece, METH_FASTCALL),
    METHOD("trim", Blocks_trim, METH_NOARGS),
    METHOD("_sums", Blocks_sums, METH_NOARGS), {0}};
static PyType_Slot Blocks_slots[] = {
    COLLECTED(Blocks), {Py_tp_init, Blocks_init}, {Py_tp_methods, Blocks_methods}, {0, NULL}};
static PyType_Spec Blocks_spec = {
    "psyclone_storage.storage.core._compiled.Blocks", sizeof(Blocks), 0, FLAGS, Blocks_slots};

/* -- Hold: one more in a list of those who want memory to stay in place ---------------------------- */

typedef struct {
    PyObject_HEAD
    PyObject *pins;
} Hold;

static int Hold_traverse(PyObject *self, visitproc visit, void *arg)
{
    return visit_fields(self, 1, visit, arg);
}

static int hold_release(Hold *self)
{
    PyObject *pins = self->pins;
    self->pins = NULL;
    Py_ssize_t last = pins == NULL ? -1 : PyList_Size(pins) - 1;
    int done = last < 0 ? 0 : PyList_SetSlice(pins, last, last + 1, NULL);
    Py_XDECREF(pins);
    return done;
}

static int Hold_clear(PyObject *self)
{
    if (hold_release((Hold *)self) < 0)
        PyErr_Clear();
    return 0;
}

static void Hold_dealloc(PyObject *self)
{
    PyObject *kind, *value, *trace;
    PyErr_Fetch(&kind, &value, &trace);
    PyObject_GC_UnTrack(self);
    Hold_clear(self);
    PyErr_Restore(kind, value, trace);
    free_record(self, 1);
}

static int Hold_init(Hold *self, PyObject *args, PyObject *keywords)
{
    (void)keywords;
    PyObject *pins;
    if (!PyArg_ParseTuple(args, "O!", &PyList_Type, &pins) || PyList_Append(pins, Py_None) < 0)
        return -1;
    set_field(&self->pins, pins);
    return 0;
}

/* Return what keeps the memory of a buffer in place. */
static PyObject *new_pin(PyObject *buffer)
{
    PyObject *pins = PyObject_GetAttr(buffer, names.pins);
    if (pins == NULL)
        return NULL;
    PyObject *pin = NULL;
    if (!PyList_Check(pins))
        PyErr_SetString(PyExc_TypeError, "The pins of a buffer are a list.");
    else if ((pin = PyType_GenericAlloc((PyTypeObject *)words.pin, 0)) != NULL) {
        if (PyList_Append(pins, Py_None) < 0)
            Py_CLEAR(pin);
        else
            ((Hold *)pin)->pins = Py_NewRef(pins);
    }
    Py_DECREF(pins);
    return pin;
}

static PyObject *Hold_release(Hold *self, PyObject *unused)
{
    (void)unused;
    if (hold_release(self) < 0)
        return NULL;
    Py_RETURN_NONE;
}

static PyMethodDef Hold_methods[] = {METHOD("release", Hold_release, METH_NOARGS), {0}};
static PyType_Slot Hold_slots[] = {
    COLLECTED(Hold), {Py_tp_init, Hold_init}, {Py_tp_methods, Hold_methods}, {0, NULL}};
static PyType_Spec Hold_spec = {
    "psyclone_storage.storage.core._compiled.Hold", sizeof(Hold), 0, FLAGS, Hold_slots};

/* setting(name, default): what the environment says now. */
static PyObject *module_setting(PyObject *module, PyObject *args)
{
    (void)module;
    const char *name, *found;
    PyObject *otherwise;
    if (!PyArg_ParseTuple(args, "sO", &name, &otherwise))
        return NULL;
    found = getenv(name);
    return found == NULL ? Py_NewRef(otherwise) : PyUnicode_DecodeFSDefault(found);
}
