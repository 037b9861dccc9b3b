/* cmd_where.c: `ferry where NAME --at STEP FILE`: where a tensor's bytes are at a step, in text; without a name, the
 * steps. */
#include <stdio.h>

#include "command.h"
#include "feed.h"
#include "where.h"

int command_where(const command *c, int argc, char **argv)
{
    options o;
    char note[256] = "", err[512] = "", message[800];
    if (!options_read(&o, c, argc, argv, "--at", 2)) return USAGE_ERROR;
    const char *path = o.word[1] ? o.word[1] : o.word[0], *name = o.word[1] ? o.word[0] : NULL;
    if (!path || (o.step && !name)) {
        fprintf(stderr, "ferry %s: %s\nusage: ferry %s %s\n", c->name,
                path ? "--at needs the name of a tensor" : "name a log", c->name, c->arguments);
        return USAGE_ERROR;
    }
    where *w = where_begin();
    bool ok = feed_each(path, where_add, w, note, sizeof note, err, sizeof err);
    if (*note) command_error(note);
    int count = steps_count(where_steps(w)), at = o.step > 0 && o.step < 1 << 30 ? (int)o.step
                                                  : o.step                       ? 1 << 30
                                                                                 : count;
    if (ok && !name) where_list(w, stdout);
    if (ok && name && !where_print(w, name, at, stdout, err, sizeof err)) {
        ok = false;
        snprintf(message, sizeof message, "%.200s: %s", path, err);
    } else if (!ok) {
        snprintf(message, sizeof message, "%s", err);
    }
    where_free(w);
    if (!ok) return command_error(message), NOT_PASSED;
    return fflush(stdout) == 0 && !ferror(stdout) ? FINE : NOT_PASSED;
}
