/* The compiled core: the classes of fallback.py with fast paths.
 *
 * Rules that keep this file right:
 *
 * - It has fast paths only. It leaves everything else to methods in Python: waits, transfers,
 *   failures, hints, chunks, and all messages. It decides nothing of its own.
 * - Between a test of a ledger and its change nothing runs that could let another thread in or start
 *   a garbage collection: no call of Python, no new object that is tracked, no reference given up.
 *   So each change is one step under the interpreter's lock. Python code changes ledgers in several
 *   steps under the lock of the ledger, a Gate, whose `held` is tested here first.
 * - It uses the stable ABI of Python 3.11: one build serves all later versions. It is neither built
 *   nor loaded where the interpreter has no lock (free threading).
 */
#define Py_LIMITED_API 0x030B0000
#define PY_SSIZE_T_CLEAN
#include <Python.h>
#include <structmember.h>
#include <stddef.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

#include "_compiled_replica.h"
#include "_compiled_ledger.h"
#include "_compiled_moves.h"
#include "_compiled_faces.h"
#include "_compiled_queued.h"
#include "_compiled_block.h"
#include "_compiled_ways.h"
#include "_compiled_pages.h"

static PyObject *module_register(PyObject *module, PyObject *args, PyObject *keywords)
{
    (void)module;
    static const struct {
        const char *name;
        PyObject **place;
        int is_type;
    } known[] = {
        {"read", &words.read, 0},           {"read_write", &words.read_write, 0},
        {"auto", &words.auto_, 0},          {"plain", &words.plain, 0},
        {"token", &words.token, 1},         {"arguments", &words.arguments, 1},
        {"block", &words.block, 1},         {"array", &words.array, 1},
        {"timed", &words.timed, 0},         {"total", &words.total, 0},
        {"pages", &words.pages, 0},         {"page", &words.page, 0},
        {"piece", &words.piece, 1},         {"pin", &words.pin, 1},             {"host", &words.host, 0},
        {"opening", &words.opening, 1},     {"modes", &words.modes, 0},
    };
    PyObject *name, *value;
    Py_ssize_t at = 0;
    if (PyTuple_Size(args) || keywords == NULL) {
        PyErr_SetString(PyExc_TypeError, "register() takes words by name.");
        return NULL;
    }
    while (PyDict_Next(keywords, &at, &name, &value)) {
        size_t i = 0, count = sizeof known / sizeof known[0];
        while (i < count && PyUnicode_CompareWithASCIIString(name, known[i].name))
            i++;
        if (i == count || (known[i].is_type && !PyType_Check(value))) {
            PyErr_Format(PyExc_TypeError, "%R is no word to register, or no class.", name);
            return NULL;
        }
        set_field(known[i].place, value);
    }
    Py_RETURN_NONE;
}

static PyMethodDef module_methods[] = {
    {"register", (PyCFunction)(void (*)(void))module_register, METH_VARARGS | METH_KEYWORDS,
     "Take the objects of other files that this one has to know."},
    {"begin", (PyCFunction)(void (*)(void))module_begin, METH_O,
     "Begin all the accesses if nobody is in the way and none lacks anything; else do nothing."},
    {"end_queued", (PyCFunction)(void (*)(void))module_end_queued, METH_FASTCALL,
     "End an access whose work is queued, if that concerns nobody else, and note what it used."},
    {"short", module_short, METH_O,
     "Return the short way to make a block; the argument is the long one."},
    {"setting", module_setting, METH_VARARGS, "Return what the environment says now."},
    {0},
};

static struct PyModuleDef definition = {
    PyModuleDef_HEAD_INIT,
    "_compiled",
    "The compiled core of the storage runtime.",
    -1,
    module_methods,
    NULL, NULL, NULL, NULL,
};

static int add_type(PyObject *module, const char *name, PyType_Spec *spec, PyTypeObject **place)
{
    PyObject *type = PyType_FromSpec(spec);
    if (type == NULL)
        return -1;
    *place = (PyTypeObject *)type; /* with the reference that this file keeps for ever */
    return PyModule_AddObjectRef(module, name, type);
}

static int name_all(void)
{
    static const struct {
        const char *text;
        PyObject **place;
    } known[] = {
        {"_acquire_carefully", &names.acquire_carefully},
        {"_release_carefully", &names.release_carefully},
        {"release", &names.release},   {"_picked", &names.picked}, {"backing", &names.backing},
        {"_enter", &names.enter},      {"_leave", &names.leave},   {"writes", &names.writes},
        {"space", &names.space},       {"bit", &names.bit},        {"_things", &names.things},
        {"_refuse", &names.refuse}, {"_give_all_back", &names.give_all_back},
        {"device", &names.device},     {"gpu", &names.gpu},     {"jobs", &names.jobs},
        {"host_accessible", &names.host_accessible},
        {"copies_plainly", &names.copies_plainly},
        {"pointer", &names.pointer},   {"capacity", &names.capacity},
        {"writable", &names.writable}, {"pending", &names.pending},
        {"_make_valid_carefully", &names.bring_carefully},
        {"view", &names.view},         {"to_numpy", &names.to_numpy},
        {"labels", &names.labels},     {"origin", &names.origin}, {"dims", &names.dims},
        {"address", &names.address},   {"pins", &names.pins}, {"", &names.nothing},
        {"queue", &names.queue},       {"_notes", &names.notes}, {"lane", &names.lane},
        {"ptr", &names.ptr},           {"_access_carefully", &names.access_carefully},
    };
    for (size_t i = 0; i < sizeof known / sizeof known[0]; i++)
        if ((*known[i].place = PyUnicode_InternFromString(known[i].text)) == NULL)
            return -1;
    PyObject *threads = PyImport_ImportModule("_thread");
    words.lock = threads == NULL ? NULL : PyObject_GetAttrString(threads, "allocate_lock");
    Py_XDECREF(threads);
    no_things = PyTuple_New(0);
    return words.lock != NULL && no_things != NULL ? 0 : -1;
}

/* Initialised in one phase: there is one core for a process, which other interpreters refuse. */
PyMODINIT_FUNC PyInit__compiled(void)
{
    PyObject *module = PyModule_Create(&definition);
    if (module == NULL)
        return NULL;
    if (name_all() < 0 || add_type(module, "Gate", &Gate_spec, &GateType) < 0 ||
        add_type(module, "Replica", &Replica_spec, &ReplicaType) < 0 ||
        add_type(module, "Tallies", &Tallies_spec, &TalliesType) < 0 ||
        add_type(module, "AccessFields", &Access_spec, &AccessType) < 0 ||
        add_type(module, "Ledger", &Ledger_spec, &LedgerType) < 0 ||
        add_type(module, "Acquirable", &Acquirable_spec, &AcquirableType) < 0 ||
        add_type(module, "Windows", &Windows_spec, &WindowsType) < 0 ||
        add_type(module, "Sides", &Sides_spec, &SidesType) < 0 ||
        add_type(module, "Sliceable", &Sliceable_spec, &SliceableType) < 0 ||
        add_type(module, "BindingBlock", &Block_spec, &BlockType) < 0 || open_ways() < 0 ||
        add_type(module, "Blocks", &Blocks_spec, &BlocksType) < 0 ||
        add_type(module, "Lease", &Lease_spec, &LeaseType) < 0 ||
        add_type(module, "Piece", &Piece_spec, &PieceType) < 0 ||
        add_type(module, "Hold", &Hold_spec, &HoldType) < 0 ||
        add_type(module, "Lane", &Lane_spec, &LaneType) < 0 ||
        PyModule_AddIntConstant(module, "EDITION", 10) < 0 ||
        PyModule_AddIntConstant(module, "FRAMES", 0) < 0) {
        Py_DECREF(module);
        return NULL;
    }
    return module;
}
