/* lesson_find.c: the lesson that a user means, or the nearest ones to what was typed. */
#include <ctype.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "diagnostic.h" /* name_distance */
#include "lesson.h"
#include "report.h" /* command_name */

enum { SUGGESTIONS = 3, FAR = 99 };

int lesson_number_length(const lesson *l) { return (int)strcspn(l->id, "-"); }

/* Of the learner's file, "my/01-where-am-i.c", the id. */
static void strip(const char *asked, char out[64])
{
    const char *slash = strrchr(asked, '/');
    snprintf(out, 64, "%.63s", slash ? slash + 1 : asked);
    size_t n = strlen(out);
    if (n > 2 && !strcmp(out + n - 2, ".c")) out[n - 2] = '\0';
}

typedef enum match { NO_MATCH, PREFIX, NUMBER, WHOLE } match;

/* "1" and "01" mean the lesson whose id begins with that number, "m1" the one that begins with "m1-"; other text is an
 * id or the start of one. */
static match match_of(const char *id, const char *asked)
{
    size_t length = strlen(asked), digits = strspn(asked, "0123456789");
    bool number = digits > 0 && digits < 6 && !asked[digits];
    if (!strcmp(id, asked)) return WHOLE;
    if (number) return isdigit((unsigned char)*id) && atoi(asked) == atoi(id) ? NUMBER : NO_MATCH;
    if (!length || strncmp(id, asked, length) != 0) return NO_MATCH;
    return id[length] == '-' ? NUMBER : PREFIX;
}

/* How far what was typed is from an id, or from its words: "roundtrip" from 03-round-trip. */
static int distance(const char *id, const char *asked)
{
    const char *words = id + strcspn(id, "-"), *typed = asked + strspn(asked, "0123456789-");
    words += *words == '-';
    int whole = name_distance(id, strlen(id), asked, strlen(asked));
    int part = *typed ? name_distance(words, strlen(words), typed, strlen(typed)) : FAR;
    return whole < part ? whole : part;
}

/* "did you mean A or B? ", the nearest first; nothing if none is near. */
static void suggest(const catalogue *c, const char *asked, char *out, size_t room)
{
    int most = (int)strlen(asked) / 3, found = 0;
    size_t n = 0;
    *out = '\0';
    for (int far = 0; far <= most && !found; far++)
        for (int i = 0; i < c->count && n < room; i++) {
            if (distance(c->lessons[i].id, asked) != far || found == SUGGESTIONS) continue;
            n += (size_t)snprintf(out + n, room - n, "%s%s", found++ ? " or " : "did you mean ", c->lessons[i].id);
        }
    if (found && n < room) snprintf(out + n, room - n, "? ");
}

const broken_lesson *lesson_find_broken(const catalogue *c, const char *asked)
{
    char name[64];
    strip(asked, name);
    for (int i = 0; i < c->broken_count; i++)
        if (match_of(c->broken[i].id, name) != NO_MATCH) return &c->broken[i];
    return NULL;
}

const lesson *lesson_find(const catalogue *c, const char *asked, char *err, size_t room)
{
    char name[64], nearest[256];
    const lesson *best = NULL;
    match how = NO_MATCH;
    strip(asked, name);
    for (int i = 0; i < c->count; i++) {
        match m = match_of(c->lessons[i].id, name);
        if (m > how) best = &c->lessons[i], how = m;
    }
    if (best) return best;
    const broken_lesson *broken = lesson_find_broken(c, asked);
    suggest(c, name, nearest, sizeof nearest);
    if (broken) snprintf(err, room, "the lesson %s is left out until its lesson.json is mended", broken->id);
    else snprintf(err, room, "there is no lesson '%.60s'; %sall lessons: %s list", asked, nearest, command_name);
    return NULL;
}
