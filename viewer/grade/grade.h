/* grade.h: judging a run. Two readers: whoever wants a verdict (the first part), and a lesson's
 * check.c (the rest).
 *
 * A check judges events and answers, never source text, never what the program printed, never the
 * names of its variables. It calls `check` once for each thing that it demands, in the order in
 * which a learner should mend them: numbers before places, places before costs. */
#ifndef FERRY_GRADE_H
#define FERRY_GRADE_H

#include "trace.h"

/* ---- verdicts --------------------------------------------------------------------------------- */

enum { VERDICT_CHECKS = 32 };

typedef struct verdict {
    bool pass; /* every check held, and there was at least one */
    int passed, checks;
    struct verdict_check {
        char name[64]; /* kebab-case, stable */
        bool pass;
        int64_t seq; /* the deciding event; -1: none */
        int line;    /* its line in the learner's source; -1: none */
        char expected[256], got[256], message[512];
    } check[VERDICT_CHECKS];
} verdict;

/* Judge a finished run (of more than TRACE_MOST events: it fails): JSON lines of its log, the seed and
 * the inputs ("mat1:float32:4x3 ...") that it was given. false, with a sentence in err, when there is
 * nothing to judge: no such lesson, or lines that are not a log. A run that says nothing, or crashed,
 * is judged: it fails. */
bool grade_lines(const char *lesson, const char *lines, size_t size, uint64_t seed, const char *given, verdict *out,
                 char *err, size_t room);

/* Append the verdict to the log this process writes to (fy_log_write_to): one `check` event each, then
 * `grade`. false when no log is open. */
bool grade_emit(const char *lesson, const verdict *v);

/* One plain sentence: the first thing that did not hold, or that all did. */
const char *verdict_message(const verdict *v);
/* The first check that failed; NULL when all held. */
const struct verdict_check *verdict_failure(const verdict *v);

/* ---- for check.c ------------------------------------------------------------------------------ */

typedef struct grading grading; /* one run under judgement, and the verdicts so far */

typedef struct lesson_check {
    const char *id; /* the lesson's folder name */
    void (*judge)(grading *g);
} lesson_check;

extern const lesson_check *lesson_checks[]; /* all there are; NULL ends the list; a test puts a bad check in */
const lesson_check *lesson_check_find(const char *id);

const trace *grade_trace(const grading *g);
uint64_t grade_seed(const grading *g);

/* Record a verdict. at: the deciding event, or NULL. expected and got are short; message is one plain
 * sentence: what happened, with the line, and what the lesson wanted. Returns pass. */
bool check(grading *g, const char *name, bool pass, const cJSON *at, const char *expected, const char *got,
           const char *message);
/* Text that lives as long as the grading. */
const char *grade_say(grading *g, const char *format, ...) __attribute__((format(printf, 2, 3)));
/* "fy_matmul at line 14", "the copy at line 9 (48 bytes, h2d)". */
const char *grade_where(grading *g, const cJSON *e);

/* Checks that lessons share; each records one verdict and returns it. */
bool check_same_device(grading *g);                  /* "same-device": no call met two memories */
bool check_answered(grading *g, const char *answer); /* "answered": it came; else why it did not */
/* "right-numbers": shape and values, to float32's precision. */
bool check_values(grading *g, const char *answer, const double *want, int ndim, const int64_t *shape);
/* "ran-on-the-card": the answer descends from the input `given`, and every op with operands on its way ran
 * on a card. */
bool check_ran_on_card(grading *g, const char *answer, const char *given);
/* "computed-by-ferry": of the operations with operands that ran on a card and lead to the answer there are
 * at least `least`, each of `ops` ("matmul add") among them; and nobody was handed a bare pointer
 * (fy_data) to bytes that the answer is made from. */
bool check_computed(grading *g, const char *answer, const char *ops, int least);
/* At most so many copies of a direction ("h2d"). looks: do fy_print and fy_item count as well? */
bool check_copies(grading *g, const char *name, const char *dir, int most, bool looks);
/* "answer-on-the-card" or "answer-at-home": where it was handed in; device: "cuda" (any card) or "cpu". */
bool check_answer_on(grading *g, const char *answer, const char *device);

/* Events whose field equals value (NULL: any; a number is compared as written). The n-th, from 0, or
 * NULL; the one after `last` (NULL: the first), or NULL; how many. */
const cJSON *find_event(const grading *g, const char *kind, const char *field, const char *value, int n);
const cJSON *next_event(const grading *g, const cJSON *last, const char *kind, const char *field, const char *value);
int count_events(const grading *g, const char *kind, const char *field, const char *value);
bool is_on_card(const char *device);                           /* "cuda:0", also simulated */
const cJSON *storage_birth(const grading *g, int64_t storage); /* its alloc event, or NULL */
int64_t given_storage(const grading *g, const char *name);     /* of the input when it was asked for, or -1 */

/* Inputs and answers. Values are doubles, row-major; the arrays live as long as the grading. */
typedef struct grade_array {
    const double *data; /* NULL: there is none */
    int64_t count;
    int64_t shape[8];
    int ndim;
    const char *dtype, *device; /* an answer's device when it was handed in */
    const cJSON *event;         /* the given or answer event; of several answers the last */
} grade_array;
grade_array grade_given(grading *g, const char *name); /* made again from seed, name, shape and dtype */
grade_array grade_answer(grading *g, const char *name);
/* Room for n expected values, all 0; NULL when there is no sense in so many. check_values with NULL fails
 * and says that the lesson was given inputs that it is not made for. */
double *grade_numbers(grading *g, int64_t n);
/* |a - b| <= atol + rtol |b| for every element; on failure `where` is the first differing index, -1 if
 * the counts differ. NaN never matches, nor does infinity match a number. */
bool arrays_close(const double *a, int64_t na, const double *b, int64_t nb, double rtol, double atol, int64_t *where);

/* The event that shows that the program is built on this misconception (misconceptions.c: "to-moves-it"); NULL: none
 * does. Ends the process when there is no such name, or nothing to tell it by yet. */
const cJSON *shows_misconception(grading *g, const char *name);

/* Follow bytes backwards in time, through copies and ops; a write that is overwritten later still
 * counts. Does the content of `storage` at the end of the run descend from `ancestor`? Likewise for what
 * `answer` (an answer event) handed in at its moment. Did this op or copy contribute to it, or this
 * host_read or host_write touch bytes that did? A storage descends from itself. */
bool storage_comes_from(const grading *g, int64_t storage, int64_t ancestor);
bool answer_comes_from(const grading *g, const cJSON *answer, int64_t ancestor);
bool leads_to(grading *g, const cJSON *event, const cJSON *answer);
/* Was the content of the copy's destination ever used: read by an op or by the host, handed in, or
 * copied on to something used? If not, the copy was for nothing. */
bool copy_is_used(grading *g, const cJSON *copy);
bool is_look(const char *why); /* a copy home into no tensor of the program's: for a print, an item, a size */

#endif
