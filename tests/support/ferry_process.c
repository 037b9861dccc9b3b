/* ferry_process.c: see ferry_process.h. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <cmocka.h>

#include "ferry_process.h"

void start_ferry_on(running *r, int out, int in, const char *const *arguments)
{
    const char *argv[12] = {ferry_command};
    for (int i = 0; arguments[i]; i++) argv[i + 1] = arguments[i];
    *r = (running){.out = out};
    fflush(NULL);
    r->pid = fork();
    if (r->pid == 0) {
        prctl(PR_SET_PDEATHSIG, SIGKILL);
        dup2(open("/dev/null", O_RDONLY), 0);
        dup2(in, 1), dup2(in, 2);
        execv(ferry_command, (char *const *)(const void *)argv);
        _exit(127);
    }
    close(in);
}

void start_ferry(running *r, const char *const *arguments)
{
    int ends[2];
    assert_int_equal(pipe2(ends, O_CLOEXEC), 0);
    start_ferry_on(r, ends[0], ends[1], arguments);
}

void await(running *r, const char *part)
{
    while (!strstr(r->text, part)) {
        struct pollfd p = {.fd = r->out, .events = POLLIN};
        ssize_t n = poll(&p, 1, GUARD_MS) > 0 ? read(r->out, r->text + r->size, sizeof r->text - r->size - 1) : 0;
        if (n <= 0) fail_msg("waited for '%s' in vain; there is:\n%s", part, r->text);
        r->size += (size_t)n;
        r->text[r->size] = '\0';
    }
}

void forget(running *r)
{
    r->size = 0;
    r->text[0] = '\0';
}

int end_ferry(running *r, int signal_number)
{
    int status;
    kill(r->pid, signal_number);
    assert_int_equal(waitpid(r->pid, &status, 0), r->pid);
    close(r->out);
    return WIFEXITED(status) ? WEXITSTATUS(status) : 128 + WTERMSIG(status);
}

void enter_page(page *p)
{
    await(&p->ferry, "Ctrl-C stops");
    p->address = parse_server_address(p->ferry.text);
    assert_true(p->address.port > 0);
}

void open_page(page *p)
{
    start_ferry(&p->ferry, (const char *[]){"serve", "--no-browser", "--port", "8760", NULL});
    enter_page(p);
}

cJSON *api(const page *p, const char *method, const char *path, const char *body, int status)
{
    char *answer = http_ask(p->address.port, (http_request){.method = method,
                                                            .path = path,
                                                            .host = p->address.host,
                                                            .token = p->address.token,
                                                            .origin = body ? p->address.origin : NULL,
                                                            .body = body});
    const char *json = strstr(answer, "\r\n\r\n");
    if (status_of(answer) != status || !json) fail_msg("%s %s: %s", method, path, answer);
    cJSON *parsed = cJSON_Parse(json + 4);
    if (!parsed) fail_msg("%s %s: %s", method, path, answer);
    free(answer);
    return parsed;
}

void api_fails(const page *p, const char *method, const char *path, const char *body, int status)
{
    cJSON *json = api(p, method, path, body, status);
    assert_true(cJSON_IsString(cJSON_GetObjectItem(json, "error")));
    cJSON_Delete(json);
}

const char *json_field(const cJSON *json, const char *key)
{
    const cJSON *item = cJSON_GetObjectItem(json, key);
    return cJSON_IsString(item) ? item->valuestring : "";
}
