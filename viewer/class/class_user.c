/* class_user.c: see class_user.h. */
#define _GNU_SOURCE 1

#include "class_user.h"

#include <pwd.h>
#include <stddef.h>
#include <sys/wait.h>
#include <unistd.h>

/* For transient users, by systemd's rules: no account gets one of these. */
enum { FIRST_ID = 61184, LAST_ID = 65519, BLOCKS = (LAST_ID - FIRST_ID + 1) / MOST_JOBS };

/* In a container's namespace an id may not exist. */
static bool can_become(unsigned id)
{
    int status = -1;
    pid_t pid = fork();
    if (pid == 0) _exit(setresuid(id, id, id) != 0);
    return pid > 0 && waitpid(pid, &status, 0) == pid && status == 0;
}

static bool is_free(unsigned first)
{
    for (unsigned id = first; id < first + MOST_JOBS; id++)
        if (getpwuid(id)) return false;
    return can_become(first) && can_become(first + MOST_JOBS - 1);
}

class_users class_users_find(void)
{
    if (geteuid() != 0) return (class_users){0, false};
    unsigned mine = (unsigned)getpid() % BLOCKS; /* two classes that are graded at once have different ones */
    for (unsigned i = 0; i < BLOCKS; i++) {
        unsigned first = FIRST_ID + (mine + i) % BLOCKS * MOST_JOBS;
        if (is_free(first)) return (class_users){first, true};
    }
    const struct passwd *nobody = getpwnam("nobody");
    return (class_users){nobody ? nobody->pw_uid : 0, false};
}

unsigned class_user(const class_users *u, int job) { return u->apart ? u->first + (unsigned)job : u->first; }
