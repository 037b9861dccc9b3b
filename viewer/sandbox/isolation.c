/* isolation.c: see isolation.h. */
#define _GNU_SOURCE 1 /* unshare */

#include "isolation.h"

#include <fcntl.h>
#include <poll.h>
#include <sched.h>
#include <signal.h>
#include <stdint.h>
#include <string.h>
#include <sys/mount.h>
#include <sys/prctl.h>
#include <sys/stat.h>
#include <sys/syscall.h>
#include <unistd.h>

#include "descriptors.h"

/* ---- text, without snprintf ---------------------------------------------------------------------------------- */

static char *add_text(char *to, const char *text) { return stpcpy(to, text); }

static char *add_number(char *to, unsigned long long n)
{
    if (n > 9) to = add_number(to, n / 10);
    *to++ = (char)('0' + n % 10);
    *to = '\0';
    return to;
}

static void write_file(const char *path, const char *text)
{
    int fd = open(path, O_WRONLY | O_CLOEXEC);
    ssize_t ignored = write(fd, text, strlen(text));
    (void)ignored;
    close(fd);
}

/* ---- namespaces ---------------------------------------------------------------------------------------------- */

/* The same id within and without. */
static void map_own_id(const char *path, unsigned id)
{
    char line[64];
    add_text(add_number(add_text(add_number(line, id), " "), id), " 1");
    write_file(path, line);
}

/* An ordinary user may, in a user namespace; there root could not become another user. What is not dumpable may not
 * write to its own files in /proc. */
bool isolation_unshare(bool as_other)
{
    unsigned user = geteuid(), group = getegid();
    const int dumpable = prctl(PR_GET_DUMPABLE);
    if (unshare(CLONE_NEWPID) == 0) return true;
    if (as_other || unshare(CLONE_NEWUSER | CLONE_NEWPID) != 0) return false;
    prctl(PR_SET_DUMPABLE, 1);
    write_file("/proc/self/setgroups", "deny");
    map_own_id("/proc/self/uid_map", user);
    map_own_id("/proc/self/gid_map", group);
    prctl(PR_SET_DUMPABLE, dumpable);
    return true;
}

/* The first process of a namespace: signals from within do not reach it, and its orphans are reaped unseen. The last
 * reader of `output` gone, poll returns. */
static _Noreturn void keep(int output)
{
    signal(SIGCHLD, SIG_IGN);
    descriptors_close_except(&output, 1);
    poll(&(struct pollfd){.fd = output}, 1, -1);
    _exit(0);
}

pid_t isolation_begin(const child_options *o, int output)
{
    if (!isolation_unshare(o->as_user != 0)) return 0;
    pid_t keeper = fork();
    if (keeper == 0) keep(output);
    if (keeper < 0) _exit(1); /* no process can be started in a namespace that has no first one */
    return keeper;
}

/* The folder is below one that was covered: puts it back. */
static void uncover(const char *folder, int fd)
{
    char path[4096], source[64];
    if (fd < 0 || access(folder, F_OK) == 0 || strlen(folder) >= sizeof path) return;
    strcpy(path, folder);
    for (char *p = path + 1; (p = strchr(p, '/')); *p++ = '/') {
        *p = '\0';
        mkdir(path, 0755);
    }
    mkdir(path, 0755);
    add_number(add_text(source, "/proc/self/fd/"), (unsigned)fd);
    mount(source, folder, "none", MS_BIND | MS_REC, NULL);
}

/* A submission's folders for temporary files are one of its own, in memory, for as long as it runs. */
static void cover_temporary(const char *folder)
{
    int fd = open(folder, O_PATH | O_CLOEXEC);
    mount("/dev/shm", "/tmp", "none", MS_BIND, NULL);
    mount("/dev/shm", "/var/tmp", "none", MS_BIND, NULL);
    uncover(folder, fd);
    close(fd);
}

void isolation_enter(const child_options *o)
{
    char options[64];
    add_number(add_text(options, "mode=1777,size="), o->limits.memory);
    if (unshare(CLONE_NEWIPC | CLONE_NEWNS) != 0 || mount("none", "/", "none", MS_REC | MS_PRIVATE, NULL) != 0) return;
    mount("proc", "/proc", "proc", MS_NOSUID | MS_NODEV | MS_NOEXEC, NULL);
    bool has_memory = mount("tmpfs", "/dev/shm", "tmpfs", MS_NOSUID | MS_NODEV, options) == 0;
    bool is_submission = o->temporary && o->folder && o->log_fd >= 0; /* not the compiler */
    if (has_memory && is_submission) cover_temporary(o->folder);
    add_number(options, o->limits.memory / (size_t)sysconf(_SC_PAGESIZE));
    write_file("/proc/sys/kernel/shmall", options); /* of this namespace alone */
}

/* ---- without them -------------------------------------------------------------------------------------------- */

/* Landlock's, which older headers lack: handled_access_fs, handled_access_net, scoped. */
void isolation_scope_signals(void)
{
    enum { CREATE_RULESET = 444, RESTRICT_SELF = 446, SCOPE_SIGNAL = 2 };
    const uint64_t rules[3] = {0, 0, SCOPE_SIGNAL};
    int fd = (int)syscall(CREATE_RULESET, rules, sizeof rules, 0);
    if (fd < 0) return;
    if (prctl(PR_SET_NO_NEW_PRIVS, 1, 0, 0, 0) == 0) syscall(RESTRICT_SELF, fd, 0);
    close(fd);
}
