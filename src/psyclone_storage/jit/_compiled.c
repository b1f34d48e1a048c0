/* Fast path of invokes: the C implementation of `_pure.py`. Read that first.
 *
 * `CachedCall` only compares: any difference, by identity for objects, leads to the slow path. It
 * stores the addresses of arguments without references; the owner of a cached call drops it when one
 * of them is collected. It is immutable except for `forget`, so other threads and callbacks see a
 * consistent state.
 *
 * It uses the stable ABI of Python 3.11. */
#define Py_LIMITED_API 0x030B0000
#define PY_SSIZE_T_CLEAN
#include <Python.h>
#include <structmember.h>
#include <signal.h>

/* One value: its type; its address, NULL if any value of the type matches, or the addresses of the
 * items of a sequence; and the number that is compiled in, if any. */
typedef struct {
    PyObject *kind, *constant;
    const void *object;
    const void **parts;
    Py_ssize_t size;
} Value;

/* One lookup: a getter, its owner, and the value that it found. If the getter is `get` of a plain
 * dictionary, or `operator.attrgetter` of one name, the dictionary or the attribute is read directly. */
typedef struct {
    PyObject *getter, *owner, *value, *dictionary, *attribute;
} Lookup;

/* All arrays are in one allocation, which begins with the values: loops evict the caches between two
 * invokes, and each allocation costs a cache miss. `are_pairs` if the calls are tuples of the kernel
 * and the arguments, which are read faster than attributes. */
typedef struct {
    PyObject_HEAD
    PyObject *options, *label, *call_kind, *fits;
    Value *values;
    Lookup *lookups;
    PyObject **kernels;
    Py_ssize_t *lengths, *order, *equal;
    Py_ssize_t calls, count, data_count, equals, lookup_count;
    int are_pairs;
} CachedCall;

static PyObject *name_kernel, *name_args, *name_code, *name_instruction, *name_get, *name_routine,
    *name_runners, *name_name, *no_name, *cached_call_type;

static int visit_all(CachedCall *self, visitproc visit, void *arg)
{
    Py_VISIT(Py_TYPE((PyObject *)self));
    Py_VISIT(self->options);
    Py_VISIT(self->label);
    Py_VISIT(self->call_kind);
    Py_VISIT(self->fits);
    if (self->values == NULL)
        return 0;
    for (Py_ssize_t i = 0; i < self->count; i++) {
        Py_VISIT(self->values[i].kind);
        Py_VISIT(self->values[i].constant);
    }
    for (Py_ssize_t i = 0; i < self->calls; i++)
        Py_VISIT(self->kernels[i]);
    for (Py_ssize_t i = 0; i < self->lookup_count; i++) {
        Py_VISIT(self->lookups[i].getter);
        Py_VISIT(self->lookups[i].owner);
        Py_VISIT(self->lookups[i].value);
        Py_VISIT(self->lookups[i].dictionary);
        Py_VISIT(self->lookups[i].attribute);
    }
    return 0;
}

static int CachedCall_traverse(PyObject *object, visitproc visit, void *arg)
{
    return visit_all((CachedCall *)object, visit, arg);
}

static int CachedCall_clear(PyObject *object)
{
    CachedCall *self = (CachedCall *)object;
    Value *values = self->values;
    Lookup *lookups = self->lookups;
    PyObject **kernels = self->kernels;
    Py_ssize_t count = self->count, calls = self->calls, lookup_count = self->lookup_count;
    self->values = NULL;
    self->count = self->calls = self->equals = self->data_count = self->lookup_count = 0;
    for (Py_ssize_t i = 0; values != NULL && i < count; i++) {
        Py_XDECREF(values[i].kind);
        Py_XDECREF(values[i].constant);
        PyMem_Free(values[i].parts);
    }
    for (Py_ssize_t i = 0; values != NULL && i < calls; i++)
        Py_XDECREF(kernels[i]);
    for (Py_ssize_t i = 0; values != NULL && i < lookup_count; i++) {
        Py_XDECREF(lookups[i].getter);
        Py_XDECREF(lookups[i].owner);
        Py_XDECREF(lookups[i].value);
        Py_XDECREF(lookups[i].dictionary);
        Py_XDECREF(lookups[i].attribute);
    }
    PyMem_Free(values);
    Py_CLEAR(self->options);
    Py_CLEAR(self->label);
    Py_CLEAR(self->call_kind);
    Py_CLEAR(self->fits);
    return 0;
}

static void CachedCall_dealloc(PyObject *object)
{
    PyTypeObject *type = Py_TYPE(object);
    PyObject_GC_UnTrack(object);
    CachedCall_clear(object);
    PyObject_GC_Del(object);
    Py_DECREF(type);
}

/* Read integers from a tuple of integers, or of tuples of them; -1 with an error. */
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

/* Return a new reference to the plain dictionary whose `get` method a getter is; NULL, perhaps with an
 * error, for other getters. */
static PyObject *dictionary_of(PyObject *getter)
{
    if (!PyCFunction_Check(getter))
        return NULL;
    PyObject *owner = PyCFunction_GetSelf(getter);
    if (owner == NULL || !PyDict_CheckExact(owner))
        return NULL;
    PyObject *usual = PyObject_GetAttr(owner, name_get);
    int same = usual == NULL ? -1 : PyObject_RichCompareBool(getter, usual, Py_EQ);
    Py_XDECREF(usual);
    return same > 0 ? Py_NewRef(owner) : NULL;
}

/* Return a new reference to the name that `operator.attrgetter` reads; NULL, perhaps with an error, for
 * other getters and paths. */
static PyObject *attribute_of(PyObject *getter)
{
    PyObject *name = NULL, *parts = NULL, *kind = PyType_GetName(Py_TYPE(getter));
    if (kind != NULL && PyUnicode_CompareWithASCIIString(kind, "attrgetter") == 0)
        parts = PyObject_CallMethod(getter, "__reduce__", NULL);
    if (parts != NULL && PyTuple_Check(parts) && PyTuple_Size(parts) == 2 &&
        PyTuple_GetItem(parts, 0) == (PyObject *)Py_TYPE(getter)) {
        PyObject *names = PyTuple_GetItem(parts, 1);
        name = PyTuple_Check(names) && PyTuple_Size(names) == 1 ? PyTuple_GetItem(names, 0) : NULL;
        if (name != NULL && (!PyUnicode_Check(name) ||
                             PyUnicode_FindChar(name, '.', 0, PyUnicode_GetLength(name), 1) >= 0))
            name = NULL;
    }
    Py_XINCREF(name);
    Py_XDECREF(parts);
    Py_XDECREF(kind);
    return name;
}

/* Store getters, owners and values; -1 with an error. */
static int fill_lookups(CachedCall *self, PyObject *getters, PyObject *owners, PyObject *values)
{
    for (Py_ssize_t i = 0; i < self->lookup_count; i++) {
        Lookup *lookup = self->lookups + i;
        lookup->getter = Py_NewRef(PyTuple_GetItem(getters, i));
        lookup->owner = Py_NewRef(PyTuple_GetItem(owners, i));
        lookup->value = Py_NewRef(PyTuple_GetItem(values, i));
        lookup->dictionary = dictionary_of(lookup->getter);
        if (lookup->dictionary == NULL && !PyErr_Occurred())
            lookup->attribute = attribute_of(lookup->getter);
        if (PyErr_Occurred())
            return -1;
    }
    return 0;
}

/* Store the type and the identity of one value: `identity` is None for a number, the object, or a
 * tuple of the items of a sequence. Return -1 with an error. */
static int fill_value(Value *value, PyObject *given, PyObject *identity)
{
    value->kind = Py_NewRef((PyObject *)Py_TYPE(given));
    if (identity == Py_None)
        return 0;
    if (!PyTuple_CheckExact(identity)) {
        value->object = identity;
        return 0;
    }
    value->size = PyTuple_Size(identity);
    value->parts = PyMem_Calloc((size_t)value->size + 1, sizeof *value->parts);
    if (value->parts == NULL) {
        PyErr_NoMemory();
        return -1;
    }
    for (Py_ssize_t i = 0; i < value->size; i++)
        value->parts[i] = PyTuple_GetItem(identity, i);
    return 0;
}

/* Return whether a call is a named tuple of a kernel and its arguments; -1 with an error. The type of a
 * named tuple has descriptors that read its items. */
static int is_pair(PyObject *call)
{
    static const char *names[] = {"kernel", "args"};
    int same = PyTuple_Check(call) && PyTuple_Size(call) == 2;
    for (Py_ssize_t i = 0; same > 0 && i < 2; i++) {
        PyObject *reader = PyObject_GetAttrString((PyObject *)Py_TYPE(call), names[i]);
        PyObject *kind = reader == NULL ? NULL : PyType_GetName(Py_TYPE(reader));
        PyObject *value = kind == NULL ? NULL : PyObject_GetAttrString(call, names[i]);
        same = value == NULL ? -1
                             : PyUnicode_CompareWithASCIIString(kind, "_tuplegetter") == 0 &&
                                   value == PyTuple_GetItem(call, i);
        Py_XDECREF(value);
        Py_XDECREF(kind);
        Py_XDECREF(reader);
    }
    return same;
}

/* Store kernels, numbers of arguments, and values of calls. */
static int fill_calls(CachedCall *self, PyObject *calls, PyObject *identities)
{
    self->call_kind = Py_NewRef((PyObject *)Py_TYPE(PyTuple_GetItem(calls, 0)));
    self->are_pairs = is_pair(PyTuple_GetItem(calls, 0));
    if (self->are_pairs < 0)
        return -1;
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
                                PyTuple_GetItem(identities, done)) < 0;
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

/* Allocate all arrays with zeros; -1 with an error. */
static int allocate(CachedCall *self)
{
    size_t values = (size_t)self->count * sizeof(Value);
    size_t lookups = (size_t)self->lookup_count * sizeof(Lookup);
    size_t words = (size_t)(2 * self->calls + self->data_count + 2 * self->equals);
    self->values = PyMem_Calloc(1, values + lookups + words * sizeof(Py_ssize_t) + 1);
    if (self->values == NULL) {
        PyErr_NoMemory();
        return -1;
    }
    self->lookups = (Lookup *)(self->values + self->count);
    self->kernels = (PyObject **)(self->lookups + self->lookup_count);
    self->lengths = (Py_ssize_t *)(self->kernels + self->calls);
    self->order = self->lengths + self->calls;
    self->equal = self->order + self->data_count;
    return 0;
}

/* CachedCall(options, label, calls, identities, order, constants, equal, fits, lookups) */
static PyObject *CachedCall_new(PyTypeObject *type, PyObject *args, PyObject *keywords)
{
    PyObject *options, *label, *calls, *identities, *order, *constants, *equal, *fits, *getters, *owners,
        *found;
    if (keywords != NULL && PyDict_Size(keywords)) {
        PyErr_SetString(PyExc_TypeError, "CachedCall() takes no keywords.");
        return NULL;
    }
    if (!PyArg_ParseTuple(args, "OUO!O!O!O!O!O(O!O!O!)", &options, &label, &PyTuple_Type, &calls,
                          &PyTuple_Type, &identities, &PyTuple_Type, &order, &PyTuple_Type, &constants,
                          &PyTuple_Type, &equal, &fits, &PyTuple_Type, &getters, &PyTuple_Type, &owners,
                          &PyTuple_Type, &found))
        return NULL;
    if (PyTuple_Size(calls) == 0 || PyTuple_Size(owners) != PyTuple_Size(getters) ||
        PyTuple_Size(found) != PyTuple_Size(getters)) {
        PyErr_SetString(PyExc_ValueError, "There are no calls, or the lookups are incomplete.");
        return NULL;
    }
    CachedCall *self = (CachedCall *)PyType_GenericAlloc(type, 0);
    if (self == NULL)
        return NULL;
    self->options = Py_NewRef(options);
    self->label = Py_NewRef(label);
    self->fits = Py_NewRef(fits);
    self->calls = PyTuple_Size(calls);
    self->count = PyTuple_Size(identities);
    self->data_count = PyTuple_Size(order);
    self->equals = PyTuple_Size(equal);
    self->lookup_count = PyTuple_Size(getters);
    int failed = allocate(self) < 0 || fill_numbers(self->order, order, 1) < 0 ||
                 fill_numbers(self->equal, equal, 2) < 0 ||
                 fill_lookups(self, getters, owners, found) < 0 ||
                 fill_calls(self, calls, identities) < 0 ||
                 !are_within(self->order, self->data_count, self->count) ||
                 !are_within(self->equal, 2 * self->equals, self->count);
    for (Py_ssize_t i = 0; !failed && i < PyTuple_Size(constants); i++) {
        PyObject *pair = PyTuple_GetItem(constants, i), *value;
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

/* Return whether calls match (1) or not (0), or -1 with an error. `values` gets `held` references,
 * because later callbacks may remove the values from the calls. */
static int calls_match(CachedCall *self, PyObject *calls, PyObject **values, Py_ssize_t *held)
{
    for (Py_ssize_t i = 0; i < self->calls; i++) {
        PyObject *call = PyTuple_GetItem(calls, i);
        if ((PyObject *)Py_TYPE(call) != self->call_kind)
            return 0;
        PyObject *kernel = self->are_pairs ? Py_NewRef(PyTuple_GetItem(call, 0))
                                           : PyObject_GetAttr(call, name_kernel);
        Py_XDECREF(kernel); /* the call has a reference */
        if (kernel == NULL)
            return -1;
        if (kernel != self->kernels[i])
            return 0;
        PyObject *args = self->are_pairs ? Py_NewRef(PyTuple_GetItem(call, 1))
                                         : PyObject_GetAttr(call, name_args);
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

/* Return whether numbers have their compiled-in values and are equal where they were: the same
 * objects in most programs, because they are constants of one code object. */
static int numbers_match(CachedCall *self, PyObject **values)
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
        given == NULL ? NULL : PyObject_CallFunctionObjArgs(self->fits, given, NULL);
    Py_XDECREF(given);
    same = answer == NULL ? -1 : PyObject_IsTrue(answer);
    Py_XDECREF(answer);
    return same;
}

/* Return whether each lookup finds the same object as before. */
static int lookups_match(CachedCall *self)
{
    for (Py_ssize_t i = 0; i < self->lookup_count; i++) {
        const Lookup *lookup = self->lookups + i;
        PyObject *now;
        if (lookup->dictionary != NULL) {
            now = PyDict_GetItemWithError(lookup->dictionary, lookup->owner);
            if (now == NULL && !PyErr_Occurred())
                now = Py_None;
        } else {
            now = lookup->attribute != NULL
                      ? PyObject_GetAttr(lookup->owner, lookup->attribute)
                      : PyObject_CallFunctionObjArgs(lookup->getter, lookup->owner, NULL);
            Py_XDECREF(now); /* only its address is compared */
        }
        if (now == NULL)
            return -1;
        if (now != lookup->value)
            return 0;
    }
    return 1;
}

static PyObject *data_of(CachedCall *self, PyObject **values)
{
    PyObject *data = PyTuple_New(self->data_count);
    for (Py_ssize_t i = 0; data != NULL && i < self->data_count; i++)
        PyTuple_SetItem(data, i, Py_NewRef(values[self->order[i]]));
    return data;
}

/* match(options, label, calls) */
static PyObject *CachedCall_match(PyObject *object, PyObject *const *args, Py_ssize_t count)
{
    CachedCall *self = (CachedCall *)object;
    PyObject *few[32], **values = few, *data = NULL;
    Py_ssize_t held = 0;
    if (count != 3) {
        PyErr_SetString(PyExc_TypeError, "match() takes options, a label, and calls.");
        return NULL;
    }
    if (args[0] != self->options || !PyTuple_CheckExact(args[2]) ||
        PyTuple_Size(args[2]) != self->calls)
        Py_RETURN_NONE;
    if (args[1] != self->label && (!PyUnicode_Check(args[1]) || !PyUnicode_Check(self->label) ||
                                   PyUnicode_Compare(args[1], self->label)))
        Py_RETURN_NONE;
    if (self->count > 32 && (values = PyMem_Calloc((size_t)self->count, sizeof *values)) == NULL)
        return PyErr_NoMemory();
    int same = calls_match(self, args[2], values, &held);
    if (same > 0)
        same = numbers_match(self, values);
    if (same > 0)
        same = lookups_match(self);
    if (same > 0)
        data = data_of(self, values);
    else if (same == 0)
        data = Py_NewRef(Py_None);
    while (held > 0)
        Py_DECREF(values[--held]);
    if (values != few)
        PyMem_Free(values);
    return data;
}

/* is_current(): whether each lookup finds the same object as before. */
static PyObject *CachedCall_is_current(PyObject *object, PyObject *nothing)
{
    int same = lookups_match((CachedCall *)object);
    (void)nothing;
    return same < 0 ? NULL : PyBool_FromLong(same);
}

/* forget(): match no call from now on. */
static PyObject *CachedCall_forget(PyObject *object, PyObject *nothing)
{
    (void)nothing;
    Py_CLEAR(((CachedCall *)object)->options);
    Py_RETURN_NONE;
}

/* Find the cache entry of a call site that matches, and the arguments of its routine: 1 with new
 * references, 0 without one, -1 with an error. The table maps the address of the code to a table of
 * its instructions. */
static int find_entry(PyObject *table, PyObject *code, PyObject *at, PyObject *const *about,
                      PyObject **entry, PyObject **data)
{
    PyObject *number = PyLong_FromVoidPtr(code);
    PyObject *sites = number == NULL ? NULL : PyDict_GetItemWithError(table, number);
    PyObject *known =
        sites == NULL || !PyDict_CheckExact(sites) ? NULL : PyDict_GetItemWithError(sites, at);
    Py_XINCREF(known);
    Py_XDECREF(number);
    int found = 0;
    for (Py_ssize_t i = 0; known != NULL && found == 0 && i < PyTuple_Size(known); i++) {
        PyObject *one = PyTuple_GetItem(known, i), *last = PyTuple_GetItem(one, 0);
        if (last == NULL || (PyObject *)Py_TYPE(last) != cached_call_type) {
            PyErr_SetString(PyExc_TypeError, "The cache has an entry that is not a call.");
            break;
        }
        *data = CachedCall_match(last, about, 3);
        if (*data == NULL)
            break;
        found = *data != Py_None;
        if (found)
            *entry = Py_NewRef(one);
        else
            Py_DECREF(*data);
    }
    Py_XDECREF(known);
    return found == 0 && PyErr_Occurred() ? -1 : found;
}

/* find_call(table, frame, options, label, calls): the cache entry of the call site that matches, and
 * the arguments of its routine; else None. */
static PyObject *module_find_call(PyObject *module, PyObject *const *args, Py_ssize_t count)
{
    PyObject *entry, *data, *pair;
    (void)module;
    if (count != 5 || !PyDict_CheckExact(args[0])) {
        PyErr_SetString(PyExc_TypeError,
                        "find_call() takes a table, a frame, options, a label and calls.");
        return NULL;
    }
    PyObject *code = PyObject_GetAttr(args[1], name_code);
    PyObject *at = code == NULL ? NULL : PyObject_GetAttr(args[1], name_instruction);
    int found = at == NULL ? -1 : find_entry(args[0], code, at, args + 2, &entry, &data);
    Py_XDECREF(at);
    Py_XDECREF(code);
    if (found <= 0)
        return found < 0 ? NULL : Py_NewRef(Py_None);
    pair = PyTuple_Pack(2, entry, data);
    Py_DECREF(entry);
    Py_DECREF(data);
    return pair;
}

#include "_compiled_deferred.h"
#include "_compiled_invoke.h"

/* restarts_calls(number): whether system calls continue after the handler of a signal, as
 * `signal.siginterrupt(number, False)` requests. */
static PyObject *module_restarts_calls(PyObject *module, PyObject *number)
{
    int restarts = 0;
    long signal_number = PyLong_AsLong(number);
    (void)module;
    if (signal_number == -1 && PyErr_Occurred())
        return NULL;
#ifdef SA_RESTART
    struct sigaction action;
    restarts = sigaction((int)signal_number, NULL, &action) == 0 && (action.sa_flags & SA_RESTART);
#endif
    return PyBool_FromLong(restarts);
}

static PyMethodDef module_methods[] = {
    {"restarts_calls", module_restarts_calls, METH_O,
     "Return whether system calls continue after the handler of a signal."},
    {"find_call", (PyCFunction)(void (*)(void))module_find_call, METH_FASTCALL,
     "Return the cache entry that matches, and the arguments of its routine; else None."},
    {0}};

static PyMethodDef CachedCall_methods[] = {
    {"match", (PyCFunction)(void (*)(void))CachedCall_match, METH_FASTCALL,
     "Return the arguments of the routine if the calls are equivalent to these, else None."},
    {"is_current", CachedCall_is_current, METH_NOARGS,
     "Return whether each lookup finds the same object as before."},
    {"forget", CachedCall_forget, METH_NOARGS, "Match no call from now on."},
    {0}};
static PyType_Slot CachedCall_slots[] = {
    {Py_tp_new, CachedCall_new},         {Py_tp_dealloc, CachedCall_dealloc},
    {Py_tp_traverse, CachedCall_traverse}, {Py_tp_clear, CachedCall_clear},
    {Py_tp_methods, CachedCall_methods}, {0, NULL}};
static PyType_Spec CachedCall_spec = {
    "psyclone_storage.jit._compiled.CachedCall", sizeof(CachedCall), 0,
    Py_TPFLAGS_DEFAULT | Py_TPFLAGS_HAVE_GC, CachedCall_slots};

static struct PyModuleDef definition = {
    PyModuleDef_HEAD_INIT,
    "_compiled",
    "Fast path of invokes, compiled.",
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
    name_instruction = PyUnicode_InternFromString("f_lasti");
    name_code = PyUnicode_InternFromString("f_code");
    name_get = PyUnicode_InternFromString("get");
    name_routine = PyUnicode_InternFromString("routine");
    name_runners = PyUnicode_InternFromString("runners");
    name_name = PyUnicode_InternFromString("name");
    name_waiting = PyUnicode_InternFromString("waiting");
    no_name = PyUnicode_InternFromString("");
    /* This file owns the references to types. */
    PyObject *type = cached_call_type = PyType_FromSpec(&CachedCall_spec);
    PyObject *pending = PyType_FromSpec(&Pending_spec), *deferral = PyType_FromSpec(&Deferral_spec);
    PyObject *invoke = PyType_FromSpec(&Invoke_spec);
    pending_type = (PyTypeObject *)pending;
    deferral_type = (PyTypeObject *)deferral;
    if (name_kernel == NULL || name_args == NULL || name_code == NULL || name_instruction == NULL ||
        name_get == NULL || name_routine == NULL || name_runners == NULL || name_name == NULL || name_waiting == NULL ||
        no_name == NULL || type == NULL || pending == NULL || deferral == NULL || invoke == NULL ||
        PyModule_AddObjectRef(module, "CachedCall", type) < 0 ||
        PyModule_AddObjectRef(module, "Pending", pending) < 0 ||
        PyModule_AddObjectRef(module, "deferral", deferral) < 0 ||
        PyModule_AddObjectRef(module, "quick_invoke", invoke) < 0 ||
        PyModule_AddIntConstant(module, "EDITION", 7) < 0) {
        Py_DECREF(module);
        return NULL;
    }
    return module;
}
