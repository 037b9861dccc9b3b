/* page_file.c: index.html with its style, script and icon in place of the links to them, and the run's lines and
 * findings as data.
 *
 * Its Content-Security-Policy allows the one script and the one style sheet, by a random word that a log cannot
 * contain, and nothing else: no request, no other script. The lines cannot end their element, since every < in them is
 * written as an escape of JSON, where it occurs only in strings. They are split, so that a browser reads a long run
 * piece by piece. */
#define _GNU_SOURCE
#include "page_file.h"

#include <inttypes.h>
#include <stdlib.h>
#include <string.h>
#include <sys/random.h>

#include "assets.h"
#include "memory.h"

#define PIECE (1 << 20) /* bytes of lines in one element, about */

static const char icon_link[] = "<link rel=\"icon\" href=\"./icon.svg\" type=\"image/svg+xml\">";
static const char editor_link[] = "<link rel=\"stylesheet\" href=\"./library/codemirror.css\">\n"
                                  "<link rel=\"stylesheet\" href=\"./lessons/lessons.css\">";
static const char style_link[] = "<link rel=\"stylesheet\" href=\"./style.css\">\n"
                                 "<link rel=\"stylesheet\" href=\"./phone.css\">";
static const char licence_link[] =
    "<p class=\"small\">The editor is CodeMirror: <a href=\"./licences.txt\" target=\"_blank\">licence</a>.</p>";
static const char script_link[] = "<script type=\"module\" src=\"./main.js\"></script>";

static const asset *file(const char *path, char *err, size_t room)
{
    for (const asset *a = fy_assets; a->path; a++)
        if (!strcmp(a->path, path)) return a;
    snprintf(err, room, "this ferry was built without the page's file %s", path + 1);
    return NULL;
}

static void write_escaped(FILE *out, const char *text, size_t size)
{
    for (const char *end = text + size, *at; text < end; text = at) {
        at = memchr(text, '<', (size_t)(end - text));
        if (!at) at = end;
        fwrite(text, 1, (size_t)(at - text), out);
        if (at < end) fputs("\\u003c", out), at++;
    }
}

/* Everything but letters and digits by its number. */
static void write_icon(FILE *out, const asset *icon)
{
    fputs("<link rel=\"icon\" href=\"data:image/svg+xml,", out);
    for (size_t i = 0; i < icon->size; i++) {
        unsigned char c = icon->data[i];
        bool plain = (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') || (c >= '0' && c <= '9');
        fprintf(out, plain ? "%c" : "%%%02X", c);
    }
    fputs("\">", out);
}

static bool write_head(FILE *out, const asset *const *styles, const asset *script, const asset *icon)
{
    uint64_t random[2];
    char nonce[33];
    if (getrandom(random, sizeof random, 0) != sizeof random) return false;
    snprintf(nonce, sizeof nonce, "%016" PRIx64 "%016" PRIx64, random[0], random[1]);
    fprintf(out,
            "<meta http-equiv=\"Content-Security-Policy\" content=\"default-src 'none'; script-src 'nonce-%s'; "
            "style-src 'nonce-%s'; img-src data:; base-uri 'none'; form-action 'none'\">\n",
            nonce, nonce);
    write_icon(out, icon);
    fprintf(out, "\n<style nonce=\"%s\">", nonce);
    for (int i = 0; i < 2; i++) fwrite(styles[i]->data, 1, styles[i]->size, out);
    fprintf(out, "</style>\n<script type=\"module\" nonce=\"%s\">", nonce);
    fwrite(script->data, 1, script->size, out);
    fputs("</script>\n", out);
    return true;
}

static void write_run(FILE *out, feed *f, const char *label, const fy_text *findings)
{
    fy_text text = {0};
    uint64_t cursor = 0, end = feed_count(f);
    fy_text_str(&text, "{\"label\":");
    fy_text_json(&text, label, strlen(label));
    fy_text_printf(&text, ",\"ferry\":\"" FERRY_VERSION "\"}");
    if (text.lost) memory_fail("a run in one file");
    fputs("<script type=\"application/json\" id=\"saved-run\">", out);
    write_escaped(out, text.data, text.size);
    fputs("</script>\n", out);
    if (findings->size) {
        fputs("<script type=\"application/json\" id=\"saved-findings\">", out);
        write_escaped(out, findings->data, findings->size);
        fputs("</script>\n", out);
    }
    for (text.size = 0; cursor < end && !ferror(out) && feed_read(f, &cursor, &text, PIECE); text.size = 0) {
        if (text.lost) memory_fail("a run in one file");
        fputs("<script type=\"application/x-ndjson\" class=\"saved-lines\">\n", out);
        write_escaped(out, text.data, text.size);
        fputs("</script>\n", out);
    }
    free(text.data);
}

/* Writes the page up to `mark`, which is left out; returns what follows it. */
static const char *write_to(FILE *out, const char *page, const char *end, const char *mark)
{
    const char *at = memmem(page, (size_t)(end - page), mark, strlen(mark));
    if (at) fwrite(page, 1, (size_t)(at - page), out);
    return at ? at + strlen(mark) : NULL;
}

bool page_file_write(FILE *out, feed *f, const char *label, const fy_text *findings, char *err, size_t room)
{
    *err = '\0';
    const asset *index = file("/index.html", err, room);
    const asset *styles[] = {file("/style.css", err, room), file("/phone.css", err, room)};
    const asset *icon = file("/icon.svg", err, room), *script = file("/main.js", err, room);
    bool ok = index && styles[0] && styles[1] && icon && script;
    const char *at = ok ? (const char *)index->data : NULL, *end = ok ? at + index->size : NULL;
    static const char *const links[] = {icon_link, editor_link, style_link, script_link};
    for (size_t i = 0; at && i < sizeof links / sizeof *links; i++) at = write_to(out, at, end, links[i]);
    if (at && !write_head(out, styles, script, icon)) {
        snprintf(err, room, "the system has no random numbers");
        ok = false;
    }
    if (at) at = write_to(out, at, end, licence_link);
    if (at && (at = write_to(out, at, end, "</body>"))) {
        write_run(out, f, label, findings);
        fputs("</body>", out);
        fwrite(at, 1, (size_t)(end - at), out);
    }
    if (ok && !at) snprintf(err, room, "the page's index.html has no %s any more", "link that one file replaces");
    return ok && at && !ferror(out);
}
