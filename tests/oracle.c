/* oracle.c: build/tests/oracle [--device cuda] FILE...
 *
 * Runs every case of the files, one JSON object per line in the format of ../shared/oracle/README.md, and prints each
 * failure with the expected and the actual result. The last line, `N passed, N failed, N skipped`, sums to the number
 * of lines. With --device cuda all tensors are on the card.
 *
 * Cases run in a child process. If one crashes it has failed, and a new child continues with the next case. */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/wait.h>
#include <unistd.h>

#include "oracle.h"

#ifndef ORACLE_REFUSED
#define ORACLE_REFUSED "tests/oracle/refused.txt"
#endif

/* In memory shared by parent and children. */
static struct tally {
    int passed, failed, skipped, next, tried;
} * tally;
static bool on_card;

/* ---- running a program ---- */

static void set_name(program *p, const char *text, value v)
{
    if (p->n == (int)(sizeof p->names / sizeof *p->names)) abort();
    p->names[p->n++] = (named){text, v};
}

static value *find_name(program *p, const char *text)
{
    for (int i = p->n - 1; i >= 0; i--)
        if (!strcmp(p->names[i].text, text)) return &p->names[i].v;
    return NULL;
}

/* Unknown arguments must not be ignored. */
static bool knows_args(program *p, const oracle_op *op, const cJSON *args)
{
    const cJSON *a;
    char word[80];
    cJSON_ArrayForEach(a, args)
    {
        snprintf(word, sizeof word, " %s ", a->string);
        if (strstr(op->args, word)) continue;
        complain(p, "op '%s' has no argument '%s' here", op->name, a->string);
        return false;
    }
    return true;
}

static bool run_step(program *p, const cJSON *step)
{
    const cJSON *dst = cJSON_GetArrayItem(step, 0);
    const char *name = cJSON_GetStringValue(cJSON_GetArrayItem(step, 1));
    const oracle_op *op = find_op(name);
    call c = {.p = p, .operands = cJSON_GetArrayItem(step, 2), .args = cJSON_GetArrayItem(step, 3)};
    if (!op) complain(p, "unknown op '%s'", name);
    if (!op || !op->run || !knows_args(p, op, c.args)) return false;
    value v = op->run(&c);
    if (c.parts && cJSON_IsArray(dst) && cJSON_GetArraySize(dst) != c.parts) {
        complain(p, "op '%s' makes %d parts instead of %d", op->name, c.parts, cJSON_GetArraySize(dst));
        return false;
    }
    if (c.parts && cJSON_IsArray(dst)) {
        for (int i = 0; i < c.parts; i++) set_name(p, cJSON_GetArrayItem(dst, i)->valuestring, c.part[i]);
    } else if (cJSON_IsArray(dst)) {
        set_name(p, cJSON_GetArrayItem(dst, 0)->valuestring, v);
        if (cJSON_GetArraySize(dst) > 1) set_name(p, cJSON_GetArrayItem(dst, 1)->valuestring, c.second);
    } else if (cJSON_IsString(dst)) set_name(p, dst->valuestring, v);
    return true;
}

static void check_error(program *p, int step, const cJSON *error)
{
    const char *text = cJSON_GetStringValue(cJSON_GetObjectItem(error, "text"));
    int wanted = (int)integer_of(cJSON_GetObjectItem(error, "step"));
    if (!error) complain(p, "step %d: expected no error, got: %s", step, error_message());
    else if (wanted != step)
        complain(p, "expected an error in step %d, got one in step %d: %s", wanted, step, error_message());
    else if (!is_same_error(text)) complain(p, "expected the error \"%s\", got: %s", text, error_message());
}

static void check_results(program *p)
{
    const cJSON *error = cJSON_GetObjectItem(p->json, "error"), *e;
    if (error) complain(p, "expected the error \"%s\", got none", cJSON_GetObjectItem(error, "text")->valuestring);
    cJSON_ArrayForEach(e, cJSON_GetObjectItem(p->json, "expect"))
    {
        value *v = find_name(p, e->string);
        if (v) compare_value(p, e->string, e, *v);
        else complain(p, "%s was never made", e->string);
        if (fy_error()) complain(p, "looking at %s: %s", e->string, error_message());
        fy_clear_error();
    }
}

static void run_program(program *p)
{
    const cJSON *in, *step;
    int i = 0;
    cJSON_ArrayForEach(in, cJSON_GetObjectItem(p->json, "inputs"))
        set_name(p, in->string, (value){.kind = TENSOR, .tensor = make_input(p, in)});
    if (fy_error()) return complain(p, "an input cannot be made: %s", error_message());
    cJSON_ArrayForEach(step, cJSON_GetObjectItem(p->json, "program"))
    {
        if (!run_step(p, step)) return;
        if (fy_error()) return check_error(p, i, cJSON_GetObjectItem(p->json, "error"));
        i++;
    }
    check_results(p);
}

/* ---- skipped cases ---- */

static bool has_second_device(const cJSON *json)
{
    const cJSON *in;
    cJSON_ArrayForEach(in, cJSON_GetObjectItem(json, "inputs")) if (cJSON_HasObjectItem(in, "device")) return true;
    return false;
}

static bool begins(const char *text, const char *with) { return !strncmp(text, with, strlen(with)); }

static bool is_target(const cJSON *json, const char *input)
{
    const cJSON *step;
    cJSON_ArrayForEach(step, cJSON_GetObjectItem(json, "program"))
    {
        const char *op = cJSON_GetStringValue(cJSON_GetArrayItem(step, 1));
        const char *second = cJSON_GetStringValue(cJSON_GetArrayItem(cJSON_GetArrayItem(step, 2), 1));
        if (op && second && !strcmp(op, "cross_entropy") && !strcmp(second, input)) return true;
    }
    return false;
}

/* Are there inputs of integers, but for classes? */
static bool has_integers(const cJSON *json)
{
    const cJSON *in;
    cJSON_ArrayForEach(in, cJSON_GetObjectItem(json, "inputs"))
    {
        const char *dtype = cJSON_GetStringValue(cJSON_GetObjectItem(in, "dtype"));
        if (dtype && (dtype[0] == 'i' || dtype[0] == 'u') && !is_target(json, in->string)) return true;
    }
    return false;
}

/* Why PyTorch behaves differently on a card, or NULL. */
static const char *differs_on_card(const cJSON *json, const char *op)
{
    const char *error = cJSON_GetStringValue(cJSON_GetObjectItem(cJSON_GetObjectItem(json, "error"), "text"));
    if (begins(op, "rand") || strstr(" uniform_ normal_ bernoulli_ dropout nn_linear nn_embedding ", op))
        return "the card's generator is another one (C16.6)";
    if (error && begins(error, "ZeroDivisionError")) return "a card divides integers by 0 unnoticed (C18.6)";
    if (error && (begins(error, "Target ") || begins(error, "Class values must be")))
        return "a card finds a wrong class by an assertion in the kernel (C14.13)";
    if (error && (begins(error, "index out of range in self") || strstr(error, "is out of bounds for dimension")))
        return "a card finds a wrong index by an assertion in the kernel (C14.13)";
    if (has_integers(json) && strstr(" matmul mm bmm mv dot addmm linear ", op))
        return "a card has no products of integers (C6.11)";
    return NULL;
}

/* Why a case does not run here, or NULL. */
static const char *reason_to_skip(const cJSON *json)
{
    const cJSON *step;
    cJSON_ArrayForEach(step, cJSON_GetObjectItem(json, "program"))
    {
        const char *name = cJSON_GetStringValue(cJSON_GetArrayItem(step, 1));
        if (on_card && name && differs_on_card(json, name)) return differs_on_card(json, name);
    }
    return NULL;
}

/* The reason in refused.txt, or "". Its lines: id, device (cpu, cuda or any), rule, reason, separated by tabs. */
static void find_refusal(const char *id, char *reason, size_t room)
{
    char line[1000], key[200];
    const char *path = getenv("ORACLE_REFUSED"); /* set where the build and the list were copied to another machine */
    FILE *f = fopen(path ? path : ORACLE_REFUSED, "r");
    reason[0] = 0;
    snprintf(key, sizeof key, "%s\t", id);
    while (f && fgets(line, sizeof line, f)) {
        char *device = line + strlen(key), *rest = begins(line, key) ? strchr(device, '\t') : NULL;
        if (!rest || (begins(device, "cpu") && on_card) || (begins(device, "cuda") && !on_card)) continue;
        rest[strcspn(rest, "\n")] = 0;
        *strchr(rest + 1, '\t') = ' ';
        snprintf(reason, room, "%s", rest + 1);
    }
    if (f) fclose(f);
}

/* ---- a case ---- */

static void run_case(const char *line)
{
    program p = {.json = read_case(line)};
    const char *id = cJSON_GetStringValue(cJSON_GetObjectItem(p.json, "id")),
               *why = p.json ? reason_to_skip(p.json) : NULL;
    char reason[1000];
    if (!id) {
        printf("failed: a line that is no case: %.80s\n", line);
        tally->failed++;
        return;
    }
    if (why) {
        printf("skipped %s: %s\n", id, why);
        tally->skipped++;
        return;
    }
    p.on_card = on_card && !has_second_device(p.json);
    fy_clear_error();
    FY_SCOPE { run_program(&p); }
    find_refusal(id, reason, sizeof reason);
    if (reason[0] && p.complaint[0]) printf("refused %s: %s\n", id, reason);
    else if (reason[0]) printf("failed %s: passes, though refused: %s\n", id, reason);
    else if (p.complaint[0]) printf("failed %s: %s\n", id, p.complaint);
    if (!reason[0] && !p.complaint[0]) tally->passed++;
    else if (reason[0] && p.complaint[0]) tally->skipped++;
    else tally->failed++;
    cJSON_Delete((cJSON *)p.json);
}

/* ---- files ---- */

static bool is_blank(const char *line) { return line[strspn(line, " \t\r\n")] == 0; }

/* Runs all cases from tally->next on. */
static void run_rest(FILE *f)
{
    char *line = NULL;
    size_t room = 0;
    fy_on_error(FY_RETURN);
    rewind(f);
    for (int i = 0; getline(&line, &room, f) > 0;) {
        if (is_blank(line) || i++ < tally->next) continue;
        tally->tried = i;
        alarm(60);
        run_case(line);
        fflush(stdout);
        tally->next = i;
    }
    free(line);
}

/* Reports the case in line n, which ended the process. */
static void report_crash(const char *path, int n, int status)
{
    char *line = NULL;
    size_t room = 0;
    FILE *f = fopen(path, "r");
    for (int i = 0; f && i < n && getline(&line, &room, f) > 0;) i += !is_blank(line);
    cJSON *json = line ? read_case(line) : NULL;
    const char *id = cJSON_GetStringValue(cJSON_GetObjectItem(json, "id"));
    if (WIFSIGNALED(status)) printf("failed %s: crashed: %s\n", id ? id : "?", strsignal(WTERMSIG(status)));
    else printf("failed %s: the program ended with status %d\n", id ? id : "?", WEXITSTATUS(status));
    if (f) fclose(f);
    free(line);
    cJSON_Delete(json);
}

static bool run_file(const char *path)
{
    FILE *f;
    int status = 0;
    for (tally->next = 0;;) {
        fflush(stdout);
        pid_t pid = fork();
        if (pid == 0) {
            if (!(f = fopen(path, "r"))) return perror(path), _exit(2), false;
            tally->tried = tally->next;
            run_rest(f);
            exit(0);
        }
        if (pid < 0 || waitpid(pid, &status, 0) < 0) return false;
        if (tally->tried == tally->next) return status == 0;
        report_crash(path, tally->tried, status);
        tally->failed++;
        tally->next = tally->tried;
    }
}

int main(int argc, char **argv)
{
    bool read = true;
    int first = 1;
    if (argc > 2 && !strcmp(argv[1], "--device")) {
        on_card = begins(argv[2], "cuda");
        first = 3;
    }
    if (first >= argc) return fprintf(stderr, "usage: oracle [--device cpu|cuda] FILE...\n"), 2;
    setenv("FERRY_GPU", "sim", 0);
    tally = mmap(NULL, sizeof *tally, PROT_READ | PROT_WRITE, MAP_SHARED | MAP_ANONYMOUS, -1, 0);
    for (int i = first; i < argc; i++) read &= run_file(argv[i]);
    printf("%d passed, %d failed, %d skipped\n", tally->passed, tally->failed, tally->skipped);
    return !read ? 2 : tally->failed || tally->passed == 0;
}
