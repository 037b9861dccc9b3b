/* paths.h: where things lie: the lessons, the learner's files, the library to build against. */
#ifndef FERRY_HOME_H
#define FERRY_HOME_H

#include <stdbool.h>
#include <stddef.h>

enum { HOME_PATH = 3072 }; /* room for a path made of a folder and a short name */

typedef struct home {
    char lessons[HOME_PATH]; /* folder of the lessons */
    char my[HOME_PATH];      /* folder of the learner's files */
    char beside[HOME_PATH];  /* the folder that holds my/: compiler and programs run there */
    char include[HOME_PATH]; /* holds ferry.h */
    char lib[HOME_PATH];     /* holds libferry.a */
    char demos[HOME_PATH];   /* holds the built examples, ID each */
    char made[HOME_PATH];    /* where the learner's programs are built */
    bool made_apart;         /* that is neither in the checkout nor in my/ */
} home;

/* FERRY_HOME, else the folder above the executable's if it holds lessons/, else PREFIX/share/ferry for
 * an executable in PREFIX/bin. FERRY_MY names another my/. False with a message in err. */
bool home_find(home *h, char *err, size_t room);

/* Make a folder and those above it. */
bool folder_make(const char *path);
bool folder_exists(const char *path);
/* Whole file, ended by a NUL that size does not count; NULL with errno set. free() it. */
char *file_read(const char *path, size_t *size);
/* Write beside `path` and rename over it, so that nobody sees half a file. A link's target is replaced. */
bool file_write(const char *path, const char *text, size_t size);
/* Write a file that is not there yet; false with errno EEXIST if it is. */
bool file_keep(const char *path, const char *text, size_t size);
/* $XDG_STATE_HOME/ferry, made with mode 0700; false with a message if it cannot be had for this user alone. */
bool state_folder(char *out, size_t room, char *err, size_t err_room);
/* Make the folder `path`, where programs are built. False with a message where others may write who may not write
 * the sources: what lies there is run. */
bool build_folder_make(const home *h, const char *path, char *err, size_t room);

#endif
