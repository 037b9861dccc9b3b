/* recorded.h: for tests that check the events of their own calls. The log is an unlinked file that the test reads back;
 * `since` discards the events so far, and later ones are queried by kind. */
#ifndef RECORDED_H
#define RECORDED_H

#include <cjson/cJSON.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "dtype.h"
#include "ferry.h"
#include "log.h"
#include "text.h"

extern fy_log *recorded_log;
extern uint64_t recorded_cursor;
extern cJSON *recorded_events; /* events since the last since() */
/* Starts recording; call before the first call of Ferry. Failing calls return NULL instead of exiting, so that one
 * failure fails only its test. */
void recorded_start(void);
void recorded_end(void);
/* Group setup and teardown: record on the simulated card. */
int record_on_sim(void **state);
int record_no_more(void **state);
const char *event_kind_of(const cJSON *e);
void recorded_read(void);
void since(void);
/* The events' kinds since then, such as "alloc tensor op complete". */
const char *kinds(void);
/* The n-th event of a kind since then, or NULL. */
const cJSON *event_of(const char *kind, int n);
/* A field, where "src.device" reaches into objects and "in.0.storage" into arrays. */
const cJSON *field(const cJSON *e, const char *path);
const char *text_of(const cJSON *e, const char *path);
double number_of(const cJSON *e, const char *path);

double fy_real_at(fy_dtype dtype, const void *p, int64_t i); /* dtype.c */
/* Element i, row-major, on any device. */
double element(fy_tensor *x, int64_t i);
/* Do x's elements, row-major, equal the list? */
bool holds(fy_tensor *x, size_t n, const double *want);
#define HOLDS(x, ...) holds(x, sizeof((const double[]){__VA_ARGS__}) / sizeof(double), (const double[]){__VA_ARGS__})

/* Is the shape of x the list? */
bool has_shape(fy_tensor *x, size_t n, const int64_t *want);
#define HAS_SHAPE(x, ...) \
    has_shape(x, sizeof((const int64_t[]){__VA_ARGS__}) / sizeof(int64_t), (const int64_t[]){__VA_ARGS__})

bool has_strides(fy_tensor *x, size_t n, const int64_t *want);
#define HAS_STRIDES(x, ...) \
    has_strides(x, sizeof((const int64_t[]){__VA_ARGS__}) / sizeof(int64_t), (const int64_t[]){__VA_ARGS__})

/* Did the last call fail with a message that contains these words? Clears the error. */
bool failed_with(const char *words);

/* The call fails with these words, and records only the error event. */
#define FAILS_ALONE(call, words) \
    do { \
        since(); \
        assert_null(call); \
        assert_true(failed_with(words)); \
        assert_string_equal(kinds(), "error"); \
    } while (0)

#endif
