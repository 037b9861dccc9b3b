/* figures.h: what was measured on a real card: the lines of figures.jsonl (tests/gpu/README.md has the format). */
#ifndef FERRY_FIGURES_H
#define FERRY_FIGURES_H

#include <cjson/cJSON.h>
#include <stdbool.h>
#include <stddef.h>

typedef struct figures {
    cJSON **line; /* those of a known kind, checked: each has the members that figures_number and _word are asked for */
    int n;
    cJSON *card; /* the first: whose figures these are */
} figures;

/* False: `err` says which line is wrong, and how. Free it either way. */
bool figures_read(figures *f, const char *path, char *err, size_t room);
void figures_free(figures *f);

const char *figures_word(const cJSON *line, const char *member); /* "" if it is not there */
double figures_number(const cJSON *line, const char *member);    /* 0 if it is not there */
bool figures_is(const cJSON *line, const char *kind);

#endif
