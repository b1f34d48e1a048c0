/* Hands a command over to a process that listens: SOCKET WORD...

   It passes the folder, the words, the environment and the three streams on, waits, and ends as
   the command has ended: with its status, or by a signal if it has died without one. */

#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/socket.h>
#include <sys/uio.h>
#include <sys/un.h>
#include <unistd.h>

enum { STREAMS = 3, UNREACHABLE = 125 };

extern char **environ;

static void leave(const char *what)
{
    perror(what);
    exit(UNREACHABLE);
}

static void send_all(int served, const char *text, size_t size)
{
    while (size > 0) {
        ssize_t sent = send(served, text, size, MSG_NOSIGNAL);
        if (sent < 0)
            leave("send");
        text += sent;
        size -= (size_t)sent;
    }
}

static void send_texts(int served, char *const *texts)
{
    for (; *texts; texts++)
        send_all(served, *texts, strlen(*texts) + 1);
}

/* The first byte brings the streams. */
static void send_streams(int served)
{
    int streams[STREAMS] = {STDIN_FILENO, STDOUT_FILENO, STDERR_FILENO};
    union {
        struct cmsghdr header;
        char space[CMSG_SPACE(sizeof streams)];
    } control = {0};
    char first = 0;
    struct iovec byte = {&first, 1};
    struct msghdr message = {0};
    message.msg_iov = &byte;
    message.msg_iovlen = 1;
    message.msg_control = control.space;
    message.msg_controllen = sizeof control.space;
    struct cmsghdr *header = CMSG_FIRSTHDR(&message);
    header->cmsg_level = SOL_SOCKET;
    header->cmsg_type = SCM_RIGHTS;
    header->cmsg_len = CMSG_LEN(sizeof streams);
    memcpy(CMSG_DATA(header), streams, sizeof streams);
    if (sendmsg(served, &message, MSG_NOSIGNAL) != 1)
        leave("sendmsg");
}

int main(int argc, char **argv)
{
    struct sockaddr_un place = {AF_UNIX, ""};
    int served = socket(AF_UNIX, SOCK_STREAM, 0);
    char *folder = getcwd(NULL, 0);
    if (argc < 2 || strlen(argv[1]) >= sizeof place.sun_path || !folder)
        return UNREACHABLE;
    strcpy(place.sun_path, argv[1]);
    if (connect(served, (struct sockaddr *)&place, sizeof place) != 0)
        leave(argv[1]);
    char count[16];
    snprintf(count, sizeof count, "%d", argc - 2);
    char *const head[] = {count, folder, NULL};
    send_streams(served);
    send_texts(served, head);
    send_texts(served, argv + 2);
    send_texts(served, environ);
    shutdown(served, SHUT_WR);
    unsigned char status;
    if (read(served, &status, 1) == 1)
        return status;
    raise(SIGKILL);
    return UNREACHABLE;
}
