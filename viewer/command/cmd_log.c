/* cmd_log.c: `ferry view`, `log` and `schema`: saved runs, and the meaning of their events. */
#include <stdio.h>
#include <stdlib.h>

#include "command.h"
#include "log.h"
#include "feed.h"
#include "text.h"
#include "memory.h"
#include "server.h"
#include "view.h"

int command_view(const command *c, int argc, char **argv)
{
    options o;
    if (!options_read(&o, c, argc, argv, "--port --no-browser --allow-host", 2)) return USAGE_ERROR;
    if (!o.word[0]) {
        fprintf(stderr, "usage: ferry %s %s\n", c->name, c->arguments);
        return USAGE_ERROR;
    }
    if (o.no_browser) setenv("BROWSER", "none", 1);
    return view_files(o.word[0], o.word[1], o.port, o.allow_host);
}

int command_log(const command *c, int argc, char **argv)
{
    options o;
    char err[512];
    fy_text lines = {0};
    uint64_t cursor = 0;
    if (!options_read(&o, c, argc, argv, "", 1)) return USAGE_ERROR;
    if (!o.word[0]) {
        fprintf(stderr, "usage: ferry %s %s\n", c->name, c->arguments);
        return USAGE_ERROR;
    }
    feed *f = feed_of_file(o.word[0], err, sizeof err);
    if (!f) {
        command_error(err);
        return NOT_PASSED;
    }
    if (feed_warning(f)) command_error(feed_warning(f));
    while (!ferror(stdout) && feed_read(f, &cursor, &lines, 64 << 10) > 0) {
        if (lines.size) fwrite(lines.data, 1, lines.size, stdout);
        lines.size = 0;
    }
    if (lines.lost) memory_fail("the lines of a log");
    free(lines.data);
    feed_free(f);
    return fflush(stdout) == 0 && !ferror(stdout) ? FINE : NOT_PASSED;
}

int command_schema(const command *c, int argc, char **argv)
{
    options o;
    fy_text text = {0};
    if (!options_read(&o, c, argc, argv, "", 0)) return USAGE_ERROR;
    fy_schema_json(&text);
    if (text.lost) memory_fail("the schema");
    fwrite(text.data, 1, text.size, stdout);
    putchar('\n');
    free(text.data);
    return fflush(stdout) == 0 ? FINE : NOT_PASSED;
}
