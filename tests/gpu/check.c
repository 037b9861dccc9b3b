/* Every program of `make gpu-check` in one, as each of its own would carry the library along once more:
 *
 *   check 03-round-trip/solution     runs that program's main
 *   check oracle --device cuda ...   the programs that PyTorch ran (tests/oracle.c)
 *
 * The Makefile lists them in CASES and has renamed their mains. */
#include <stdio.h>
#include <string.h>

#define CASE(name, function) int function(void);
CASES
#undef CASE
int case_oracle(int argc, char **argv);

static const struct {
    const char *name;
    int (*run)(void);
} cases[] = {
#define CASE(name, function) {name, function},
    CASES
#undef CASE
};

int main(int argc, char **argv)
{
    const char *name = argc > 1 ? argv[1] : "";
    if (strcmp(name, "oracle") == 0) return case_oracle(argc - 1, argv + 1);
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++)
        if (strcmp(name, cases[i].name) == 0) return cases[i].run();
    fprintf(stderr, "check: there is no '%s'; known: oracle", name);
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) fprintf(stderr, ", %s", cases[i].name);
    fprintf(stderr, "\n");
    return 2;
}
