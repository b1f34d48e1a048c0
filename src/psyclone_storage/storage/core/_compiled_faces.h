/* What buffers and storages have of it: see _compiled.c. */
/* -- Acquirable ---------------------------------------------------------------------------------- */

typedef struct {
    PyObject_HEAD
    PyObject *table, *resident, *whole, *stats;
    long long version;
    char single, has_wishes;
} Acquirable;
RECORD(Acquirable, 4)

static inline Py_ALWAYS_INLINE Ledger *ledger_of(Acquirable *buffer)
{
    PyObject *table = buffer->table;
    return IS(table, Ledger) ? (Ledger *)table : NULL;
}

/* Return the replica that serves `space`, borrowed; NULL where there is none, or with an error. */
static PyObject *replica_at(Acquirable *buffer, PyObject *space)
{
    PyObject *resident = buffer->resident;
    if (resident == NULL || !PyDict_Check(resident))
        return NULL;
    PyObject *found = PyDict_GetItemWithError(resident, space);
    return IS(found, Replica) ? found : NULL;
}

/* Put arguments, by position and by name, where `names` says; -1 with an error. */
static int sort_arguments(PyObject **found, const char *const *known, PyObject *const *args,
                          Py_ssize_t count, PyObject *keywords)
{
    Py_ssize_t room = 0, named = keywords == NULL ? 0 : PyTuple_Size(keywords);
    while (known[room] != NULL)
        room++;
    if (count > room) {
        PyErr_Format(PyExc_TypeError, "There are %zd arguments, but at most %zd.", count, room);
        return -1;
    }
    for (Py_ssize_t i = 0; i < count; i++)
        found[i] = args[i];
    for (Py_ssize_t i = 0; i < named; i++) {
        PyObject *name = PyTuple_GetItem(keywords, i);
        Py_ssize_t at = 0;
        while (at < room && PyUnicode_CompareWithASCIIString(name, known[at]))
            at++;
        if (at == room || found[at] != NULL) {
            PyErr_Format(PyExc_TypeError, "There is no argument %R, or two of them.", name);
            return -1;
        }
        found[at] = args[count + i];
    }
    return 0;
}

static PyObject *Acquirable_acquire(Acquirable *self, PyObject *const *args, Py_ssize_t count,
                                    PyObject *keywords)
{
    static const char *const known[] = {"space", "mode", "policy", "request", NULL};
    PyObject *given[4] = {NULL, NULL, NULL, NULL};
    if (sort_arguments(given, known, args, count, keywords) < 0)
        return NULL;
    PyObject *space = given[0] != NULL ? given[0] : Py_None;
    PyObject *mode = is_given(given[1]) ? given[1] : words.read;
    PyObject *policy = is_given(given[2]) ? given[2] : words.auto_;
    PyObject *request = given[3] != NULL ? given[3] : Py_None;
    PyObject *asked = space == Py_None && words.host != NULL ? words.host : space;
    PyObject *replica = request == Py_None ? replica_at(self, asked) : NULL;
    if (replica == NULL && PyErr_Occurred())
        return NULL;
    if (replica != NULL && asked != Py_None) {
        Access *token =
            access_new((PyObject *)self, replica, asked, self->whole, mode, policy);
        PyObject *known = NULL;
        Ledger *ledger = ledger_of(self);
        int begun = token == NULL ? -1 : ledger == NULL ? 0 : ledger_begin(ledger, token, &known);
        if (begun > 0)
            return (PyObject *)token;
        Py_XDECREF((PyObject *)token);
        if (begun < 0)
            return NULL;
    }
    return PyObject_CallMethodObjArgs((PyObject *)self, names.acquire_carefully, space, mode,
                                      policy, request, NULL);
}

/* End an access the short way: yes (1), no (0), or with an error (-1). */
static inline Py_ALWAYS_INLINE int acquirable_end(Acquirable *self, Access *token, PyObject **known)
{
    Ledger *ledger = ledger_of(self);
    int writes = access_writes(token);
    if (writes < 0)
        return -1;
    int ended = self->has_wishes || ledger == NULL ? 0 : ledger_end(ledger, token, known);
    if (ended > 0)
        self->version += writes;
    return ended;
}

static PyObject *buffer_release(PyObject *buffer, Access *token, PyObject *error)
{
    if (!IS(buffer, Acquirable))
        return PyObject_CallMethodObjArgs(buffer, names.release, token, error, NULL);
    if (error == Py_None) {
        PyObject *known = NULL;
        int ended = acquirable_end((Acquirable *)buffer, token, &known);
        if (ended < 0)
            return NULL;
        if (ended)
            Py_RETURN_NONE;
    }
    return PyObject_CallMethodObjArgs(buffer, names.release_carefully, token, error, NULL);
}

static PyObject *Acquirable_release(Acquirable *self, PyObject *const *args, Py_ssize_t count,
                                    PyObject *keywords)
{
    static const char *const known[] = {"token", "error", NULL};
    PyObject *given[2] = {NULL, NULL};
    if (sort_arguments(given, known, args, count, keywords) < 0)
        return NULL;
    Access *token = as_access(given[0] != NULL ? given[0] : Py_None);
    if (token == NULL)
        return NULL;
    return buffer_release((PyObject *)self, token, given[1] != NULL ? given[1] : Py_None);
}

static PyObject *Acquirable_is_at_rest(Acquirable *self, PyObject *space)
{
    PyObject *replica = replica_at(self, space);
    Ledger *ledger = ledger_of(self);
    if (replica == NULL && PyErr_Occurred())
        return NULL;
    if (replica == NULL || ledger == NULL || ledger->attention || ledger->writers ||
        has_failed((Replica *)replica))
        Py_RETURN_FALSE;
    return PyBool_FromLong((ledger->everywhere.low & ((Replica *)replica)->bit.low) != 0);
}

/* Bring the values to a replica the short way: yes (1), no (0), or with an error (-1). */
static int acquirable_move(Acquirable *self, Ledger *ledger, Replica *target)
{
    Mask from = ledger->everywhere.low;
    PyObject *space, *thing;
    Replica *source = NULL;
    Py_ssize_t at = 0;
    if (ledger->everywhere.wide != NULL || ledger->anywhere.low != from || !from ||
        (from & (from - 1)))
        return 0;
    while (source == NULL && PyDict_Next(self->resident, &at, &space, &thing))
        if (IS(thing, Replica) && ((Replica *)thing)->bit.low == from)
            source = (Replica *)thing;
    if (source == NULL || !move_is_short(ledger, source, target))
        return 0;
    int settled = is_settled(source->allocation, 0);
    if (settled > 0)
        settled = is_settled(target->allocation, 1);
    /* Those questions may have let others in. */
    if (settled <= 0 || is_busy(ledger) || ledger->everywhere.low != from ||
        !move_is_short(ledger, source, target))
        return settled < 0 ? -1 : 0;
    return move_now(self->stats, ledger, source, target);
}

/* make_valid(space=None, region=None) */
static PyObject *Acquirable_make_valid(Acquirable *self, PyObject *const *args, Py_ssize_t count,
                                       PyObject *keywords)
{
    static const char *const known[] = {"space", "region", NULL};
    PyObject *given[2] = {NULL, NULL};
    if (sort_arguments(given, known, args, count, keywords) < 0)
        return NULL;
    PyObject *space = given[0] != NULL ? given[0] : Py_None;
    PyObject *region = given[1] != NULL ? given[1] : Py_None;
    PyObject *replica = region == Py_None ? replica_at(self, space) : NULL;
    if (replica == NULL && PyErr_Occurred())
        return NULL;
    Ledger *ledger = ledger_of(self);
    if (replica != NULL && ledger != NULL && self->single && !self->has_wishes &&
        !is_busy(ledger) && !ledger->writers && !ledger->attention &&
        (ledger->queue == Py_None || has_queue(ledger) == 0)) {
        int there = (ledger->everywhere.low & ((Replica *)replica)->bit.low) != 0;
        if (there && !has_failed((Replica *)replica))
            Py_RETURN_NONE;
        Py_INCREF(replica);
        int moved = there ? 0 : acquirable_move(self, ledger, (Replica *)replica);
        Py_DECREF(replica);
        if (moved < 0)
            return NULL;
        if (moved)
            Py_RETURN_NONE;
    }
    return PyObject_CallMethodObjArgs((PyObject *)self, names.bring_carefully, space, region, NULL);
}

/* _take(table, stats, resident, chunks, wishes): begin with these, and with no write. */
static PyObject *Acquirable_take(Acquirable *self, PyObject *const *args, Py_ssize_t count)
{
    if (count != 5) {
        PyErr_SetString(PyExc_TypeError, "_take() has five arguments.");
        return NULL;
    }
    Py_ssize_t chunks = PyLong_AsSsize_t(args[3]);
    int wishes = chunks < 0 ? -1 : PyObject_IsTrue(args[4]);
    PyObject *whole = wishes < 0 ? NULL : Py_BuildValue("(iO)", 0, args[3]);
    if (whole == NULL) {
        if (!PyErr_Occurred())
            PyErr_SetString(PyExc_ValueError, "There are no chunks.");
        return NULL;
    }
    set_field(&self->table, args[0]);
    set_field(&self->stats, args[1]);
    set_field(&self->resident, args[2]);
    give_field(&self->whole, whole);
    self->version = 0;
    self->single = chunks == 1;
    self->has_wishes = (char)wishes;
    Py_RETURN_NONE;
}

static PyMemberDef Acquirable_members[] = {
    OBJECT(Acquirable, table), OBJECT(Acquirable, stats), HIDDEN(Acquirable, resident), HIDDEN(Acquirable, whole),
    {"version", T_LONGLONG, offsetof(Acquirable, version), 0, NULL},
    {"single", T_BOOL, offsetof(Acquirable, single), 0, NULL},
    {"_has_wishes", T_BOOL, offsetof(Acquirable, has_wishes), 0, NULL}, NO_MORE};
static PyMethodDef Acquirable_methods[] = {
    METHOD("acquire", Acquirable_acquire, METH_FASTCALL | METH_KEYWORDS),
    METHOD("release", Acquirable_release, METH_FASTCALL | METH_KEYWORDS),
    METHOD("make_valid", Acquirable_make_valid, METH_FASTCALL | METH_KEYWORDS),
    METHOD("is_at_rest", Acquirable_is_at_rest, METH_O),
    METHOD("_take", Acquirable_take, METH_FASTCALL), {0}};
static PyType_Slot Acquirable_slots[] = {
    COLLECTED(Acquirable), {Py_tp_members, Acquirable_members},
    {Py_tp_methods, Acquirable_methods}, {0, NULL}};
static PyType_Spec Acquirable_spec = {
    "psyclone_storage.storage.core._compiled.Acquirable", sizeof(Acquirable), 0, FLAGS,
    Acquirable_slots};

/* Undo `ledger_begin` for an access that nobody has seen yet. */
static void unbegin(Access *token)
{
    Ledger *ledger = ledger_of((Acquirable *)token->buffer);
    PyObject *kind, *value, *trace;
    PyErr_Fetch(&kind, &value, &trace);
    int writes = access_writes(token);
    if (ledger != NULL && writes >= 0)
        ledger_strike(ledger, token, writes);
    PyErr_Restore(kind, value, trace);
}

/* begin(tokens): all of them, or none. */
static PyObject *module_begin(PyObject *module, PyObject *tokens)
{
    (void)module;
    PyObject *items = PySequence_Tuple(tokens);
    if (items == NULL)
        return NULL;
    Py_ssize_t count = PyTuple_Size(items), done = 0;
    PyObject *known = NULL;
    int begun = 1;
    for (; done < count && begun > 0; done++) {
        PyObject *thing = PyTuple_GetItem(items, done);
        Access *token = as_access(thing);
        Ledger *ledger = NULL;
        if (token != NULL && IS(token->buffer, Acquirable))
            ledger = ledger_of((Acquirable *)token->buffer);
        begun = token == NULL ? -1 : ledger == NULL ? 0 : ledger_begin(ledger, token, &known);
    }
    if (begun <= 0)
        for (done--; done-- > 0;)
            unbegin((Access *)PyTuple_GetItem(items, done));
    Py_DECREF(items);
    return answered(begun);
}

/* -- Windows and Sides --------------------------------------------------------------------------- */

/* `spare` keeps the accesses of the last blocks that bound the storage, one of each kind, which are
 * over: the next block takes them instead of new ones. */
typedef struct {
    PyObject_HEAD
    PyObject *host, *reading, *device, *kernel, *later, *interface, *spare[4];
} Windows;
RECORD(Windows, 10)

static int Windows_init(Windows *self, PyObject *args, PyObject *keywords)
{
    (void)args, (void)keywords;
    for (int i = 0; i < 6; i++)
        set_field(FIELDS(self) + i, Py_None);
    return 0;
}

static PyMemberDef Windows_members[] = {
    OBJECT(Windows, host), OBJECT(Windows, reading), OBJECT(Windows, device),
    OBJECT(Windows, kernel), OBJECT(Windows, later), OBJECT(Windows, interface), NO_MORE};
static PyType_Slot Windows_slots[] = {
    COLLECTED(Windows), {Py_tp_init, Windows_init}, {Py_tp_members, Windows_members}, {0, NULL}};
static PyType_Spec Windows_spec = {
    "psyclone_storage.storage.core._compiled.Windows", sizeof(Windows), 0, FLAGS, Windows_slots};

typedef struct {
    PyObject_HEAD
    PyObject *buffer, *host, *device, *label, *origin, *points, *sync_state, *pin;
    char strict;
} Sides;
RECORD(Sides, 8)

/* The number of points that no storage has. */
static PyObject *no_points(void)
{
    static PyObject *unknown;
    if (unknown == NULL)
        unknown = PyLong_FromLong(-1);
    return unknown;
}

static int Sides_init(Sides *self, PyObject *args, PyObject *keywords)
{
    static char *known[] = {"host", "device", "strict", "label", NULL};
    static PyObject *first;
    PyObject *host, *device, *label = names.nothing;
    int strict = 0;
    if (keywords == NULL && PyTuple_Size(args) == 4 && PyBool_Check(PyTuple_GetItem(args, 2))) {
        host = PyTuple_GetItem(args, 0);
        device = PyTuple_GetItem(args, 1);
        strict = PyTuple_GetItem(args, 2) == Py_True;
        label = PyTuple_GetItem(args, 3);
    } else if (!PyArg_ParseTupleAndKeywords(args, keywords, "OO|pO", known, &host, &device,
                                            &strict, &label))
        return -1;
    if (first == NULL)
        first = PyLong_FromLong(0);
    if (no_points() == NULL)
        return -1;
    set_field(&self->buffer, Py_None);
    set_field(&self->host, host);
    set_field(&self->device, device);
    set_field(&self->label, label);
    set_field(&self->origin, first);
    set_field(&self->points, no_points());
    set_field(&self->sync_state, Py_None);
    set_field(&self->pin, Py_None);
    self->strict = (char)strict;
    return 0;
}

static PyObject *new_pin(PyObject *buffer);

/* attach(buffer, origin, points=-1): use a buffer, whose memory stays in place as long as this object
 * lives. Whoever sees a buffer takes the rest for granted: it comes last. */
static PyObject *Sides_attach(Sides *self, PyObject *const *args, Py_ssize_t count,
                              PyObject *keywords)
{
    static const char *const known[] = {"buffer", "origin", "points", NULL};
    PyObject *given[3] = {NULL, NULL, NULL};
    if (sort_arguments(given, known, args, count, keywords) < 0)
        return NULL;
    if (given[0] == NULL || given[1] == NULL) {
        PyErr_SetString(PyExc_TypeError, "attach() takes a buffer and its origin.");
        return NULL;
    }
    PyObject *pin = new_pin(given[0]);
    if (pin == NULL)
        return NULL;
    set_field(&self->origin, given[1]);
    set_field(&self->points, given[2] == NULL ? no_points() : given[2]);
    give_field(&self->pin, pin);
    set_field(&self->buffer, given[0]);
    Py_RETURN_NONE;
}

static PyMethodDef Sides_methods[] = {
    METHOD("attach", Sides_attach, METH_FASTCALL | METH_KEYWORDS), {0}};
static PyMemberDef Sides_members[] = {
    OBJECT(Sides, buffer), OBJECT(Sides, host), OBJECT(Sides, device), OBJECT(Sides, label),
    OBJECT(Sides, origin), OBJECT(Sides, points), HIDDEN(Sides, sync_state), HIDDEN(Sides, pin),
    {"strict", T_BOOL, offsetof(Sides, strict), 0, NULL}, NO_MORE};
static PyType_Slot Sides_slots[] = {
    COLLECTED(Sides), {Py_tp_init, Sides_init}, {Py_tp_members, Sides_members},
    {Py_tp_methods, Sides_methods}, {0, NULL}};
static PyType_Spec Sides_spec = {
    "psyclone_storage.storage.core._compiled.Sides", sizeof(Sides), 0, FLAGS, Sides_slots};

/* -- Sliceable ----------------------------------------------------------------------------------- */

typedef struct {
    PyObject_HEAD
    PyObject *array, *labels, *backing, *windows;
} Sliceable;
RECORD(Sliceable, 4)

static int Sliceable_init(Sliceable *self, PyObject *args, PyObject *keywords)
{
    static char *known[] = {"array", "labels", "backing", NULL};
    PyObject *array, *labels, *backing;
    if (keywords == NULL && PyTuple_Size(args) == 3) {
        array = PyTuple_GetItem(args, 0);
        labels = PyTuple_GetItem(args, 1);
        backing = PyTuple_GetItem(args, 2);
    } else if (!PyArg_ParseTupleAndKeywords(args, keywords, "OOO", known, &array, &labels, &backing))
        return -1;
    set_field(&self->array, array);
    set_field(&self->labels, labels);
    set_field(&self->backing, backing);
    set_field(&self->windows, Py_None);
    return 0;
}

/* Return the storage that `picked`, the array of `key`, describes. */
static PyObject *sliceable_view(Sliceable *self, PyObject *picked, PyObject *key)
{
    PyObject *backing = is_given(self->backing)
                            ? Py_NewRef(self->backing)
                            : PyObject_CallMethodObjArgs((PyObject *)self, names.backing, NULL);
    PyObject *labels = PyTuple_Pack(3, self->labels, key, self->array);
    Sliceable *view = NULL;
    if (backing != NULL && labels != NULL)
        view = (Sliceable *)PyType_GenericAlloc(Py_TYPE((PyObject *)self), 0);
    if (view == NULL) {
        Py_XDECREF(backing);
        Py_XDECREF(labels);
        return NULL;
    }
    view->array = Py_NewRef(picked);
    view->labels = labels;
    view->backing = backing;
    view->windows = Py_NewRef(Py_None);
    return (PyObject *)view;
}

static PyObject *Sliceable_view(Sliceable *self, PyObject *const *args, Py_ssize_t count)
{
    if (count != 2 || self->array == NULL || self->labels == NULL) {
        PyErr_SetString(PyExc_TypeError, "_view() takes an array and its key.");
        return NULL;
    }
    return sliceable_view(self, args[0], args[1]);
}

/* Return the array of a storage that is one of the host, without a buffer. */
static PyObject *Sliceable_get_shown(Sliceable *self, void *unused)
{
    (void)unused;
    int plain = self->array != NULL && !is_given(self->backing);
    return plain ? PyObject_CallMethodObjArgs(self->array, names.view, NULL)
                 : PyObject_CallMethodObjArgs((PyObject *)self, names.to_numpy, NULL);
}

/* Return what the labels say; those of a view are made when they are first asked for. */
static PyObject *said_by_labels(Sliceable *self, PyObject *name)
{
    PyObject *labels = self->labels != NULL && !PyTuple_CheckExact(self->labels)
                           ? Py_NewRef(self->labels)
                           : PyObject_GetAttr((PyObject *)self, names.labels);
    PyObject *said = labels == NULL ? NULL : PyObject_GetAttr(labels, name);
    Py_XDECREF(labels);
    return said;
}

static PyObject *Sliceable_get_origin(Sliceable *self, void *unused)
{
    (void)unused;
    return said_by_labels(self, names.origin);
}

static PyObject *Sliceable_get_dims(Sliceable *self, void *unused)
{
    (void)unused;
    return said_by_labels(self, names.dims);
}

/* What a key is, as far as is seen at once. */
enum { OTHER, NUMBER, NUMBERS, SLICES };

static int kind_of_key(PyObject *key)
{
    if (!PyTuple_CheckExact(key))
        return Py_TYPE(key) == &PySlice_Type  ? SLICES
               : Py_TYPE(key) == &PyLong_Type ? NUMBER
                                              : OTHER;
    int kind = NUMBERS;
    for (Py_ssize_t i = 0, count = PyTuple_Size(key); i < count; i++) {
        PyTypeObject *type = Py_TYPE(PyTuple_GetItem(key, i));
        if (type == &PySlice_Type)
            kind = SLICES;
        else if (type != &PyLong_Type)
            return OTHER;
    }
    return kind;
}

static int is_array(PyObject *thing) { return (PyObject *)Py_TYPE(thing) == words.array; }

static PyObject *pick_carefully(Sliceable *self, PyObject *key)
{
    return PyObject_CallMethodObjArgs((PyObject *)self, names.picked, key, NULL);
}

/* Return one element of the host side, if that is at rest and has been looked at before. */
static PyObject *pick_element(Sliceable *self, Sides *sides, PyObject *key)
{
    PyObject *host = IS(self->windows, Windows) ? ((Windows *)self->windows)->host : NULL;
    if (is_given(host) && is_given(sides->host)) {
        PyObject *rest = Acquirable_is_at_rest((Acquirable *)sides->buffer, sides->host);
        if (rest == NULL)
            return NULL;
        Py_DECREF(rest);
        if (rest == Py_True) {
            Py_INCREF(host);
            PyObject *found = PyObject_GetItem(host, key);
            Py_DECREF(host);
            if (found != NULL && !is_array(found))
                return found;
            if (found == NULL && !PyErr_ExceptionMatches(PyExc_IndexError))
                return NULL;
            PyErr_Clear();
            Py_XDECREF(found);
        }
    }
    return pick_carefully(self, key);
}

static PyObject *Sliceable_subscript(Sliceable *self, PyObject *key)
{
    if (self->array == NULL || self->labels == NULL) {
        PyErr_SetString(PyExc_AttributeError, "_array");
        return NULL;
    }
    int kind = kind_of_key(key);
    if (kind == OTHER || (is_given(self->backing) && !IS(self->backing, Sides)))
        return pick_carefully(self, key);
    if (is_given(self->backing)) {
        Sides *sides = (Sides *)self->backing;
        if (is_given(sides->buffer)) {
            if (kind == NUMBERS && IS(sides->buffer, Acquirable))
                return pick_element(self, sides, key);
            if (kind != SLICES)
                return pick_carefully(self, key);
        }
    }
    PyObject *array = Py_NewRef(self->array);
    PyObject *picked = PyObject_GetItem(array, key), *found = NULL;
    if (picked != NULL)
        found = is_array(picked) ? sliceable_view(self, picked, key) : Py_NewRef(picked);
    Py_DECREF(array);
    Py_XDECREF(picked);
    if (picked == NULL) {
        if (!PyErr_ExceptionMatches(PyExc_IndexError) &&
            !PyErr_ExceptionMatches(PyExc_TypeError) && !PyErr_ExceptionMatches(PyExc_ValueError))
            return NULL;
        PyErr_Clear();
        return pick_carefully(self, key);
    }
    return found;
}

static PyMemberDef Sliceable_members[] = {
    HIDDEN(Sliceable, array), HIDDEN(Sliceable, labels), HIDDEN(Sliceable, backing),
    HIDDEN(Sliceable, windows), NO_MORE};
static PyGetSetDef Sliceable_getset[] = {
    {"_shown", (getter)Sliceable_get_shown, NULL, "The array, as today's GT4Py looks for it.", NULL},
    {"__gt_origin__", (getter)Sliceable_get_origin, NULL,
     "The first point behind the halo, as today's GT4Py asks for it; None without one.", NULL},
    {"__gt_dims__", (getter)Sliceable_get_dims, NULL,
     "The names of the dimensions, None for those of the stencil's argument.", NULL},
    NO_MORE};
static PyObject *Sliceable_access(PyObject *self, PyObject *const *args, Py_ssize_t count,
                                  PyObject *keywords);

static PyMethodDef Sliceable_methods[] = {
    METHOD("_view", Sliceable_view, METH_FASTCALL),
    {"access", (PyCFunction)(void (*)(void))Sliceable_access, METH_FASTCALL | METH_KEYWORDS,
     "access($self, device=None, mode='r', region=Ellipsis)\n--\n\n"
     "Return a context manager that yields the array of one side and locks the data."}, {0}};
static PyType_Slot Sliceable_slots[] = {
    COLLECTED(Sliceable), {Py_tp_init, Sliceable_init}, {Py_tp_members, Sliceable_members},
    {Py_tp_getset, Sliceable_getset}, {Py_tp_methods, Sliceable_methods},
    {Py_mp_subscript, Sliceable_subscript}, {0, NULL}};
static PyType_Spec Sliceable_spec = {
    "psyclone_storage.storage.core._compiled.Sliceable", sizeof(Sliceable), 0, FLAGS,
    Sliceable_slots};
