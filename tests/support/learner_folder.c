/* learner_folder.c: see learner_folder.h. */
#include "learner_folder.h"

char learner_folder[64];

char ferry_command[512];

int make_learner_folder(void **state)
{
    char path[512];
    (void)state;
    snprintf(learner_folder, sizeof learner_folder, "/tmp/ferry-school-XXXXXX");
    ssize_t n = readlink("/proc/self/exe", path, sizeof path - 1);
    if (n <= 0 || !mkdtemp(learner_folder)) return -1;
    path[n] = '\0';
    *strrchr(path, '/') = '\0';
    snprintf(ferry_command, sizeof ferry_command, "%.480s/../ferry", path);
    setenv("FERRY_HOME", ".", 0);
    snprintf(path, sizeof path, "%s/my", learner_folder);
    setenv("FERRY_MY", path, 1);
    snprintf(path, sizeof path, "%s/state", learner_folder);
    setenv("XDG_STATE_HOME", path, 1);
    setenv("BROWSER", "none", 1);
    /* Learners' programs are built with the library's sanitizers; crashes must still end them by their signal. */
    setenv("TSAN_OPTIONS", "handle_segv=0:handle_abort=0:handle_sigbus=0:handle_sigfpe=0", 1);
    setenv("ASAN_OPTIONS", "detect_leaks=0:handle_segv=0:handle_abort=0:handle_sigbus=0:handle_sigfpe=0", 1);
    return 0;
}

int remove_learner_folder(void **state)
{
    char command[128];
    (void)state;
    snprintf(command, sizeof command, "rm -rf %s", learner_folder);
    return system(command);
}

bool write_answer(const char *id, const char *text)
{
    char path[256];
    snprintf(path, sizeof path, "%s/my", learner_folder);
    if (!folder_make(path)) return false;
    snprintf(path, sizeof path, "%s/my/%s.c", learner_folder, id);
    return file_write(path, text, strlen(text));
}

bool copy_answer(const char *id, const char *file)
{
    char path[256];
    snprintf(path, sizeof path, "lessons/%s/%s", id, file);
    char *text = file_read(path, NULL);
    bool ok = text && write_answer(id, text);
    free(text);
    return ok;
}

int run_ferry(const char *arguments, char **printed)
{
    char command[900];
    size_t size = 0, room = 1 << 16;
    snprintf(command, sizeof command, "%s %s 2>&1 </dev/null", ferry_command, arguments);
    FILE *from = popen(command, "r");
    char *text = calloc(1, room);
    if (!from || !text) return -1;
    for (size_t n; (n = fread(text + size, 1, room - size - 1, from)) > 0;) {
        size += n;
        if (room - size < 2) text = realloc(text, room *= 2);
    }
    text[size] = '\0';
    int status = pclose(from);
    *printed = text;
    return WIFEXITED(status) ? WEXITSTATUS(status) : -1;
}
