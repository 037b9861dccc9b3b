/* lesson.c: the catalogue, read from lessons/NN-name/lesson.json, and the files in my/. */
#include "lesson.h"

#include <cjson/cJSON.h>
#include <ctype.h>
#include <dirent.h>
#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "memory.h"

/* ---- paths ------------------------------------------------------------------------------------- */

void lesson_path(const home *h, const lesson *l, const char *file, char out[PATH_ROOM])
{
    snprintf(out, PATH_ROOM, "%.2900s/%s/%.64s", h->lessons, l->id, file);
}

void lesson_file_path(const home *h, const lesson *l, char out[PATH_ROOM])
{
    snprintf(out, PATH_ROOM, "%.2900s/%s.c", h->my, l->id);
}

void lesson_demo(const home *h, const lesson *l, char out[PATH_ROOM])
{
    snprintf(out, PATH_ROOM, "%.2900s/%s", h->demos, l->id);
}

void lesson_name(const home *h, const lesson *l, char out[256])
{
    const char *slash = strrchr(h->my, '/');
    snprintf(out, 256, "%.150s/%s.c", slash ? slash + 1 : h->my, l->id);
}

/* ---- the catalogue ----------------------------------------------------------------------------- */

static char *text_of(const cJSON *json, const char *key)
{
    const cJSON *item = cJSON_GetObjectItemCaseSensitive(json, key);
    return memory_copy(cJSON_IsString(item) ? item->valuestring : "", "a lesson");
}

static bool read_lesson(lesson *l, const home *h, const char *id, char *err, size_t room)
{
    char path[PATH_ROOM];
    memset(l, 0, sizeof *l);
    snprintf(l->id, sizeof l->id, "%.63s", id);
    lesson_path(h, l, "lesson.json", path);
    char *text = file_read(path, NULL);
    if (!text) {
        snprintf(err, room, "cannot read %s: %s; the folder of a lesson needs this file", path, strerror(errno));
        return false;
    }
    cJSON *json = cJSON_Parse(text);
    free(text);
    if (!json) {
        snprintf(err, room, "%s is not valid JSON; fix it, or restore it from the repository", path);
        return false;
    }

    l->title = text_of(json, "title");
    l->summary = text_of(json, "summary");
    l->budget = text_of(json, "budget");
    l->given = text_of(json, "given");
    l->given2 = text_of(json, "given2");
    const cJSON *hint;
    cJSON_ArrayForEach(hint, cJSON_GetObjectItemCaseSensitive(json, "hints"))
    {
        if (!cJSON_IsString(hint) || l->hint_count == LESSON_HINTS) continue;
        l->hints[l->hint_count++] = memory_copy(hint->valuestring, "a hint");
    }
    cJSON_Delete(json);
    return true;
}

static int by_id(const void *a, const void *b) { return strcmp(((const lesson *)a)->id, ((const lesson *)b)->id); }

bool catalogue_open(catalogue *c, const home *h, char *err, size_t room)
{
    *c = (catalogue){0};
    DIR *folder = opendir(h->lessons);
    if (!folder) {
        snprintf(err, room, "cannot open %s: %s", h->lessons, strerror(errno));
        return false;
    }
    bool ok = true;
    for (struct dirent *e; ok && (e = readdir(folder));) {
        const char *id = e->d_name;
        bool numbered = isdigit((unsigned char)id[0]) && isdigit((unsigned char)id[1]) && id[2] == '-';
        if (!numbered || strlen(id) >= sizeof c->lessons->id) continue;
        c->lessons = memory_realloc(c->lessons, (size_t)c->count + 1, sizeof *c->lessons, "the lessons");
        ok = read_lesson(&c->lessons[c->count++], h, id, err, room);
    }
    closedir(folder);
    if (ok && c->count == 0) {
        snprintf(err, room, "no lesson in %s; a lesson is a folder like 01-where-am-i", h->lessons);
        ok = false;
    }
    if (ok) qsort(c->lessons, (size_t)c->count, sizeof *c->lessons, by_id);
    else catalogue_close(c);
    return ok;
}

void catalogue_close(catalogue *c)
{
    for (int i = 0; i < c->count; i++) {
        lesson *l = &c->lessons[i];
        free(l->title), free(l->summary), free(l->budget), free(l->given), free(l->given2);
        for (int k = 0; k < l->hint_count; k++) free(l->hints[k]);
    }
    free(c->lessons);
    *c = (catalogue){0};
}

/* "1" and "01" mean the lesson whose id begins with that number; other text is an id or the start of one. */
const lesson *lesson_find(const catalogue *c, const char *asked, char *err, size_t room)
{
    for (int i = 0; i < c->count; i++)
        if (!strcmp(c->lessons[i].id, asked)) return &c->lessons[i];

    size_t digits = strspn(asked, "0123456789");
    bool number = digits > 0 && digits < 6 && !asked[digits];
    for (int i = 0; i < c->count; i++) {
        const char *id = c->lessons[i].id;
        bool found = number ? atoi(asked) == atoi(id) : *asked && !strncmp(id, asked, strlen(asked));
        if (found) return &c->lessons[i];
    }

    size_t n = (size_t)snprintf(err, room, "there is no lesson '%.60s'; the lessons are", asked);
    for (int i = 0; i < c->count && n < room; i++)
        n += (size_t)snprintf(err + n, room - n, "%s %s", i ? "," : "", c->lessons[i].id);
    return NULL;
}

/* ---- the learner's file ------------------------------------------------------------------------ */

static char *read_starter(const home *h, const lesson *l, size_t *size, char *err, size_t room)
{
    char path[PATH_ROOM];
    lesson_path(h, l, "starter.c", path);
    char *text = file_read(path, size);
    if (!text) snprintf(err, room, "cannot read %s: %s", path, strerror(errno));
    return text;
}

static bool write_starter(const home *h, const lesson *l, const char *mine, char *err, size_t room)
{
    size_t size;
    char *text = read_starter(h, l, &size, err, room);
    if (!text) return false;
    bool ok = folder_make(h->my) && file_write(mine, text, size);
    if (!ok)
        snprintf(err, room, "cannot create %s: %s; set FERRY_MY to a folder that you can write to", mine,
                 strerror(errno));
    free(text);
    return ok;
}

bool lesson_create_file(const home *h, const lesson *l, char *err, size_t room)
{
    char mine[PATH_ROOM];
    struct stat st;
    lesson_file_path(h, l, mine);
    if (lstat(mine, &st) != 0) return write_starter(h, l, mine, err, room);
    if (stat(mine, &st) == 0 && S_ISREG(st.st_mode)) return true;
    snprintf(err, room, "%s is %s; move it away and start the lesson again", mine,
             S_ISDIR(st.st_mode)   ? "a folder"
             : S_ISLNK(st.st_mode) ? "a link to a file that does not exist"
                                   : "not a regular file");
    return false;
}

/* Saves the text as the first unused of my/ID.c.bak, .bak2, .bak3 ... */
static bool back_up(const char *mine, const char *text, size_t size, char kept[PATH_ROOM])
{
    for (int n = 1; n < 10000; n++) {
        if (n == 1) snprintf(kept, PATH_ROOM, "%.3000s.bak", mine);
        else snprintf(kept, PATH_ROOM, "%.3000s.bak%d", mine, n);
        if (file_create(kept, text, size)) return true;
        if (errno != EEXIST) return false;
    }
    return false;
}

bool lesson_reset(const home *h, const lesson *l, char kept[PATH_ROOM], char *err, size_t room)
{
    char mine[PATH_ROOM];
    size_t size, starter_size;
    *kept = '\0';
    lesson_file_path(h, l, mine);
    char *starter = read_starter(h, l, &starter_size, err, room);
    if (!starter) return false;
    char *text = file_read(mine, &size);
    bool missing = !text && errno == ENOENT;
    bool same = text && size == starter_size && !memcmp(text, starter, size);
    bool ok = missing || same || (text && back_up(mine, text, size, kept));
    if (!ok)
        snprintf(err, room, "cannot back up %s%s%s: %s; nothing was changed", mine, *kept ? " as " : "", kept,
                 strerror(errno));
    free(text);
    free(starter);
    return ok && (same || write_starter(h, l, mine, err, room));
}
