/* compile.c: runs the compiler in the parent folder of my/, so that the log names my/ID.c, and passes its output to
 * diagnose.c. Links the core only: no web server in a learner's program. */
#include "compile.h"

#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "compiler.h"
#include "reads.h"
#include "log.h"
#include "memory.h"
#include "text.h"
#ifndef FERRY_CORE_LIBS
#define FERRY_CORE_LIBS "-lopenblas -lzip -lm -lpthread -ldl"
#endif

/* ---- the command ----------------------------------------------------------------------------------- */

/* What a program is read as: an editor is told so, too. */
static const char shown[] = "-std=gnu11 -Wall -Wno-unused-variable -Wno-unused-but-set-variable";
/* Warnings that are always mistakes stop the build; the rest of -Wall is reported as a note. */
static const char strict[] = "-Werror=implicit-function-declaration -Werror=incompatible-pointer-types "
                             "-Werror=int-conversion -Werror=parentheses -Werror=multichar";

static void make_command(compiler_command *c, const compile_options *o, bool clang, const char *out, const char *list,
                         char *paths)
{
    compiler_add_words(c, shown);
    compiler_add_words(c, "-g -O1");
    compiler_add_words(c, strict);
    if (!clang) compiler_add(c, "-ftrack-macro-expansion=0"); /* otherwise gcc reports positions in ferry.h */
    char *include = paths, *lib = paths + PATH_ROOM + 8;
    snprintf(include, PATH_ROOM + 8, "-I%s", o->home->include);
    snprintf(lib, PATH_ROOM + 8, "-L%s", o->home->lib);
    compiler_add(c, include);
    compiler_add(c, o->name);
    compiler_add(c, "-MD"); /* not -MMD: a file can declare itself a system header */
    compiler_add(c, "-MF");
    compiler_add(c, list);
    compiler_add(c, "-o");
    compiler_add(c, out);
    compiler_add(c, lib);
    compiler_add(c, "-Wl,--build-id=none");            /* a hash of all that is linked, which nobody asks for */
    compiler_add_words(c, "-Xlinker -rpath -Xlinker"); /* folder of the real card's library, if there is one */
    compiler_add(c, o->home->lib);
    compiler_add(c, "-lferry");
    compiler_add_words(c, FERRY_CORE_LIBS);
}

void compile_flags_write(const home *h)
{
    char path[PATH_ROOM + 32];
    fy_text text = {0};
    size_t n = strlen(h->beside);
    bool beside = !strncmp(h->include, h->beside, n) && h->include[n] == '/'; /* a checkout may be moved */
    fy_text_printf(&text, "%s %s -I", shown, strict);
    for (size_t i = 0; i < text.size; i++)
        if (text.data[i] == ' ') text.data[i] = '\n';
    fy_text_printf(&text, "%s%s\n", beside ? ".." : "", beside ? h->include + n : h->include);
    snprintf(path, sizeof path, "%s/compile_flags.txt", h->my);
    if (!text.lost) file_create(path, text.data, text.size);
    free(text.data);
}

static compile_end broken(diagnosis *d, const char *what, const char *name, const char *why, const char *hint)
{
    *d = (diagnosis){0};
    snprintf(d->message, sizeof d->message, "%s %.150s%s%.180s", what, name, *why ? ": " : "", why);
    snprintf(d->hint, sizeof d->hint, "%s", hint);
    return COMPILE_BROKEN;
}

static bool prepare(const compile_options *o, diagnosis *d)
{
    char path[PATH_ROOM + 32], folder[PATH_ROOM], err[1200] = "";
    snprintf(path, sizeof path, "%s/libferry.a", o->home->lib);
    if (access(path, R_OK) != 0) {
        broken(d, "the library is not built: there is no", path, "", "run make");
        return false;
    }
    snprintf(folder, sizeof folder, "%s", o->program);
    if (strrchr(folder, '/')) *strrchr(folder, '/') = '\0';
    if (build_folder_make(o->home, folder, err, sizeof err)) return true;
    char *fix = strrchr(err, ';');
    if (fix) *fix++ = '\0';
    *d = (diagnosis){0};
    snprintf(d->message, sizeof d->message, "cannot build: %.380s", err);
    snprintf(d->hint, sizeof d->hint, "%.390s", fix ? fix + 1 : "");
    return false;
}

/* The linker cannot write the program, or the compiler its list of files: where, or NULL. */
static const char *trouble_of_folder(const char *output)
{
    bool cannot = strstr(output, "opening dependency file ") || strstr(output, "cannot open output file ") ||
                  strstr(output, "error: error opening '");
    return cannot ? "the folder of built programs cannot be written" : NULL;
}

/* What the compiler or the linker says when the machine, not the file, is the reason; NULL: none of it. It may be said
 * of a line of the file, as "my/ID.c:2:1: fatal error: error writing to /tmp/cc.s: No space left on device". */
static const char *trouble_of_machine(const char *output)
{
    static const char *const words[] = {"No space left on device", "Cannot allocate memory", "Too many open files",
                                        "Disk quota exceeded", "Input/output error",
                                        /* a part of it was killed: on some full disks by a bus error */
                                        "terminated program", "terminated with signal", "due to signal"};
    for (size_t i = 0; i < sizeof words / sizeof *words; i++)
        if (strstr(output, words[i])) return words[i];
    return NULL;
}

/* The limit that the compiler exceeded: the file asks too much of it, whoever compiles it. False: it did not. */
static bool exceeds_limit(const child_result *r, const child_limits *l, diagnosis *d)
{
    static const char fix[] = "look for macros that multiply each other, a huge array with values, or a file that "
                              "includes itself; a lesson needs none";
    size_t memory = l->memory ? l->memory : child_default_limits().memory;
    size_t disk = l->disk ? l->disk : child_default_limits().disk;
    char words[160] = "";
    if (r->end == CHILD_TIME) snprintf(words, sizeof words, "was still running after %g s", l->seconds);
    if (r->end == CHILD_MEMORY) snprintf(words, sizeof words, "took more than %zu MiB of memory", memory >> 20);
    if (r->end == CHILD_DISK) snprintf(words, sizeof words, "wrote more than %zu MiB to disk", disk >> 20);
    if (r->end == CHILD_OUTPUT) snprintf(words, sizeof words, "printed more messages than anybody can read");
    if (r->end == CHILD_FORKS) snprintf(words, sizeof words, "started too many processes");
    if (r->end == CHILD_EXITED && r->code && strstr(r->output, "File size limit exceeded"))
        snprintf(words, sizeof words, "wrote a file that is too large");
    if (!*words) return false;
    *d = (diagnosis){0};
    snprintf(d->message, sizeof d->message, "this file does not compile: the compiler %s and was stopped", words);
    snprintf(d->hint, sizeof d->hint, "%s", fix);
    return true;
}

/* trouble: the machine's, or NULL. */
static compile_end conclude(const compile_options *o, const child_result *r, const child_limits *limits,
                            const char *trouble, const char *source, const char *header, diagnosis *d)
{
    child_limits none = {0};
    if (r->end == CHILD_STOPPED) return COMPILE_STOPPED;
    if (exceeds_limit(r, limits, d)) return COMPILE_REFUSED;
    if (r->end == CHILD_EXITED && r->code == 0) {
        if (diagnose_certain_mistake(d, source)) return COMPILE_REFUSED;
        diagnose_warning(d, o->name, source, r->output);
        return COMPILE_DONE;
    }
    if (r->end == CHILD_EXITED) {
        const char *folder = trouble ? NULL : trouble_of_folder(r->output); /* gcc gives a line with it */
        if (folder) return broken(d, "the compiler could not build", o->name, folder, folder_advice(EACCES));
        if (!trouble) return diagnose(d, o->name, source, r->output, header), COMPILE_REFUSED;
        return broken(d, "the compiler could not build", o->name, trouble,
                      "free space on the disks of my/ and of temporary files, or memory, then grade again");
    }
    char words[256], hint[256];
    child_describe(r, &none, words, sizeof words, hint, sizeof hint);
    return broken(d, "the compiler failed on", o->name, words, "undo your last change and save again");
}

/* ---- the files that it read -------------------------------------------------------------------------- */

/* The compiler's command without the learner's file, to query its header folders. */
typedef struct compiler_query {
    const compile_options *options;
    compiler_command compiler;
} compiler_query;

/* The text between two marker lines, one folder a line, unindented; malloced. */
static char *text_between(char *text, const char *first, const char *last)
{
    char *from = strstr(text, first), *to = from ? strstr(from, last) : NULL;
    if (!to) return NULL;
    *to = '\0';
    size_t size = 0;
    char *folders = NULL;
    FILE *out = open_memstream(&folders, &size);
    for (char *line = strtok(from + strlen(first), "\n"); out && line; line = strtok(NULL, "\n"))
        fprintf(out, "%s\n", line + strspn(line, " "));
    if (out) fclose(out);
    return folders;
}

static char *query_system_folders(void *user)
{
    compiler_query *q = user;
    /* CPATH and C_INCLUDE_PATH cleared: the learner's environment could add any folder. */
    static const char *const env[] = {"LC_ALL=C", "LANGUAGE=", "CPATH=", "C_INCLUDE_PATH=", NULL};
    char err[256], *folders = NULL;
    child_result r;
    compiler_add_words(&q->compiler, "-E -v -x c /dev/null");
    child_options run = {.argv = q->compiler.argv,
                         .folder = q->options->home->beside,
                         .env = env,
                         .log_fd = -1,
                         .stop_fd = q->options->stop_fd,
                         .limits = {.seconds = 60}};
    if (!child_run(&run, &r, err, sizeof err)) return NULL;
    if (r.output) folders = text_between(r.output, "#include <...> search starts here:\n", "End of search list");
    free(r.output);
    return folders;
}

/* A program that read a forbidden file is refused, even where the compiler reported other errors. */
static compile_end check_reads(const compile_options *o, compiler_query *q, const char *list, const char *source,
                               compile_end end, diagnosis *d)
{
    diagnosis found;
    if (end == COMPILE_STOPPED || end == COMPILE_BROKEN) return end;
    reads r = reads_check(o->home, list, o->name, source, query_system_folders, q, &found);
    if (r == READS_UNKNOWN && end == COMPILE_DONE)
        return broken(d, "the compiler did not say which files it read for", o->name, "", "set CC to gcc or clang");
    if (r != READS_REFUSED) return end;
    *d = found;
    return COMPILE_REFUSED;
}

/* Does a plain program build here, with the same command? Any file can make a compiler say what a full disk says. */
static bool builds_plain_program(const child_options *run, const compile_options *o, const char *out)
{
    static const char program[] = "#include <ferry.h>\nint main(void)\n{\n    fy_print(fy_ones((2)));\n}\n";
    const char *argv[COMPILER_ARGUMENTS];
    char name[PATH_ROOM + 40], err[256];
    int n = 0;
    snprintf(name, sizeof name, "%s.c", out);
    for (; run->argv[n]; n++) argv[n] = run->argv[n] == o->name ? name : run->argv[n];
    argv[n] = NULL;
    child_options plain = *run;
    child_result r = {0};
    plain.argv = argv;
    bool ok = file_write(name, program, sizeof program - 1) && chmod(name, 0644) == 0 &&
              child_run(&plain, &r, err, sizeof err) && r.end == CHILD_EXITED && r.code == 0;
    free(r.output);
    unlink(name);
    snprintf(name, sizeof name, "%s.d", out); /* what this program reads, and not the learner's */
    unlink(name);
    return ok;
}

/* Runs the compiler; once more where it blames the machine, although the machine works. *trouble: if it still does not;
 * else NULL. */
static bool run_with_care(const child_options *run, const compile_options *o, const char *out, child_result *r,
                          const char **trouble, char *err, size_t room)
{
    *trouble = NULL;
    if (!child_run(run, r, err, room)) return false;
    if (r->end == CHILD_EXITED && r->code) *trouble = trouble_of_machine(r->output);
    if (!*trouble || !builds_plain_program(run, o, out)) return true;
    free(r->output);
    *trouble = NULL;
    return child_run(run, r, err, room);
}

/* Did the compiler do its part, and the linker not? */
static bool is_of_the_linker(const child_result *r)
{
    return r->end == CHILD_EXITED && r->code &&
           (strstr(r->output, "collect2: ") || strstr(r->output, "linker command failed") ||
            strstr(r->output, "invalid linker name"));
}

static compile_end run_compiler(const compile_options *o, const char *source, const char *header, diagnosis *d)
{
    compiler_command c = {.count = 0};
    char paths[2 * (PATH_ROOM + 8)], out[PATH_ROOM + 32], list[PATH_ROOM + 40], err[256] = "";
    bool clang = false;
    if (!compiler_choose(&c, &clang, d)) return COMPILE_BROKEN;
    compiler_query query = {.options = o};
    compiler_choose(&query.compiler, &clang, d);
    snprintf(out, sizeof out, "%s.%ld.new", o->program, (long)getpid());
    snprintf(list, sizeof list, "%s.d", out);
    make_command(&c, o, clang, out, list, paths);
    const bool fast = compiler_add_fast_linker(&c);
    child_options run = {.argv = c.argv,
                         .folder = o->home->beside,
                         .env = compiler_english,
                         .log_fd = -1,
                         .stop_fd = o->stop_fd,
                         .temporary = o->temporary,
                         .hidden = o->hidden,
                         .as_user = o->as_user,
                         .limits = o->limits};
    child_result r;
    const char *trouble;
    if (run.limits.seconds <= 0) run.limits.seconds = 60;
    if (!run_with_care(&run, o, out, &r, &trouble, err, sizeof err))
        return broken(d, "cannot run", c.argv[0], err, "close other programs");
    if (fast && is_of_the_linker(&r)) { /* the usual one explains it, or is the one that works here */
        c.argv[--c.count] = NULL;
        free(r.output);
        if (!run_with_care(&run, o, out, &r, &trouble, err, sizeof err))
            return broken(d, "cannot run", c.argv[0], err, "close other programs");
    }
    compile_end end = conclude(o, &r, &run.limits, trouble, source, header, d);
    free(r.output);
    end = check_reads(o, &query, list, source, end, d);
    if (end == COMPILE_DONE && rename(out, o->program) != 0)
        end = broken(d, "cannot write", o->program, strerror(errno), folder_advice(errno));
    unlink(out);
    unlink(list);
    return end;
}

/* The text of the public headers, without their macro definitions. The caller frees it. */
static char *read_headers(const home *h)
{
    static const char *const parts[] = {"ferry.h",       "ferry_math.h", "ferry_view.h",
                                        "ferry_index.h", "ferry_io.h",   "ferry_stream.h"};
    char path[PATH_ROOM + 256];
    fy_text headers = {0};
    fy_text_add(&headers, "", 0);
    for (size_t i = 0; i < sizeof parts / sizeof *parts; i++) {
        snprintf(path, sizeof path, "%s/%s", h->include, parts[i]);
        char *text = file_read(path, NULL), *end = text ? strstr(text, "how the macros are made") : NULL;
        if (end) *end = '\0';
        if (text) fy_text_add(&headers, text, strlen(text));
        free(text);
    }
    if (headers.lost) memory_fail("the text of the headers");
    return headers.data;
}

compile_end compile(const compile_options *o, diagnosis *d)
{
    char path[PATH_ROOM + 256];
    *d = (diagnosis){0};
    if (!prepare(o, d)) return COMPILE_BROKEN;
    snprintf(path, sizeof path, "%s/%s", o->home->beside, o->name);
    char *source = file_read(path, NULL);
    if (!source) return broken(d, "cannot read", path, strerror(errno), "ferry reset ID restores the starter");
    char *headers = read_headers(o->home);
    compile_end end = run_compiler(o, source, headers, d);
    free(headers);
    free(source);
    return end;
}
