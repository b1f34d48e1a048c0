/* A device with memory of its own for programs with OpenACC, on a machine that has none.
 *
 * gfortran makes calls of directives. What is linked into a program stands in the place of libgomp's
 * procedures: code of regions runs on the host, by one gang, and works on copies. What was not
 * brought is not there, what was not fetched is old, and new memory holds what is no number. What is
 * entered in a queue is sent when somebody waits for that; all else of queues is done at once. What
 * is missing where it has to be present ends the program, and so does what is not known here.
 *
 * Pointers are kept by libgomp's rules. With what a directive enters, the variable enters by which
 * it goes: a descriptor, a dummy's address. It stays as long as those values do, is not brought up
 * to date while it is present, and is what a region finds at that address. A pointer in an object is
 * attached once. An update of a component gives the device's object what lies one argument before.
 *
 * `emulated_moves` says how often values went to the device, how many bytes, the same of what came
 * back, and how many arguments of regions, as scalars and results of sums, were copied for them.
 * `emulated_print` prints these numbers. */
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

/* What libgomp calls the kinds of maps (include/gomp-constants.h of GCC). */
enum {
    TO = 0x01,
    FROM = 0x02,
    POINTER = 0x04,
    DESCRIPTOR = 0x05,
    PRESENT = 0x06,
    DELETE = 0x07,
    FIRST_PRIVATE = 0x0c,
    FIRST_PRIVATE_VALUE = 0x0d,
    USE_DEVICE = 0x0e,
    USE_DEVICE_IF_PRESENT = 0x10,
    RELEASE = 0x17,
    STRUCT = 0x1c,
    ALWAYS_POINTER = 0x1d,
    ATTACH = 0x50,
    DETACH = 0x51,
    FORCE = 0x80,
};

/* Bytes of the host that the device has, how often they were entered, and the pointer alone with
 * which they were. */
typedef struct copy {
    char *host, *device;
    size_t bytes, uses;
    struct copy *pointer, *next;
} copy;

/* A pointer in an object that the device has, which points to the device's values. */
typedef struct attached {
    const void *host;
    size_t uses;
    struct attached *next;
} attached;

/* Values that are entered in a queue, and not sent yet. */
typedef struct queued {
    int queue;
    const void *host;
    size_t bytes;
    struct queued *next;
} queued;

static copy *copies;
static attached *attachments;
static queued *waiting;
static int64_t moves[5];

static void fail(const char *why, const void *address, size_t number)
{
    fprintf(stderr, "emulated OpenACC: %s: %p, %zu\n", why, address, number);
    exit(3);
}

static void *new_memory(size_t bytes)
{
    const uint64_t no_number = 0x7FF4A5A57FB4A5A5u;
    char *memory = malloc(bytes + sizeof no_number);
    if (!memory) fail("no memory", NULL, bytes);
    for (size_t at = 0; at < bytes; at += sizeof no_number)
        memcpy(memory + at, &no_number, sizeof no_number);
    return memory;
}

/* Return the copy of bytes, of which there is at least one; null if the device has none of them. */
static copy *found(const void *host, size_t bytes)
{
    const char *first = host, *last = first + (bytes ? bytes : 1);
    for (copy *one = copies; one; one = one->next) {
        if (first >= one->host && last <= one->host + one->bytes) return one;
        if (first < one->host + one->bytes && one->host < last)
            fail("the device has a part of this alone", host, bytes);
    }
    return NULL;
}

static void *there(const copy *one, const void *host)
{
    return one->device + ((const char *)host - one->host);
}

static void send(const copy *one, const void *host, size_t bytes)
{
    memcpy(there(one, host), host, bytes);
    moves[0] += 1, moves[1] += bytes;
}

static void fetch(const copy *one, void *host, size_t bytes)
{
    memcpy(host, there(one, host), bytes);
    moves[2] += 1, moves[3] += bytes;
}

static void leave(copy *one, int fetches, int for_good)
{
    copy **at = &copies;
    one->uses = for_good ? 0 : one->uses - 1;
    if (one->uses) return;
    if (fetches) fetch(one, one->host, one->bytes);
    while (*at != one) at = &(*at)->next;
    *at = one->next;
    for (copy *other = copies; other; other = other->next)
        if (other->pointer == one) other->pointer = NULL;
    free(one->device);
    free(one);
}

static copy *entered(void *host, size_t bytes)
{
    copy *one = malloc(sizeof *one);
    if (!one) fail("no memory", host, sizeof *one);
    *one = (copy){host, new_memory(bytes), bytes, 1, NULL, copies};
    return copies = one;
}

/* Let a pointer that the device has point to what the device has of its target. */
static void point(copy *one, void *host)
{
    char *value = *(char **)host;
    copy *target = value ? found(value, 0) : NULL;
    if (target) value = there(target, value);
    memcpy(there(one, host), &value, sizeof value);
}

/* Enter a pointer that came after `values`, and for them alone if they are `new`. */
static void enter_pointer(copy *values, int new, void *host)
{
    copy *one = found(host, sizeof(void *));
    if (!new) {
        if (values && values->pointer) values->pointer->uses += 1;
    } else if (one) {
        one->uses += 1;
    } else {
        point(values->pointer = entered(host, sizeof(void *)), host);
    }
}

/* Enter a descriptor and the pointer in it, or attach that if it lies in an object. */
static void enter_descriptor(void *host, size_t bytes, void *pointer)
{
    copy *one = found(host, bytes);
    if (one) {
        one->uses += pointer ? 2 : 1;
        return;
    }
    one = entered(host, bytes);
    memcpy(one->device, host, bytes);
    if (!pointer) return;
    one->uses += 1;
    point(one, pointer);
}

static attached *attachment(const void *host)
{
    attached *one = attachments;
    while (one && one->host != host) one = one->next;
    return one;
}

static void attach(void *host)
{
    copy *object = found(host, sizeof(void *));
    attached *one = attachment(host);
    if (!object) fail("attached, and not present", host, sizeof(void *));
    if (!one) {
        if (!(one = malloc(sizeof *one))) fail("no memory", host, sizeof *one);
        *one = (attached){host, 0, attachments};
        attachments = one;
    }
    if (one->uses++ == 0) point(object, host);
}

static void detach(const void *host, int for_good)
{
    attached *one = attachment(host);
    if (!one || !one->uses) fail("detached, and not attached", host, sizeof(void *));
    one->uses = for_good ? 0 : one->uses - 1;
}

/* Send values later, if they are entered in a queue. */
static void send_in(int queue, const copy *one, const void *host, size_t bytes)
{
    if (queue < 0) {
        send(one, host, bytes);
        return;
    }
    queued *later = malloc(sizeof *later);
    if (!later) fail("no memory", host, bytes);
    *later = (queued){queue, host, bytes, waiting};
    waiting = later;
}

/* Send what has been entered in a queue, or in any if that is asked for. */
static void send_queued(int queue)
{
    for (queued **at = &waiting; *at;) {
        queued *one = *at;
        if (queue >= 0 && one->queue != queue) {
            at = &one->next;
            continue;
        }
        copy *values = found(one->host, one->bytes);
        if (!values) fail("entered in a queue, and gone", one->host, one->bytes);
        send(values, one->host, one->bytes);
        *at = one->next;
        free(one);
    }
}

void GOACC_enter_data(int flags, size_t count, void **hosts, size_t *sizes, unsigned short *kinds,
                      int queue, int waits, ...)
{
    copy *values = NULL;
    int new = 0;
    for (size_t n = 0; n < count; n++) {
        int kind = kinds[n] & 0xff, next = n + 1 < count ? kinds[n + 1] & 0xff : STRUCT;
        if (kind == POINTER) {
            enter_pointer(values, new, hosts[n]);
            continue;
        }
        if (kind == ATTACH) attach(hosts[n]);
        if (kind == DESCRIPTOR) {
            enter_descriptor(hosts[n], sizes[n], next == POINTER ? hosts[n + 1] : NULL);
            n += next == POINTER;
        }
        values = NULL, new = 0;
        if (kind == ATTACH || kind == DESCRIPTOR || kind == STRUCT || !sizes[n]) continue;
        if ((kind & ~FORCE) > TO) fail("entered in an unknown way", hosts[n], kind);
        values = found(hosts[n], sizes[n]);
        new = !values;
        if (!new) {
            values->uses += 1;
            continue;
        }
        values = entered(hosts[n], sizes[n]);
        if (kind & TO) send_in(queue, values, hosts[n], sizes[n]);
    }
}

void GOACC_exit_data(int flags, size_t count, void **hosts, size_t *sizes, unsigned short *kinds,
                     int queue, int waits, ...)
{
    for (size_t n = 0; n < count; n++) {
        int kind = kinds[n] & 0xff, fetches = (kind & ~FORCE) == FROM;
        int points = kind == POINTER || kind == DESCRIPTOR;
        if ((kind & ~FORCE) == DETACH) {
            detach(hosts[n], kind & FORCE);
            continue;
        }
        if (kind != POINTER && !sizes[n]) continue;
        if (!points && kind != RELEASE && kind != DELETE && !fetches)
            fail("left in an unknown way", hosts[n], kind);
        copy *one = found(hosts[n], kind == POINTER ? sizeof(void *) : sizes[n]);
        if (one) leave(one, fetches, kind == DELETE || kind & FORCE);
    }
}

/* Give the device's object the address of what lies there of the argument before. */
static void update_pointer(void **hosts, size_t n)
{
    copy *object = found(hosts[n], sizeof(void *)), *before = found(hosts[n - 1], 0);
    if (!object || !before) fail("updated in an object, and not present", hosts[n], n);
    void *value = there(before, hosts[n - 1]);
    memcpy(there(object, hosts[n]), &value, sizeof value);
}

void GOACC_update(int flags, size_t count, void **hosts, size_t *sizes, unsigned short *kinds,
                  int queue, int waits, ...)
{
    int sent = 0;
    for (size_t n = 0; n < count; n++) {
        int kind = kinds[n] & 0xff;
        if (kind == ALWAYS_POINTER && sent) update_pointer(hosts, n);
        if (kind == POINTER || kind == DESCRIPTOR || kind == ALWAYS_POINTER || !sizes[n]) continue;
        copy *one = found(hosts[n], sizes[n]);
        if (!one && kind & FORCE) fail("updated, and not present", hosts[n], sizes[n]);
        if ((kind & ~FORCE) != TO && (kind & ~FORCE) != FROM)
            fail("updated in an unknown way", hosts[n], kind);
        sent = one && kind & TO;
        if (sent) send(one, hosts[n], sizes[n]);
        if (one && !sent) fetch(one, hosts[n], sizes[n]);
    }
}

/* Of regions of data `host_data` alone is known: each address becomes that on the device. */
void GOACC_data_start(int flags, size_t count, void **hosts, size_t *sizes, unsigned short *kinds)
{
    for (size_t n = 0; n < count; n++) {
        int kind = kinds[n] & 0xff;
        if (kind != USE_DEVICE && kind != USE_DEVICE_IF_PRESENT)
            fail("a region of data of an unknown kind", hosts[n], kind);
        copy *one = found(hosts[n], 0);
        if (!one && kind == USE_DEVICE) fail("used, and not present", hosts[n], 0);
        if (one) hosts[n] = there(one, hosts[n]);
    }
}

void GOACC_data_end(void)
{
}

void GOACC_wait(int queue, int waits, ...)
{
    va_list queues;
    if (!waits) send_queued(-1);
    va_start(queues, waits);
    for (int n = 0; n < waits; n++) send_queued(va_arg(queues, int));
    va_end(queues);
}

/* Return where a region finds what lies at an address of the host, of what it was given before. */
static char *translated(char *value, void **own, void **hosts, const size_t *sizes, size_t given)
{
    for (size_t n = 0; n < given; n++) {
        char *first = hosts[n];
        if (own[n] && value >= first && value < first + sizes[n])
            return (char *)own[n] + (value - first);
    }
    copy *one = value ? found(value, 0) : NULL;
    return one ? there(one, value) : value;
}

/* Give a region a pointer to what the device has: in the descriptor before it, or one alone. */
static void give_pointer(void **given, void **own, void **hosts, const size_t *sizes,
                         const unsigned short *kinds, size_t n)
{
    char *value = *(char **)hosts[n], *at;
    if (sizes[n]) fail("a pointer with an offset", hosts[n], sizes[n]);
    size_t d = n;
    while (d > 0 && (kinds[d] & 0xff) == POINTER) d--;
    ptrdiff_t offset = (char *)hosts[n] - (char *)hosts[d];
    if ((kinds[d] & 0xff) == DESCRIPTOR && offset >= 0 && (size_t)offset < sizes[d])
        at = (char *)given[d] + offset;
    else
        at = given[n] = own[n] = new_memory(sizeof value);
    value = translated(value, own, hosts, sizes, n);
    memcpy(at, &value, sizeof value);
}

/* Give a region what it is passed: what is present, or else memory of its `own` for this once. */
static void give(void **given, void **own, void **hosts, const size_t *sizes,
                 const unsigned short *kinds, size_t n)
{
    int kind = kinds[n] & 0xff;
    given[n] = hosts[n];
    if (kind == FIRST_PRIVATE_VALUE) return;
    if (kind == POINTER || kind == DESCRIPTOR) {
        copy *one = found(hosts[n], kind == POINTER ? sizeof(void *) : sizes[n]);
        if (one) {
            given[n] = there(one, hosts[n]);
            return;
        }
    }
    if (kind == POINTER) {
        give_pointer(given, own, hosts, sizes, kinds, n);
        return;
    }
    if (!sizes[n]) return;
    if (kind != FIRST_PRIVATE && kind != DESCRIPTOR) {
        if (kind != PRESENT && (kind & ~FORCE) > (TO | FROM))
            fail("passed in an unknown way", hosts[n], kind);
        copy *one = found(hosts[n], sizes[n]);
        if (!one && kind == PRESENT) fail("not present", hosts[n], sizes[n]);
        if (one) {
            given[n] = there(one, hosts[n]);
            return;
        }
        moves[4] += 1;
    }
    given[n] = own[n] = new_memory(sizes[n]);
    if (kind & TO || kind == FIRST_PRIVATE) memcpy(given[n], hosts[n], sizes[n]);
}

void GOACC_parallel_keyed(int flags, void (*region)(void *), size_t count, void **hosts,
                          size_t *sizes, unsigned short *kinds, ...)
{
    void **given = calloc(2 * count + 1, sizeof *given), **own = given + count;
    if (!given) fail("no memory", NULL, count);
    for (size_t n = 0; n < count; n++) give(given, own, hosts, sizes, kinds, n);
    region(given);
    for (size_t n = 0; n < count; n++) {
        int kind = kinds[n] & 0xff & ~FORCE;
        if (own[n] && (kind == FROM || kind == (TO | FROM))) memcpy(hosts[n], own[n], sizes[n]);
        free(own[n]);
    }
    free(given);
}

void emulated_moves(int64_t counts[5])
{
    memcpy(counts, moves, sizeof moves);
}

/* What a program in Fortran calls as `emulated_print`, without an interface. */
void emulated_print_(void)
{
    printf("moved");
    for (int n = 0; n < 5; n++) printf(" %lld", (long long)moves[n]);
    printf("\n");
    fflush(stdout);
}
