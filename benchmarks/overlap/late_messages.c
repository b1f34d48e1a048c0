/* Lets messages arrive late, as on a network that is slower than the memory of one node.

   A receive is complete no earlier than MESSAGE_DELAY microseconds after it was posted. Who waits
   for it sleeps until then, without a processor. Calls from Fortran alone are seen: linked into a
   program, these stand in front of MPI's own, which go by the names of its profiling interface.
   A rank says at its end how many receives were late, and stops where more are under way at a time
   than it can keep in mind: none is passed on in silence. */

#define _POSIX_C_SOURCE 200809L
#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <time.h>

#define MOST 256

void pmpi_irecv_(void *buffer, int *count, int *type, int *rank, int *tag, int *communicator,
                 int *request, int *error);
void pmpi_waitall_(int *count, int *requests, int *statuses, int *error);

static struct { int request; struct timespec due; } posted[MOST];
static int number = 0;
static long late = 0;

static long delay(void)
{
    static long known = -1;
    if (known < 0) {
        const char *asked = getenv("MESSAGE_DELAY");
        known = asked ? atol(asked) : 0;
    }
    return known;
}

static void say_how_many(void)
{
    printf("late messages: %ld\n", late);
    fflush(stdout);
}

void mpi_irecv_(void *buffer, int *count, int *type, int *rank, int *tag, int *communicator,
                int *request, int *error)
{
    pmpi_irecv_(buffer, count, type, rank, tag, communicator, request, error);
    if (delay() == 0) return;
    if (late == 0 && number == 0) atexit(say_how_many);
    if (number == MOST) {
        fprintf(stderr, "late_messages: more than %d receives are under way\n", MOST);
        exit(1);
    }
    struct timespec due;
    clock_gettime(CLOCK_MONOTONIC, &due);
    due.tv_nsec += delay() % 1000000 * 1000;
    due.tv_sec += delay() / 1000000 + due.tv_nsec / 1000000000;
    due.tv_nsec %= 1000000000;
    posted[number].request = *request;
    posted[number++].due = due;
}

void mpi_waitall_(int *count, int *requests, int *statuses, int *error)
{
    for (int n = 0; n < *count; n++)
        for (int p = 0; p < number; p++)
            if (posted[p].request == requests[n]) {
                while (clock_nanosleep(CLOCK_MONOTONIC, TIMER_ABSTIME, &posted[p].due, NULL) == EINTR) {}
                posted[p--] = posted[--number];
                late++;
            }
    pmpi_waitall_(count, requests, statuses, error);
}
