/* Copies between memories that are pages of this process, and their counts: see _compiled.c.
 *
 * A short copy is done in one step, under the lock of the interpreter: nobody sees its middle, and no
 * signal is looked for. Long ones let others go on, and are left to Python. */

enum { WAYS = 4, SHORT_COPY = 1 << 20 };

/* -- Tallies: how much went each way ------------------------------------------------------------- */

typedef struct {
    PyObject_HEAD
    PyObject *callbacks;
    long long count[WAYS], nbytes[WAYS];
    double seconds[WAYS];
} Tallies;
RECORD(Tallies, 1)

static int Tallies_init(Tallies *self, PyObject *args, PyObject *keywords)
{
    (void)args, (void)keywords;
    give_field(&self->callbacks, PyList_New(0));
    return self->callbacks != NULL ? 0 : -1;
}

static void tallies_add(Tallies *self, int way, long long nbytes, double seconds)
{
    self->count[way]++;
    self->nbytes[way] += nbytes;
    self->seconds[way] += seconds;
}

static int checked_way(int way)
{
    if (way >= 0 && way < WAYS)
        return 0;
    PyErr_SetString(PyExc_IndexError, "There is no such way.");
    return -1;
}

static PyObject *Tallies_add(Tallies *self, PyObject *args)
{
    int way;
    long long nbytes;
    double seconds;
    if (!PyArg_ParseTuple(args, "iLd", &way, &nbytes, &seconds) || checked_way(way) < 0)
        return NULL;
    tallies_add(self, way, nbytes, seconds);
    Py_RETURN_NONE;
}

static PyObject *Tallies_sums(Tallies *self, PyObject *args)
{
    int way;
    if (!PyArg_ParseTuple(args, "i", &way) || checked_way(way) < 0)
        return NULL;
    return Py_BuildValue("(LLd)", self->count[way], self->nbytes[way], self->seconds[way]);
}

static PyObject *Tallies_clear_sums(Tallies *self, PyObject *unused)
{
    (void)unused;
    memset(self->count, 0, sizeof self->count);
    memset(self->nbytes, 0, sizeof self->nbytes);
    memset(self->seconds, 0, sizeof self->seconds);
    Py_RETURN_NONE;
}

static PyMemberDef Tallies_members[] = {HIDDEN(Tallies, callbacks), NO_MORE};
static PyMethodDef Tallies_methods[] = {
    METHOD("_add", Tallies_add, METH_VARARGS), METHOD("_sums", Tallies_sums, METH_VARARGS),
    METHOD("_clear", Tallies_clear_sums, METH_NOARGS), {0}};
static PyType_Slot Tallies_slots[] = {
    COLLECTED(Tallies), {Py_tp_init, Tallies_init}, {Py_tp_members, Tallies_members},
    {Py_tp_methods, Tallies_methods}, {0, NULL}};
static PyType_Spec Tallies_spec = {
    "psyclone_storage.storage.core._compiled.Tallies", sizeof(Tallies), 0, FLAGS, Tallies_slots};

/* Say whether nobody asked to be told of each copy. */
static int is_silent(PyObject *stats)
{
    if (stats == NULL || !PyObject_TypeCheck(stats, TalliesType))
        return 0;
    PyObject *callbacks = ((Tallies *)stats)->callbacks;
    return callbacks != NULL && PyList_CheckExact(callbacks) && Py_SIZE(callbacks) == 0;
}

/* -- the copy ------------------------------------------------------------------------------------ */

static int move_is_short(Ledger *ledger, Replica *source, Replica *target)
{
    Py_ssize_t nbytes = ledger->nbytes;
    PyObject *known = NULL;
    return words.timed == Py_False && source != target && source->address != NULL &&
           target->address != NULL && nbytes > 0 && nbytes <= SHORT_COPY &&
           nbytes <= source->room && nbytes <= target->room && target->bit.wide == NULL &&
           (source->jobs == Py_None) != (target->jobs == Py_None) && is_idle(source, &known) &&
           is_idle(target, &known);
}

/* Say whether an allocation waits for no device, and can be written if need be; -1 with an error. */
static int is_settled(PyObject *allocation, int writes)
{
    PyObject *pending = PyObject_GetAttr(allocation, names.pending);
    int settled = pending == NULL ? -1 : !PyObject_IsTrue(pending);
    Py_XDECREF(pending);
    return settled > 0 && writes ? is_true(allocation, names.writable) : settled;
}

static double seconds_now(void)
{
    struct timespec now;
#ifdef CLOCK_MONOTONIC
    clock_gettime(CLOCK_MONOTONIC, &now);
#else
    timespec_get(&now, TIME_UTC);
#endif
    return (double)now.tv_sec + 1e-9 * (double)now.tv_nsec;
}

/* Do `masks[0] |= bit`; no (0) where the list has other than one mask. */
static int add_bit(PyObject *masks, Mask bit, PyObject **made)
{
    *made = NULL;
    if (masks == NULL || !PyList_CheckExact(masks) || Py_SIZE(masks) != 1)
        return 0;
    Mask old = PyLong_AsUnsignedLongLong(PyList_GetItem(masks, 0));
    if (old == (Mask)-1 && PyErr_Occurred())
        return -1;
    *made = PyLong_FromUnsignedLongLong(old | bit);
    return *made == NULL ? -1 : 1;
}

/* Copy all values, note that they are there, and count: yes (1), no (0), or an error (-1). */
static int move_now(PyObject *stats, Ledger *ledger, Replica *source, Replica *target)
{
    Mask bit = target->bit.low;
    PyObject *valid, *touched = NULL;
    if (!is_silent(stats) || !is_silent(words.total))
        return 0;
    int ready = add_bit(ledger->valid, bit, &valid);
    if (ready > 0)
        ready = add_bit(ledger->touched, bit, &touched);
    if (ready <= 0) {
        Py_XDECREF(valid);
        return ready;
    }
    double begin = seconds_now();
    memcpy(target->address, source->address, (size_t)ledger->nbytes);
    double seconds = seconds_now() - begin;
    int way = 2 * !source->on_host + !target->on_host;
    tallies_add((Tallies *)stats, way, ledger->nbytes, seconds);
    tallies_add((Tallies *)words.total, way, ledger->nbytes, seconds);
    ledger->everywhere.low = ledger->anywhere.low = ledger->everywhere.low | bit;
    PyList_SetItem(ledger->valid, 0, valid);
    PyList_SetItem(ledger->touched, 0, touched);
    return 1;
}
