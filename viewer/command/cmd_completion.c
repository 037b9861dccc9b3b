/* cmd_completion.c: `ferry completion`: a script for the user's shell, made from the table of commands. It asks `ferry
 * list` for the lessons each time. */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "command.h"
#include "memory.h"
#include "text.h"

enum { OPTION_ROOM = 32 };

/* After these, a file or a folder follows. */
static const char of_files[] = "--csv --gradescope --junit --lessons --points --secret --trace";

static const char bash_head[] = "_ferry() {\n"
                                "    local word=${COMP_WORDS[COMP_CWORD]} before=${COMP_WORDS[COMP_CWORD - 1]}\n"
                                "    local ferry=${COMP_WORDS[0]} options= first=0\n"
                                "    case ${COMP_WORDS[1]} in\n";

/* first: the number of the word from which on lessons are named; 0: none are. */
static const char bash_tail[] = "    esac\n"
                                "    if ((COMP_CWORD == 1)); then\n"
                                "        mapfile -t COMPREPLY < <(compgen -W '%s' -- \"$word\")\n"
                                "    elif [[ ' %s ' == *\" $before \"* ]]; then\n"
                                "        mapfile -t COMPREPLY < <(compgen -f -- \"$word\")\n"
                                "    elif [[ $word == -* ]]; then\n"
                                "        mapfile -t COMPREPLY < <(compgen -W \"$options\" -- \"$word\")\n"
                                "    elif ((first && COMP_CWORD >= first)); then\n"
                                "        mapfile -t COMPREPLY < <(compgen -W \"$(\"$ferry\" list --json 2>/dev/null |\n"
                                "            grep -o '\"id\":\"[^\"]*\"' | cut -d'\"' -f4)\" -- \"$word\")\n"
                                "    else\n"
                                "        mapfile -t COMPREPLY < <(compgen -f -- \"$word\")\n"
                                "    fi\n"
                                "}\n"
                                "complete -o filenames -F _ferry ferry build/ferry ./build/ferry\n";

static const char fish_lessons[] =
    "complete -c ferry -f -n '__fish_seen_subcommand_from%s' \\\n"
    "    -a \"(ferry list --json 2>/dev/null | string match -ra '\\\"id\\\":\\\"[^\\\"]*' | "
    "string replace -r '.*\\\"' '')\"\n";

static bool names_lessons(const command *c) { return strstr(c->arguments, "ID") != NULL; }

/* Those about lessons take --lessons, which their usage leaves out. */
static bool takes_lessons(const command *c)
{
    static const char others[] = " serve list next check-all grade-class ";
    char name[40];
    snprintf(name, sizeof name, " %s ", c->name);
    return names_lessons(c) || strstr(others, name);
}

/* The next "--option" of a usage, from *at on; false: there is none. */
static bool next_option(const char **at, char out[OPTION_ROOM])
{
    const char *p = strstr(*at, "--");
    if (!p) return false;
    size_t n = 2 + strspn(p + 2, "abcdefghijklmnopqrstuvwxyz-");
    snprintf(out, OPTION_ROOM, "%.*s", (int)n, p);
    *at = p + n;
    return true;
}

static void print_bash(const char *names)
{
    char option[OPTION_ROOM];
    fputs(bash_head, stdout);
    for (const command *c = commands; c->name; c++) {
        const char *at = c->arguments;
        printf("    %s) options='", c->name);
        while (next_option(&at, option)) printf("%s ", option);
        printf("%s'", takes_lessons(c) ? "--lessons" : "");
        if (names_lessons(c)) printf(" first=%d", strncmp(c->arguments, "DIR ", 4) ? 2 : 3);
        puts(" ;;");
    }
    printf(bash_tail, names, of_files);
}

static void print_fish(const char *names)
{
    char option[OPTION_ROOM];
    fy_text about = {0};
    printf("complete -c ferry -f -n __fish_use_subcommand -a '%s'\n", names);
    for (const command *c = commands; c->name; c++) {
        const char *at = c->arguments;
        if (names_lessons(c)) fy_text_printf(&about, " %s", c->name);
        while (next_option(&at, option))
            printf("complete -c ferry -n '__fish_seen_subcommand_from %s' -l %s\n", c->name, option + 2);
        if (takes_lessons(c)) printf("complete -c ferry -n '__fish_seen_subcommand_from %s' -l lessons -r\n", c->name);
    }
    if (about.lost) memory_fail("the names of commands");
    printf(fish_lessons, about.data);
    free(about.data);
}

int command_completion(const command *c, int argc, char **argv)
{
    options o;
    char names[1024] = "";
    if (!options_read(&o, c, argc, argv, "", 1)) return USAGE_ERROR;
    const char *shell = o.word[0] ? o.word[0] : "";
    bool is_bash = !strcmp(shell, "bash"), is_zsh = !strcmp(shell, "zsh"), is_fish = !strcmp(shell, "fish");
    if (!is_bash && !is_zsh && !is_fish) {
        fprintf(stderr, "ferry %s: say for which shell: ferry %s %s, as in: source <(ferry completion bash)\n", c->name,
                c->name, c->arguments);
        return USAGE_ERROR;
    }
    for (const command *one = commands; one->name; one++) {
        size_t n = strlen(names);
        snprintf(names + n, sizeof names - n, "%s%s", n ? " " : "", one->name);
    }
    if (is_zsh) puts("autoload -U +X bashcompinit && bashcompinit");
    if (is_fish) print_fish(names);
    else print_bash(names);
    return FINE;
}
