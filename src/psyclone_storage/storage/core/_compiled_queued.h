/* Accesses of work that a device does later, in the order of its queue: see _compiled.c.
 *
 * Where all that a device may still do to some memory is in the queue that the work goes to, nothing
 * has to be waited for, and one note at the end says what the work of a whole block has used. */

/* The fields of a `LastUse`. */
enum { USE_STREAM = 0, USE_EVENT = 1, USE_WROTE = 2, USE_FOLLOWS = 4 };

/* Say whether a note is on a use in `queue`: yes (1), no (0), or with an error (-1). */
static int is_in_queue(PyObject *use, PyObject *queue)
{
    PyObject *stream = PyTuple_GetItem(use, USE_STREAM);
    if (stream == queue && stream != NULL)
        return 1;
    return stream == NULL ? -1 : PyObject_RichCompareBool(stream, queue, Py_EQ);
}

/* Say whether work in `queue` overtakes nothing that is still done to some memory, and nothing has
 * failed there: yes (1), no (0), or with an error (-1). What was written before a use that followed it
 * in the same queue has been waited for there. */
static int comes_next(Piece *piece, int writes, PyObject *queue)
{
    PyObject *pending = piece->pending;
    if (pending == NULL || !PyTuple_CheckExact(pending))
        return 0;
    int followed = 0;
    for (Py_ssize_t i = PyTuple_Size(pending); i-- > 0;) {
        PyObject *use = PyTuple_GetItem(pending, i);
        if (!PyTuple_Check(use) || PyTuple_Size(use) <= USE_FOLLOWS)
            return 0;
        int same = is_in_queue(use, queue);
        if (same < 0)
            return -1;
        if (same)
            followed |= PyTuple_GetItem(use, USE_FOLLOWS) == Py_True;
        else if (PyTuple_GetItem(use, USE_WROTE) == Py_False ? writes : !followed)
            return 0;
        if (followed && !writes)
            return 1; /* all that is left was before that use */
    }
    return 1;
}

/* Do `ledger_begin` for work in a queue of `memory`. */
static int ledger_begin_queued(Ledger *self, Access *token, PyObject *memory, PyObject *queue)
{
    int writes = access_writes(token);
    if (writes < 0)
        return -1;
    if (!IS(token->replica, Replica) || ((Replica *)token->replica)->memory != memory)
        return 0;
    Piece *piece = ((Replica *)token->replica)->piece;
    int next = piece == NULL || self->barred || has_failed((Replica *)token->replica)
                   ? 0
                   : comes_next(piece, writes, queue);
    return next > 0 ? ledger_begin_valid(self, token, writes) : next;
}

/* Return a new reference to notes with that on a use after all others: a write stands for all, a read
 * for reads in the same queue, as `pending.note` says. `notes` are those on reading and writing, each a
 * tuple of one. */
static PyObject *with_note(PyObject *pending, int writes, PyObject *notes)
{
    PyObject *note = PyTuple_GetItem(notes, writes), *kept[8];
    PyObject *use = note == NULL ? NULL : PyTuple_GetItem(note, 0);
    PyObject *stream = use == NULL ? NULL : PyTuple_GetItem(use, USE_STREAM);
    Py_ssize_t count = 0, size = PyTuple_Size(pending);
    if (stream == NULL)
        return NULL;
    for (Py_ssize_t i = 0; !writes && i < size; i++) {
        PyObject *old = PyTuple_GetItem(pending, i);
        if (!PyTuple_Check(old) || count == 8)
            return Py_NewRef(Py_None); /* more than is usual */
        int same = PyTuple_GetItem(old, USE_WROTE) == Py_False ? is_in_queue(old, stream) : 0;
        if (same < 0)
            return NULL;
        if (!same)
            kept[count++] = old;
    }
    if (count == 0)
        return Py_NewRef(note);
    PyObject *made = PyTuple_New(count + 1);
    for (Py_ssize_t i = 0; made != NULL && i <= count; i++)
        PyTuple_SetItem(made, i, Py_NewRef(i < count ? kept[i] : use));
    return made;
}

/* Say whether an access may end without a look at what waits: yes (1), no (0), or with an error (-1). */
static int may_end(Ledger *ledger, Access *token, int writes)
{
    if (!token->active || ledger->barred || (writes && token->replica != ledger->last_writer))
        return 0;
    int waits = has_queue(ledger);
    return waits < 0 ? -1 : !waits && !is_busy(ledger);
}

/* Do `acquirable_end` for work that was queued; without `notes` none is taken. */
static int acquirable_end_queued(Acquirable *self, Access *token, PyObject *notes)
{
    Ledger *ledger = ledger_of(self);
    int writes = access_writes(token), ended = 0;
    if (writes < 0)
        return -1;
    if (self->has_wishes || ledger == NULL || !IS(token->replica, Replica))
        return 0;
    Piece *piece = ((Replica *)token->replica)->piece;
    if (piece == NULL || piece->pending == NULL || !PyTuple_CheckExact(piece->pending) ||
        has_failed((Replica *)token->replica))
        return 0;
    PyObject *before = Py_NewRef(piece->pending);
    Py_INCREF((PyObject *)piece);
    int noted = PyTuple_Size(notes) > 0;
    PyObject *after = noted ? with_note(before, writes, notes) : Py_NewRef(before);
    if (after == NULL)
        ended = -1;
    /* What was made may have let others in: from here on nothing does. */
    else if (PyTuple_CheckExact(after) && piece->pending == before) {
        ended = may_end(ledger, token, writes);
        if (ended > 0) {
            piece->pending = Py_NewRef(after);
            Py_DECREF(before); /* that of the piece; one is left */
            /* On a GPU, accesses on the host need not look at these notes. */
            ledger->attention |= (char)(noted && ((Replica *)token->replica)->lane == NULL);
            ended = ledger_strike(ledger, token, writes);
        }
        if (ended > 0)
            self->version += writes;
    }
    Py_XDECREF(after);
    Py_DECREF(before);
    Py_DECREF((PyObject *)piece);
    return ended;
}

/* The notes of a lane: one on reading and one on writing. `kept` keeps both; NULL without notes. */
typedef struct {
    PyObject *kept, *read, *written;
} LaneNotes;

/* Return the notes that a lane has now. */
static LaneNotes notes_of(Lane *lane)
{
    LaneNotes found = {NULL, NULL, NULL};
    PyObject *notes = lane == NULL ? NULL : lane->notes;
    if (notes == NULL || !PyTuple_CheckExact(notes) || PyTuple_Size(notes) != 2)
        return found;
    PyObject *read = PyTuple_GetItem(notes, 0), *written = PyTuple_GetItem(notes, 1);
    if (PyTuple_CheckExact(read) && PyTuple_CheckExact(written) && PyTuple_Size(read) == 1 &&
        PyTuple_Size(written) == 1) {
        found.kept = Py_NewRef(notes);
        found.read = PyTuple_GetItem(read, 0);
        found.written = PyTuple_GetItem(written, 0);
    }
    return found;
}

/* Return the last note on some memory, borrowed; NULL without notes. `count` becomes their number. */
static PyObject *last_note(Piece *piece, Py_ssize_t *count)
{
    PyObject *pending = piece->pending;
    *count = pending != NULL && PyTuple_CheckExact(pending) ? PyTuple_Size(pending) : 0;
    return *count ? PyTuple_GetItem(pending, *count - 1) : NULL;
}

/* Do `ledger_begin` for work in a lane that has `notes`. `noted` becomes 0 if they are not on the
 * memory: what they have so far is of other data, whose users need not wait for this access. The use
 * of a note of the lane has followed all earlier writes. */
static int ledger_begin_lane(Ledger *self, Access *token, Lane *lane, LaneNotes notes, int *noted)
{
    int writes = access_writes(token);
    if (writes < 0)
        return -1;
    if (!IS(token->replica, Replica) || ((Replica *)token->replica)->lane != (PyObject *)lane)
        return 0;
    Piece *piece = ((Replica *)token->replica)->piece;
    if (piece == NULL || self->barred || has_failed((Replica *)token->replica))
        return 0;
    Py_ssize_t count;
    PyObject *last = last_note(piece, &count);
    int here = last != NULL && (last == notes.written || last == notes.read);
    int next = here && (count == 1 || !writes) ? 1 : comes_next(piece, writes, lane->queue);
    if (next <= 0)
        return next;
    *noted = *noted && here;
    return ledger_begin_valid(self, token, writes);
}

/* End an access that `ledger_begin_lane` has begun; `notes` are those of the lane. */
static int acquirable_end_lane(Acquirable *self, Access *token, LaneNotes notes)
{
    Ledger *ledger = ledger_of(self);
    int writes = access_writes(token);
    if (writes < 0)
        return -1;
    Replica *replica = IS(token->replica, Replica) ? (Replica *)token->replica : NULL;
    if (replica == NULL || replica->piece == NULL || ledger == NULL)
        return 0;
    Py_ssize_t count;
    PyObject *last = last_note(replica->piece, &count);
    if (last == NULL || (last != notes.written && (writes || last != notes.read)))
        return acquirable_end_queued(self, token, notes.kept);
    int ended = self->has_wishes || has_failed(replica) ? 0 : may_end(ledger, token, writes);
    if (ended > 0)
        ended = ledger_strike(ledger, token, writes);
    if (ended > 0)
        self->version += writes;
    return ended;
}

/* end_queued(token, notes) */
static PyObject *module_end_queued(PyObject *module, PyObject *const *args, Py_ssize_t count)
{
    (void)module;
    if (count != 2 || !PyTuple_CheckExact(args[1])) {
        PyErr_SetString(PyExc_TypeError, "end_queued() takes an access and its notes.");
        return NULL;
    }
    Access *token = as_access(args[0]);
    if (token == NULL)
        return NULL;
    PyObject *buffer = token->buffer;
    if (!IS(buffer, Acquirable))
        Py_RETURN_FALSE;
    return answered(acquirable_end_queued((Acquirable *)buffer, token, args[1]));
}
