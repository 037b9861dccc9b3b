/* lesson.c: the catalogue, read from lessons/arc.json and lessons/ID/lesson.json, and the files in my/. */
#include "lesson.h"

#include <cjson/cJSON.h>
#include <ctype.h>
#include <dirent.h>
#include <errno.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "compile.h"
#include "json_file.h"
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

/* Copies the strings of a list; returns how many. */
static int texts_of(const cJSON *json, const char *key, char **texts, int most)
{
    int n = 0;
    const cJSON *item;
    cJSON_ArrayForEach(item, cJSON_GetObjectItemCaseSensitive(json, key))
    {
        if (cJSON_IsString(item) && n < most) texts[n++] = memory_copy(item->valuestring, "a lesson");
    }
    return n;
}

static void free_place(lesson_place *p)
{
    for (int i = 0; i < p->to_count; i++) free(p->to[i]);
    free(p->text);
}

/* Keeps the first mistake. */
__attribute__((format(printf, 2, 3))) static void note_mistake(lesson *l, const char *format, ...)
{
    va_list args;
    va_start(args, format);
    if (!*l->mistake) vsnprintf(l->mistake, sizeof l->mistake, format, args);
    va_end(args);
}

static bool are_texts(const cJSON *list)
{
    const cJSON *item;
    cJSON_ArrayForEach(item, list)
    {
        if (!cJSON_IsString(item)) return false;
    }
    return cJSON_IsArray(list);
}

static void read_questions(lesson *l, const cJSON *json)
{
    const cJSON *list = cJSON_GetObjectItemCaseSensitive(json, "predict"), *item;
    if (cJSON_GetArraySize(list) > LESSON_QUESTIONS)
        note_mistake(l, "\"predict\" has %d questions: ask at most %d", cJSON_GetArraySize(list), LESSON_QUESTIONS);
    cJSON_ArrayForEach(item, list)
    {
        if (l->question_count == LESSON_QUESTIONS) return;
        lesson_question *q = &l->questions[l->question_count++];
        q->ask = text_of(item, "ask");
        q->fact = text_of(item, "fact");
        q->choice_count = texts_of(item, "choices", q->choices, QUESTION_CHOICES);
        for (int k = 0; k < q->choice_count; k++) {
            const cJSON *from = cJSON_GetArrayItem(cJSON_GetObjectItemCaseSensitive(item, "from"), k);
            q->from[k] = cJSON_IsNumber(from) ? (long)from->valuedouble : k;
        }
        if (strstr(q->ask, "answer:") || strstr(q->ask, "*/") || strchr(q->ask, '\n'))
            note_mistake(
                l,
                "question %d of \"predict\" has \"answer:\", \"*/\" or a line end in it, which end it on a sheet: "
                "use other words",
                l->question_count);
    }
}

static void check_place(lesson *l, const cJSON *item, int n)
{
    const cJSON *text = cJSON_GetObjectItemCaseSensitive(item, "text"),
                *to = cJSON_GetObjectItemCaseSensitive(item, "to");
    int others = cJSON_GetArraySize(to);
    if (!cJSON_IsString(text) || !*text->valuestring)
        note_mistake(l, "place %d of \"vary\" needs \"text\", some text of demo.c", n);
    else if (!are_texts(to) || !others)
        note_mistake(l, "place %d of \"vary\" needs \"to\", a list of other texts, as [\"(8, 4)\", \"(16, 4)\"]", n);
    else if (others > PLACE_TEXTS)
        note_mistake(l, "place %d of \"vary\" has %d texts in \"to\": give at most %d", n, others, PLACE_TEXTS);
}

static void read_places(lesson *l, const cJSON *json)
{
    const cJSON *list = cJSON_GetObjectItemCaseSensitive(json, "vary"), *item;
    int n = 0;
    if (list && !cJSON_IsArray(list))
        note_mistake(l, "\"vary\" must be a list of places, as [{\"text\": \"(4, 4)\", \"to\": [\"(8, 4)\"]}]");
    if (cJSON_IsArray(list) && cJSON_GetArraySize(list) > LESSON_PLACES)
        note_mistake(l, "\"vary\" has %d places: give at most %d", cJSON_GetArraySize(list), LESSON_PLACES);
    cJSON_ArrayForEach(item, list)
    {
        check_place(l, item, ++n);
        lesson_place p = {.text = text_of(item, "text")};
        p.to_count = texts_of(item, "to", p.to, PLACE_TEXTS);
        if (l->place_count < LESSON_PLACES && *p.text) l->places[l->place_count++] = p;
        else free_place(&p);
    }
}

static const char *how_to_mend(const home *h)
{
    return *h->own ? "mend it there" : "mend it, or restore it from the repository";
}

static bool read_lesson(lesson *l, const home *h, const char *id, const char *part, char *err, size_t room)
{
    char path[PATH_ROOM];
    memset(l, 0, sizeof *l);
    snprintf(l->id, sizeof l->id, "%.63s", id);
    lesson_path(h, l, "lesson.json", path);
    cJSON *json = json_file_read(path, how_to_mend(h), err, room);
    if (!json) return false;

    const cJSON *docs = cJSON_GetObjectItemCaseSensitive(json, "docs");
    const cJSON *minutes = cJSON_GetObjectItemCaseSensitive(json, "minutes");
    l->part = memory_copy(part, "a lesson");
    l->title = text_of(json, "title");
    l->summary = text_of(json, "summary");
    l->goal = text_of(json, "goal");
    l->budget = text_of(json, "budget");
    l->board = text_of(json, "board");
    l->given = text_of(json, "given");
    l->given2 = text_of(json, "given2");
    l->card = text_of(json, "card");
    l->docs_title = text_of(docs, "title");
    l->docs_url = text_of(docs, "url");
    l->minutes = cJSON_IsNumber(minutes) ? minutes->valueint : 0;
    l->hint_count = texts_of(json, "hints", l->hints, LESSON_HINTS);
    read_questions(l, json);
    read_places(l, json);
    cJSON_Delete(json);
    return true;
}

/* A lesson that cannot be read is left out, and the others still work. */
static void add_lesson(catalogue *c, const home *h, const char *id, const char *part)
{
    char why[PATH_ROOM * 2] = "";
    c->lessons = memory_realloc(c->lessons, (size_t)c->count + 1, sizeof *c->lessons, "the lessons");
    if (read_lesson(&c->lessons[c->count], h, id, part, why, sizeof why)) {
        c->count++;
        return;
    }
    c->broken = memory_realloc(c->broken, (size_t)c->broken_count + 1, sizeof *c->broken, "the lessons");
    broken_lesson *b = &c->broken[c->broken_count++];
    snprintf(b->id, sizeof b->id, "%.63s", id);
    b->why = memory_copy(why, "a lesson");
}

/* The lessons of arc.json, in its order. */
static bool read_arc(catalogue *c, const home *h, const char *path, char *err, size_t room)
{
    cJSON *arc = json_file_read(path, how_to_mend(h), err, room);
    bool ok = arc != NULL;
    const cJSON *part, *id;
    cJSON_ArrayForEach(part, cJSON_GetObjectItemCaseSensitive(arc, "parts"))
    {
        const char *title = cJSON_GetStringValue(cJSON_GetObjectItemCaseSensitive(part, "title"));
        cJSON_ArrayForEach(id, cJSON_GetObjectItemCaseSensitive(part, "lessons"))
        {
            bool named = cJSON_IsString(id) && *id->valuestring && strlen(id->valuestring) < sizeof c->lessons->id &&
                         !strchr(id->valuestring, '/');
            if (ok && !named) snprintf(err, room, "%s: a lesson is named by its folder, like \"01-where-am-i\"", path);
            ok = ok && named;
            if (ok) add_lesson(c, h, id->valuestring, title ? title : "");
        }
    }
    cJSON_Delete(arc);
    return ok;
}

static int by_id(const void *a, const void *b) { return strcmp(((const lesson *)a)->id, ((const lesson *)b)->id); }

/* Every folder like 01-where-am-i, by name: a folder of lessons needs no arc.json. */
static bool read_folders(catalogue *c, const home *h, char *err, size_t room)
{
    DIR *folder = opendir(h->lessons);
    if (!folder) {
        snprintf(err, room, "cannot open %s: %s", h->lessons, strerror(errno));
        return false;
    }
    for (struct dirent *e; (e = readdir(folder));) {
        const char *id = e->d_name;
        bool numbered = isdigit((unsigned char)id[0]) && isdigit((unsigned char)id[1]) && id[2] == '-';
        if (numbered && strlen(id) < sizeof c->lessons->id) add_lesson(c, h, id, "");
    }
    closedir(folder);
    if (c->count) qsort(c->lessons, (size_t)c->count, sizeof *c->lessons, by_id);
    return true;
}

bool catalogue_open(catalogue *c, const home *h, char *err, size_t room)
{
    char arc[PATH_ROOM];
    *c = (catalogue){0};
    snprintf(arc, sizeof arc, "%.3000s/arc.json", h->lessons);
    bool ok = access(arc, F_OK) == 0 ? read_arc(c, h, arc, err, room) : read_folders(c, h, err, room);
    if (ok && c->count == 0) {
        if (c->broken_count) snprintf(err, room, "%s", c->broken->why);
        else snprintf(err, room, "no lesson in %s; a lesson is a folder like 01-where-am-i", h->lessons);
        ok = false;
    }
    if (!ok) catalogue_close(c);
    return ok;
}

static void free_lesson(lesson *l)
{
    free(l->part), free(l->title), free(l->summary), free(l->goal), free(l->budget), free(l->board);
    free(l->given), free(l->given2), free(l->card), free(l->docs_title), free(l->docs_url);
    for (int i = 0; i < l->hint_count; i++) free(l->hints[i]);
    for (int i = 0; i < l->question_count; i++) {
        lesson_question *q = &l->questions[i];
        free(q->ask), free(q->fact);
        for (int k = 0; k < q->choice_count; k++) free(q->choices[k]);
    }
    for (int i = 0; i < l->place_count; i++) free_place(&l->places[i]);
}

void catalogue_close(catalogue *c)
{
    for (int i = 0; i < c->count; i++) free_lesson(&c->lessons[i]);
    for (int i = 0; i < c->broken_count; i++) free(c->broken[i].why);
    free(c->lessons);
    free(c->broken);
    *c = (catalogue){0};
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
    if (ok) compile_flags_write(h);
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
