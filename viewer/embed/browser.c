/* browser.c: prints the URL and opens it in the desktop's browser. A failure is reported and not fatal: the
 * user can open the URL by hand. */
#define _GNU_SOURCE
#include "browser.h"

#include <fcntl.h>
#include <signal.h>
#include <spawn.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

extern char **environ;

static bool is_set(const char *name)
{
    const char *value = getenv(name);
    return value && *value;
}

static bool over_ssh(void) { return is_set("SSH_CONNECTION") || is_set("SSH_TTY"); }

static bool on_wsl(void) { return is_set("WSL_DISTRO_NAME"); }

bool browser_has_desktop(void) { return !over_ssh() && (is_set("DISPLAY") || is_set("WAYLAND_DISPLAY") || on_wsl()); }

/* SSH_CONNECTION holds: client address, client port, server address, server port. */
bool browser_forwarding(int port, char *line, size_t room)
{
    const char *connection = getenv("SSH_CONNECTION"), *user = getenv("USER");
    char host[64] = "THIS-MACHINE";
    if (!over_ssh()) return false;
    if (connection) sscanf(connection, "%*s %*s %63s", host);
    snprintf(line, room, "ssh -L %d:127.0.0.1:%d %s@%s", port, port, user && *user ? user : "USER", host);
    return true;
}

/* Starts `program url` in a session of its own, detached from the terminal. */
static bool start(const char *program, const char *url)
{
    char *argv[] = {(char *)program, (char *)url, NULL};
    posix_spawn_file_actions_t files;
    posix_spawnattr_t attributes;
    sigset_t none, pipe_signal;
    pid_t pid;
    sigemptyset(&none);
    sigemptyset(&pipe_signal);
    sigaddset(&pipe_signal, SIGPIPE);
    posix_spawn_file_actions_init(&files);
    posix_spawnattr_init(&attributes);
    for (int fd = 0; fd < 3; fd++) posix_spawn_file_actions_addopen(&files, fd, "/dev/null", O_RDWR, 0);
    posix_spawnattr_setsigmask(&attributes, &none);
    posix_spawnattr_setsigdefault(&attributes, &pipe_signal);
    posix_spawnattr_setflags(&attributes, POSIX_SPAWN_SETSIGMASK | POSIX_SPAWN_SETSIGDEF | POSIX_SPAWN_SETSID);
    int error = posix_spawnp(&pid, program, &files, &attributes, argv, environ);
    posix_spawnattr_destroy(&attributes);
    posix_spawn_file_actions_destroy(&files);
    return !error;
}

void browser_announce(const server *s, int asked_port, FILE *out)
{
    char line[256];
    const char *chosen = getenv("BROWSER"), *url = server_one_time_url(s);
    bool disabled = chosen && !strcmp(chosen, "none");
    int port = server_port(s);
    if (port != asked_port) fprintf(out, "ferry: port %d is taken; the page is on port %d\n", asked_port, port);
    fprintf(out, "ferry: open %s\n", server_url(s));
    if (browser_forwarding(port, line, sizeof line)) {
        fprintf(out, "ferry: before that, run this on your own machine: %s\n", line);
    } else if (browser_has_desktop() && isatty(STDOUT_FILENO) && !disabled) {
        bool opened =
            chosen && *chosen ? start(chosen, url) : (on_wsl() && start("wslview", url)) || start("xdg-open", url);
        if (!opened) fprintf(out, "ferry: no browser could be started; open that URL yourself\n");
    }
    fflush(out);
}
