/* cmd_doctor.c: `ferry doctor`: tries what the lessons need on this machine, and says how to mend what fails. */
#define _GNU_SOURCE 1

#include <arpa/inet.h>
#include <dlfcn.h>
#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/socket.h>
#include <sys/statvfs.h>
#include <unistd.h>

#include "child.h"
#include "class_place.h"
#include "command.h"
#include "compile.h"
#include "device.h"
#include "picture_file.h"
#include "run.h"

typedef enum health { GOOD, OPTIONAL, MISSING } health;

typedef struct finding_list {
    bool json;
    int missing;
    cJSON *all;
} finding_list;

static void tell(finding_list *f, health h, const char *what, const char *is, const char *mend)
{
    static const char *const words[] = {"ok", "without", "MISSING"};
    f->missing += h == MISSING;
    if (f->json) {
        cJSON *item = cJSON_CreateObject();
        cJSON_AddStringToObject(item, "what", what);
        cJSON_AddStringToObject(item, "state", h == GOOD ? "ok" : h == OPTIONAL ? "optional" : "missing");
        cJSON_AddStringToObject(item, "is", is);
        cJSON_AddStringToObject(item, "mend", h == GOOD ? "" : mend);
        cJSON_AddItemToArray(f->all, item);
        return;
    }
    printf("%-8s %-16s %s\n", words[h], what, is);
    if (h != GOOD && *mend) printf("%-8s %-16s %s\n", "", "", mend);
}

/* ---- what is tried ------------------------------------------------------------------------------------------ */

static void try_folder(finding_list *f, const home *h)
{
    struct statvfs disk;
    char is[PATH_ROOM + 64];
    if (!folder_make(h->my) || access(h->my, W_OK) != 0) {
        snprintf(is, sizeof is, "cannot write to %s: %s", h->my, strerror(errno));
        tell(f, MISSING, "your files", is, "set FERRY_MY to a folder of your own: export FERRY_MY=~/ferry");
        return;
    }
    double free_mb = statvfs(h->my, &disk) == 0 ? (double)disk.f_bavail * (double)disk.f_frsize / 1e6 : 0;
    snprintf(is, sizeof is, "%s, %.0f MB free", h->my, free_mb);
    tell(f, free_mb > 200 ? GOOD : MISSING, "your files", is, "free some disk space: 200 MB are enough");
}

/* Compiles and links a program as a learner's is. */
static void try_compiler(finding_list *f, const home *h)
{
    static const char source[] = "#include <ferry.h>\nint main(void) { fy_print(fy_ones((2))); }\n";
    char path[PATH_ROOM], name[64], program[PATH_ROOM + 64];
    diagnosis d = {0};
    snprintf(name, sizeof name, ".ferry-doctor-%ld.c", (long)getpid());
    snprintf(path, sizeof path, "%.2900s/%s", h->my, name);
    snprintf(program, sizeof program, "%s/.ferry-doctor-%ld", h->made, (long)getpid());
    if (!file_write(path, source, sizeof source - 1)) {
        snprintf(program, sizeof program, "not tried: cannot write %s: %s", h->my, strerror(errno));
        tell(f, MISSING, "C compiler", program, folder_advice(errno));
        return;
    }
    const char *slash = strrchr(h->my, '/');
    char relative[PATH_ROOM];
    snprintf(relative, sizeof relative, "%.2900s/%s", slash ? slash + 1 : h->my, name);
    compile_options c = {.home = h, .name = relative, .program = program, .stop_fd = -1};
    bool ok = compile(&c, &d) == COMPILE_DONE;
    unlink(path);
    unlink(program);
    tell(f, ok ? GOOD : MISSING, "C compiler", ok ? "builds and links a program with Ferry" : d.message,
         *d.hint ? d.hint : "sudo apt-get install gcc, then make");
}

static void try_example(finding_list *f, const lesson_env *s)
{
    outcome out;
    run_options o = {.home = &s->home, .lesson = &s->catalogue.lessons[0], .demo = true, .stop_fd = -1};
    run(&o, &out);
    bool ok = out.end == RUN_PASSED;
    tell(f, ok ? GOOD : MISSING, "simulated card", ok ? "runs the first example" : out.message,
         *out.hint ? out.hint : "make");
    outcome_free(&out);
}

static void try_card(finding_list *f)
{
    void *driver = dlopen("libcuda.so.1", RTLD_LAZY);
    if (!driver) {
        tell(f, OPTIONAL, "real card", "no NVIDIA driver: lessons use the simulated card, as they do by default", "");
        return;
    }
    dlclose(driver);
    const char *why = fy_dev_why_not_real();
    tell(f, why ? OPTIONAL : GOOD, "real card", why ? why : "answers; FERRY_GPU=real uses it",
         "make builds its back end where nvcc is; FERRY_GPU=real then says what is wrong");
}

static void try_browser(finding_list *f)
{
    char path[PATH_ROOM];
    bool found = picture_browser(path);
    tell(f, found ? GOOD : OPTIONAL, "Chromium",
         found ? path : "none: `ferry export --png` cannot draw; any browser shows the page",
         "sudo apt-get install chromium");
}

static void try_port(finding_list *f)
{
    struct sockaddr_in at = {.sin_family = AF_INET, .sin_port = htons(8700), .sin_addr.s_addr = htonl(INADDR_LOOPBACK)};
    int fd = socket(AF_INET, SOCK_STREAM | SOCK_CLOEXEC, 0), on = 1;
    if (fd >= 0) setsockopt(fd, SOL_SOCKET, SO_REUSEADDR, &on, sizeof on);
    bool is_free = fd >= 0 && bind(fd, (struct sockaddr *)&at, sizeof at) == 0;
    if (fd >= 0) close(fd);
    tell(f, is_free ? GOOD : OPTIONAL, "port 8700",
         is_free ? "free" : "taken: `ferry serve` takes the next one, and prints it", "");
}

/* What a class's submissions are kept from: of each that they are not, what follows. */
static void try_class(finding_list *f, const home *h)
{
    const class_users users = class_users_find();
    class_hidden hidden;
    const bool apart = users.count > 1, kept = child_can_isolate(), silent = users.first && child_can_unplug(),
               blind = class_hide(&hidden, &users, h, NULL) != NULL;
    char is[512];
    snprintf(is, sizeof is, "not isolated:%s%s%s%s",
             !users.first ? " as you, they can read and change your files;"
             : !apart     ? " all as one user (nobody), they reach each other;"
                          : "",
             kept ? "" : " no namespace of processes, so what they start may stay;", silent ? "" : " with network;",
             blind ? "" : " the solutions cannot be hidden from them;");
    is[strlen(is) - 1] = '\0';
    bool all = apart && kept && silent && blind;
    tell(f, all ? GOOD : OPTIONAL, "class grading",
         all ? "isolated: as other users, in namespaces, without network or solutions" : is,
         users.first ? "give the container the right to make namespaces: --cap-add SYS_ADMIN"
                     : "only root can run submissions as other users: sudo ferry grade-class ...");
}

int command_doctor(const command *c, int argc, char **argv)
{
    options o;
    lesson_env s;
    if (!options_read(&o, c, argc, argv, "--json", 0)) return USAGE_ERROR;
    if (!lessons_open(&s, &o)) return NOT_PASSED;
    finding_list f = {.json = o.json, .all = cJSON_CreateArray()};
    try_folder(&f, &s.home);
    try_compiler(&f, &s.home);
    try_example(&f, &s);
    try_card(&f);
    try_browser(&f);
    try_port(&f);
    try_class(&f, &s.home);
    if (o.json) command_print_json(f.all);
    else cJSON_Delete(f.all);
    lessons_close(&s);
    return f.missing ? NOT_PASSED : FINE;
}
