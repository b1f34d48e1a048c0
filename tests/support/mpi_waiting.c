/* What the ranks of a test call instead of the C library's sched_yield and dlclose; see
   mpi_waiting.py.

   The ranks of a run share a word. One that begins to wait may have sent something before: it counts
   the word up, and wakes those who sleep until it changes. One that was woken, looked and found
   nothing sleeps on without a word. Whoever sends and goes on without waiting wakes nobody, so nobody
   sleeps for longer than a pause. */

#define _GNU_SOURCE
#include <fcntl.h>
#include <limits.h>
#include <linux/futex.h>
#include <stdatomic.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/mman.h>
#include <sys/prctl.h>
#include <sys/syscall.h>
#include <time.h>
#include <unistd.h>

/* Nanoseconds: who is away for less than a LOOK has done nothing but that. */
enum { PAUSE = 400000, PAUSE_OF_STRANGERS = 50000, LOOK = 2000, SLACK = 1000 };

struct shared {
    atomic_uint word;
    atomic_uint sleepers;
};

static struct shared *shared;
static _Thread_local unsigned seen;
static _Thread_local long long when_left;

static long long now(void)
{
    struct timespec time;
    clock_gettime(CLOCK_MONOTONIC, &time);
    return time.tv_sec * 1000000000LL + time.tv_nsec;
}

/* Share a word in the folder that mpirun makes for a run, and removes after it. */
__attribute__((constructor)) static void meet(void)
{
    const char *folder = getenv("PMIX_SERVER_TMPDIR"), *job = getenv("PMIX_NAMESPACE");
    char path[PATH_MAX];
    void *memory;
    int file;

    prctl(PR_SET_TIMERSLACK, (unsigned long)SLACK);
    if (!folder || !job)
        return;
    if (snprintf(path, sizeof path, "%s/waiting-%s", folder, job) >= (int)sizeof path)
        return;
    file = open(path, O_RDWR | O_CREAT | O_CLOEXEC, 0600);
    if (file < 0)
        return;
    if (ftruncate(file, sizeof *shared) == 0) {
        memory = mmap(0, sizeof *shared, PROT_READ | PROT_WRITE, MAP_SHARED, file, 0);
        if (memory != MAP_FAILED)
            shared = memory;
    }
    close(file);
}

int sched_yield(void)
{
    const struct timespec pause = {0, shared ? PAUSE : PAUSE_OF_STRANGERS};

    if (!shared) {
        nanosleep(&pause, 0);
        return 0;
    }
    if (now() - when_left > LOOK) {
        /* Something may arrive between this look and the next: nobody sleeps before that. */
        seen = atomic_fetch_add(&shared->word, 1) + 1;
        if (atomic_load(&shared->sleepers))
            syscall(SYS_futex, &shared->word, FUTEX_WAKE, INT_MAX, 0, 0, 0);
    } else {
        atomic_fetch_add(&shared->sleepers, 1);
        syscall(SYS_futex, &shared->word, FUTEX_WAIT, seen, &pause, 0, 0);
        atomic_fetch_sub(&shared->sleepers, 1);
        seen = atomic_load(&shared->word);
    }
    when_left = now();
    return 0;
}

/* Unload nothing. MPI_Finalize of Open MPI 4.1 unloads the component for PMIx while a thread may still
   run the component's handler of an event: one of some thousand runs ended with SIGSEGV
   (open-mpi/ompi issue 10117). */
int dlclose(void *handle)
{
    (void)handle;
    return 0;
}
