/* log_fact_test.c: facts asked of a run's log. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <cmocka.h>
#include <string.h>

#include "log_fact.h"

static const char lines[] =
    "{\"seq\":0,\"kind\":\"session\",\"devices\":[{\"name\":\"cpu\"},{\"name\":\"cuda:0\",\"model\":{\"bus_latency\":"
    "2000}}]}\n"
    "{\"seq\":1,\"kind\":\"alloc\",\"calls\":[{\"id\":1,\"file\":\"p.c\",\"line\":4}],\"call\":1,\"storage\":1,"
    "\"device\":\"cpu\",\"bytes\":64}\n"
    "{\"seq\":2,\"kind\":\"tensor\",\"tensor\":1,\"name\":\"x\",\"storage\":1,\"shape\":[4,4]}\n"
    "{\"seq\":3,\"kind\":\"alloc\",\"storage\":2,\"device\":\"cuda:0\",\"bytes\":512}\n"
    "{\"seq\":4,\"kind\":\"tensor\",\"tensor\":2,\"storage\":2,\"shape\":[4,4]}\n"
    "not a line of JSON\n"
    "{\"seq\":5,\"kind\":\"name\",\"tensor\":2,\"name\":\"y\"}\n"
    "{\"seq\":6,\"kind\":\"copy\",\"src\":{\"tensor\":1,\"storage\":1},\"dst\":{\"tensor\":2},\"bytes\":64,\"dir\":"
    "\"h2d\","
    "\"async\":true}\n"
    "{\"seq\":7,\"kind\":\"copy\",\"src\":{\"tensor\":2,\"storage\":2},\"dst\":{\"tensor\":3},\"bytes\":4,\"dir\":"
    "\"d2h\","
    "\"async\":false}\n"
    "{\"seq\":8,\"kind\":\"copy\",\"src\":{\"tensor\":1,\"storage\":1},\"bytes\":100,\"dir\":\"h2d\",\"async\":false}";

static void expect(const char *query, const char *answer)
{
    char out[64], err[200] = "";
    log_facts *f = log_facts_of(lines, sizeof lines - 1);
    if (!log_fact(f, query, out, sizeof out, err, sizeof err)) fail_msg("%s: %s", query, err);
    if (strcmp(out, answer) != 0) fail_msg("%s: '%s', wanted '%s'", query, out, answer);
    log_facts_free(f);
}

static void events_are_counted_by_their_fields(void **state)
{
    (void)state;
    expect("count copy", "3");
    expect("count copy dir=h2d", "2");
    expect("count copy dir=h2d async=true", "1");
    expect("count tensor shape.0=4", "2");
    expect("count free", "0");
}

static void fields_are_summed_and_picked(void **state)
{
    (void)state;
    expect("sum copy.bytes", "168");
    expect("sum copy.bytes dir=h2d", "164");
    expect("max copy.bytes", "100");
    expect("first copy.dir", "h2d");
    expect("last copy.bytes", "100");
    expect("first session.devices.1.model.bus_latency", "2000");
    expect("last free.bytes", "");
    expect("sum free.bytes", "0");
}

static void one_fact_is_so_many_times_another(void **state)
{
    (void)state;
    expect("sum copy.bytes / first copy.bytes", "3"); /* 2.6 */
    expect("first copy.bytes / sum copy.bytes", "0");
    expect("first copy.bytes dir=p2p / first copy.bytes", "");
    expect("first copy.dir / count copy", "");
    expect("count copy / count copy dir=h2d", "2");
    expect("count copy / count copy dir=nowhere", "");
}

static void a_name_stands_for_its_tensor_and_storage(void **state)
{
    (void)state;
    expect("first alloc.bytes storage=x", "64");
    expect("count copy src.tensor=x", "2");
    expect("count copy src.tensor=y", "1"); /* named later */
    expect("count copy src.storage=1", "2");
    expect("count copy src.tensor=z", "0");
}

static void what_is_no_query_is_refused(void **state)
{
    (void)state;
    static const char *const wrong[] = {
        "",         "count copy / ", "count copy / all copy", "count", "count copy.bytes",
        "sum copy", "all copy",      "count copy dir",        "first", "first .bytes"};
    char out[64], err[200];
    log_facts *f = log_facts_of("", 0);
    for (size_t i = 0; i < sizeof wrong / sizeof *wrong; i++) {
        *err = '\0';
        if (log_fact(f, wrong[i], out, sizeof out, err, sizeof err)) fail_msg("'%s' is taken for a query", wrong[i]);
        assert_non_null(strstr(err, "is no query; write it like"));
    }
    log_facts_free(f);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(events_are_counted_by_their_fields),
        cmocka_unit_test(fields_are_summed_and_picked),
        cmocka_unit_test(one_fact_is_so_many_times_another),
        cmocka_unit_test(a_name_stands_for_its_tensor_and_storage),
        cmocka_unit_test(what_is_no_query_is_refused),
    };
    return cmocka_run_group_tests_name("log_fact", tests, NULL, NULL);
}
