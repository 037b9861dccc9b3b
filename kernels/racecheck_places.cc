/* racecheck_places.cc: names for the race checker's reports: the line of an instruction, by addr2line; variables, by
 * readelf; a kernel's parameter, from its source. Without those tools, or without debugging information, a report has
 * addresses. */
#include <ctype.h>
#include <link.h>
#include <stdio.h>
#include <stdlib.h>
#include <unistd.h>

#include "kernel.h"
#include "racecheck.h"

namespace {

struct object {
    const void *pc;
    uintptr_t base;
    char path[400];
};

/* The object that contains an instruction. */
int find_object(struct dl_phdr_info *info, size_t, void *of)
{
    object *o = (object *)of;
    for (int i = 0; i < info->dlpi_phnum; i++) {
        const ElfW(Phdr) &part = info->dlpi_phdr[i];
        if (part.p_type != PT_LOAD || (uintptr_t)o->pc - info->dlpi_addr - part.p_vaddr >= part.p_memsz) continue;
        o->base = info->dlpi_addr;
        if (*info->dlpi_name) snprintf(o->path, sizeof o->path, "%s", info->dlpi_name);
        else snprintf(o->path, sizeof o->path, "/proc/%d/exe", (int)getpid()); /* the program */
        return 1;
    }
    return 0;
}

bool is_helper(const char *file)
{
    const char *slash = strrchr(file, '/');
    return strcmp(slash ? slash + 1 : file, "kernel.h") == 0;
}

/* The text of a line, without the blanks around it. */
void text_of_line(const char *file, int line, char *text, size_t room)
{
    char read[400];
    FILE *f = fopen(file, "re");
    *text = 0;
    if (!f) return;
    for (int i = 0; i < line; i++)
        if (!fgets(read, sizeof read, f)) {
            fclose(f);
            return;
        }
    fclose(f);
    size_t n = strlen(read), from = strspn(read, " \t");
    while (n > from && isspace((unsigned char)read[n - 1])) n--;
    snprintf(text, room, "%.*s", (int)(n - from), read + from);
}

} /* namespace */

/* Of inlined calls the innermost, except kernel.h's: `load` and `put` are called everywhere. */
void fy_place_of(const void *pc, fy_place *place)
{
    char command[600], line[600];
    object o = {pc, 0, ""};
    *place = {};
    if (!dl_iterate_phdr(find_object, &o)) return;
    snprintf(command, sizeof command, "addr2line -i -e '%s' %#zx 2>/dev/null", o.path,
             (size_t)((uintptr_t)pc - 1 - o.base));
    FILE *from = popen(command, "re");
    while (from && fgets(line, sizeof line, from)) {
        char *colon = strrchr(line, ':');
        if (!colon || *line == '?' || (*place->file && !is_helper(place->file))) continue;
        *colon = 0;
        snprintf(place->file, sizeof place->file, "%.*s", (int)sizeof place->file - 1, line);
        place->line = atoi(colon + 1);
    }
    if (from) pclose(from);
    if (*place->file) text_of_line(place->file, place->line, place->text, sizeof place->text);
    else snprintf(place->text, sizeof place->text, "instruction %p", pc);
}

bool fy_variable_at(const void *pc, uintptr_t address, uintptr_t shared, char *name, size_t room, uintptr_t *within)
{
    char command[500], line[2000], type[20], size[30];
    bool found = false;
    object o = {pc, 0, ""};
    dl_iterate_phdr(find_object, &o);
    uintptr_t offset = address - (shared ? shared : o.base);
    snprintf(command, sizeof command, "readelf -sWC '%s' 2>/dev/null", o.path);
    FILE *from = popen(command, "re");
    while (from && fgets(line, sizeof line, from)) { /* "  12: 0000000000001234  1024 TLS  LOCAL  DEFAULT  20 NAME" */
        unsigned long value;
        int at = 0;
        if (found || sscanf(line, " %*d: %lx %29s %19s %*s %*s %*s %n", &value, size, type, &at) < 3 || !at) continue;
        uintptr_t bytes = strtoul(size, NULL, 0);
        if (strcmp(type, shared ? "TLS" : "OBJECT") != 0 || offset - value >= bytes) continue;
        line[strcspn(line, "\n")] = 0;
        const char *last = line + at; /* of "softmax<float>(float const*, bool)::partial" */
        for (const char *p = last; (p = strstr(p, "::")); last = p += 2) {}
        snprintf(name, room, "%s", last);
        *within = offset - value;
        found = true;
    }
    if (from) pclose(from);
    return found;
}

void fy_parameter_name(const char *file, const char *kernel, unsigned number, char *name, size_t room)
{
    static char text[1 << 16];
    char begin[150];
    *name = 0;
    FILE *f = fopen(file, "re");
    if (!f) return;
    text[fread(text, 1, sizeof text - 1, f)] = 0;
    fclose(f);
    snprintf(begin, sizeof begin, " %.*s(", (int)strcspn(kernel, "<"), kernel);
    const char *p = strstr(text, "__global__");
    while (p && !(strstr(p, begin) == strchr(p, '(') - strlen(begin) + 1)) p = strstr(p + 1, "__global__");
    if (!p) return;
    p = strstr(p, begin) + strlen(begin);
    for (int depth = 0; *p; p++) { /* to the comma or bracket behind the parameter */
        if (depth == 0 && (*p == ',' || *p == ')') && number-- == 0) break;
        if (*p == '(' || *p == '<') depth++;
        if (*p == ')' || *p == '>') depth--;
    }
    const char *end = p;
    while (isspace((unsigned char)end[-1])) end--;
    const char *from = end;
    while (isalnum((unsigned char)from[-1]) || from[-1] == '_') from--;
    snprintf(name, room, "%.*s", (int)(end - from), from);
}
