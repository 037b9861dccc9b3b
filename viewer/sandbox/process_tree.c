/* process_tree.c: the descendants of a process, read from /proc. Async-signal-safe, without malloc or stdio: it
 * runs in a fork of a multithreaded process. */
#define _GNU_SOURCE 1 /* O_DIRECTORY, SYS_getdents64 */

#include <ctype.h>
#include <dirent.h>
#include <fcntl.h>
#include <signal.h>
#include <stdlib.h>
#include <string.h>
#include <linux/magic.h>
#include <sys/stat.h>
#include <sys/statfs.h>
#include <sys/syscall.h>
#include <unistd.h>

#include "supervisor.h"

enum { MAX_PROCESSES = 8192 };
typedef struct process {
    pid_t pid, parent;
    bool related;
} process;

/* getdents64's record; readdir would allocate. */
typedef struct entry {
    unsigned long long inode;
    long long offset;
    unsigned short size;
    unsigned char type;
    char name[];
} entry;

static int read_small(const char *path, char *text, size_t room)
{
    int fd = open(path, O_RDONLY | O_CLOEXEC);
    if (fd < 0) return -1;
    ssize_t n = read(fd, text, room - 1);
    close(fd);
    text[n > 0 ? n : 0] = '\0';
    return n > 0 ? (int)n : -1;
}

/* "/proc/PID/NAME", without snprintf. */
static void proc_path(char *out, long pid, const char *name)
{
    char digits[24];
    int n = 0;
    do digits[n++] = (char)('0' + pid % 10);
    while ((pid /= 10) > 0);
    memcpy(out, "/proc/", 6);
    out += 6;
    while (n > 0) *out++ = digits[--n];
    *out++ = '/';
    strcpy(out, name);
}

/* In stat, the state and the parent follow the command's name, which may itself contain blanks and parentheses.
 * -1 for a zombie, which does not count. */
static pid_t parent_of(long pid)
{
    char path[64], stat[512];
    proc_path(path, pid, "stat");
    if (read_small(path, stat, sizeof stat) < 0) return -1;
    const char *p = strrchr(stat, ')');
    if (!p || p[1] != ' ' || p[2] == 'Z' || p[2] == 'X') return -1;
    return (pid_t)strtol(p + 3, NULL, 10);
}

static int list_processes(process *all)
{
    char buffer[8192];
    int fd = open("/proc", O_RDONLY | O_DIRECTORY | O_CLOEXEC), n = 0;
    if (fd < 0) return 0;
    for (long got; (got = syscall(SYS_getdents64, fd, buffer, sizeof buffer)) > 0;) {
        for (long at = 0; at < got && n < MAX_PROCESSES;) {
            const entry *e = (const entry *)(const void *)(buffer + at);
            at += e->size;
            if (!isdigit((unsigned char)e->name[0])) continue;
            all[n].pid = (pid_t)strtol(e->name, NULL, 10);
            all[n].related = false;
            all[n].parent = parent_of(all[n].pid);
            n += all[n].parent >= 0;
        }
    }
    close(fd);
    return n;
}

static bool is_related(const process *all, int n, pid_t pid, pid_t root)
{
    if (pid == root) return true;
    for (int i = 0; i < n; i++)
        if (all[i].pid == pid) return all[i].related;
    return false;
}

/* Marks every descendant of root; returns the number of processes in `all`. */
static int mark(process *all, pid_t root)
{
    int n = list_processes(all);
    for (bool more = true; more;) {
        more = false;
        for (int i = 0; i < n; i++) {
            if (all[i].related || !is_related(all, n, all[i].parent, root)) continue;
            all[i].related = more = true;
        }
    }
    return n;
}

void process_memory(pid_t pid, size_t page, size_t *used, size_t *mapped)
{
    char path[64], text[256], *p = text;
    proc_path(path, pid, "statm");
    *used = *mapped = 0;
    if (read_small(path, text, sizeof text) < 0) return;
    unsigned long long field[6] = {0}; /* size resident shared text lib data, in pages */
    for (int i = 0; i < 6; i++) field[i] = strtoull(p, &p, 10);
    *used = (size_t)(field[1] > field[2] ? field[1] - field[2] : 0) * page;
    *mapped = (size_t)field[5] * page;
}

/* The number after this word in a file of a process in /proc; 0: there is none. */
static size_t field_of(pid_t pid, const char *file, const char *word)
{
    char path[64], text[4096];
    proc_path(path, pid, file);
    const char *at = read_small(path, text, sizeof text) > 0 ? strstr(text, word) : NULL;
    return at ? strtoull(at + strlen(word), NULL, 10) : 0;
}

size_t process_written(pid_t pid) { return field_of(pid, "io", "\nwrite_bytes:"); }

/* ---- shared memory -------------------------------------------------------------------------------------------- */

enum { SEEN_FILES = 1024 };
static struct seen_file {
    dev_t device;
    ino_t inode;
} seen[SEEN_FILES];

/* Where the table is full, a file may count twice. */
static bool is_first(int *count, const struct stat *st)
{
    for (int i = 0; i < *count; i++)
        if (seen[i].device == st->st_dev && seen[i].inode == st->st_ino) return false;
    if (*count < SEEN_FILES) seen[(*count)++] = (struct seen_file){st->st_dev, st->st_ino};
    return true;
}

/* Bytes in the files of memory that a process has open: of memfd_create, /dev/shm, a /tmp in memory. */
static size_t open_memory(pid_t pid, int *files)
{
    char path[64], one[96], buffer[4096];
    size_t bytes = 0;
    proc_path(path, pid, "fd/");
    int fd = open(path, O_RDONLY | O_DIRECTORY | O_CLOEXEC);
    for (long got; fd >= 0 && (got = syscall(SYS_getdents64, fd, buffer, sizeof buffer)) > 0;) {
        for (long at = 0; at < got;) {
            const entry *e = (const entry *)(const void *)(buffer + at);
            struct stat st;
            struct statfs disk;
            at += e->size;
            strcpy(stpcpy(one, path), e->name);
            bool is_memory = stat(one, &st) == 0 && S_ISREG(st.st_mode) && statfs(one, &disk) == 0 &&
                             (disk.f_type == TMPFS_MAGIC || disk.f_type == HUGETLBFS_MAGIC);
            if (is_memory && is_first(files, &st)) bytes += (size_t)st.st_blocks * 512;
        }
    }
    if (fd >= 0) close(fd);
    return bytes;
}

static process all_processes[MAX_PROCESSES]; /* static: the supervisor is single-threaded */

/* Of what several have mapped each counts its part, where that decides: where the whole would be more than is left. */
static size_t mapped_memory(int n, pid_t but, size_t left)
{
    static const char *const files[] = {"status", "smaps_rollup"}, *const words[] = {"\nRssShmem:", "\nPss_Shmem:"};
    size_t bytes = 0;
    for (int exact = 0; exact < 2 && (!exact || bytes > left); exact++) {
        bytes = 0;
        for (int i = 0; i < n; i++)
            if (all_processes[i].related && all_processes[i].pid != but)
                bytes += field_of(all_processes[i].pid, files[exact], words[exact]) << 10;
    }
    return bytes;
}

process_tree process_tree_of(pid_t root, pid_t but, size_t page, size_t limit, int most)
{
    process_tree f = {.written = process_written(root)};
    size_t opened = 0;
    int n = mark(all_processes, root), files = 0;
    for (int i = 0; i < n; i++) f.count += all_processes[i].related && all_processes[i].pid != but;
    if (f.count > most) return f; /* a fork bomb doubles while its memory is counted */
    for (int i = 0; i < n; i++) {
        const pid_t pid = all_processes[i].pid;
        if (!all_processes[i].related || pid == but) continue;
        size_t used, mapped;
        process_memory(pid, page, &used, &mapped);
        f.memory += used;
        f.written += process_written(pid);
        opened += open_memory(pid, &files);
    }
    size_t mapped = mapped_memory(n, but, f.memory < limit ? limit - f.memory : 0);
    f.memory += mapped > opened ? mapped : opened;
    return f;
}

int process_tree_signal(pid_t root, int signal)
{
    int n = mark(all_processes, root), hit = 0;
    for (int i = 0; i < n; i++)
        if (all_processes[i].related && kill(all_processes[i].pid, signal) == 0) hit++;
    return hit;
}
