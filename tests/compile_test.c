/* compile_test.c: each beginner's mistake in tests/mistakes gets a plain message with the learner's line, from gcc and
 * clang, without lines of Ferry's headers. Its first line holds the expectation: line, part of the message, part of the
 * hint. */
#define _GNU_SOURCE 1

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>
#include <dirent.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "compile.h"
#include "source_check.h"

static char folder[64] = "/tmp/ferry-compile-XXXXXX";
static home where;

static int make_folder(void **state)
{
    (void)state;
    char my[80], err[512];
    if (!mkdtemp(folder)) return -1;
    snprintf(my, sizeof my, "%s/my", folder);
    setenv("FERRY_HOME", ".", 0);
    setenv("FERRY_MY", my, 1);
    if (paths_find(&where, err, sizeof err) && folder_make(my)) return 0;
    fprintf(stderr, "%s\n", err);
    return -1;
}

static int remove_folder(void **state)
{
    (void)state;
    char command[128];
    snprintf(command, sizeof command, "rm -rf %s", folder);
    return system(command);
}

static compile_end build_within(const char *text, child_limits limits, diagnosis *d)
{
    char file[PATH_ROOM + 16], program[PATH_ROOM + 16];
    snprintf(file, sizeof file, "%s/it.c", where.my);
    snprintf(program, sizeof program, "%s/it", where.made);
    assert_true(file_write(file, text, strlen(text)));
    compile_options o = {.home = &where, .name = "my/it.c", .program = program, .stop_fd = -1, .limits = limits};
    return compile(&o, d);
}

static compile_end build(const char *text, diagnosis *d) { return build_within(text, (child_limits){0}, d); }

/* A compiler that does this. */
static void set_compiler(const char *script)
{
    char path[128], text[512];
    snprintf(path, sizeof path, "%s/own-cc", folder);
    snprintf(text, sizeof text, "#!/bin/sh\n%s\n", script);
    assert_true(file_write(path, text, strlen(text)));
    assert_int_equal(chmod(path, 0755), 0);
    setenv("CC", path, 1);
}

/* ---- the fixtures -------------------------------------------------------------------------------- */

typedef struct expectation {
    int line;
    char message[160], hint[160];
} expectation;

static void trim(char *text, const char *tail)
{
    size_t n = strlen(text), m = strlen(tail);
    if (n >= m && !strcmp(text + n - m, tail)) text[n - m] = '\0';
}

static bool shows_a_header(const diagnosis *d)
{
    char all[3000];
    snprintf(all, sizeof all, "%s\n%s\n%s", d->message, d->raw, d->source);
    return strstr(all, "ferry.h:") || strstr(all, "ferry_call.h") || strstr(all, "in expansion") ||
           strstr(all, "expanded from") || strstr(d->message, "_at'");
}

/* Prints the differences from the expectation; returns their number. */
static int check_answer(const char *name, compile_end end, const diagnosis *d, const expectation *w)
{
    bool right = end == COMPILE_REFUSED && d->line == w->line && strstr(d->message, w->message) &&
                 strstr(d->hint, w->hint) && !shows_a_header(d);
    if (right) return 0;
    fprintf(stderr, "%s: end %d, line %d (wanted %d)\n  message: %s\n  hint:    %s\n  source:  %s\n  raw: %s\n", name,
            end, d->line, w->line, d->message, d->hint, d->source, d->raw);
    return 1;
}

static int answer_one(const char *name)
{
    char path[512];
    expectation w;
    diagnosis d;
    snprintf(path, sizeof path, "tests/mistakes/%.200s", name);
    char *text = file_read(path, NULL);
    assert_non_null(text);
    if (sscanf(text, "/* line %d | %159[^|] | %159[^\n]", &w.line, w.message, w.hint) != 3)
        fail_msg("%s does not begin with its expectation", path);
    trim(w.hint, " */"), trim(w.message, " ");
    int wrong = check_answer(name, build(text, &d), &d, &w);
    free(text);
    return wrong;
}

static void answer_all(const char *compiler)
{
    setenv("CC", compiler, 1);
    DIR *mistakes = opendir("tests/mistakes");
    assert_non_null(mistakes);
    int seen = 0, wrong = 0;
    for (struct dirent *e; (e = readdir(mistakes));) {
        if (!strstr(e->d_name, ".c")) continue;
        seen++;
        wrong += answer_one(e->d_name);
    }
    closedir(mistakes);
    unsetenv("CC");
    assert_true(seen >= 20);
    assert_int_equal(wrong, 0);
}

static void gcc_mistakes_get_plain_messages(void **state)
{
    (void)state;
    if (system("command -v gcc >/dev/null")) skip();
    answer_all("gcc");
}

static void clang_mistakes_get_plain_messages(void **state)
{
    (void)state;
    if (system("command -v clang >/dev/null")) skip();
    answer_all("clang");
}

/* ---- the rest ------------------------------------------------------------------------------------ */

static void a_good_file_becomes_a_program(void **state)
{
    (void)state;
    diagnosis d;
    compile_end end =
        build("#include <ferry.h>\n\nint main(void)\n{\n    fy_print(fy_ones((2)));\n    return 0;\n}\n", &d);
    if (end != COMPILE_DONE) fail_msg("%s\n%s\n%s", d.message, d.hint, d.raw);
    char program[PATH_ROOM + 16];
    snprintf(program, sizeof program, "%s/it", where.made);
    assert_int_equal(access(program, X_OK), 0);
    assert_string_equal(d.message, "");
}

static void a_warning_is_a_note(void **state)
{
    (void)state;
    diagnosis d;
    compile_end end = build("int main(void)\n{\n    int x;\n    return x;\n}\n", &d);
    assert_int_equal(end, COMPILE_DONE);
    assert_int_equal(d.line, 4);
    assert_non_null(strstr(d.message, "uninitialized"));
}

static void a_missing_compiler_is_named(void **state)
{
    (void)state;
    diagnosis d;
    setenv("CC", "no-such-compiler", 1);
    compile_end end = build("int main(void) { return 0; }\n", &d);
    unsetenv("CC");
    assert_int_equal(end, COMPILE_BROKEN);
    assert_non_null(strstr(d.message, "no-such-compiler"));
    assert_non_null(strstr(d.hint, "gcc"));
}

static void the_proofreader_accepts_good_code(void **state)
{
    (void)state;
    assert_int_equal(
        source_check("#define X(a) (a\nint f(void)\n{\n    for (int i = 0; i < 2; i++) { char c = ')'; }\n"
                     "    // it's fine (\n    /* so ( is { this */\n    return g(\"a;(\\\"\", 'x', '\\n');\n}\n")
            .what,
        MISTAKE_FINE);
}

static void the_proofreader_names_the_block_that_stays_open(void **state)
{
    (void)state;
    source_mistake f = source_check("int main(void)\n{\n    if (x) {\n        y();\n    return 0;\n}\n");
    assert_int_equal(f.what, MISTAKE_OPEN_BRACE);
    assert_int_equal(f.line, 3);
}

static void a_file_that_exhausts_the_compiler_is_refused(void **state)
{
    (void)state;
    diagnosis d;
    static const char grows[] = "#define A(x) x x x x x x x x x x\n#define B(x) A(A(A(A(A(A(A(x)))))))\n"
                                "int main(void) { B(B(;)) }\n";
    assert_int_equal(build_within(grows, (child_limits){.memory = (size_t)100 << 20}, &d), COMPILE_REFUSED);
    assert_non_null(strstr(d.message, "the compiler took more than 100 MiB of memory and was stopped"));
    set_compiler("sleep 60");
    assert_int_equal(build_within("int main(void) { }", (child_limits){.seconds = 0.3}, &d), COMPILE_REFUSED);
    assert_non_null(strstr(d.message, "the compiler was still running after 0.3 s and was stopped"));
    set_compiler("yes");
    assert_int_equal(build_within("int main(void) { }", (child_limits){.output = 1 << 20}, &d), COMPILE_REFUSED);
    unsetenv("CC");
    static const char huge[] = "char a[30000000] = {1};\nint main(void) { return a[0]; }\n";
    assert_int_equal(build_within(huge, (child_limits){.file = 10 << 20}, &d), COMPILE_REFUSED);
    assert_non_null(strstr(d.message, "the compiler wrote a file that is too large"));
}

/* Whichever linker says it. */
static void a_function_that_nobody_wrote_is_named(void **state)
{
    (void)state;
    diagnosis d;
    assert_int_equal(build("int helper(int x);\nint main(void)\n{\n    return helper(1);\n}\n", &d), COMPILE_REFUSED);
    assert_string_equal(d.message, "the linker found no function named helper");
    assert_string_equal(d.hint, "check the spelling against ferry.h");
}

/* It is found in PATH, and does not link. */
static void a_broken_fast_linker_is_done_without(void **state)
{
    (void)state;
    diagnosis d;
    char file[128], path[4096], *before = strdup(getenv("PATH"));
    snprintf(file, sizeof file, "%s/ld.gold", folder);
    snprintf(path, sizeof path, "%s:%s", folder, before);
    assert_true(file_write(file, "#!/bin/sh\nexit 3\n", 17));
    assert_int_equal(chmod(file, 0755), 0);
    setenv("PATH", path, 1);
    setenv("COMPILER_PATH", folder, 1);
    assert_int_equal(build("int main(void)\n{\n}\n", &d), COMPILE_DONE);
    unsetenv("COMPILER_PATH");
    setenv("PATH", before, 1);
    free(before);
    unlink(file);
}

static void a_full_disk_is_nobodys_mistake(void **state)
{
    (void)state;
    diagnosis d;
    set_compiler("echo 'my/it.c:2:1: fatal error: error writing to /tmp/cc.s: No space left on device'; exit 1");
    assert_int_equal(build("int main(void)\n{\n}\n", &d), COMPILE_BROKEN);
    assert_non_null(strstr(d.message, "No space left on device"));
    set_compiler("echo 'collect2: fatal error: ld terminated with signal 7 [Bus error]'; exit 1");
    assert_int_equal(build("int main(void)\n{\n}\n", &d), COMPILE_BROKEN);
    unsetenv("CC");
    assert_int_equal(build("#error No space left on device\nint main(void)\n{\n}\n", &d), COMPILE_REFUSED);
    assert_int_equal(d.line, 1);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(gcc_mistakes_get_plain_messages),
        cmocka_unit_test(clang_mistakes_get_plain_messages),
        cmocka_unit_test(a_good_file_becomes_a_program),
        cmocka_unit_test(a_warning_is_a_note),
        cmocka_unit_test(a_missing_compiler_is_named),
        cmocka_unit_test(the_proofreader_accepts_good_code),
        cmocka_unit_test(the_proofreader_names_the_block_that_stays_open),
        cmocka_unit_test(a_file_that_exhausts_the_compiler_is_refused),
        cmocka_unit_test(a_function_that_nobody_wrote_is_named),
        cmocka_unit_test(a_broken_fast_linker_is_done_without),
        cmocka_unit_test(a_full_disk_is_nobodys_mistake),
    };
    return cmocka_run_group_tests(tests, make_folder, remove_folder);
}
