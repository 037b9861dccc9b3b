/* new_lesson.c: writes the files of template/, embedded here, with the lesson's name in place of NN-name. */
#include "new_lesson.h"

#include <ctype.h>
#include <dirent.h>
#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "lesson.h"
#include "text.h"

/* Each file of template/, and its text up to the byte 0 after it. */
#define FILES(X) \
    X(readme, "README.md") \
    X(facts, "lesson.json") \
    X(demo, "demo.c") \
    X(starter, "starter.c") \
    X(solution, "solution.c") \
    X(wrong, "wrong_on_cpu.c") \
    X(check, "check.c")
#define POINTS(X) X(points, "points.json")
#define EMBED(name, file) \
    __asm__(".section .rodata\nnew_lesson_" #name ": .incbin \"viewer/lessons/template/" file \
            "\"\n.byte 0\n.previous\n"); \
    extern const char new_lesson_##name[];
FILES(EMBED)
POINTS(EMBED)

static const struct template { const char *file, *text; }
templates[] = {
#define ROW(name, file) {file, new_lesson_##name},
    FILES(ROW)
#undef ROW
};

/* The text with every NN-name, and the NN of lesson_check_NN, replaced. The caller frees it. */
static fy_text fill_in(const char *text, const char *id)
{
    static const char name[] = "NN-name", number[] = "lesson_check_NN";
    fy_text filled = {0};
    while (*text) {
        size_t n = strcspn(text, "Nl");
        fy_text_add(&filled, text, n);
        text += n;
        if (!strncmp(text, name, strlen(name))) {
            fy_text_add(&filled, id, strlen(id));
            text += strlen(name);
        } else if (!strncmp(text, number, strlen(number))) {
            fy_text_add(&filled, number, strlen(number) - 2);
            fy_text_add(&filled, id, strcspn(id, "-"));
            text += strlen(number);
        } else if (*text) {
            fy_text_add(&filled, text++, 1);
        }
    }
    return filled;
}

/* "07-two-cards": what a folder of lessons, the catalogue and C can do with. */
static bool is_name(const char *id)
{
    static const char letters[] = "abcdefghijklmnopqrstuvwxyz0123456789-";
    size_t n = strlen(id);
    return n > 3 && n < sizeof((lesson *)0)->id && isdigit((unsigned char)id[0]) && isdigit((unsigned char)id[1]) &&
           id[2] == '-' && id[3] != '-' && strspn(id, letters) == n;
}

/* Makes the folder, which must not exist, and those above it. */
static bool make_folder(const char *path, const char *id)
{
    char above[PATH_ROOM];
    snprintf(above, sizeof above, "%.*s", (int)(id - path), path);
    return (!*above || folder_exists(above) || folder_make(above)) && mkdir(path, 0777) == 0;
}

/* Another lesson of the folder that has the number of `id`; false: there is none. */
static bool is_number_taken(const char *folder, const char *id, char other[64])
{
    char path[PATH_ROOM + 300];
    DIR *all = opendir(*folder ? folder : ".");
    *other = '\0';
    for (struct dirent *e; all && !*other && (e = readdir(all));) {
        snprintf(path, sizeof path, "%s%s", folder, e->d_name);
        if (strncmp(e->d_name, id, 3) || !strcmp(e->d_name, id) || !folder_exists(path)) continue;
        snprintf(other, 64, "%.63s", e->d_name);
    }
    if (all) closedir(all);
    return *other != '\0';
}

static bool write_template(const char *file, const char *text, const char *id, char *err, size_t room)
{
    fy_text filled = fill_in(text, id);
    bool ok = !filled.lost && file_create(file, filled.data, filled.size);
    if (!ok)
        snprintf(err, room, "cannot write %s: %s; free disk space, or choose a folder that you can write to", file,
                 strerror(errno));
    free(filled.data);
    return ok;
}

bool new_lesson(const char *path, char *err, size_t room)
{
    const char *slash = strrchr(path, '/'), *id = slash ? slash + 1 : path;
    char file[PATH_ROOM + 32], folder[PATH_ROOM], other[64];
    if (strlen(path) > 2900 || !is_name(id)) {
        snprintf(err, room,
                 "a lesson cannot be called '%.100s': its folder is two digits, - and small letters, like "
                 "%.*s01-my-lesson",
                 id, (int)(id - path), path);
        return false;
    }
    snprintf(folder, sizeof folder, "%.*s", (int)(id - path), path);
    if (is_number_taken(folder, id, other)) {
        snprintf(err, room, "%s has the number of %s: choose another, as lessons are asked for by their numbers", id,
                 other);
        return false;
    }
    if (!make_folder(path, id)) {
        snprintf(err, room, "cannot make the folder %s: %s; choose another name or place", path, strerror(errno));
        return false;
    }
    for (size_t i = 0; i < sizeof templates / sizeof *templates; i++) {
        snprintf(file, sizeof file, "%s/%s", path, templates[i].file);
        if (!write_template(file, templates[i].text, id, err, room)) return false;
    }
    snprintf(file, sizeof file, "%spoints.json", folder);
    return access(file, F_OK) == 0 || write_template(file, new_lesson_points, id, err, room);
}
