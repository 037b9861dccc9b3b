/* threads_test.c: several threads of a program use Ferry at once: what they are told, and what the log says of them. */
#define _GNU_SOURCE 1
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>
#include <pthread.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/wait.h>
#include <unistd.h>

#include "ferry.h"

enum { THREADS = 4, TURNS = 200 };

/* All of `body` in THREADS threads at once. */
static void in_threads(void *(*body)(void *))
{
    pthread_t threads[THREADS];
    for (intptr_t i = 0; i < THREADS; i++) pthread_create(&threads[i], NULL, body, (void *)i);
    for (int i = 0; i < THREADS; i++) pthread_join(threads[i], NULL);
}

/* ---- narrated ---- */

/* fy_item tells what has happened so far: four readers of one story. */
static void *makes_and_looks(void *unused)
{
    for (int i = 0; i < TURNS; i++) FY_SCOPE
        {
            fy_tensor *x = fy_full((8), i), *far = fy_to(x, "cuda"), *sum = fy_sum(far);
            fy_item(sum);
        }
    return unused;
}

/* What `program` says on stderr in a process of its own, told line by line; NULL where it does not end well. */
static char *story_of(void (*program)(void))
{
    FILE *out = tmpfile();
    int status;
    pid_t child = fork();
    if (!child) {
        alarm(120); /* for what hangs */
        dup2(fileno(out), STDERR_FILENO);
        setenv("FERRY_NARRATE", "1", 1);
        program();
        exit(0);
    }
    assert_int_equal(waitpid(child, &status, 0), child);
    size_t size = (size_t)lseek(fileno(out), 0, SEEK_END);
    char *text = calloc(1, size + 1);
    assert_int_equal(pread(fileno(out), text, size, 0), size);
    fclose(out);
    if (!status) return text;
    fprintf(stderr, "%.2000s\n", text);
    free(text);
    return NULL;
}

/* Lines that begin, after their time, with that verb. */
static int lines_with(const char *story, const char *verb)
{
    int n = 0;
    char found[16];
    for (const char *line = story; line && *line; line = strchr(line, '\n'), line += line != NULL)
        if (sscanf(line, " %*s %*s %15s", found) == 1) n += !strcmp(found, verb);
    return n;
}

static void four_narrated_threads(void) { in_threads(makes_and_looks); }

static void the_story_of_four_threads_tells_each_event_once(void **state)
{
    (void)state;
    char *story = story_of(four_narrated_threads);
    assert_non_null(story);
    assert_int_equal(lines_with(story, "run"), THREADS * TURNS); /* the sums */
    assert_int_equal(lines_with(story, "free"), 3 * THREADS * TURNS);
    assert_int_equal(lines_with(story, "end"), 1);
    free(story);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(the_story_of_four_threads_tells_each_event_once),
    };
    setenv("FERRY_GPU", "sim", 1);
    return cmocka_run_group_tests_name("threads", tests, NULL, NULL);
}
