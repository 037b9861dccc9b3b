/* cmd_completion.c: `ferry completion`: a script for the user's shell. It asks `ferry list` for the lessons each time. */
#include <stdio.h>
#include <string.h>

#include "command.h"

static const char bash[] =
    "_ferry() {\n"
    "    local word=${COMP_WORDS[COMP_CWORD]} ferry=${COMP_WORDS[0]}\n"
    "    if ((COMP_CWORD == 1)); then\n"
    "        mapfile -t COMPREPLY < <(compgen -W '%s' -- \"$word\")\n"
    "    elif [[ ' run predict grade watch hint solution reset ' == *\" ${COMP_WORDS[1]} \"* ]]; then\n"
    "        mapfile -t COMPREPLY < <(compgen -W \"$(\"$ferry\" list --json 2>/dev/null |\n"
    "            grep -o '\"id\":\"[^\"]*\"' | cut -d'\"' -f4)\" -- \"$word\")\n"
    "    else\n"
    "        mapfile -t COMPREPLY < <(compgen -f -- \"$word\")\n"
    "    fi\n"
    "}\n"
    "complete -o filenames -F _ferry ferry build/ferry ./build/ferry\n";

static const char fish[] =
    "complete -c ferry -f -n __fish_use_subcommand -a '%s'\n"
    "complete -c ferry -f -n '__fish_seen_subcommand_from run predict grade watch hint solution reset' \\\n"
    "    -a \"(ferry list --json 2>/dev/null | string match -ra '\\\"id\\\":\\\"[^\\\"]*' | "
    "string replace -r '.*\\\"' '')\"\n";

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
    printf(is_fish ? fish : bash, names);
    return FINE;
}
