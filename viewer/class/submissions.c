/* submissions.c: see submissions.h. */
#include "submissions.h"

#include <dirent.h>
#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>

#include "memory.h"

static bool is_student(const struct dirent *e, const char *folder)
{
    char path[PATH_ROOM];
    struct stat st;
    snprintf(path, sizeof path, "%.2500s/%s", folder, e->d_name);
    return e->d_name[0] != '.' && lstat(path, &st) == 0 && S_ISDIR(st.st_mode);
}

static int by_name(const void *a, const void *b) { return strcmp(*(char *const *)a, *(char *const *)b); }

char **class_students(const char *folder, int *count)
{
    DIR *dir = opendir(folder);
    char **names = dir ? memory_zeroed(1, sizeof *names, "the students") : NULL;
    *count = 0;
    for (struct dirent *e; dir && (e = readdir(dir));) {
        if (!is_student(e, folder)) continue;
        names = memory_realloc(names, (size_t)*count + 2, sizeof *names, "the students");
        names[(*count)++] = memory_copy(e->d_name, "the students");
        names[*count] = NULL;
    }
    if (dir) closedir(dir);
    if (names) qsort(names, (size_t)*count, sizeof *names, by_name);
    return names;
}

char *submission_file(const char *folder, const lesson *l, const char *ending)
{
    static const char *const below[] = {"", "my/"};
    char path[PATH_ROOM];
    struct stat st;
    for (int i = 0; i < 2; i++) {
        snprintf(path, sizeof path, "%.2500s/%s%s%s", folder, below[i], l->id, ending);
        if (lstat(path, &st) == 0 && S_ISREG(st.st_mode)) return memory_copy(path, "a submission");
    }
    return NULL;
}

static char *file_of(const char *folder, const char *student, const lesson *l, const char *ending)
{
    char path[PATH_ROOM];
    snprintf(path, sizeof path, "%.2000s/%.255s", folder, student);
    return submission_file(path, l, ending);
}

static void add(submissions *s, const char *folder, const char *student, const lesson *l)
{
    s->list = memory_realloc(s->list, (size_t)s->count + 1, sizeof *s->list, "the submissions");
    s->list[s->count++] = (submission){
        .student = memory_copy(student, "a submission"),
        .lesson = l,
        .path = file_of(folder, student, l, ".c"),
        .sheet = file_of(folder, student, l, ".predict.c"),
    };
}

static void add_student(submissions *s, const catalogue *c, const char *folder, const char *student, const bool *asked)
{
    for (int i = 0; i < c->count; i++)
        if (asked[i]) add(s, folder, student, &c->lessons[i]);
}

bool submissions_open(submissions *s, const catalogue *c, const char *folder, char *err, size_t room)
{
    *s = (submissions){0};
    char **names = class_students(folder, &s->students);
    if (!names) {
        snprintf(err, room, "cannot read %s: %s", folder, strerror(errno));
        return false;
    }
    bool *asked = memory_zeroed((size_t)c->count, sizeof *asked, "the submissions");
    bool any = false;
    for (int n = 0; names[n]; n++)
        for (int i = 0; i < c->count; i++) {
            char *path = file_of(folder, names[n], &c->lessons[i], ".c");
            asked[i] |= path != NULL;
            any |= path != NULL;
            free(path);
        }
    for (int n = 0; names[n]; n++) {
        add_student(s, c, folder, names[n], asked);
        free(names[n]);
    }
    free(names);
    free(asked);
    if (!any)
        snprintf(err, room, "no submission in %s; it holds a folder for each student, with files like STUDENT/%s.c",
                 folder, c->lessons[0].id);
    return any;
}

static void free_submission(submission *s) { free(s->student), free(s->path), free(s->sheet); }

void submissions_shard(submissions *s, int part, int parts)
{
    int kept = 0;
    for (int i = 0; i < s->count; i++) {
        if (i % parts == part - 1) {
            s->list[kept++] = s->list[i];
        } else {
            free_submission(&s->list[i]);
        }
    }
    s->count = kept;
}

void submissions_close(submissions *s)
{
    for (int i = 0; i < s->count; i++) free_submission(&s->list[i]);
    free(s->list);
    *s = (submissions){0};
}
