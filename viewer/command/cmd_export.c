/* cmd_export.c: `ferry export FILE`: a saved run for those who have no ferry. */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>

#include "command.h"
#include "feed.h"
#include "findings.h"
#include "memory.h"
#include "output.h"
#include "page_file.h"
#include "perfetto.h"
#include "picture_file.h"
#include "steps.h"

enum { MOST_FINDINGS = 100 }; /* as a server lists in a page */
enum { LARGE_PAGE_MB = 200 }; /* a million events are 250 MB: half a minute, and 0.6 GB in the browser */

static const char *base_name(const char *path)
{
    const char *slash = strrchr(path, '/');
    return slash ? slash + 1 : path;
}

/* "run.jsonl" and ".html": "run.html", in the current folder. */
static void default_path(const char *log, const char *ending, char path[PATH_ROOM])
{
    const char *name = base_name(log), *dot = strrchr(name, '.');
    int n = (int)(dot && dot > name ? (size_t)(dot - name) : strlen(name));
    snprintf(path, PATH_ROOM, "%.*s%s", n > 200 ? 200 : n, name, ending);
}

/* A page, or a picture of it. */
static bool to_page(const options *o, FILE *out, char *err, size_t room)
{
    feed *f = feed_of_file(o->word[0], err, room);
    if (!f) return false;
    if (feed_warning(f)) fprintf(stderr, "ferry: %s: %s\n", o->word[0], feed_warning(f));
    if (!feed_ended(f)) fprintf(stderr, "ferry: the program still runs: the page has its events so far\n");
    const char *label = base_name(o->word[0]), *kind = o->svg ? "svg" : "png";
    fy_text found = {0};
    if (o->html) {
        findings list;
        findings_of_feed(&list, f);
        findings_json(&list, MOST_FINDINGS, &found);
        findings_free(&list);
        if (found.lost) memory_fail("the findings");
    }
    bool ok = o->html ? page_file_write(out, f, label, &found, err, room)
                      : picture_write(out, f, label, kind, o->step, o->browser, err, room);
    free(found.data);
    feed_free(f);
    return ok;
}

static bool to_perfetto(const options *o, FILE *out, char *err, size_t room)
{
    char note[256] = "";
    uint64_t cut = 0;
    perfetto *p = perfetto_begin();
    bool ok = feed_each(o->word[0], perfetto_add, p, note, sizeof note, err, room);
    if (*note) fprintf(stderr, "ferry: %s: %s\n", o->word[0], note);
    if (ok) perfetto_write(p, base_name(o->word[0]), out, &cut);
    if (cut)
        fprintf(stderr, "ferry: %llu slices overlapped another in their row: their beginning is left out\n",
                (unsigned long long)cut);
    perfetto_free(p);
    return ok;
}

static void count_step(void *all, const fy_event *e) { steps_add(all, e); }

/* False, with how many there are in err: the run has no such step. The browser would draw nothing. */
static bool has_step(const char *path, long number, char *err, size_t room)
{
    char note[256];
    steps *all = steps_begin();
    bool read = feed_each(path, count_step, all, note, sizeof note, err, room);
    int count = steps_count(all);
    steps_free(all);
    if (read && number > count)
        snprintf(err, room, "%.900s has %d step%s: there is no step %ld; `ferry where %.900s` lists them", path, count,
                 count == 1 ? "" : "s", number, path);
    return read && number <= count;
}

static void say_written(const options *o, const output *to)
{
    struct stat s;
    if (to->file == stdout || stat(to->path, &s) || !S_ISREG(s.st_mode)) return;
    const char *then = o->perfetto ? "; open it at ui.perfetto.dev" : o->html ? "; open it in a browser" : "";
    double kb = (double)s.st_size / 1e3;
    printf("ferry: wrote %s (%.1f %s)%s\n", to->path, kb < 1000 ? kb : kb / 1e3, kb < 1000 ? "kB" : "MB", then);
    if (o->html && s.st_size > LARGE_PAGE_MB * 1000000LL)
        printf("ferry: a browser needs about half a minute and 600 MB of memory for every 250 MB of it\n");
}

static int write_export(const options *o)
{
    output to;
    char path[PATH_ROOM], ending[40], err[PATH_ROOM + 512] = "", late[PATH_ROOM + 512] = "";
    const char *type = o->perfetto ? "perfetto.json" : o->html ? "html" : o->svg ? "svg" : "png";
    if (o->step) snprintf(ending, sizeof ending, "-step%ld.%s", o->step, type);
    else snprintf(ending, sizeof ending, ".%s", type);
    default_path(o->word[0], ending, path);
    if (o->step && !has_step(o->word[0], o->step, err, sizeof err)) return command_error(err), NOT_PASSED;
    if (!output_open(&to, o->output ? o->output : path, o->word[0], err, sizeof err))
        return command_error(err), NOT_PASSED;
    bool ok = o->perfetto ? to_perfetto(o, to.file, err, sizeof err) : to_page(o, to.file, err, sizeof err);
    bool closed = output_close(&to, ok, late, sizeof late);
    if (ok && closed) return say_written(o, &to), FINE;
    command_error(*err ? err : late);
    return NOT_PASSED;
}

int command_export(const command *c, int argc, char **argv)
{
    options o;
    if (!options_read(&o, c, argc, argv, "--html --perfetto --svg --png --step --browser -o", 1)) return USAGE_ERROR;
    if (!o.word[0] || o.html + o.perfetto + o.svg + o.png != 1) {
        fprintf(stderr, "ferry %s: %s\nusage: ferry %s %s\n", c->name,
                o.word[0] ? "say what to write, one of --html, --perfetto, --svg and --png" : "name a log", c->name,
                c->arguments);
        return USAGE_ERROR;
    }
    if (o.step && !o.svg && !o.png) {
        fprintf(stderr, "ferry %s: --step belongs to --svg and --png; a page shows all steps: open it with #step=%ld\n",
                c->name, o.step);
        return USAGE_ERROR;
    }
    return write_export(&o);
}
