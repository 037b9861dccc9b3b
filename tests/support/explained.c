/* explained.c: see explained.h. */
#include "explained.h"

void record_program(const explained *p, const char *path)
{
    const char *sim = p->sim ? p->sim : getenv("FERRY_SIM");
    run_forked(p->run, ENVIRONMENT("FERRY_TRACE", path, "FERRY_GPU", "sim", "FERRY_SIM", sim), true);
    assert_exited_with(0);
}

const finding *finding_of(const findings *f, const char *rule, int n)
{
    for (int i = 0; i < f->count; i++)
        if (!strcmp(f->list[i].rule->name, rule) && n-- == 0) return &f->list[i];
    return NULL;
}

static void expect_finding(const explained *p, const findings *f, int number)
{
    const finding *x = finding_of(f, p->rule, 0);
    if (!p->times && x) fail_msg("program %d: %s at line %d: %s", number, p->rule, x->line, x->what);
    if (!p->times) return;
    if (!x) fail_msg("program %d: no %s", number, p->rule);
    if (finding_of(f, p->rule, 1)) fail_msg("program %d: %s at two lines", number, p->rule);
    if (!strstr(x->source, "HERE")) fail_msg("program %d: %s at line %d: %s", number, p->rule, x->line, x->source);
    if (p->times > 0 && x->times != p->times) fail_msg("program %d: %s %d times", number, p->rule, x->times);
    if (!x->what[0] || !x->fix[0]) fail_msg("program %d: %s without words", number, p->rule);
}

void expect_findings(const explained *programs, size_t count)
{
    char path[64] = "/tmp/ferry-findings-XXXXXX", err[512];
    int fd = mkstemp(path);
    assert_true(fd >= 0);
    close(fd);
    for (size_t i = 0; i < count; i++) {
        findings f;
        unlink(path);
        record_program(&programs[i], path);
        if (!findings_of_file(&f, path, err, sizeof err)) fail_msg("program %zu: %s", i, err);
        assert_false(f.measured);
        expect_finding(&programs[i], &f, (int)i);
        findings_free(&f);
    }
    unlink(path);
}
