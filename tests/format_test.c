/* format_test.c: the formatter prints every kind with all fields and with none as valid JSON; numbers and strings
 * follow JSON's rules; the table in lib/README.md is the schema. */
#define _GNU_SOURCE
#include "event.h"
#include "log.h"
#include "log_format.h"
#include "logs.h"
#include "text.h"

#include <glob.h>
#include <float.h>
#include <math.h>

#include <cjson/cJSON.h>

#include "event_json.h"

static int fd = -1;

static int fresh_log(void **state)
{
    (void)state;
    fd = log_to_write(0);
    return 0;
}

static int close_log(void **state)
{
    (void)state;
    return close(fd);
}

static line_says parse_line(const char *line, char err[200])
{
    fy_event e;
    event_arena *a = event_arena_make(false);
    line_says is = event_of_line(a, line, strlen(line), &e, err, 200);
    event_arena_free(a);
    return is;
}

static void assert_valid(const char *line)
{
    char err[200];
    if (parse_line(line, err) != LINE_EVENT) fail_msg("%s: %s", err, line);
}

/* ---- every kind ---- */

static fy_ref bytes_of(const void *p, size_t n) { return fy_ref_bytes(p, n); }

#define TEXT(s) fy_ref_str(s)
#define LIST(type, ...) bytes_of((const type[]){__VA_ARGS__}, sizeof((const type[]){__VA_ARGS__}))
#define USES(...) LIST(fy_use, __VA_ARGS__)

/* Each kind with all fields, and the rest of its line after the common fields; in the schema's order. */
#define GOLDEN(G) \
    G(session, "\"schema\":2,\"ferry\":\"0.1.0\",\"program\":\"a.out\",\"args\":[\"-v\"],\"clock\":\"model\"," \
      "\"seed\":7,\"devices\":[{\"name\":\"cpu\"}],\"knows\":[\"reads\"],\"language\":\"C\",\"rank\":1,\"ranks\":2," \
      "\"parent_seq\":4", \
      .schema = FY_SCHEMA_VERSION, .ferry = TEXT("0.1.0"), .program = TEXT("a.out"), .args = bytes_of("[\"-v\"]", 6), \
      .clock = FY_WORD_model, .seed = 7, .devices = bytes_of("[{\"name\":\"cpu\"}]", 16), .knows = bytes_of("[\"reads\"]", 9), .language = TEXT("C"), \
      .rank = 1, .ranks = 2, .parent_seq = 5) \
    G(source, "\"path\":\"a.c\",\"hash\":\"00ff\",\"text\":\"int main(void)\\n{\\n\\treturn 0;\\n}\\n\"", \
      .path = TEXT("a.c"), .hash = TEXT("00ff"), .text = TEXT("int main(void)\n{\n\treturn 0;\n}\n")) \
    G(segment, "\"device\":\"cuda:0\",\"mem\":\"device\",\"addr\":\"0x200\",\"bytes\":2097152,\"pool\":\"small\"," \
      "\"stream\":1,\"held\":9", \
      .device = 1, .mem = FY_WORD_device, .addr = 0x200, .bytes = 2097152, .pool = FY_WORD_small, .stream = 1, .held = 9) \
    G(segment_free, "\"device\":\"cuda:0\",\"addr\":\"0x200\",\"bytes\":2097152,\"why\":\"oom\",\"held\":9", \
      .device = 1, .addr = 0x200, .bytes = 2097152, .why = FY_WORD_oom, .held = 9) \
    G(alloc, "\"storage\":3,\"device\":\"cuda:0\",\"mem\":\"device\",\"addr\":\"0x7f0000000200\",\"asked\":48," \
      "\"bytes\":512,\"stream\":0,\"tenant\":1,\"before\":true", \
      .storage = 3, .device = 1, .mem = FY_WORD_device, .addr = 0x7f0000000200, .asked = 48, .bytes = 512, \
      .stream = 0, .tenant = 1, .before = 1) \
    G(free, "\"storage\":3,\"bytes\":512,\"deferred\":true", .storage = 3, .bytes = 512, .deferred = 1) \
    G(tensor, "\"tensor\":2,\"name\":\"mat1\",\"storage\":3,\"shape\":[4,3],\"strides\":[3,1],\"offset\":0," \
      "\"dtype\":\"float32\",\"itemsize\":4,\"device\":\"cpu\",\"view_of\":1,\"saved\":true", \
      .tensor = 2, .name = TEXT("mat1"), .storage = 3, .shape = LIST(int64_t, 4, 3), \
      .strides = LIST(int64_t, 3, 1), .dtype = TEXT("float32"), .itemsize = 4, .view_of = 1, .saved = 1) \
    G(name, "\"tensor\":2,\"name\":\"w\"", .tensor = 2, .name = TEXT("w")) \
    G(same, "\"tensor\":2,\"name\":\"w\"", .tensor = 2, .name = TEXT("w")) \
    G(results, "\"tensors\":[2,3]", .tensors = LIST(uint32_t, 2, 3)) \
    G(drop, "\"tensor\":2,\"why\":\"scope\"", .tensor = 2, .why = FY_WORD_scope) \
    G(copy, "\"id\":9,\"src\":{\"tensor\":1,\"storage\":1,\"device\":\"cpu\",\"mem\":\"pageable\",\"addr\":\"0x40\"," \
      "\"version\":2},\"dst\":{\"tensor\":2,\"storage\":3,\"device\":\"cuda:0\",\"mem\":\"device\"," \
      "\"addr\":\"0x200\",\"version\":1},\"bytes\":48,\"dir\":\"h2d\",\"stream\":0,\"dst_stream\":3,\"async\":false," \
      "\"was_async\":true,\"route\":\"staged\",\"why\":\"user\",\"cause\":0,\"held\":9100", \
      .id = 9, .src = {0x40, 1, 1, 2, 0, FY_WORD_pageable}, .dst = {0x200, 2, 3, 1, 1, FY_WORD_device}, \
      .bytes = 48, .dir = FY_WORD_h2d, .stream = 0, .dst_stream = 3, .was_async = 1, .route = FY_WORD_staged, \
      .why = FY_WORD_user, .cause = 1, .held = 9100) \
    G(op, "\"id\":10,\"name\":\"add\",\"device\":\"cuda:1\",\"stream\":0,\"in\":[{\"tensor\":1,\"storage\":1," \
      "\"version\":1},{\"tensor\":2,\"storage\":3,\"version\":0}],\"out\":[{\"tensor\":4,\"storage\":4," \
      "\"version\":1}],\"numbers\":{\"alpha\":2},\"dtype\":\"int64\",\"flops\":12,\"bytes\":144,\"kernel\":\"add_i64\",\"grid\":[1,1,1]," \
      "\"block\":[256,1,1],\"blas\":\"sgemm\",\"held\":5000,\"inplace\":true,\"sides\":[{}],\"own\":true," \
      "\"declared\":[{\"storage\":4}],\"observed\":[]", \
      .id = 10, .name = TEXT("add"), .device = 2, .stream = 0, .in = USES({1, 1, 1}, {2, 3, 0}), \
      .out = USES({4, 4, 1}), .numbers = bytes_of("{\"alpha\":2}", 11), .dtype = FY_WORD_int64, .flops = 12, .bytes = 144, .kernel = TEXT("add_i64"), \
      .grid = {1, 1, 1}, .block = {256, 1, 1}, .blas = TEXT("sgemm"), .held = 5000, .inplace = 1, \
      .sides = bytes_of("[{}]", 4), .own = 1, .declared = bytes_of("[{\"storage\":4}]", 15), .observed = bytes_of("[]", 2)) \
    G(complete, "\"id\":10,\"start\":100,\"end\":250,\"engine\":\"compute\",\"wire\":1,\"wire_up\":6,\"staging\":2,\"overhead\":3," \
      "\"launch\":4,\"marks\":5", \
      .id = 10, .start = 100, .end = 250, .engine = FY_WORD_compute, .wire = 1, .wire_up = 6, .staging = 2, .overhead = 3, \
      .launch = 4, .marks = 5) \
    G(sync, "\"scope\":\"stream\",\"device\":\"cuda:0\",\"stream\":0,\"why\":\"item\",\"cause\":6,\"held\":70", \
      .scope = FY_WORD_stream, .device = 1, .stream = 0, .why = FY_WORD_item, .cause = 7, .held = 70) \
    G(event_record, "\"event\":3,\"device\":\"cuda:0\",\"stream\":1,\"when\":700", \
      .event = 3, .device = 1, .stream = 1, .when = 700) \
    G(event_wait, "\"event\":3,\"device\":\"cuda:1\",\"stream\":2", .event = 3, .device = 2, .stream = 2) \
    G(query, "\"scope\":\"event\",\"device\":\"cuda:0\",\"stream\":1,\"event\":3,\"done\":false", \
      .scope = FY_WORD_event, .device = 1, .stream = 1, .event = 3) \
    G(record_stream, "\"tensor\":4,\"storage\":4,\"device\":\"cuda:0\",\"stream\":2", \
      .tensor = 4, .storage = 4, .device = 1, .stream = 2) \
    G(graph, "\"node\":4,\"what\":\"make\",\"op\":\"mul\",\"tensor\":4,\"saves\":[5],\"next\":[3,0]", \
      .node = 4, .what = FY_WORD_make, .op = TEXT("mul"), .tensor = 4, .saves = LIST(uint32_t, 5), \
      .next = LIST(uint32_t, 3, 0)) \
    G(backward, "\"what\":\"begin\",\"tensor\":4", .what = FY_WORD_begin, .tensor = 4) \
    G(grad, "\"leaf\":1,\"tensor\":6,\"storage\":5,\"added\":true", .leaf = 1, .tensor = 6, .storage = 5, .added = 1) \
    G(state, "\"parameter\":1,\"tensor\":7,\"storage\":6,\"what\":\"exp_avg\",\"optimizer\":\"Adam\"", \
      .parameter = 1, .tensor = 7, .storage = 6, .what = TEXT("exp_avg"), .optimizer = TEXT("Adam")) \
    G(batch, "\"what\":\"ready\",\"loader\":1,\"epoch\":0,\"index\":3,\"worker\":1,\"tensors\":[7,9],\"held\":8", \
      .what = FY_WORD_ready, .loader = 1, .index = 3, .worker = 1, .tensors = LIST(uint32_t, 7, 9), .held = 8) \
    G(data_race, "\"type\":\"race\",\"storage\":4,\"first\":8,\"bytes\":16,\"a\":5,\"b\":0,\"fix\":\"wait\"", \
      .type = FY_WORD_race, .storage = 4, .first = 8, .bytes = 16, .a = 6, .b = 1, .fix = TEXT("wait")) \
    G(set_device, "\"device\":\"cuda:1\"", .device = 2) \
    G(set_stream, "\"device\":\"cuda:1\",\"stream\":32", .device = 2, .stream = 32) \
    G(peer, "\"from\":\"cuda:0\",\"to\":\"cuda:1\",\"can\":true", .from = 1, .to = 2, .can = 1) \
    G(mode, "\"mode\":\"launch_blocking\",\"on\":true", .mode = TEXT("launch_blocking"), .on = 1) \
    G(host_read, "\"tensor\":4,\"storage\":4,\"version\":1,\"first\":2,\"count\":1,\"via\":\"item\"", \
      .tensor = 4, .storage = 4, .version = 1, .first = 2, .count = 1, .via = FY_WORD_item) \
    G(host_write, "\"tensor\":4,\"storage\":4,\"version\":2,\"first\":0,\"count\":12,\"via\":\"set\"", \
      .tensor = 4, .storage = 4, .version = 2, .count = 12, .via = FY_WORD_set) \
    G(oom, "\"device\":\"cuda:0\",\"asked\":9,\"allocated\":8,\"reserved\":7,\"free\":6,\"largest\":5", \
      .device = 1, .asked = 9, .allocated = 8, .reserved = 7, .free = 6, .largest = 5) \
    G(scalar, "\"name\":\"loss\",\"value\":0.25", .name = TEXT("loss"), .value = 0.25) \
    G(mark, "\"text\":\"phase 2\",\"now\":-1", .text = TEXT("phase 2"), .now = -1) \
    G(given, "\"name\":\"mat1\",\"tensor\":1,\"storage\":1,\"device\":\"cpu\"", \
      .name = TEXT("mat1"), .tensor = 1, .storage = 1) \
    G(answer, "\"name\":\"c\",\"tensor\":4,\"storage\":4,\"device\":\"cuda:0\"", \
      .name = TEXT("c"), .tensor = 4, .storage = 4, .device = 1) \
    G(values, "\"tensor\":4,\"version\":1,\"work\":6,\"first\":0,\"data\":[1,-2.5,\"nan\",\"inf\",\"-inf\"],\"count\":5," \
      "\"seen\":5,\"min\":-2.5,\"max\":\"inf\",\"mean\":0.1,\"nan\":1,\"inf\":2,\"range\":[-2.5,1]," \
      "\"bins\":[1,0,1]", \
      .tensor = 4, .version = 1, .work = 6, .data = LIST(double, 1, -2.5, (double)NAN, (double)INFINITY, -(double)INFINITY), \
      .count = 5, .seen = 5, .min = -2.5, .max = (double)INFINITY, .mean = 0.1, .nan = 1, .inf = 2, \
      .range = LIST(double, -2.5, 1), .bins = LIST(double, 1, 0, 1)) \
    G(error, "\"code\":\"shape\",\"message\":\"no \\\"fit\\\"\",\"hint\":\"reshape\",\"written\":\"fy_add(a, b)\"," \
      "\"caused_by\":3", \
      .code = TEXT("shape"), .message = TEXT("no \"fit\""), .hint = TEXT("reshape"), .written = TEXT("fy_add(a, b)"), \
      .caused_by = 4) \
    G(check, "\"lesson\":\"01\",\"check\":\"born-on-cpu\",\"pass\":false,\"points\":0,\"at\":[3,5]," \
      "\"expected\":\"cpu\",\"got\":\"cuda:0\",\"message\":\"It was born elsewhere.\"", \
      .lesson = TEXT("01"), .check = TEXT("born-on-cpu"), .at = LIST(uint32_t, 3, 5), .expected = TEXT("cpu"), \
      .got = TEXT("cuda:0"), .message = TEXT("It was born elsewhere.")) \
    G(grade, "\"lesson\":\"01\",\"pass\":true,\"passed\":4,\"checks\":4,\"message\":\"Done.\"", \
      .lesson = TEXT("01"), .pass = 1, .passed = 4, .checks = 4, .message = TEXT("Done.")) \
    G(lost, "", .empty_ = 0) \
    G(log_full, "\"limit\":100", .limit = 100) \
    G(end, "\"status\":-1,\"live\":[1,3]", .status = -1, .live = LIST(uint32_t, 1, 3))

static fy_site place = {"lessons/01.c", 12, "main", "fy_add", "a, b", 0, 0, 0, false};

#define CHECK_GOLDEN(kind, fields, ...) \
    { \
        uint64_t seq = FY_EMIT(&place, kind, __VA_ARGS__); \
        assert_golden(seq, kinds, #kind, fields); \
        kinds++; \
    }

static void assert_golden(uint64_t seq, int number, const char *kind, const char *fields)
{
    char common[400];
    fy_text line = {0};
    fy_log *log = log_to_read(fd);
    assert_int_equal(fy_log_read(log, &seq, &line, 1), 1);
    snprintf(common, sizeof common,
             "\"kind\":\"%s\",\"th\":0,\"calls\":[{\"id\":%d,\"name\":\"fy_add\",\"args\":\"a, b\","
             "\"file\":\"lessons/01.c\",\"line\":12,\"fn\":\"main\"}],\"call\":%d%s",
             kind, number, number, *fields ? "," : "");
    const char *at = strstr(line.data, common);
    if (!at) fail_msg("%s is not in %s", common, line.data);
    at += strlen(common);
    line.data[line.size - 2] = 0; /* the closing "}\n" */
    assert_string_equal(at, fields);
    line.data[line.size - 2] = '}';
    assert_valid(line.data);
    free(line.data);
    fy_log_close(log);
}

static void every_kind_prints_all_its_fields_in_schema_order(void **state)
{
    (void)state;
    int kinds = 1;
    GOLDEN(CHECK_GOLDEN)
    assert_int_equal(kinds, FY_KIND_COUNT);
}

static void every_kind_is_valid_with_none_of_its_optional_fields(void **state)
{
    (void)state;
    static const unsigned char zeros[FY_RECORD_MAX];
    for (fy_kind kind = 1; kind < FY_KIND_COUNT; kind++) fy_emit(NULL, kind, zeros, sizeof zeros);
    fy_text text = lines_of(fd);
    assert_int_equal(assert_lines_are_whole(&text), FY_KIND_COUNT - 1);
    for (char *p = text.data, *line; (line = next_line(&p));) assert_valid(line);
    free(text.data);
}

/* ---- invalid lines ---- */

static void refused(const char *line, const char *word)
{
    char err[200] = "";
    assert_in_range(parse_line(line, err), LINE_NO_OBJECT, LINE_LOOSE);
    if (!strstr(err, word)) fail_msg("'%s' is not in: %s", word, err);
}

static void the_validator_names_what_is_wrong(void **state)
{
    (void)state;
#define FREE "{\"seq\":1,\"t\":0,\"kind\":\"free\",\"th\":0"
    assert_valid(FREE ",\"storage\":1,\"bytes\":4}");
    refused("{\"seq\":1,\"t\":0,\"kind\":\"teleport\",\"th\":0}", "teleport");
    refused("[]", "not a JSON object");
    refused("{\"seq\":1}", "must be an object with a \"kind\"");
    refused(FREE ",\"storage\":1,\"bytes\":4,\"colour\":1}", "\"colour\" is not in the schema");
    refused(FREE ",\"storage\":1}", "\"bytes\" is missing");
    refused(FREE ",\"storage\":1,\"storage\":2,\"bytes\":4}", "\"storage\" occurs twice");
    refused(FREE ",\"storage\":0,\"bytes\":4}", "\"storage\" must be a number from 1");
    refused(FREE ",\"storage\":1,\"bytes\":0.5}", "\"bytes\" must be an integer");
    refused(FREE ",\"storage\":1,\"bytes\":1e300}", "\"bytes\" must be an integer");
    refused(FREE ",\"storage\":1,\"bytes\":4,\"deferred\":false}", "\"deferred\" must be true");
    refused("{\"seq\":1,\"t\":0,\"kind\":\"drop\",\"th\":0,\"why\":\"bored\"}", "\"why\" must be a word of the schema");
    refused("{\"seq\":1,\"t\":0,\"kind\":\"drop\",\"th\":0,\"why\":\"none\"}", "\"why\" must be a word of the schema");
    refused("{\"seq\":1,\"t\":0,\"kind\":\"given\",\"th\":0,\"device\":\"gpu\"}", "\"device\" must be a device");
    refused("{\"seq\":-1,\"t\":0,\"kind\":\"lost\",\"th\":0}", "\"seq\"");
    refused("{\"seq\":1,\"kind\":\"lost\",\"th\":0}", "\"t\" is missing");
#undef FREE
}

/* ---- numbers and strings ---- */

static void assert_real(double value, const char *expected)
{
    fy_text t = {0};
    fy_text_real(&t, value);
    assert_string_equal(t.data, expected);
    free(t.data);
}

static void doubles_are_the_shortest_that_read_back(void **state)
{
    (void)state;
    assert_real(0, "0");
    assert_real(-0.0, "-0");
    assert_real(0.1, "0.1");
    assert_real((double)0.1f, "0.10000000149011612");
    assert_real(1.0 / 3, "0.3333333333333333");
    assert_real(-2.5e-300, "-2.5e-300");
    assert_real(123456789012345678.0, "1.2345678901234568e+17");
    assert_real(DBL_MAX, "1.7976931348623157e+308");
    assert_real(DBL_TRUE_MIN, "4.94065645841247e-324");
    assert_real((double)NAN, "\"nan\"");
    assert_real(-(double)INFINITY, "\"-inf\"");
}

static void integers_print_whole(void **state)
{
    (void)state;
    fy_text t = {0};
    fy_text_int(&t, INT64_MIN);
    fy_text_add(&t, " ", 1);
    fy_text_int(&t, INT64_MAX);
    assert_string_equal(t.data, "-9223372036854775808 9223372036854775807");
    free(t.data);
}

static void strings_are_always_valid_utf8_and_json(void **state)
{
    (void)state;
    static const struct { const char *in, *out; } cases[] = {
        {"", "\"\""},
        {"a\"b\\c/\b\f\n\r\t\x01\x7f", "\"a\\\"b\\\\c/\\b\\f\\n\\r\\t\\u0001\x7f\""},
        {"gr\xc3\xbc\xc3\x9f \xe2\x82\xac \xf0\x9f\x9a\xa2", "\"gr\xc3\xbc\xc3\x9f \xe2\x82\xac \xf0\x9f\x9a\xa2\""},
        {"\xff", "\"\xef\xbf\xbd\""},
        {"\xc3", "\"\xef\xbf\xbd\""},
        {"\xc0\xaf", "\"\xef\xbf\xbd\xef\xbf\xbd\""},
        {"\xed\xa0\x80", "\"\xef\xbf\xbd\xef\xbf\xbd\xef\xbf\xbd\""},
        {"\xf4\x90\x80\x80", "\"\xef\xbf\xbd\xef\xbf\xbd\xef\xbf\xbd\xef\xbf\xbd\""},
    };
    for (size_t i = 0; i < sizeof cases / sizeof cases[0]; i++) {
        fy_text t = {0};
        fy_text_json(&t, cases[i].in, strlen(cases[i].in));
        assert_string_equal(t.data, cases[i].out);
        assert_true(fy_json_is_well_formed(t.data, t.size));
        free(t.data);
    }
}

static void json_and_other_text_are_distinguished(void **state)
{
    (void)state;
    static const char *const good[] = {"[]", "{}", " [1, -0.5e+3, \"\\u00ff\", {\"a\": null}] ", "true", "0"};
    static const char *const bad[] = {"",       "[",         "[1,]", "{\"a\"}",  "01", "[1]x",
                                      "\"\n\"", "\"\\x\"", "nul",  "-",        "\"\xff\""};
    char deep[200];
    for (size_t i = 0; i < sizeof good / sizeof good[0]; i++)
        assert_true(fy_json_is_well_formed(good[i], strlen(good[i])));
    for (size_t i = 0; i < sizeof bad / sizeof bad[0]; i++)
        assert_false(fy_json_is_well_formed(bad[i], strlen(bad[i])));
    memset(deep, '[', sizeof deep);
    assert_false(fy_json_is_well_formed(deep, sizeof deep));
}

/* ---- documentation ---- */

static char *slurp(const char *path)
{
    FILE *f = fopen(path, "r");
    if (!f) fail_msg("cannot read %s; run the test in the project's folder", path);
    fy_text t = {0};
    char piece[4096];
    for (size_t n; (n = fread(piece, 1, sizeof piece, f));) fy_text_add(&t, piece, n);
    fclose(f);
    return t.data;
}

/* The schema as shown in lib/README.md. */
static void table(fy_text *out)
{
    fy_text json = {0};
    fy_schema_json(&json);
    cJSON *schema = cJSON_Parse(json.data), *kind, *field;
    assert_non_null(schema);
    cJSON_ArrayForEach(kind, schema) {
        fy_text_printf(out, "\n**%s**: %s\n", kind->string, cJSON_GetStringValue(cJSON_GetObjectItem(kind, "doc")));
        cJSON *fields = cJSON_GetObjectItem(kind, "fields");
        if (cJSON_GetArraySize(fields)) fy_text_str(out, "\n| field | type | what |\n| --- | --- | --- |\n");
        cJSON_ArrayForEach(field, fields)
            fy_text_printf(out, "| `%s` | %s | %s |\n", cJSON_GetStringValue(cJSON_GetObjectItem(field, "name")),
                           cJSON_GetStringValue(cJSON_GetObjectItem(field, "type")),
                           cJSON_GetStringValue(cJSON_GetObjectItem(field, "doc")));
    }
    fy_text_str(out, "\n");
    cJSON_Delete(schema);
    free(json.data);
}

static void rewrite(const char *begin, const char *end, const char *readme, const fy_text *expected)
{
    FILE *f = fopen("lib/README.md", "w");
    assert_non_null(f);
    fwrite(readme, 1, (size_t)(begin - readme), f);
    fwrite(expected->data, 1, expected->size, f);
    fputs(end, f);
    fclose(f);
}

/* FERRY_DOCS=1 updates the table. */
static void the_readme_shows_the_schema(void **state)
{
    (void)state;
    char *readme = slurp("lib/README.md");
    char *begin = strstr(readme, "<!-- schema -->\n"), *end = strstr(readme, "<!-- end of schema -->");
    assert_true(begin && end);
    begin += strlen("<!-- schema -->\n");
    fy_text expected = {0};
    table(&expected);
    if (getenv("FERRY_DOCS")) {
        rewrite(begin, end, readme, &expected);
    } else {
        char *shown = strndup(begin, (size_t)(end - begin));
        if (strcmp(shown, expected.data)) fail_msg("lib/README.md differs from lib/trace/schema.h; run `make docs`");
        free(shown);
    }
    free(expected.data);
    free(readme);
}

static void the_readme_names_every_file_of_its_folder(void **state)
{
    (void)state;
    char *readme = slurp("lib/README.md"), name[300];
    glob_t files;
    assert_int_equal(glob("lib/*", 0, NULL, &files), 0);
    assert_int_equal(glob("lib/*/*", GLOB_APPEND, NULL, &files), 0);
    for (size_t i = 0; i < files.gl_pathc; i++) {
        snprintf(name, sizeof name, "`%s`", strrchr(files.gl_pathv[i], '/') + 1);
        if (!strstr(readme, name) && strcmp(name, "`README.md`"))
            fail_msg("lib/README.md does not name %s; add a line that says what it is", files.gl_pathv[i]);
    }
    assert_true(files.gl_pathc > 100);
    globfree(&files);
    free(readme);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test_setup_teardown(every_kind_prints_all_its_fields_in_schema_order, fresh_log, close_log),
        cmocka_unit_test_setup_teardown(every_kind_is_valid_with_none_of_its_optional_fields, fresh_log, close_log),
        cmocka_unit_test(the_validator_names_what_is_wrong),
        cmocka_unit_test(doubles_are_the_shortest_that_read_back),
        cmocka_unit_test(integers_print_whole),
        cmocka_unit_test(strings_are_always_valid_utf8_and_json),
        cmocka_unit_test(json_and_other_text_are_distinguished),
        cmocka_unit_test(the_readme_shows_the_schema),
        cmocka_unit_test(the_readme_names_every_file_of_its_folder),
    };
    return cmocka_run_group_tests_name("format", tests, NULL, NULL);
}
