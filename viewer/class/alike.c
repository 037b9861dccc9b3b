/* alike.c: see alike.h. A copy with other names is one all the same; but short exercises have few right answers, so
 * what equals the solution says little. */
#include "alike.h"

#include <ctype.h>
#include <stdlib.h>
#include <string.h>

#include "memory.h"
#include "program_tokens.h"
#include "text.h"

/* ---- the form of a program ------------------------------------------------------------------------------------ */

enum { MOST_NAMES = 256 };

typedef struct names { /* of variables, in their order */
    const char *at[MOST_NAMES];
    size_t size[MOST_NAMES];
    int count;
} names;

/* Names that say what a program does: of calls, of types and keywords, of Ferry, and of options behind a dot. */
static bool is_meaningful(const char *word, size_t size, char before, const char *after)
{
    static const char *const words[] = {"int",  "int64_t", "long",  "float",  "double", "char",    "void",
                                        "bool", "size_t",  "const", "static", "struct", "typedef", "return",
                                        "if",   "else",    "for",   "while",  "do",     "break",   "continue",
                                        "true", "false",   "NULL",  "sizeof", "include"};
    for (size_t i = 0; i < sizeof words / sizeof *words; i++)
        if (strlen(words[i]) == size && !strncmp(words[i], word, size)) return true;
    while (isspace((unsigned char)*after)) after++;
    return before == '.' || *after == '(' || isdigit((unsigned char)*word) || !strncmp(word, "fy_", 3) ||
           !strncmp(word, "FY_", 3);
}

static void add_word(fy_text *to, names *seen, const char *word, size_t size, char before)
{
    int n = 0;
    if (is_meaningful(word, size, before, word + size)) {
        fy_text_add(to, word, size);
        fy_text_add(to, " ", 1);
        return;
    }
    while (n < seen->count && (seen->size[n] != size || strncmp(seen->at[n], word, size) != 0)) n++;
    if (n == seen->count && n < MOST_NAMES) seen->at[n] = word, seen->size[n] = size, seen->count++;
    fy_text_printf(to, "$%d ", n);
}

char *alike_form(const char *program)
{
    fy_text form = {0};
    names seen = {.count = 0};
    program_tokens tokens = program_tokens_of(program);
    for (int i = 0; i < tokens.count; i++) {
        const token *t = &tokens.list[i];
        char before = i > 0 ? t[-1].at[t[-1].size - 1] : ' ';
        if (t->is_word) add_word(&form, &seen, t->at, t->size, before);
        else fy_text_add(&form, t->at, t->size);
    }
    fy_text_add(&form, "", 1);
    free(tokens.list);
    if (form.lost) memory_fail("the summary");
    return form.data;
}

/* NULL if it cannot be read. */
static char *form_of_file(const char *path)
{
    char *text = file_read(path, NULL), *form = text ? alike_form(text) : NULL;
    free(text);
    return form;
}

/* Has the lesson's file this form? */
static bool is_form_of(const home *h, const lesson *l, const char *file, const char *form)
{
    char path[PATH_ROOM];
    lesson_path(h, l, file, path);
    char *own = form_of_file(path);
    bool same = own && form && !strcmp(own, form);
    free(own);
    return same;
}

bool alike_is_starter(const home *h, const submission *s)
{
    char *mine = form_of_file(s->path);
    bool same = is_form_of(h, s->lesson, "starter.c", mine);
    free(mine);
    return same;
}

/* ---- groups ----------------------------------------------------------------------------------------------------- */

typedef struct forms {
    char **of; /* by submission; NULL: none, or already in a group */
    int lines;
} forms;

enum { MOST_SHOWN = 12 }; /* names in a line */

/* One line of those with the form, which are taken out of the list; only of more than one, unless `any`. */
static void print_group(FILE *to, const submissions *all, forms *f, int first, const char *form, const char *as,
                        bool any)
{
    const lesson *l = all->list[first].lesson;
    int n = 0, same = 0;
    for (int i = first; i < all->count; i++) same += f->of[i] && all->list[i].lesson == l && !strcmp(f->of[i], form);
    bool shown = same > 1 || (any && same);
    if (shown) fprintf(to, "  %s%s:", l->id, as);
    for (int i = first; i < all->count; i++) {
        if (!f->of[i] || all->list[i].lesson != l || strcmp(f->of[i], form) != 0) continue;
        if (shown && n < MOST_SHOWN) fprintf(to, "%s %s", n ? "," : "", all->list[i].name);
        n++;
        if (i == first) continue; /* the form itself may be of the first */
        free(f->of[i]);
        f->of[i] = NULL;
    }
    if (shown && n > MOST_SHOWN) fprintf(to, " and %d more", n - MOST_SHOWN);
    if (shown) fputc('\n', to);
    f->lines += shown;
}

/* The group of one submission: as its lesson's solution, or as others. */
static void print_groups_from(FILE *to, const home *h, const submissions *all, forms *f, int first)
{
    char *mine = f->of[first];
    const lesson *l = all->list[first].lesson;
    bool is_solution = is_form_of(h, l, "solution.c", mine);
    if (!is_form_of(h, l, "starter.c", mine))
        print_group(to, all, f, first, mine, is_solution ? ", as the solution" : "", is_solution);
    free(mine);
    f->of[first] = NULL;
}

int alike_print(FILE *to, const home *h, const submissions *all)
{
    char *lines = NULL;
    size_t size = 0;
    FILE *out = open_memstream(&lines, &size);
    forms f = {memory_zeroed((size_t)all->count + 1, sizeof *f.of, "the summary"), 0};
    for (int i = 0; out && i < all->count; i++) {
        const submission *s = &all->list[i];
        if (s->path && !*s->refused) f.of[i] = form_of_file(s->path);
    }
    for (int i = 0; out && i < all->count; i++)
        if (f.of[i]) print_groups_from(out, h, all, &f, i);
    if (out) fclose(out);
    if (f.lines)
        fprintf(to,
                "\nprograms that are alike, comments and names of variables aside (short ones may be, without a "
                "reason):\n%s",
                lines);
    free(lines), free(f.of);
    return f.lines;
}
