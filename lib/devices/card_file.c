/* card_file.c: a card's parameters from a file, FERRY_SIM=FILE, as `ferry calibrate` writes it:
 *
 *   # a comment, to the end of the line
 *   like = laptop         whose parameters hold where the file has none; h200 if it does not say, and before the others
 *   name = Some card
 *   memory = 210GB/s      any parameter of card_params.c, and those in `more`
 *
 * A line that is anything else is an error that names it: a guess could teach a learner something false. */
#include <ctype.h>
#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "card_params.h"

enum { LINE = 300 };

#define AT(member) offsetof(fy_card, member)
#define GIB ((int64_t)1 << 30)

/* What FERRY_SIM=KEY:option does not set. */
static const fy_card_param more[] = {
    {"capacity", "capacity", AT(capacity), FY_UNIT_BYTES, false, false, 1 << 20, 4096 * GIB, "capacity=8GiB", false},
    {"multiprocessors", "", AT(multiprocessors), FY_UNIT_COUNT, false, false, 1, 65536, "multiprocessors=24", false},
    {"threads_each", "", AT(threads_each), FY_UNIT_COUNT, false, false, 1, 65536, "threads_each=1536", false},
    {0},
};

typedef struct reader {
    fy_card *card;
    char *name; /* FY_CARD_NAME bytes, which the card keeps */
    int line;
    int64_t set; /* which parameters a line has set: a bit each, those of `more` above the others */
    char *why;
    size_t room;
} reader;

/* How many letters to change, to insert or to leave out: of words of at most 31 letters. */
static int distance(const char *a, const char *b)
{
    int row[32], n = (int)strnlen(b, 31);
    for (int j = 0; j <= n; j++) row[j] = j;
    for (int i = 1; a[i - 1] && i < 32; i++) {
        int corner = row[0];
        row[0] = i;
        for (int j = 1; j <= n; j++) {
            int best = corner + (a[i - 1] != b[j - 1]);
            corner = row[j];
            if (row[j] + 1 < best) best = row[j] + 1;
            if (row[j - 1] + 1 < best) best = row[j - 1] + 1;
            row[j] = best;
        }
    }
    return row[n];
}

static const char *nearest(const char *name)
{
    static const char *const words[] = {"like", "name"};
    const char *best = words[0];
    for (size_t i = 0; i < 2; i++)
        if (distance(name, words[i]) < distance(name, best)) best = words[i];
    for (const fy_card_param *table = fy_card_params; table; table = table == fy_card_params ? more : NULL)
        for (const fy_card_param *f = table; f->option; f++)
            if (distance(name, f->option) < distance(name, best)) best = f->option;
    return best;
}

static bool set_like(reader *r, const char *value)
{
    const fy_card *known = fy_card_find(value);
    if (!known || r->set) {
        snprintf(r->why, r->room,
                 known ? "line %d: like = %.40s must come before the parameters that it would undo%s"
                       : "line %d: like = %.40s names no card; known: %s",
                 r->line, value, known ? "" : fy_card_keys());
        return false;
    }
    const char *key = r->card->key, *name = *r->name ? r->name : known->name;
    *r->card = *known;
    r->card->key = key;
    r->card->name = name;
    return true;
}

static bool set_param(reader *r, const fy_card_param *f, int bit, const char *value)
{
    int64_t number;
    if (!fy_card_param_read(value, strlen(value), f->unit, &number) || number < f->least || number > f->most) {
        snprintf(r->why, r->room, "line %d: %s = %.40s is not valid; write a number%s, as in %s", r->line, f->option,
                 value, f->unit == FY_UNIT_COUNT ? " from 1 to 65536" : " and its unit", f->example);
        return false;
    }
    if (r->set >> bit & 1) {
        snprintf(r->why, r->room, "line %d: %s = %.40s: there is a line for %s already; keep one", r->line, f->option,
                 value, f->option);
        return false;
    }
    r->set |= (int64_t)1 << bit;
    fy_card_param_set(r->card, f, number);
    return true;
}

static bool set(reader *r, const char *name, const char *value)
{
    if (strcmp(name, "like") == 0) return set_like(r, value);
    if (strcmp(name, "name") == 0) {
        snprintf(r->name, FY_CARD_NAME, "%s", value);
        r->card->name = r->name;
        return true;
    }
    int bit = 0;
    for (const fy_card_param *f = fy_card_params; f->option; f++, bit++)
        if (strcmp(f->option, name) == 0) return set_param(r, f, bit, value);
    for (const fy_card_param *f = more; f->option; f++, bit++)
        if (strcmp(f->option, name) == 0) return set_param(r, f, bit, value);
    snprintf(r->why, r->room, "line %d: there is no parameter '%.40s'; did you mean %s?", r->line, name, nearest(name));
    return false;
}

/* Without the blanks around it; changes the text. */
static char *trimmed(char *text)
{
    size_t n = strlen(text);
    while (n > 0 && isspace((unsigned char)text[n - 1])) text[--n] = 0;
    while (isspace((unsigned char)*text)) text++;
    return text;
}

static bool apply_line(reader *r, char *line)
{
    if (!strchr(line, '\n') && strlen(line) >= LINE) {
        snprintf(r->why, r->room, "line %d is longer than %d characters; shorten it", r->line, LINE);
        return false;
    }
    line[strcspn(line, "#")] = 0;
    line = trimmed(line);
    char *equals = strchr(line, '=');
    if (!*line) return true;
    if (!equals || equals == line) {
        snprintf(r->why, r->room, "line %d: '%.40s' is not name = value, as in bus = 8GB/s", r->line, line);
        return false;
    }
    *equals = 0;
    return set(r, trimmed(line), trimmed(equals + 1));
}

bool fy_card_file_read(const char *path, fy_card *card, char *name, char *why, size_t room)
{
    char line[LINE + 2];
    FILE *f = fopen(path, "re");
    reader r = {card, name, 0, 0, why, room};
    if (!f) return snprintf(why, room, "%s", strerror(errno)), false;
    *card = *fy_card_find("h200");
    card->key = path;
    *name = 0;
    bool ok = true;
    while (ok && fgets(line, sizeof line, f)) r.line++, ok = apply_line(&r, line);
    if (ok && ferror(f)) ok = false, snprintf(why, room, "%s", strerror(errno));
    if (ok && !r.set) ok = false, snprintf(why, room, "it has no parameter; write lines as in bus = 8GB/s");
    fclose(f);
    return ok;
}
