/* The arguments of one call: see _compiled.c. */

/* One argument: its name, the storage, its access, and the array that the block gets. The window is
 * where in the storage's `Windows` the array was found, the kind where the access is kept there. */
typedef struct {
    PyObject *name, *thing, *token, *array, *windows, *backing;
    size_t window;
    int kind;
} Argument;

enum { FEW = 6 };

/* `memory` is given, or None, where the block asks a device for work that is done later, and `queue`
 * is the one in which that is, where it comes after all else that is done to the data; else None. */
typedef struct {
    PyObject_HEAD
    PyObject *arguments, *device, *writes, *tokens, *guests, *block, *memory, *queue, *arrays;
    Py_ssize_t count;
    Argument *seen, few[FEW];
    char entered; /* the short way: the accesses are those of `seen` */
    char lone;    /* the only argument is `arguments`, `writes` is a mode, and the block gets its array */
    char claimed; /* from the begin of an entry to the end of the exit: nobody else may enter */
    char busy;    /* a thread looks at the arguments */
} Block;

static int Block_traverse(PyObject *object, visitproc visit, void *arg)
{
    Block *self = (Block *)object;
    for (Py_ssize_t i = 0; i < self->count; i++) {
        Py_VISIT(self->seen[i].name);
        Py_VISIT(self->seen[i].thing);
        Py_VISIT(self->seen[i].token);
        Py_VISIT(self->seen[i].array);
        Py_VISIT(self->seen[i].windows);
        Py_VISIT(self->seen[i].backing);
    }
    return visit_fields(object, 9, visit, arg);
}

/* Say whether nobody else has the token, and nothing is left of its last access. */
static int is_unused(PyObject *token)
{
    Access *access = (Access *)token;
    return Py_REFCNT(token) == 1 && !access->active && access->request == words.plain;
}

/* Keep a token that is over with its storage. */
static void give_token_back(Argument *seen)
{
    PyObject *windows = seen->thing == NULL ? NULL : ((Sliceable *)seen->thing)->windows;
    if (seen->token != NULL && is_unused(seen->token) && IS(windows, Windows)) {
        PyObject **place = ((Windows *)windows)->spare + seen->kind;
        if (*place == NULL) {
            *place = seen->token;
            seen->token = NULL;
        }
    }
}

/* Take the token of the last time, if it is one for this use of the storage. */
static PyObject *take_token(PyObject **place, Acquirable *buffer, PyObject *space)
{
    PyObject *token = *place;
    if (token == NULL || !is_unused(token))
        return NULL;
    Access *access = (Access *)token;
    if (access->buffer != (PyObject *)buffer || access->space != space ||
        access->chunks != buffer->whole)
        return NULL;
    *place = NULL;
    return token;
}

/* Give up what is known of `known` arguments, of `count`; few of them stand in the block itself. */
static void forget_arguments(Argument *seen, Py_ssize_t known, Py_ssize_t count)
{
    for (Py_ssize_t i = 0; i < known; i++) {
        give_token_back(seen + i);
        Py_XDECREF(seen[i].name);
        Py_XDECREF(seen[i].thing);
        Py_XDECREF(seen[i].token);
        Py_XDECREF(seen[i].array);
        Py_XDECREF(seen[i].windows);
        Py_XDECREF(seen[i].backing);
    }
    if (count > FEW)
        PyMem_Free(seen);
}

static void block_forget(Block *self)
{
    Argument few[FEW], *seen = self->seen;
    Py_ssize_t count = self->count;
    if (seen == self->few)
        seen = memcpy(few, seen, (size_t)count * sizeof *seen);
    self->seen = NULL;
    self->count = 0;
    forget_arguments(seen, count, count);
}

/* Blocks come and go with each call, as tokens do: some are kept, empty, for the next ones. */
enum { SPARE_BLOCKS = 8 };
static PyObject *spare_blocks[SPARE_BLOCKS];
static int spare_block_count;

/* `OpenArguments` come and go as well. */
static PyObject *spare_arguments[SPARE_BLOCKS];
static int spare_arguments_count;
static descrsetfunc set_slot;
static PyObject *slot_of_things;

/* Return an `OpenArguments` with `things` for arrays, which takes all names at once; the slot for
 * the arguments is filled without a look at its name. */
static PyObject *new_arguments(PyObject *things)
{
    static newfunc make;
    if (make == NULL) {
        PyTypeObject *type = (PyTypeObject *)words.arguments;
        slot_of_things = PyObject_GetAttr((PyObject *)type, names.things);
        if (slot_of_things == NULL)
            return NULL;
        make = (newfunc)PyType_GetSlot(type, Py_tp_new);
        set_slot = (descrsetfunc)PyType_GetSlot(Py_TYPE(slot_of_things), Py_tp_descr_set);
    }
    PyObject *arrays = spare_arguments_count > 0
                           ? spare_arguments[--spare_arguments_count]
                           : make((PyTypeObject *)words.arguments, no_things, NULL);
    if (arrays != NULL &&
        (set_slot(slot_of_things, arrays, things) < 0 || PyDict_Update(arrays, things) < 0))
        Py_CLEAR(arrays);
    return arrays;
}

/* Let go of the dictionary of arrays; one that nobody else has is kept, empty. */
static void give_arguments_back(Block *self)
{
    PyObject *arrays = self->arrays;
    self->arrays = NULL;
    if (arrays != NULL && Py_REFCNT(arrays) == 1) {
        PyDict_Clear(arrays);
        if (set_slot(slot_of_things, arrays, Py_None) < 0)
            PyErr_Clear();
        else if (Py_REFCNT(arrays) == 1 && spare_arguments_count < SPARE_BLOCKS) {
            spare_arguments[spare_arguments_count++] = arrays;
            return;
        }
    }
    Py_XDECREF(arrays);
}

static int Block_clear(PyObject *self)
{
    block_forget((Block *)self);
    return clear_fields(self, 9);
}

static void Block_dealloc(PyObject *self)
{
    PyTypeObject *type = Py_TYPE(self);
    PyObject_GC_UnTrack(self);
    give_arguments_back((Block *)self);
    Block_clear(self);
    if (type == (PyTypeObject *)words.block && spare_block_count < SPARE_BLOCKS)
        spare_blocks[spare_block_count++] = self;
    else
        PyObject_GC_Del(self);
    Py_DECREF(type);
}

/* Return a block without arguments. */
static Block *block_new(void)
{
    if (spare_block_count == 0)
        return (Block *)PyType_GenericAlloc((PyTypeObject *)words.block, 0);
    Block *self = (Block *)spare_blocks[--spare_block_count];
    PyObject_Init((PyObject *)self, (PyTypeObject *)words.block);
    self->entered = self->claimed = self->busy = self->lone = 0;
    PyObject_GC_Track((PyObject *)self);
    return self;
}

static void block_fill(Block *self, PyObject *arguments, PyObject *device, PyObject *writes)
{
    set_field(&self->arguments, arguments);
    set_field(&self->device, device);
    set_field(&self->writes, writes);
    set_field(&self->tokens, no_things);
    set_field(&self->guests, no_things);
    set_field(&self->block, Py_None);
}

static int Block_init(Block *self, PyObject *args, PyObject *keywords)
{
    static char *known[] = {"arguments", "device", "writes", NULL};
    PyObject *arguments, *device, *writes;
    if (!PyArg_ParseTupleAndKeywords(args, keywords, "OOO", known, &arguments, &device, &writes))
        return -1;
    block_fill(self, arguments, device, writes);
    return 0;
}

static PyObject *Block_get_tokens(Block *self, void *unused)
{
    (void)unused;
    if (self->busy)
        return Py_NewRef(no_things);
    if (!self->entered)
        return Py_NewRef(self->tokens != NULL ? self->tokens : Py_None);
    PyObject *held = PyList_New(0);
    for (Py_ssize_t i = 0; held != NULL && i < self->count; i++) {
        PyObject *token = self->seen[i].token;
        if (((Access *)token)->active && PyList_Append(held, token) < 0)
            Py_CLEAR(held);
    }
    return held;
}

static int Block_set_tokens(Block *self, PyObject *tokens, void *unused)
{
    (void)unused;
    if (self->entered) {
        self->entered = 0;
        block_forget(self); /* who holds the tokens now may keep them */
    }
    set_field(&self->tokens, tokens);
    return 0;
}

/* Say whether a name, the very object, stands in a tuple. */
static int stands_in(PyObject *names_, PyObject *name)
{
    for (Py_ssize_t i = 0; i < PyTuple_Size(names_); i++)
        if (PyTuple_GetItem(names_, i) == name)
            return 1;
    return 0;
}

static int is_empty(PyObject *things)
{
    return things == no_things ||
           (things != NULL && PyTuple_CheckExact(things) && PyTuple_Size(things) == 0);
}

/* Find out about one argument: yes (1), not simple (0), error (-1). */
static int argument_look(Argument *seen, Block *self, PyObject *name, PyObject *thing, int writes)
{
    if (!IS(thing, Sliceable))
        return 0;
    Sliceable *storage = (Sliceable *)thing;
    if (!IS(storage->backing, Sides) || !IS(storage->windows, Windows))
        return 0;
    Sides *sides = (Sides *)storage->backing;
    if (!IS(sides->buffer, Acquirable))
        return 0;
    Acquirable *buffer = (Acquirable *)sides->buffer;
    int on_host = self->device == Py_None;
    PyObject *space = on_host ? sides->host : sides->device;
    if (!is_given(space) || !buffer->single || ledger_of(buffer) == NULL)
        return 0;
    Windows *windows = (Windows *)storage->windows;
    seen->kind = 2 * !on_host + writes;
    seen->window = !on_host && self->memory ? offsetof(Windows, later)
                   : !on_host               ? offsetof(Windows, kernel)
                   : writes                 ? offsetof(Windows, host)
                                            : offsetof(Windows, reading);
    PyObject *array = *(PyObject **)((char *)windows + seen->window);
    if (!is_given(array))
        return 0;
    seen->name = Py_NewRef(name);
    seen->thing = Py_NewRef(thing);
    seen->array = Py_NewRef(array);
    seen->windows = Py_NewRef((PyObject *)windows);
    seen->backing = Py_NewRef((PyObject *)sides);
    seen->token = take_token(windows->spare + seen->kind, buffer, space);
    if (seen->token != NULL)
        return 1;
    PyObject *replica = replica_at(buffer, space);
    if (replica == NULL)
        return PyErr_Occurred() ? -1 : 0;
    seen->token = (PyObject *)access_new((PyObject *)buffer, replica, space, buffer->whole,
                                         writes ? words.read_write : words.read, words.auto_);
    return seen->token != NULL ? 1 : -1;
}

/* Say whether an argument is what it was, and its token is at nobody else's hands. */
static inline Py_ALWAYS_INLINE int argument_lasts(Argument *seen, PyObject *name, PyObject *thing)
{
    if (seen->name != name || seen->thing != thing || !is_unused(seen->token))
        return 0;
    Sliceable *storage = (Sliceable *)thing;
    return storage->windows == seen->windows && storage->backing == seen->backing &&
           ((Sides *)seen->backing)->buffer == ((Access *)seen->token)->buffer &&
           *(PyObject **)((char *)seen->windows + seen->window) == seen->array;
}

enum { UNCLEAR = 2 };

/* Find out about all arguments of a block that knows none: yes (1), not simple (0), error (-1). With
 * `identical`, names are compared by identity, which is faster; the answer is UNCLEAR if some names of
 * written arguments are not found so. */
static int block_look_anew(Block *self, Py_ssize_t count, int identical)
{
    PyObject *name, *thing;
    Py_ssize_t at = 0, done = 0, written = 0;
    int simple = 1;
    Argument *seen = count > FEW ? PyMem_Calloc((size_t)count, sizeof(Argument)) : self->few;
    if (seen == NULL) {
        PyErr_NoMemory();
        return -1;
    }
    identical = identical && PyTuple_CheckExact(self->writes);
    while (simple > 0 && done < count && PyDict_Next(self->arguments, &at, &name, &thing)) {
        Argument *place = seen + done++;
        place->name = place->thing = place->token = place->array = NULL;
        place->windows = place->backing = NULL;
        Py_INCREF(name);
        Py_INCREF(thing);
        int writes = identical ? stands_in(self->writes, name)
                               : PySequence_Contains(self->writes, name);
        written += writes;
        simple = writes < 0 ? -1 : argument_look(place, self, name, thing, writes);
        Py_DECREF(name);
        Py_DECREF(thing);
    }
    if (simple > 0 && (done != count || PyDict_Size(self->arguments) != count))
        simple = 0;
    /* Places that differ may be two devices, which is for the careful way to judge. */
    for (Py_ssize_t i = 1; simple > 0 && i < done; i++)
        if (((Access *)seen[i].token)->space != ((Access *)seen[0].token)->space)
            simple = 0;
    /* Names that are equal and not identical: an array for reading may have been looked for. */
    if (simple >= 0 && identical && written != PyTuple_Size(self->writes))
        simple = UNCLEAR;
    if (simple == 1) {
        self->seen = seen;
        self->count = count;
    } else
        forget_arguments(seen, done, count);
    return simple;
}

/* Do `block_look` for the only argument. */
static int block_look_alone(Block *self)
{
    PyObject *thing = self->arguments;
    int writes = self->writes == words.read_write;
    if (thing == NULL || !(writes || self->writes == words.read))
        return 0;
    if (self->count == 1 && argument_lasts(self->seen, names.nothing, thing))
        return 1;
    block_forget(self);
    Argument *place = self->few;
    place->name = place->thing = place->token = place->array = NULL;
    place->windows = place->backing = NULL;
    Py_INCREF(thing);
    int simple = argument_look(place, self, names.nothing, thing, writes);
    Py_DECREF(thing);
    if (simple > 0) {
        self->seen = place;
        self->count = 1;
    } else
        forget_arguments(place, 1, 1);
    return simple;
}

/* See to it that `seen` is about the arguments: yes (1), not simple (0), error (-1). */
static int block_look(Block *self)
{
    PyObject *arguments = self->arguments, *name, *thing;
    if (self->lone)
        return block_look_alone(self);
    if (arguments == NULL || !PyDict_CheckExact(arguments))
        return 0;
    Py_ssize_t count = PyDict_Size(arguments), at = 0, done = 0;
    if (count == 0)
        return 0;
    if (count == self->count) {
        while (done < count && PyDict_Next(arguments, &at, &name, &thing) &&
               argument_lasts(self->seen + done, name, thing))
            done++;
        if (done == count)
            return 1;
    }
    block_forget(self);
    give_arguments_back(self);
    int simple = block_look_anew(self, count, 1);
    return simple == UNCLEAR ? block_look_anew(self, count, 0) : simple;
}

/* Return the dictionary of arrays: that of the last time, which cannot be changed but by ways
 * around its methods, as by code that is executed in it and leaves more names there. */
static PyObject *block_arrays(Block *self)
{
    PyObject *arrays = self->arrays;
    if (self->lone)
        return Py_NewRef(self->seen[0].array);
    if (arrays != NULL && PyDict_Size(arrays) == self->count)
        return Py_NewRef(arrays);
    arrays = new_arguments(self->arguments);
    if (arrays == NULL)
        return NULL;
    for (Py_ssize_t i = 0; i < self->count; i++)
        if (PyDict_SetItem(arrays, self->seen[i].name, self->seen[i].array) < 0) {
            Py_DECREF(arrays);
            return NULL;
        }
    set_field(&self->arrays, arrays);
    return arrays;
}

/* Find the queue that work of this thread goes to, if the block is for such work, and there is one;
 * -1 with an error. */
static int block_find_queue(Block *self)
{
    if (self->memory == NULL)
        return 0;
    PyObject *queue = self->memory == Py_None
                          ? Py_NewRef(Py_None)
                          : PyObject_GetAttr(self->memory, names.queue);
    if (queue != NULL)
        give_field(&self->queue, queue);
    return queue == NULL ? -1 : 0;
}

/* Return the lane of the data, borrowed; NULL without one, and for work that is done later. */
static Lane *block_lane(Block *self)
{
    PyObject *replica = self->memory == NULL && self->count
                            ? ((Access *)self->seen[0].token)->replica
                            : NULL;
    return IS(replica, Replica) ? (Lane *)((Replica *)replica)->lane : NULL;
}

/* Begin the access to one argument: yes (1), no (0), or an error (-1). */
static int block_begin(Block *self, Access *token, PyObject **known, Lane *lane, LaneNotes notes,
                       int *noted)
{
    Ledger *ledger = ledger_of((Acquirable *)token->buffer);
    if (lane != NULL)
        return ledger_begin_lane(ledger, token, lane, notes, noted);
    return self->memory == NULL
               ? ledger_begin(ledger, token, known)
               : ledger_begin_queued(ledger, token, self->memory, self->queue);
}

/* Let the notes of a lane be on nothing but the data of a block that begins; -1 with an error. */
static int renew_notes(Lane *lane)
{
    PyObject *made = PyObject_CallNoArgs(lane->renew);
    Py_XDECREF(made);
    return made == NULL ? -1 : 1;
}

/* Enter a block that this thread has claimed. */
static PyObject *block_enter(Block *self)
{
    int simple = 0;
    PyObject *arrays = NULL;
    if (!self->entered && block_find_queue(self) < 0)
        return NULL;
    if (!self->entered && self->queue != Py_None && is_empty(self->tokens) && is_empty(self->guests) &&
        self->block == Py_None) {
        self->busy = 1;
        simple = block_look(self);
        if (simple > 0)
            arrays = block_arrays(self);
        self->busy = 0;
    }
    if (simple < 0 || (simple > 0 && arrays == NULL))
        return NULL;
    if (simple > 0) {
        PyObject *me = this_thread(), *known = NULL;
        Py_ssize_t done = 0;
        Lane *lane = (Lane *)Py_XNewRef((PyObject *)block_lane(self));
        int noted = 1, begun = me == NULL ? -1 : lane == NULL ? 1 : lane_is_current(lane);
        LaneNotes notes = notes_of(lane);
        for (; begun > 0 && done < self->count; done++) {
            Access *token = (Access *)self->seen[done].token;
            if (token->owner != me)
                set_field(&token->owner, me);
            begun = block_begin(self, token, &known, lane, notes, &noted);
        }
        if (begun > 0 && !noted) {
            begun = renew_notes(lane);
            done += begun < 0; /* all have begun */
        }
        Py_XDECREF(notes.kept);
        Py_XDECREF((PyObject *)lane);
        Py_XDECREF(me);
        if (begun > 0) {
            self->entered = 1;
            return arrays;
        }
        for (done--; done-- > 0;)
            unbegin((Access *)self->seen[done].token);
        Py_DECREF(arrays);
        if (begun < 0)
            return NULL;
    }
    return PyObject_CallMethodObjArgs((PyObject *)self, names.enter, NULL);
}

/* Of threads that come at once one enters: between the look at `claimed` and its change nothing
 * else runs. */
static PyObject *Block_enter(Block *self)
{
    if (self->claimed) /* which raises */
        return PyObject_CallMethodObjArgs((PyObject *)self, names.refuse, NULL);
    self->claimed = 1;
    PyObject *arrays = block_enter(self);
    if (arrays == NULL)
        self->claimed = 0;
    return arrays;
}

/* End the accesses of a block that was entered the short way, those that are left; answer as above. */
static int block_end(Block *self)
{
    PyObject *known = NULL, *notes = NULL;
    Lane *lane = block_lane(self);
    LaneNotes of_lane = {NULL, NULL, NULL};
    int ended = 1;
    if (lane != NULL) {
        Py_INCREF((PyObject *)lane);
        ended = lane_is_current(lane);
        of_lane = notes_of(lane);
        Py_DECREF((PyObject *)lane);
        if (ended > 0 && of_lane.kept == NULL)
            ended = 0; /* that of what was done before is recorded */
    }
    if (is_given(self->queue)) {
        notes = PyObject_CallMethodObjArgs((PyObject *)self, names.notes, NULL);
        if (notes == NULL || !PyTuple_CheckExact(notes)) {
            Py_XDECREF(notes);
            return notes == NULL ? -1 : 0;
        }
    }
    for (Py_ssize_t i = 0; ended > 0 && self->entered && i < self->count; i++) {
        Access *token = (Access *)self->seen[i].token;
        Acquirable *buffer = (Acquirable *)token->buffer;
        ended = notes != NULL  ? acquirable_end_queued(buffer, token, notes)
                : lane != NULL ? acquirable_end_lane(buffer, token, of_lane)
                               : acquirable_end(buffer, token, &known);
    }
    Py_XDECREF(of_lane.kept);
    Py_XDECREF(notes);
    return ended;
}

static PyObject *block_exit(Block *self, PyObject *const *args)
{
    if (self->entered && args[1] == Py_None) {
        int ended = block_end(self);
        if (ended > 0) {
            self->entered = 0;
            Py_RETURN_NONE;
        }
        if (ended < 0)
            return NULL;
    }
    return PyObject_CallMethodObjArgs((PyObject *)self, names.leave, args[0], args[1], args[2],
                                      NULL);
}

static PyObject *Block_exit(Block *self, PyObject *const *args)
{
    PyObject *left = block_exit(self, args);
    if (left == NULL) {
        PyObject *kind, *value, *trace;
        PyErr_Fetch(&kind, &value, &trace);
        Py_XDECREF(
            PyObject_CallMethodObjArgs((PyObject *)self, names.give_all_back, args[1], NULL));
        PyErr_Restore(kind, value, trace);
    }
    if (!self->busy) /* else this is the end of nothing, and another thread is about to begin */
        self->claimed = 0;
    return left;
}

/* access(device=None, mode=READ, region=...) */
static PyObject *Sliceable_access(PyObject *self, PyObject *const *args, Py_ssize_t count,
                                  PyObject *keywords)
{
    static const char *const known[] = {"device", "mode", "region", NULL};
    PyObject *given[3] = {NULL, NULL, NULL};
    if (sort_arguments(given, known, args, count, keywords) < 0)
        return NULL;
    PyObject *device = given[0] != NULL ? given[0] : Py_None, *mode = words.read;
    if (given[1] != NULL && given[1] != words.read)
        mode = given[1] == words.read_write ? given[1] : PyDict_GetItemWithError(words.modes, given[1]);
    if (mode == NULL && PyErr_Occurred())
        PyErr_Clear();
    int simple = given[2] == NULL && (mode == words.read || mode == words.read_write) &&
                 (device == Py_None || device == names.gpu ||
                  (PyUnicode_Check(device) && !PyUnicode_CompareWithASCIIString(device, "gpu")));
    if (!simple)
        return PyObject_CallMethodObjArgs(self, names.access_carefully, device,
                                          given[1] != NULL ? given[1] : words.read,
                                          given[2] != NULL ? given[2] : Py_Ellipsis, NULL);
    Block *block = (Block *)PyType_GenericAlloc((PyTypeObject *)words.opening, 0);
    if (block != NULL) {
        block_fill(block, self, device, mode);
        block->lone = 1;
    }
    return (PyObject *)block;
}

/* bound(arguments, *, device=None, writes=()) */
static PyObject *module_bound(PyObject *module, PyObject *const *args, Py_ssize_t count,
                              PyObject *keywords)
{
    (void)module;
    Py_ssize_t named = keywords == NULL ? 0 : PyTuple_Size(keywords);
    PyObject *device = Py_None, *writes = NULL;
    int simple = count == 1 && PyDict_CheckExact(args[0]);
    for (Py_ssize_t i = 0; simple && i < named; i++) {
        PyObject *name = PyTuple_GetItem(keywords, i);
        if (name == names.device || !PyUnicode_CompareWithASCIIString(name, "device"))
            device = args[count + i];
        else if (name == names.writes || !PyUnicode_CompareWithASCIIString(name, "writes"))
            writes = args[count + i];
        else
            simple = 0;
    }
    if (simple && device != Py_None && device != names.gpu)
        simple = PyUnicode_Check(device) && !PyUnicode_CompareWithASCIIString(device, "gpu");
    if (simple && writes != NULL) {
        simple = PyTuple_CheckExact(writes);
        for (Py_ssize_t i = 0; simple > 0 && i < PyTuple_Size(writes); i++)
            simple = PyDict_Contains(args[0], PyTuple_GetItem(writes, i));
        if (simple < 0)
            return NULL;
    }
    if (simple) {
        Block *block = block_new();
        if (block != NULL)
            block_fill(block, args[0], device, writes == NULL ? no_things : writes);
        return (PyObject *)block;
    }
    PyObject *given = PyTuple_New(count), *by_name = PyDict_New();
    int failed = given == NULL || by_name == NULL;
    for (Py_ssize_t i = 0; !failed && i < count; i++)
        failed = PyTuple_SetItem(given, i, Py_NewRef(args[i])) < 0;
    for (Py_ssize_t i = 0; !failed && i < named; i++)
        failed = PyDict_SetItem(by_name, PyTuple_GetItem(keywords, i), args[count + i]) < 0;
    PyObject *block = failed ? NULL : PyObject_Call(words.bound, given, by_name);
    Py_XDECREF(given);
    Py_XDECREF(by_name);
    return block;
}

static PyMethodDef bound_method = {
    "bound", (PyCFunction)(void (*)(void))module_bound, METH_FASTCALL | METH_KEYWORDS,
    "bound(arguments, *, device=None, writes=())\n--\n\n"
    "Return a context manager that yields the arrays of `arguments` on `device`, by name.\n\n"
    "See the guide, or the source of `binding.bound`, which does what this leaves."};

static PyObject *module_short(PyObject *module, PyObject *careful)
{
    set_field(&words.bound, careful);
    return PyCFunction_New(&bound_method, module);
}

static PyMemberDef Block_members[] = {
    HIDDEN(Block, arguments), HIDDEN(Block, device), HIDDEN(Block, writes),
    HIDDEN(Block, guests), HIDDEN(Block, block), HIDDEN(Block, memory), HIDDEN(Block, queue),
    {"_lone", T_BOOL, offsetof(Block, lone), 0, NULL}, NO_MORE};
static PyGetSetDef Block_getset[] = {
    {"_tokens", (getter)Block_get_tokens, (setter)Block_set_tokens, NULL, NULL}, NO_MORE};
static PyType_Slot Block_slots[] = {
    COLLECTED(Block), {Py_tp_init, Block_init}, {Py_tp_members, Block_members},
    {Py_tp_getset, Block_getset}, {0, NULL}};
static PyType_Spec Block_spec = {
    "psyclone_storage.storage.core._compiled.Block", sizeof(Block), 0, FLAGS, Block_slots};
