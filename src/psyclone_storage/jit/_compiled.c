/* What an invoke was given when it last ran, compared with what it is given now: what twin.py
 * (`LastCall`) says, in C. Read that first.
 *
 * It compares and decides nothing of its own: whatever is not the same, to the very object where
 * objects count, is left to the careful way. Of the values that were passed it keeps addresses alone;
 * who makes it drops it when one of them goes.
 *
 * It uses the stable ABI of Python 3.11. Nothing that is compared changes once it is made, but for
 * what is forgotten, so that threads, and what is called between, find it as it was. */
#define Py_LIMITED_API 0x030B0000
#define PY_SSIZE_T_CLEAN
#include <Python.h>
#include <structmember.h>

/* One value: its type; the object, None where any of the type will do, or the tuple of what is in a
 * sequence; and the very number that was compiled in, if any. */
typedef struct {
    PyObject *kind, *constant;
    const void *object;
    const void **parts;
    Py_ssize_t size;
} Value;

/* One look: the way to look, at what, and what was found. Where the way is `get` of a plain dictionary,
 * that is kept, too, and asked itself. */
typedef struct {
    PyObject *way, *at, *found, *dictionary;
} Look;

/* All arrays are parts of one piece of memory, which begins with the values: of what a call of an invoke
 * meets for the first time since loops have taken the caches, each piece counts. */
typedef struct {
    PyObject_HEAD
    PyObject *asked, *label, *call_kind, *holds;
    Value *values;
    Look *looks;
    PyObject **kernels;
    Py_ssize_t *lengths, *order, *equal;
    Py_ssize_t calls, count, taken, equals, looked;
} LastCall;

static PyObject *name_kernel, *name_args, *name_code, *name_instruction, *name_get, *last_call_type;

static int visit_all(LastCall *self, visitproc visit, void *arg)
{
    Py_VISIT(Py_TYPE((PyObject *)self));
    Py_VISIT(self->asked);
    Py_VISIT(self->label);
    Py_VISIT(self->call_kind);
    Py_VISIT(self->holds);
    if (self->values == NULL)
        return 0;
    for (Py_ssize_t i = 0; i < self->count; i++) {
        Py_VISIT(self->values[i].kind);
        Py_VISIT(self->values[i].constant);
    }
    for (Py_ssize_t i = 0; i < self->calls; i++)
        Py_VISIT(self->kernels[i]);
    for (Py_ssize_t i = 0; i < self->looked; i++) {
        Py_VISIT(self->looks[i].way);
        Py_VISIT(self->looks[i].at);
        Py_VISIT(self->looks[i].found);
        Py_VISIT(self->looks[i].dictionary);
    }
    return 0;
}

static int LastCall_traverse(PyObject *object, visitproc visit, void *arg)
{
    return visit_all((LastCall *)object, visit, arg);
}

static int LastCall_clear(PyObject *object)
{
    LastCall *self = (LastCall *)object;
    Value *values = self->values;
    Look *looks = self->looks;
    PyObject **kernels = self->kernels;
    Py_ssize_t count = self->count, calls = self->calls, looked = self->looked;
    self->values = NULL;
    self->count = self->calls = self->equals = self->taken = self->looked = 0;
    for (Py_ssize_t i = 0; values != NULL && i < count; i++) {
        Py_XDECREF(values[i].kind);
        Py_XDECREF(values[i].constant);
        PyMem_Free(values[i].parts);
    }
    for (Py_ssize_t i = 0; values != NULL && i < calls; i++)
        Py_XDECREF(kernels[i]);
    for (Py_ssize_t i = 0; values != NULL && i < looked; i++) {
        Py_XDECREF(looks[i].way);
        Py_XDECREF(looks[i].at);
        Py_XDECREF(looks[i].found);
        Py_XDECREF(looks[i].dictionary);
    }
    PyMem_Free(values);
    Py_CLEAR(self->asked);
    Py_CLEAR(self->label);
    Py_CLEAR(self->call_kind);
    Py_CLEAR(self->holds);
    return 0;
}

static void LastCall_dealloc(PyObject *object)
{
    PyTypeObject *type = Py_TYPE(object);
    PyObject_GC_UnTrack(object);
    LastCall_clear(object);
    PyObject_GC_Del(object);
    Py_DECREF(type);
}

/* Fill in whole numbers out of a tuple of them, or of tuples of them; -1 with an error. */
static int fill_numbers(Py_ssize_t *made, PyObject *tuple, Py_ssize_t each)
{
    Py_ssize_t count = PyTuple_Size(tuple);
    for (Py_ssize_t i = 0; i < count * each; i++) {
        PyObject *one = PyTuple_GetItem(tuple, i / each);
        if (one != NULL && each > 1)
            one = PyTuple_GetItem(one, i % each);
        made[i] = one == NULL ? -1 : PyLong_AsSsize_t(one);
        if (PyErr_Occurred())
            return -1;
    }
    return 0;
}

/* Return a new reference to the plain dictionary whose `get` a way to look is; NULL, maybe with an
 * error, for other ways. */
static PyObject *dictionary_of(PyObject *way)
{
    if (!PyCFunction_Check(way))
        return NULL;
    PyObject *owner = PyCFunction_GetSelf(way);
    if (owner == NULL || !PyDict_CheckExact(owner))
        return NULL;
    PyObject *usual = PyObject_GetAttr(owner, name_get);
    int same = usual == NULL ? -1 : PyObject_RichCompareBool(way, usual, Py_EQ);
    Py_XDECREF(usual);
    return same > 0 ? Py_NewRef(owner) : NULL;
}

/* Take ways to look, at what, and what was found; -1 with an error. */
static int fill_looks(LastCall *self, PyObject *ways, PyObject *at, PyObject *found)
{
    for (Py_ssize_t i = 0; i < self->looked; i++) {
        Look *look = self->looks + i;
        look->way = Py_NewRef(PyTuple_GetItem(ways, i));
        look->at = Py_NewRef(PyTuple_GetItem(at, i));
        look->found = Py_NewRef(PyTuple_GetItem(found, i));
        look->dictionary = dictionary_of(look->way);
        if (look->dictionary == NULL && PyErr_Occurred())
            return -1;
    }
    return 0;
}

/* Fill in what one value has to be: `how` is None for a number, and else what counts: the object, or
 * a tuple of what is in a sequence. Return -1 with an error. */
static int fill_value(Value *value, PyObject *given, PyObject *how)
{
    value->kind = Py_NewRef((PyObject *)Py_TYPE(given));
    if (how == Py_None)
        return 0;
    if (!PyTuple_CheckExact(how)) {
        value->object = how;
        return 0;
    }
    value->size = PyTuple_Size(how);
    value->parts = PyMem_Calloc((size_t)value->size + 1, sizeof *value->parts);
    if (value->parts == NULL) {
        PyErr_NoMemory();
        return -1;
    }
    for (Py_ssize_t i = 0; i < value->size; i++)
        value->parts[i] = PyTuple_GetItem(how, i);
    return 0;
}

/* Take kernels, numbers of arguments, and values out of calls. */
static int fill_calls(LastCall *self, PyObject *calls, PyObject *ways)
{
    self->call_kind = Py_NewRef((PyObject *)Py_TYPE(PyTuple_GetItem(calls, 0)));
    Py_ssize_t done = 0;
    for (Py_ssize_t i = 0; i < self->calls; i++) {
        PyObject *call = PyTuple_GetItem(calls, i);
        PyObject *kernel = PyObject_GetAttr(call, name_kernel);
        if (kernel == NULL)
            return -1;
        self->kernels[i] = kernel;
        PyObject *args = PyObject_GetAttr(call, name_args);
        Py_ssize_t size = args == NULL ? -1 : PyTuple_Size(args);
        int failed = size < 0 || done + size > self->count ||
                     (PyObject *)Py_TYPE(call) != self->call_kind;
        for (Py_ssize_t k = 0; !failed && k < size; k++, done++)
            failed = fill_value(self->values + done, PyTuple_GetItem(args, k),
                                PyTuple_GetItem(ways, done)) < 0;
        self->lengths[i] = size;
        Py_XDECREF(args);
        if (failed) {
            if (!PyErr_Occurred())
                PyErr_SetString(PyExc_ValueError, "The calls are not those of the values.");
            return -1;
        }
    }
    if (done == self->count)
        return 0;
    PyErr_SetString(PyExc_ValueError, "The calls are not those of the values.");
    return -1;
}

static int are_within(const Py_ssize_t *numbers, Py_ssize_t size, Py_ssize_t count)
{
    for (Py_ssize_t i = 0; i < size; i++)
        if (numbers[i] < 0 || numbers[i] >= count) {
            PyErr_SetString(PyExc_IndexError, "There is no such value.");
            return 0;
        }
    return 1;
}

/* Make room for all arrays, which are empty; -1 with an error. */
static int make_room(LastCall *self)
{
    size_t values = (size_t)self->count * sizeof(Value), looks = (size_t)self->looked * sizeof(Look);
    size_t words = (size_t)(2 * self->calls + self->taken + 2 * self->equals);
    self->values = PyMem_Calloc(1, values + looks + words * sizeof(Py_ssize_t) + 1);
    if (self->values == NULL) {
        PyErr_NoMemory();
        return -1;
    }
    self->looks = (Look *)(self->values + self->count);
    self->kernels = (PyObject **)(self->looks + self->looked);
    self->lengths = (Py_ssize_t *)(self->kernels + self->calls);
    self->order = self->lengths + self->calls;
    self->equal = self->order + self->taken;
    return 0;
}

/* LastCall(asked, label, calls, ways, order, written, equal, holds, looks) */
static PyObject *LastCall_new(PyTypeObject *type, PyObject *args, PyObject *keywords)
{
    PyObject *asked, *label, *calls, *ways, *order, *written, *equal, *holds, *look, *at, *found;
    if (keywords != NULL && PyDict_Size(keywords)) {
        PyErr_SetString(PyExc_TypeError, "LastCall() takes no keywords.");
        return NULL;
    }
    if (!PyArg_ParseTuple(args, "OUO!O!O!O!O!O(O!O!O!)", &asked, &label, &PyTuple_Type, &calls,
                          &PyTuple_Type, &ways, &PyTuple_Type, &order, &PyTuple_Type, &written,
                          &PyTuple_Type, &equal, &holds, &PyTuple_Type, &look, &PyTuple_Type, &at,
                          &PyTuple_Type, &found))
        return NULL;
    if (PyTuple_Size(calls) == 0 || PyTuple_Size(at) != PyTuple_Size(look) ||
        PyTuple_Size(found) != PyTuple_Size(look)) {
        PyErr_SetString(PyExc_ValueError, "Nothing is called, or what was looked at is not told.");
        return NULL;
    }
    LastCall *self = (LastCall *)PyType_GenericAlloc(type, 0);
    if (self == NULL)
        return NULL;
    self->asked = Py_NewRef(asked);
    self->label = Py_NewRef(label);
    self->holds = Py_NewRef(holds);
    self->calls = PyTuple_Size(calls);
    self->count = PyTuple_Size(ways);
    self->taken = PyTuple_Size(order);
    self->equals = PyTuple_Size(equal);
    self->looked = PyTuple_Size(look);
    int failed = make_room(self) < 0 || fill_numbers(self->order, order, 1) < 0 ||
                 fill_numbers(self->equal, equal, 2) < 0 ||
                 fill_looks(self, look, at, found) < 0 || fill_calls(self, calls, ways) < 0 ||
                 !are_within(self->order, self->taken, self->count) ||
                 !are_within(self->equal, 2 * self->equals, self->count);
    for (Py_ssize_t i = 0; !failed && i < PyTuple_Size(written); i++) {
        PyObject *pair = PyTuple_GetItem(written, i), *value;
        Py_ssize_t place;
        failed = !PyArg_ParseTuple(pair, "nO", &place, &value) || !are_within(&place, 1, self->count);
        if (!failed && self->values[place].constant == NULL)
            self->values[place].constant = Py_NewRef(value);
    }
    if (failed) {
        Py_DECREF((PyObject *)self);
        return NULL;
    }
    return (PyObject *)self;
}

static int is_value(const Value *value, PyObject *given)
{
    if ((PyObject *)Py_TYPE(given) != value->kind)
        return 0;
    if (value->parts == NULL)
        return value->object == NULL || value->object == given;
    int listed = PyList_CheckExact(given);
    if (!listed && !PyTuple_CheckExact(given))
        return 0;
    if ((listed ? PyList_Size(given) : PyTuple_Size(given)) != value->size)
        return 0;
    for (Py_ssize_t i = 0; i < value->size; i++)
        if ((listed ? PyList_GetItem(given, i) : PyTuple_GetItem(given, i)) != value->parts[i])
            return 0;
    return 1;
}

/* Say whether calls are for the same (1) or not (0), or -1 with an error; `values` gets so many
 * references as `held` says: what is called later may take them from the calls. */
static int are_same(LastCall *self, PyObject *calls, PyObject **values, Py_ssize_t *held)
{
    for (Py_ssize_t i = 0; i < self->calls; i++) {
        PyObject *call = PyTuple_GetItem(calls, i);
        if ((PyObject *)Py_TYPE(call) != self->call_kind)
            return 0;
        PyObject *kernel = PyObject_GetAttr(call, name_kernel);
        Py_XDECREF(kernel); /* the call has it */
        if (kernel == NULL)
            return -1;
        if (kernel != self->kernels[i])
            return 0;
        PyObject *args = PyObject_GetAttr(call, name_args);
        if (args == NULL)
            return -1;
        int same = PyTuple_CheckExact(args) && PyTuple_Size(args) == self->lengths[i];
        for (Py_ssize_t k = 0; same && k < self->lengths[i]; k++) {
            PyObject *value = values[*held] = Py_NewRef(PyTuple_GetItem(args, k));
            same = is_value(self->values + (*held)++, value);
        }
        Py_DECREF(args);
        if (!same)
            return 0;
    }
    return 1;
}

/* Say whether numbers are what was compiled in, and one where they were: the very objects in most
 * programs, as they are written in one code. */
static int are_numbers(LastCall *self, PyObject **values)
{
    int same = 1;
    for (Py_ssize_t i = 0; same && i < self->count; i++)
        same = self->values[i].constant == NULL || self->values[i].constant == values[i];
    for (Py_ssize_t i = 0; same && i < self->equals; i++)
        same = values[self->equal[2 * i]] == values[self->equal[2 * i + 1]];
    if (same)
        return 1;
    PyObject *given = PyTuple_New(self->count);
    for (Py_ssize_t i = 0; given != NULL && i < self->count; i++)
        PyTuple_SetItem(given, i, Py_NewRef(values[i]));
    PyObject *answer =
        given == NULL ? NULL : PyObject_CallFunctionObjArgs(self->holds, given, NULL);
    Py_XDECREF(given);
    same = answer == NULL ? -1 : PyObject_IsTrue(answer);
    Py_XDECREF(answer);
    return same;
}

/* Say whether the same is found where kernels were looked at. */
static int is_found(LastCall *self)
{
    for (Py_ssize_t i = 0; i < self->looked; i++) {
        const Look *look = self->looks + i;
        PyObject *now;
        if (look->dictionary != NULL) {
            now = PyDict_GetItemWithError(look->dictionary, look->at);
            if (now == NULL && !PyErr_Occurred())
                now = Py_None;
        } else {
            now = PyObject_CallFunctionObjArgs(look->way, look->at, NULL);
            Py_XDECREF(now); /* only its address is compared, with what is kept */
        }
        if (now == NULL)
            return -1;
        if (now != look->found)
            return 0;
    }
    return 1;
}

static PyObject *taken_of(LastCall *self, PyObject **values)
{
    PyObject *taken = PyTuple_New(self->taken);
    for (Py_ssize_t i = 0; taken != NULL && i < self->taken; i++)
        PyTuple_SetItem(taken, i, Py_NewRef(values[self->order[i]]));
    return taken;
}

/* taken(asked, label, calls) */
static PyObject *LastCall_taken(PyObject *object, PyObject *const *args, Py_ssize_t count)
{
    LastCall *self = (LastCall *)object;
    PyObject *few[32], **values = few, *taken = NULL;
    Py_ssize_t held = 0;
    if (count != 3) {
        PyErr_SetString(PyExc_TypeError, "taken() takes what is asked for, a name, and calls.");
        return NULL;
    }
    if (args[0] != self->asked || !PyTuple_CheckExact(args[2]) ||
        PyTuple_Size(args[2]) != self->calls)
        Py_RETURN_NONE;
    if (args[1] != self->label && (!PyUnicode_Check(args[1]) || !PyUnicode_Check(self->label) ||
                                   PyUnicode_Compare(args[1], self->label)))
        Py_RETURN_NONE;
    if (self->count > 32 && (values = PyMem_Calloc((size_t)self->count, sizeof *values)) == NULL)
        return PyErr_NoMemory();
    int same = are_same(self, args[2], values, &held);
    if (same > 0)
        same = are_numbers(self, values);
    if (same > 0)
        same = is_found(self);
    if (same > 0)
        taken = taken_of(self, values);
    else if (same == 0)
        taken = Py_NewRef(Py_None);
    while (held > 0)
        Py_DECREF(values[--held]);
    if (values != few)
        PyMem_Free(values);
    return taken;
}

/* forget(): no call is for the same from now on. */
static PyObject *LastCall_forget(PyObject *object, PyObject *nothing)
{
    (void)nothing;
    Py_CLEAR(((LastCall *)object)->asked);
    Py_RETURN_NONE;
}

/* again(table, frame, asked, label, calls): what of the calls that are kept of the place is for the
 * same, and what its routine takes; else None. */
static PyObject *module_again(PyObject *module, PyObject *const *args, Py_ssize_t count)
{
    (void)module;
    if (count != 5 || !PyDict_CheckExact(args[0])) {
        PyErr_SetString(PyExc_TypeError, "again() takes a table, a frame and what is given.");
        return NULL;
    }
    PyObject *code = PyObject_GetAttr(args[1], name_code);
    PyObject *at = code == NULL ? NULL : PyObject_GetAttr(args[1], name_instruction);
    PyObject *number = at == NULL ? NULL : PyLong_FromVoidPtr(code);
    PyObject *key = number == NULL ? NULL : PyTuple_Pack(2, number, at);
    PyObject *known = key == NULL ? NULL : PyDict_GetItemWithError(args[0], key);
    Py_XINCREF(known);
    Py_XDECREF(key);
    Py_XDECREF(number);
    Py_XDECREF(at);
    Py_XDECREF(code); /* the frame has it */
    PyObject *found = NULL;
    for (Py_ssize_t i = 0; known != NULL && found == NULL && i < PyTuple_Size(known); i++) {
        PyObject *one = PyTuple_GetItem(known, i), *last = PyTuple_GetItem(one, 0);
        if (last == NULL || (PyObject *)Py_TYPE(last) != last_call_type) {
            PyErr_SetString(PyExc_TypeError, "What is kept of a place is no call.");
            break;
        }
        PyObject *taken = LastCall_taken(last, args + 2, 3);
        if (taken == NULL)
            break;
        if (taken != Py_None)
            found = PyTuple_Pack(2, one, taken);
        Py_DECREF(taken);
        if (found == NULL && PyErr_Occurred())
            break;
    }
    Py_XDECREF(known);
    if (found == NULL && !PyErr_Occurred())
        Py_RETURN_NONE;
    return found;
}

static PyMethodDef module_methods[] = {
    {"again", (PyCFunction)(void (*)(void))module_again, METH_FASTCALL,
     "Return the kept call that is for the same, with what its routine takes; None without one."},
    {0}};

static PyMethodDef LastCall_methods[] = {
    {"taken", (PyCFunction)(void (*)(void))LastCall_taken, METH_FASTCALL,
     "Return what the routine takes of calls that are for the same as these were; else None."},
    {"forget", LastCall_forget, METH_NOARGS, "Say of no call from now on that it is for the same."},
    {0}};
static PyType_Slot LastCall_slots[] = {
    {Py_tp_new, LastCall_new},         {Py_tp_dealloc, LastCall_dealloc},
    {Py_tp_traverse, LastCall_traverse}, {Py_tp_clear, LastCall_clear},
    {Py_tp_methods, LastCall_methods}, {0, NULL}};
static PyType_Spec LastCall_spec = {
    "psyclone_storage.jit._compiled.LastCall", sizeof(LastCall), 0,
    Py_TPFLAGS_DEFAULT | Py_TPFLAGS_HAVE_GC, LastCall_slots};

static struct PyModuleDef definition = {
    PyModuleDef_HEAD_INIT,
    "_compiled",
    "What an invoke was given when it last ran, compiled; the twin of `twin`.",
    -1,
    module_methods,
    NULL, NULL, NULL, NULL,
};

PyMODINIT_FUNC PyInit__compiled(void)
{
    PyObject *module = PyModule_Create(&definition);
    if (module == NULL)
        return NULL;
    name_kernel = PyUnicode_InternFromString("kernel");
    name_args = PyUnicode_InternFromString("args");
    name_code = PyUnicode_InternFromString("f_code");
    name_instruction = PyUnicode_InternFromString("f_lasti");
    name_get = PyUnicode_InternFromString("get");
    PyObject *type = PyType_FromSpec(&LastCall_spec);
    last_call_type = type; /* with the reference that this file keeps for ever */
    if (name_kernel == NULL || name_args == NULL || name_code == NULL || name_instruction == NULL ||
        name_get == NULL || type == NULL ||
        PyModule_AddObjectRef(module, "LastCall", type) < 0 ||
        PyModule_AddIntConstant(module, "EDITION", 2) < 0) {
        Py_DECREF(module);
        return NULL;
    }
    return module;
}
