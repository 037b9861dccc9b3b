/* Feeds: saved files are validated line by line, with named errors; live logs are followed. */
#define _GNU_SOURCE
#include "event.h"
#include "log.h"
#include "logs.h"
#include "text.h"

#include <sys/stat.h>

#include "handmade.h"
#include "server.h"

static char folder[] = "/tmp/ferry-feed-XXXXXX", path[80];

static int setup(void **state)
{
    (void)state;
    assert_non_null(mkdtemp(folder));
    snprintf(path, sizeof path, "%s/run.jsonl", folder);
    return 0;
}

static int teardown(void **state)
{
    (void)state;
    unlink(path);
    return rmdir(folder);
}

/* A complete run of n marks. */
static handmade complete_run(int n)
{
    handmade h = {0};
    hand(&h,
         "'kind':'session','schema':2,'ferry':'0.1.0','program':'p','args':[],'clock':'model','seed':0,'devices':[]");
    for (int i = 0; i < n; i++) hand(&h, "'kind':'mark','text':'note %d'", i);
    hand(&h, "'kind':'end','status':0,'live':[]");
    return h;
}

static feed *open_bytes(const char *bytes, size_t size, char *err, size_t room)
{
    FILE *f = fopen(path, "wb");
    assert_non_null(f);
    assert_int_equal(fwrite(bytes, 1, size, f), size);
    fclose(f);
    err[0] = 0;
    return feed_of_file(path, err, room);
}

/* These lines are refused, with all of these words in the message. */
static void expect_complaint(const char *bytes, size_t size, const char *where, const char *what)
{
    char err[600];
    feed *f = open_bytes(bytes, size, err, sizeof err);
    if (f || !strstr(err, where) || !strstr(err, what) || !strstr(err, "run.jsonl"))
        fail_msg("wanted %s and %s, got: %s", where, what, f ? "no complaint" : err);
    assert_non_null(strstr(err, "; ")); /* and a fix */
}

static void a_whole_file_is_read_back_byte_for_byte(void **state)
{
    (void)state;
    char err[600];
    handmade h = complete_run(1000);
    feed *f = open_bytes(h.text, h.size, err, sizeof err);
    if (!f) fail_msg("%s", err);
    assert_int_equal(feed_count(f), 1002);
    assert_int_equal(feed_last_kind(f), FY_KIND_end);
    assert_null(feed_warning(f));
    assert_true(feed_ended(f));
    fy_text all = {0};
    uint64_t cursor = 0;
    size_t lines = 0;
    for (size_t n; !feed_drained(f, cursor) && (n = feed_read(f, &cursor, &all, all.size + 1000)); lines += n)
        assert_true(n < 30);
    assert_int_equal(lines, 1002);
    assert_int_equal(cursor, 1002);
    assert_int_equal(all.size, h.size);
    assert_memory_equal(all.data, h.text, h.size);
    assert_int_equal(feed_read(f, &cursor, &all, 1 << 20), 0);
    cursor = 99999; /* beyond the end */
    assert_int_equal(feed_read(f, &cursor, &all, 1 << 20), 0);
    free(all.data);
    feed_free(f);
    hand_end(&h);
}

static void a_line_longer_than_a_batch_comes_alone(void **state)
{
    (void)state;
    char err[600], note[5001];
    memset(note, 'x', 5000);
    note[5000] = 0;
    handmade h = {0};
    hand(&h,
         "'kind':'session','schema':2,'ferry':'0.1.0','program':'p','args':[],'clock':'model','seed':0,'devices':[]");
    hand(&h, "'kind':'mark','text':'%s'", note);
    hand(&h, "'kind':'mark','text':'after'");
    feed *f = open_bytes(h.text, h.size, err, sizeof err);
    if (!f) fail_msg("%s", err);
    fy_text out = {0};
    uint64_t cursor = 1;
    assert_int_equal(feed_read(f, &cursor, &out, 100), 1);
    assert_int_equal(cursor, 2);
    free(out.data);
    feed_free(f);
    hand_end(&h);
}

static void a_cut_last_line_is_left_out_with_a_word(void **state)
{
    (void)state;
    char err[600];
    handmade h = complete_run(3);
    feed *f = open_bytes(h.text, h.size - 10, err, sizeof err);
    if (!f) fail_msg("%s", err);
    assert_int_equal(feed_count(f), 4);
    assert_non_null(feed_warning(f));
    assert_non_null(strstr(feed_warning(f), "line 5"));
    feed_free(f);
    f = open_bytes(h.text, h.size - 1, err, sizeof err); /* only the newline is missing */
    if (!f) fail_msg("%s", err);
    assert_int_equal(feed_count(f), 5);
    assert_null(feed_warning(f));
    fy_text out = {0};
    uint64_t cursor = 0;
    assert_int_equal(feed_read(f, &cursor, &out, 1 << 20), 5);
    assert_int_equal(out.size, h.size);
    free(out.data);
    feed_free(f);
    expect_complaint(h.text, 20, "line 1", "JSON"); /* no complete line is left */
    hand_end(&h);
}

static void bad_lines_are_named_with_number_and_fix(void **state)
{
    (void)state;
    static const char *const lines[][2] = {
        {"{\"seq\":2,", "not JSON"},
        {"", "not JSON"},
        {"[]", "not a JSON object"},
        {"17", "not a JSON object"},
        {"{\"seq\":2} {}", "not JSON"},
        {"{\"seq\":3,\"t\":0,\"th\":0,\"kind\":\"mark\"}", "seq is 3 and should be 2"},
        {"{\"t\":0,\"th\":0,\"kind\":\"mark\"}", "seq is -1 and should be 2"},
        {"{\"seq\":2,\"t\":0,\"th\":0,\"kind\":\"no_such_kind\"}", "no_such_kind"},
        {"{\"seq\":2,\"t\":0,\"th\":0,\"kind\":\"mark\",\"colour\":1}", "colour"},
        {"{\"seq\":2,\"t\":0,\"kind\":\"mark\",\"th\":0,\"text\":\"\xff\"}", "not UTF-8"},
        {"not a log at all", "not JSON"},
    };
    for (size_t i = 0; i < sizeof lines / sizeof lines[0]; i++) {
        handmade h = complete_run(1);
        h.size = (size_t)(strstr(h.text, "{\"seq\":2,") - h.text);
        hand_bytes(&h, lines[i][0], strlen(lines[i][0]));
        hand_bytes(&h, "\n", 1);
        expect_complaint(h.text, h.size, "line 3", lines[i][1]);
        hand_end(&h);
    }
}

static void a_log_begins_with_a_session_of_this_schema(void **state)
{
    (void)state;
    static const char mark[] = "{\"seq\":0,\"t\":0,\"th\":0,\"kind\":\"mark\",\"text\":\"x\"}\n";
    static const char later[] = "{\"seq\":0,\"t\":0,\"th\":0,\"kind\":\"session\",\"schema\":3,\"more\":true}\n";
    expect_complaint(mark, sizeof mark - 1, "line 1", "must be a session event");
    expect_complaint(later, sizeof later - 1, "line 1", "version 3");
}

static void what_is_no_log_is_refused_in_plain_words(void **state)
{
    (void)state;
    char err[600];
    expect_complaint("", 0, "empty", "FERRY_TRACE=");
    expect_complaint("\0\0\0\0", 4, "line 1", "JSON");
    expect_complaint("FERRYLOG", 8, "run.jsonl", "");
    assert_null(feed_of_file(folder, err, sizeof err));
    assert_non_null(strstr(err, "a folder"));
    assert_null(feed_of_file("/nonexistent/run.jsonl", err, sizeof err));
    assert_non_null(strstr(err, "/nonexistent/run.jsonl: No such file"));
    assert_null(feed_of_file("/dev/zero", err, sizeof err));
    assert_non_null(strstr(err, "not a regular file"));
    unlink(path);
    assert_int_equal(mkfifo(path, 0600), 0);
    assert_null(feed_of_file(path, err, sizeof err)); /* does not wait for a writer */
    assert_non_null(strstr(err, "not a regular file"));
    unlink(path);
}

static void a_huge_line_is_refused(void **state)
{
    (void)state;
    size_t size = 17u << 20;
    char *line = malloc(size);
    memset(line, ' ', size);
    line[size - 1] = '\n';
    expect_complaint(line, size, "line 1", "longer than 16 MiB");
    free(line);
}

static void a_growing_log_is_followed_until_its_writer_is_gone(void **state)
{
    (void)state;
    char err[600];
    feed *f = feed_of_log(log_to_write(1000), err, sizeof err);
    if (!f) fail_msg("%s", err);
    uint64_t cursor = 0;
    fy_text out = {0};
    assert_int_equal(feed_last_kind(f), FY_KIND_unpublished);
    FY_EMIT(NULL, mark, .text = fy_ref_str("one"), .now = 1);
    assert_int_equal(feed_last_kind(f), FY_KIND_mark);
    while (feed_read(f, &cursor, &out, out.size + 4096)) continue;
    assert_non_null(strstr(out.data, "\"one\""));
    assert_int_equal(cursor, feed_count(f));
    assert_false(feed_drained(f, cursor)); /* the writer may add more */
    assert_false(feed_ended(f));
    FY_EMIT(NULL, mark, .text = fy_ref_str("two"), .now = 2);
    assert_int_equal(feed_read(f, &cursor, &out, out.size + 4096), 1);
    feed_writer_ended(f);
    assert_true(feed_drained(f, cursor));
    assert_true(feed_ended(f));
    free(out.data);
    feed_free(f);
}

static void a_slot_log_file_is_recognised_by_its_beginning(void **state)
{
    (void)state;
    char err[600] = "";
    unlink(path);
    int fd = fy_log_file(path, 100, err, sizeof err);
    assert_true(fd >= 0);
    close(fd);
    feed *f = feed_of_file(path, err, sizeof err);
    if (!f) fail_msg("%s", err);
    assert_int_equal(feed_count(f), 0);
    feed_free(f);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(a_whole_file_is_read_back_byte_for_byte),
        cmocka_unit_test(a_line_longer_than_a_batch_comes_alone),
        cmocka_unit_test(a_cut_last_line_is_left_out_with_a_word),
        cmocka_unit_test(bad_lines_are_named_with_number_and_fix),
        cmocka_unit_test(a_log_begins_with_a_session_of_this_schema),
        cmocka_unit_test(what_is_no_log_is_refused_in_plain_words),
        cmocka_unit_test(a_huge_line_is_refused),
        cmocka_unit_test(a_growing_log_is_followed_until_its_writer_is_gone),
        cmocka_unit_test(a_slot_log_file_is_recognised_by_its_beginning),
    };
    return cmocka_run_group_tests(tests, setup, teardown);
}
