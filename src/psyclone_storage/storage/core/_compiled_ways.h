/* The ways in and out of a block, __enter__ and __exit__: see _compiled.c.
 *
 * They are methods that come from a store when they are bound, as most of the time of a block that
 * is entered again goes into making two of them; those in the store keep their type. Each is called as a vector, which the interpreter
 * of 3.11 does for types outside of it as well, though its stable ABI names that from 3.12 on. */
#define CALLED_AS_VECTOR (1UL << 11)

typedef PyObject *(*vector_call)(PyObject *, PyObject *const *, size_t, PyObject *);

/* `block` is NULL for the method of the class, which finds it before the other arguments. */
typedef struct {
    PyObject_HEAD
    PyObject *block;
    vector_call call;
    char leaves;
} Way;

static PyTypeObject *WayType;
enum { SPARE_WAYS = 4 };
static PyObject *spare_ways[SPARE_WAYS];
static int spare_way_count;

static int Way_traverse(PyObject *self, visitproc visit, void *arg)
{
    return visit_fields(self, 1, visit, arg);
}

static int Way_clear(PyObject *self) { return clear_fields(self, 1); }

static void Way_dealloc(PyObject *self)
{
    PyObject_GC_UnTrack(self);
    clear_fields(self, 1);
    if (spare_way_count < SPARE_WAYS) {
        spare_ways[spare_way_count++] = self;
        return;
    }
    PyTypeObject *type = Py_TYPE(self);
    PyObject_GC_Del(self);
    Py_DECREF(type);
}

static PyObject *way_called(PyObject *object, PyObject *const *args, size_t flagged,
                            PyObject *keywords)
{
    Way *self = (Way *)object;
    Py_ssize_t count = (Py_ssize_t)(flagged & ~((size_t)1 << (8 * sizeof(size_t) - 1)));
    PyObject *block = self->block;
    if (block == NULL && count > 0 && PyObject_TypeCheck(args[0], BlockType)) {
        block = *args++;
        count--;
    }
    if (block == NULL || count != (self->leaves ? 3 : 0) ||
        (keywords != NULL && PyTuple_Size(keywords))) {
        PyErr_Format(PyExc_TypeError, "__%s__() of a block takes %d argument(s).",
                     self->leaves ? "exit" : "enter", self->leaves ? 3 : 0);
        return NULL;
    }
    return self->leaves ? Block_exit((Block *)block, args) : Block_enter((Block *)block);
}

/* What calls with a tuple. */
static PyObject *Way_call(PyObject *self, PyObject *args, PyObject *keywords)
{
    PyObject *given[4];
    Py_ssize_t count = PyTuple_Size(args);
    for (Py_ssize_t i = 0; i < count && i < 4; i++)
        given[i] = PyTuple_GetItem(args, i);
    if (keywords != NULL && PyDict_Size(keywords))
        count = 5; /* which no way takes */
    return way_called(self, given, count > 4 ? 5 : (size_t)count, NULL);
}

static Way *way_new(PyObject *block, int leaves)
{
    PyObject *self;
    if (spare_way_count) {
        self = spare_ways[--spare_way_count];
        Py_SET_REFCNT(self, 1);
        PyObject_GC_Track(self);
    } else if ((self = PyType_GenericAlloc(WayType, 0)) == NULL)
        return NULL;
    ((Way *)self)->block = Py_XNewRef(block);
    ((Way *)self)->call = way_called;
    ((Way *)self)->leaves = (char)leaves;
    return (Way *)self;
}

static PyObject *Way_bound(PyObject *self, PyObject *block, PyObject *type)
{
    (void)type;
    if (block == NULL || block == Py_None || ((Way *)self)->block != NULL)
        return Py_NewRef(self);
    return (PyObject *)way_new(block, ((Way *)self)->leaves);
}

static PyMemberDef Way_members[] = {
    {"__self__", T_OBJECT, offsetof(Way, block), READONLY, NULL},
    {"__vectorcalloffset__", T_PYSSIZET, offsetof(Way, call), READONLY, NULL}, NO_MORE};
static PyType_Slot Way_slots[] = {
    COLLECTED(Way), {Py_tp_call, Way_call}, {Py_tp_descr_get, Way_bound},
    {Py_tp_members, Way_members}, {0, NULL}};
static PyType_Spec Way_spec = {
    "psyclone_storage.storage.core._compiled.Way", sizeof(Way), 0,
    Py_TPFLAGS_DEFAULT | Py_TPFLAGS_HAVE_GC | CALLED_AS_VECTOR, Way_slots};

/* Give blocks their ways; -1 with an error. */
static int open_ways(void)
{
    WayType = (PyTypeObject *)PyType_FromSpec(&Way_spec);
    for (int leaves = 0; leaves < 2; leaves++) {
        PyObject *way = WayType == NULL ? NULL : (PyObject *)way_new(NULL, leaves);
        int set = way == NULL ? -1
                              : PyObject_SetAttrString((PyObject *)BlockType,
                                                       leaves ? "__exit__" : "__enter__", way);
        Py_XDECREF(way);
        if (set < 0)
            return -1;
    }
    return 0;
}
