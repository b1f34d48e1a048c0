/* The arguments of one call: see _compiled.c. */

/* One argument: its name, the storage, its access, and the array that the block gets. The window is
 * where in the storage's `Windows` the array was found. */
typedef struct {
    PyObject *name, *thing, *token, *array;
    size_t window;
} Argument;

enum { FEW = 6 };

typedef struct {
    PyObject_HEAD
    PyObject *arguments, *device, *writes, *tokens, *guests, *block, *arrays;
    Py_ssize_t count;
    Argument *seen, few[FEW];
    char entered; /* the short way: the accesses are those of `seen` */
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
    }
    return visit_fields(object, 7, visit, arg);
}

/* Give up what is known of arguments; few of them stand in the block itself. */
static void forget_arguments(Argument *seen, Py_ssize_t count)
{
    for (Py_ssize_t i = 0; i < count; i++) {
        Py_XDECREF(seen[i].name);
        Py_XDECREF(seen[i].thing);
        Py_XDECREF(seen[i].token);
        Py_XDECREF(seen[i].array);
    }
    if (count > FEW)
        PyMem_Free(seen);
}

static void block_forget(Block *self)
{
    Argument few[FEW], *seen = self->seen;
    Py_ssize_t count = self->count;
    if (seen == self->few)
        seen = memcpy(few, seen, sizeof few);
    self->seen = NULL;
    self->count = 0;
    forget_arguments(seen, count);
}

/* Have the `count` arguments in `seen` from now on, where there were none. */
static void block_remember(Block *self, Argument *seen, Py_ssize_t count)
{
    self->seen = count > FEW ? seen : memcpy(self->few, seen, (size_t)count * sizeof *seen);
    self->count = count;
}

static int Block_clear(PyObject *self)
{
    block_forget((Block *)self);
    return clear_fields(self, 7);
}

/* Blocks come and go with each call, as tokens do: some are kept, empty, for the next ones. */
enum { SPARE_BLOCKS = 8 };
static PyObject *spare_blocks[SPARE_BLOCKS];
static int spare_block_count;

static void Block_dealloc(PyObject *self)
{
    PyTypeObject *type = Py_TYPE(self);
    PyObject_GC_UnTrack(self);
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
    self->entered = self->claimed = self->busy = 0;
    PyObject_GC_Track((PyObject *)self);
    return self;
}

static int block_fill(Block *self, PyObject *arguments, PyObject *device, PyObject *writes)
{
    PyObject *none = PyTuple_New(0);
    if (none == NULL)
        return -1;
    set_field(&self->arguments, arguments);
    set_field(&self->device, device);
    set_field(&self->writes, writes);
    set_field(&self->tokens, none);
    set_field(&self->guests, none);
    set_field(&self->block, Py_None);
    Py_DECREF(none);
    return 0;
}

static int Block_init(Block *self, PyObject *args, PyObject *keywords)
{
    static char *known[] = {"arguments", "device", "writes", NULL};
    PyObject *arguments, *device, *writes;
    if (!PyArg_ParseTupleAndKeywords(args, keywords, "OOO", known, &arguments, &device, &writes))
        return -1;
    return block_fill(self, arguments, device, writes);
}

static PyObject *Block_get_tokens(Block *self, void *unused)
{
    (void)unused;
    if (self->busy)
        return PyTuple_New(0);
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

static int is_empty(PyObject *things)
{
    return things != NULL && PyTuple_CheckExact(things) && PyTuple_Size(things) == 0;
}

/* Find out about one argument: yes (1), not simple (0), error (-1). */
static int argument_look(Argument *seen, Block *self, PyObject *name, PyObject *thing)
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
    int writes = PySequence_Contains(self->writes, name), on_host = self->device == Py_None;
    PyObject *space = on_host ? sides->host : sides->device;
    if (writes < 0)
        return -1;
    if (!is_given(space) || !buffer->single || ledger_of(buffer) == NULL)
        return 0;
    PyObject *replica = replica_at(buffer, space);
    if (replica == NULL)
        return PyErr_Occurred() ? -1 : 0;
    seen->window = !on_host ? offsetof(Windows, kernel)
                   : writes ? offsetof(Windows, host)
                            : offsetof(Windows, reading);
    PyObject *array = *(PyObject **)((char *)storage->windows + seen->window);
    if (!is_given(array))
        return 0;
    seen->name = Py_NewRef(name);
    seen->thing = Py_NewRef(thing);
    seen->array = Py_NewRef(array);
    seen->token = (PyObject *)access_new((PyObject *)buffer, replica, space, buffer->whole,
                                         writes ? words.read_write : words.read, words.auto_);
    return seen->token != NULL ? 1 : -1;
}

/* Say whether an argument is what it was, and its token is at nobody else's hands. */
static int argument_lasts(Argument *seen, PyObject *name, PyObject *thing)
{
    if (seen->name != name || seen->thing != thing || Py_REFCNT(seen->token) != 1)
        return 0;
    PyObject *windows = ((Sliceable *)thing)->windows;
    Access *token = (Access *)seen->token;
    PyObject *backing = ((Sliceable *)thing)->backing;
    return IS(windows, Windows) && IS(backing, Sides) &&
           ((Sides *)backing)->buffer == token->buffer &&
           *(PyObject **)((char *)windows + seen->window) == seen->array && !token->active &&
           token->request == words.plain;
}

/* See to it that `seen` is about the arguments: yes (1), not simple (0), error (-1). */
static int block_look(Block *self)
{
    PyObject *arguments = self->arguments, *name, *thing;
    if (arguments == NULL || !PyDict_CheckExact(arguments))
        return 0;
    Py_ssize_t count = PyDict_Size(arguments), at = 0, done = 0;
    if (count == 0)
        return 0;
    if (count == self->count) {
        while (PyDict_Next(arguments, &at, &name, &thing) &&
               argument_lasts(self->seen + done, name, thing))
            done++;
        if (done == count)
            return 1;
    }
    block_forget(self);
    Argument few[FEW] = {{0}}, *seen = few;
    if (count > FEW && (seen = PyMem_Calloc((size_t)count, sizeof(Argument))) == NULL) {
        PyErr_NoMemory();
        return -1;
    }
    int simple = 1;
    for (at = done = 0; simple > 0 && done < count && PyDict_Next(arguments, &at, &name, &thing);
         done++) {
        Py_INCREF(name);
        Py_INCREF(thing);
        simple = argument_look(seen + done, self, name, thing);
        Py_DECREF(name);
        Py_DECREF(thing);
    }
    if (simple > 0 && (done != count || PyDict_Size(arguments) != count))
        simple = 0;
    if (simple > 0)
        block_remember(self, seen, count);
    else
        forget_arguments(seen, count);
    return simple;
}

/* Return an empty `Arguments`, whose slot for the arguments is filled without a look at its name. */
static PyObject *new_arguments(PyObject *things)
{
    static newfunc make;
    static descrsetfunc set;
    static PyObject *slot, *nothing;
    if (nothing == NULL) {
        PyTypeObject *type = (PyTypeObject *)words.arguments;
        slot = PyObject_GetAttr((PyObject *)type, names.things);
        if (slot == NULL)
            return NULL;
        make = (newfunc)PyType_GetSlot(type, Py_tp_new);
        set = (descrsetfunc)PyType_GetSlot(Py_TYPE(slot), Py_tp_descr_set);
        nothing = PyTuple_New(0);
    }
    PyObject *arrays = make((PyTypeObject *)words.arguments, nothing, NULL);
    if (arrays != NULL && set(slot, arrays, things) < 0)
        Py_CLEAR(arrays);
    return arrays;
}

/* Return the dictionary of arrays, the one of the last time if nobody else has it. */
static PyObject *block_arrays(Block *self)
{
    PyObject *arrays = self->arrays;
    if (arrays == NULL || Py_REFCNT(arrays) != 1 || PyDict_Size(arrays) != self->count) {
        arrays = new_arguments(self->arguments);
        if (arrays == NULL)
            return NULL;
        give_field(&self->arrays, arrays);
    }
    Py_INCREF(arrays);
    for (Py_ssize_t i = 0; i < self->count; i++)
        if (PyDict_SetItem(arrays, self->seen[i].name, self->seen[i].array) < 0) {
            Py_DECREF(arrays);
            return NULL;
        }
    if (PyDict_Size(arrays) == self->count)
        return arrays;
    Py_DECREF(arrays); /* a block gave it other names */
    set_field(&self->arrays, NULL);
    return block_arrays(self);
}

/* Enter a block that this thread has claimed. */
static PyObject *block_enter(Block *self)
{
    int simple = 0;
    PyObject *arrays = NULL;
    if (!self->entered && is_empty(self->tokens) && is_empty(self->guests) &&
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
        PyObject *me = this_thread();
        Py_ssize_t done = 0;
        int begun = me == NULL ? -1 : 1;
        for (; begun > 0 && done < self->count; done++) {
            Access *token = (Access *)self->seen[done].token;
            if (token->owner != me)
                set_field(&token->owner, me);
            begun = ledger_begin(ledger_of((Acquirable *)token->buffer), token);
        }
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
static PyObject *Block_enter(Block *self, PyObject *unused)
{
    (void)unused;
    if (self->claimed) /* which raises */
        return PyObject_CallMethodObjArgs((PyObject *)self, names.refuse, NULL);
    self->claimed = 1;
    PyObject *arrays = block_enter(self);
    if (arrays == NULL)
        self->claimed = 0;
    return arrays;
}

static PyObject *block_exit(Block *self, PyObject *const *args)
{
    if (self->entered && args[1] == Py_None) {
        int ended = 1;
        for (Py_ssize_t i = 0; ended > 0 && i < self->count; i++) {
            Access *token = (Access *)self->seen[i].token;
            ended = acquirable_end((Acquirable *)token->buffer, token);
        }
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

static PyObject *Block_exit(Block *self, PyObject *const *args, Py_ssize_t count)
{
    if (count != 3) {
        PyErr_SetString(PyExc_TypeError, "__exit__() takes three arguments.");
        return NULL;
    }
    PyObject *left = block_exit(self, args);
    if (left == NULL) {
        PyObject *kind, *value, *trace;
        PyErr_Fetch(&kind, &value, &trace);
        Py_XDECREF(PyObject_CallMethodObjArgs((PyObject *)self, names.give_all_back, NULL));
        PyErr_Restore(kind, value, trace);
    }
    if (!self->busy) /* else this is the end of nothing, and another thread is about to begin */
        self->claimed = 0;
    return left;
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
        if (!PyUnicode_CompareWithASCIIString(name, "device"))
            device = args[count + i];
        else if (!PyUnicode_CompareWithASCIIString(name, "writes"))
            writes = args[count + i];
        else
            simple = 0;
    }
    if (simple && device != Py_None)
        simple = PyUnicode_Check(device) && !PyUnicode_CompareWithASCIIString(device, "gpu");
    if (simple && writes != NULL) {
        simple = PyTuple_CheckExact(writes);
        for (Py_ssize_t i = 0; simple > 0 && i < PyTuple_Size(writes); i++)
            simple = PyDict_Contains(args[0], PyTuple_GetItem(writes, i));
        if (simple < 0)
            return NULL;
    }
    if (simple) {
        PyObject *nothing = writes == NULL ? PyTuple_New(0) : Py_NewRef(writes);
        Block *block = block_new();
        if (nothing == NULL || block == NULL ||
            block_fill(block, args[0], device, nothing) < 0)
            Py_CLEAR(block);
        Py_XDECREF(nothing);
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
    HIDDEN(Block, guests), HIDDEN(Block, block), NO_MORE};
static PyGetSetDef Block_getset[] = {
    {"_tokens", (getter)Block_get_tokens, (setter)Block_set_tokens, NULL, NULL}, NO_MORE};
static PyMethodDef Block_methods[] = {
    METHOD("__enter__", Block_enter, METH_NOARGS), METHOD("__exit__", Block_exit, METH_FASTCALL),
    {0}};
static PyType_Slot Block_slots[] = {
    COLLECTED(Block), {Py_tp_init, Block_init}, {Py_tp_members, Block_members},
    {Py_tp_getset, Block_getset}, {Py_tp_methods, Block_methods}, {0, NULL}};
static PyType_Spec Block_spec = {
    "psyclone_storage.storage.core._compiled.Block", sizeof(Block), 0, FLAGS, Block_slots};
