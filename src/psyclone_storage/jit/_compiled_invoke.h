/* The callable `invoke`: a call that is cached runs without Python code before its routine.
 *
 * All other calls go to the function `run` in Python, which has the same caller, because this callable
 * has no frame. It gets the errors of routines by `fail(runner, error, calls, name, frame)`. */
typedef struct {
    PyObject_HEAD
    PyObject *dict, *program, *api, *run, *fail, *references;
} Invoke;

enum { RUNNER_OPTIONS = 3, RUNNER_TABLE = 4, RUNNER_PENDING = 5 };

static int Invoke_traverse(PyObject *object, visitproc visit, void *arg)
{
    Invoke *self = (Invoke *)object;
    Py_VISIT(Py_TYPE(object));
    Py_VISIT(self->dict);
    Py_VISIT(self->program);
    Py_VISIT(self->api);
    Py_VISIT(self->run);
    Py_VISIT(self->fail);
    return 0;
}

static int Invoke_clear(PyObject *object)
{
    Invoke *self = (Invoke *)object;
    Py_CLEAR(self->dict);
    Py_CLEAR(self->program);
    Py_CLEAR(self->api);
    Py_CLEAR(self->run);
    Py_CLEAR(self->fail);
    return 0;
}

static void Invoke_dealloc(PyObject *object)
{
    PyTypeObject *type = Py_TYPE(object);
    PyObject_GC_UnTrack(object);
    if (((Invoke *)object)->references != NULL)
        PyObject_ClearWeakRefs(object);
    Invoke_clear(object);
    PyObject_GC_Del(object);
    Py_DECREF(type);
}

/* quick_invoke(run, fail, program, api) */
static PyObject *Invoke_new(PyTypeObject *type, PyObject *args, PyObject *keywords)
{
    PyObject *run, *fail, *program, *api;
    if (keywords != NULL && PyDict_Size(keywords)) {
        PyErr_SetString(PyExc_TypeError, "quick_invoke() takes no keywords.");
        return NULL;
    }
    if (!PyArg_ParseTuple(args, "OOOU", &run, &fail, &program, &api))
        return NULL;
    Invoke *self = (Invoke *)PyType_GenericAlloc(type, 0);
    if (self == NULL)
        return NULL;
    self->dict = PyDict_New();
    self->run = Py_NewRef(run);
    self->fail = Py_NewRef(fail);
    self->program = Py_NewRef(program);
    self->api = Py_NewRef(api);
    if (self->dict == NULL) {
        Py_DECREF((PyObject *)self);
        return NULL;
    }
    return (PyObject *)self;
}

/* Return a new reference to the runner of the API if it has a table of calls; else NULL, perhaps with
 * an error. */
static PyObject *runner_of(Invoke *self)
{
    PyObject *runners = PyObject_GetAttr(self->program, name_runners), *runner = NULL;
    if (runners != NULL && PyDict_CheckExact(runners))
        runner = PyDict_GetItemWithError(runners, self->api);
    Py_XINCREF(runner);
    Py_XDECREF(runners);
    if (runner == NULL || !PyTuple_Check(runner) || PyTuple_Size(runner) <= RUNNER_PENDING ||
        !PyDict_CheckExact(PyTuple_GetItem(runner, RUNNER_TABLE)))
        Py_CLEAR(runner);
    return runner;
}

/* Return the label of a call with these keywords (borrowed), or NULL. */
static PyObject *label_of(PyObject *keywords)
{
    if (keywords == NULL || PyDict_Size(keywords) == 0)
        return no_name;
    return PyDict_Size(keywords) == 1 ? PyDict_GetItemWithError(keywords, name_name) : NULL;
}

/* Pass the present error, which a routine has raised, to `fail`. */
static PyObject *with_failure(Invoke *self, PyObject *runner, PyObject *calls, PyObject *label,
                              PyObject *frame)
{
    PyObject *kind, *error, *trace, *result = NULL;
    if (!PyErr_ExceptionMatches(PyExc_Exception))
        return NULL;
    PyErr_Fetch(&kind, &error, &trace);
    PyErr_NormalizeException(&kind, &error, &trace);
    if (trace == NULL || PyException_SetTraceback(error, trace) == 0)
        result =
            PyObject_CallFunctionObjArgs(self->fail, runner, error, calls, label, frame, NULL);
    Py_XDECREF(kind);
    Py_XDECREF(error);
    Py_XDECREF(trace);
    return result;
}

/* Run the routine of a cache entry. */
static PyObject *run_entry(PyObject *entry, PyObject *data, PyObject *code, long at)
{
    PyObject *compiled = PyTuple_GetItem(entry, 1);
    PyObject *routine = compiled == NULL ? NULL : PyObject_GetAttr(compiled, name_routine), *result;
    if (routine == NULL)
        return NULL;
    result = Py_TYPE(routine) == deferral_type
                 ? add_and_remember((Deferral *)routine, data, entry, code, at)
                 : PyObject_Call(routine, data, NULL);
    Py_DECREF(routine);
    return result;
}

static PyObject *Invoke_call(PyObject *object, PyObject *calls, PyObject *keywords)
{
    Invoke *self = (Invoke *)object;
    PyObject *frame = (PyObject *)PyEval_GetFrame(), *label = label_of(keywords), *entry, *data;
    PyObject *runner = frame == NULL || label == NULL ? NULL : runner_of(self), *result = NULL;
    PyObject *at = runner == NULL ? NULL : PyObject_GetAttr(frame, name_instruction);
    int found = 0, added = 0;
    if (at != NULL) {
        PyObject *code = (PyObject *)PyFrame_GetCode((PyFrameObject *)frame);
        PyObject *about[] = {PyTuple_GetItem(runner, RUNNER_OPTIONS), label, calls};
        PyObject *pending = PyTuple_GetItem(runner, RUNNER_PENDING);
        long place = PyLong_AsLong(at);
        Py_INCREF(frame);
        if (Py_TYPE(pending) == pending_type)
            added = add_follower((Pending *)pending, code, place, about);
        if (added == 0)
            found = find_entry(PyTuple_GetItem(runner, RUNNER_TABLE), code, at, about, &entry, &data);
        if (found > 0) {
            result = run_entry(entry, data, code, place);
            Py_DECREF(entry);
            Py_DECREF(data);
        } else if (added > 0)
            result = Py_NewRef(Py_None);
        if (result == NULL && (found > 0 || added < 0))
            result = with_failure(self, runner, calls, label, frame);
        Py_DECREF(frame);
        Py_DECREF(code);
        Py_DECREF(at);
    }
    Py_XDECREF(runner);
    if (found > 0 || added) {
        if (result == NULL)
            return NULL;
        Py_DECREF(result);
        Py_RETURN_NONE;
    }
    /* The function finds the same error, and shows it. */
    if (PyErr_Occurred() && !PyErr_ExceptionMatches(PyExc_Exception))
        return NULL;
    PyErr_Clear();
    return PyObject_Call(self->run, calls, keywords);
}

/* Copies and pickles refer to the name in the module. */
static PyObject *Invoke_reduce(PyObject *object, PyObject *nothing)
{
    (void)nothing;
    return PyObject_GetAttrString(object, "__name__");
}

static PyMethodDef Invoke_methods[] = {
    {"__reduce__", Invoke_reduce, METH_NOARGS, "Return the name in the module."}, {0}};
static PyMemberDef Invoke_members[] = {
    {"__dictoffset__", T_PYSSIZET, offsetof(Invoke, dict), READONLY, NULL},
    {"__weaklistoffset__", T_PYSSIZET, offsetof(Invoke, references), READONLY, NULL},
    {0}};
static PyGetSetDef Invoke_getset[] = {
    {"__dict__", PyObject_GenericGetDict, NULL, "The name, the documentation and the function.", NULL},
    {0}};
static PyType_Slot Invoke_slots[] = {
    {Py_tp_new, Invoke_new},           {Py_tp_dealloc, Invoke_dealloc},
    {Py_tp_traverse, Invoke_traverse}, {Py_tp_clear, Invoke_clear},
    {Py_tp_call, Invoke_call},         {Py_tp_methods, Invoke_methods},
    {Py_tp_members, Invoke_members},   {Py_tp_getset, Invoke_getset},
    {0, NULL}};
static PyType_Spec Invoke_spec = {"psyclone_storage.jit._compiled.quick_invoke", sizeof(Invoke), 0,
                                  Py_TPFLAGS_DEFAULT | Py_TPFLAGS_HAVE_GC, Invoke_slots};
