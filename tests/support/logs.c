/* logs.c: see logs.h. */
#include "logs.h"

int log_to_write(uint64_t limit)
{
    char err[256] = "";
    int fd = fy_log_file(NULL, limit, err, sizeof err);
    if (fd < 0) fail_msg("%s", err);
    if (!fy_log_adopt(fd, err, sizeof err)) fail_msg("%s", err);
    return fd;
}

fy_log *log_to_read(int fd)
{
    char err[256] = "";
    fy_log *log = fy_log_open(fd, err, sizeof err);
    if (!log) fail_msg("%s", err);
    return log;
}

fy_text lines_of(int fd)
{
    fy_log *log = log_to_read(fd);
    fy_text text = {0};
    uint64_t cursor = 0;
    while (fy_log_read(log, &cursor, &text, text.size + 65536)) continue;
    fy_log_close(log);
    if (!text.data) fy_text_add(&text, "", 0);
    return text;
}

char *next_line(char **p)
{
    char *line = *p, *end = strchr(line, '\n');
    if (!end) return NULL;
    *end = 0;
    *p = end + 1;
    return line;
}

int count_of(const char *lines, const char *what)
{
    int n = 0;
    for (const char *p = lines, *end; (end = strchr(p, '\n')); p = end + 1)
        n += memmem(p, (size_t)(end - p), what, strlen(what)) != NULL;
    return n;
}

uint64_t assert_lines_are_whole(const fy_text *text)
{
    uint64_t seq = 0;
    for (char *p = text->data, *end; p && *p; p = end + 1, seq++) {
        char begin[40];
        end = strchr(p, '\n');
        assert_non_null(end);
        if (!fy_json_is_well_formed(p, (size_t)(end - p))) fail_msg("not JSON: %.*s", (int)(end - p), p);
        snprintf(begin, sizeof begin, "{\"seq\":%llu,", (unsigned long long)seq);
        if (strncmp(p, begin, strlen(begin))) fail_msg("not seq %llu: %.80s", (unsigned long long)seq, p);
    }
    return seq;
}
