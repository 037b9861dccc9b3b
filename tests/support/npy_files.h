/* npy_files.h: .npy files made byte by byte, in a temporary folder. */
#ifndef NPY_FILES_H
#define NPY_FILES_H

#include <dirent.h>
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

extern char npy_folder[64];
int make_npy_folder(void **state);
int remove_npy_folder(void **state);
const char *npy_path(const char *name);
/* Files in the folder: a failing call must leave none behind. */
int npy_count(void);
const char *write_bytes(const char *name, const void *bytes, size_t n);
/* A file of this format version: the header as given, then the elements. */
const char *write_npy(int version, const char *header, const void *elements, size_t bytes);
size_t read_bytes(const char *path, char *to, size_t room);

#endif
