/* paths.h: the folders of the lessons, the learner's files and the library; reading and writing whole files. */
#ifndef FERRY_PATHS_H
#define FERRY_PATHS_H

#include <stdbool.h>
#include <stddef.h>

enum { PATH_ROOM = 3072 }; /* bytes for a path of a folder and a short name */

typedef struct home {
    char ferry[PATH_ROOM];   /* holds Ferry's own lessons/ and, in a checkout, lib/ */
    char lessons[PATH_ROOM]; /* folder of the lessons */
    char own[PATH_ROOM];    /* a teacher's own lessons: their checks and examples are built here; "": Ferry's lessons */
    char my[PATH_ROOM];     /* folder of the learner's files */
    char beside[PATH_ROOM]; /* parent folder of my/: working directory of the compiler and the programs */
    char include[PATH_ROOM]; /* holds ferry.h */
    char grader[PATH_ROOM];  /* holds grade.h and what it includes */
    char lib[PATH_ROOM];     /* holds libferry.a */
    char demos[PATH_ROOM];   /* holds the built examples, named by lesson id */
    char made[PATH_ROOM];    /* the learner's programs are built here */
    bool made_apart;         /* `made` is outside the checkout and my/ */
} home;

/* Lessons: $FERRY_HOME, else the parent of the executable's folder if it holds lessons/, else PREFIX/share/ferry
 * for an executable in PREFIX/bin. $FERRY_MY names another my/, $FERRY_LESSONS another folder of lessons. On failure
 * returns false with a message in err. */
bool paths_find(home *h, char *err, size_t room);

/* The part of an absolute path below the current folder; the whole path if it is not there. */
const char *path_from_here(const char *path);
/* Creates a folder and its parents. */
bool folder_make(const char *path);
bool folder_exists(const char *path);
void folder_remove(const char *path); /* with all that is in it */
/* Makes NAME-XXXXXX in $TMPDIR, else in /tmp; false with errno set, and out is what could not be made. */
bool folder_temporary(const char *name, char out[PATH_ROOM]);
/* The whole file plus a NUL that size does not count; the caller frees it. NULL with errno set on failure. */
char *file_read(const char *path, size_t *size);
/* Replaces the file atomically, by renaming a temporary one. Of a symbolic link, the target is replaced; a
 * device or a pipe is written to. */
bool file_write(const char *path, const char *text, size_t size);
/* Writes a new file; false with errno EEXIST if it exists. */
bool file_create(const char *path, const char *text, size_t size);
/* $XDG_STATE_HOME/ferry, created with mode 0700; false with a message if other users could write to it. */
bool state_folder(char *out, size_t room, char *err, size_t err_room);
/* What to do about a write to my/, or to what is built for it, that failed with this errno. */
const char *folder_advice(int error);
/* Creates the folder `path`, where programs are built. False with a message if users may write to it who may not
 * write the sources: its files are executed. */
bool build_folder_make(const home *h, const char *path, char *err, size_t room);

#endif
