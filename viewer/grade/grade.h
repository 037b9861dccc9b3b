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

/* Judge a finished run (of more than TRACE_MOST events: it fails), the seed and the inputs
 * ("mat1:float32:4x3 ...") that it was given. false, with a sentence in err, when there is no such
 * lesson. A run that says nothing, or crashed, is judged: it fails. */
bool grade_run(const char *lesson, const trace *run, uint64_t seed, const char *given, verdict *out, char *err,
               size_t room);

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

/* ---- events --------------------------------------------------------------------------------------
 * An event is a record: e->kind, e->seq, e->line, and the fields of its kind, e->is.copy.bytes, as
 * lib/trace/schema.h lists them. Words are numbers (FY_WORD_h2d), devices too (0 the CPU, 1 cuda:0),
 * ids begin at 1 and 0 is none. These look for the events of one kind of which `when` holds. In `when`,
 * `is` is the record and `it` the event:
 *
 *     next_event(g, NULL, copy, is->dir == FY_WORD_h2d && is->src.storage != x)    the first such copy
 *     next_event(g, c, copy, true)                                                 the one after c
 *     count_events(g, op, is_on_card(is->device) && fy_event_is(it, is->name, "matmul"))
 *     each_event(g, c, copy) bytes += c->is.copy.bytes;                            a loop over all copies
 */
#define next_event(g, last, of, when) \
    __extension__({ \
        const fy_event *last_ = (last), *it = last_; \
        while ((it = event_of_kind(g, it, FY_KIND_##of))) { \
            const fy_ev_##of *is = &it->is.of; \
            (void)is; \
            if (when) break; \
        } \
        it; \
    })
#define count_events(g, of, when) \
    __extension__({ \
        int n_ = 0; \
        for (const fy_event *at_ = NULL; (at_ = next_event(g, at_, of, when));) n_++; \
        n_; \
    })
#define each_event(g, e, of) for (const fy_event *e = NULL; (e = event_of_kind(g, e, FY_KIND_##of));)

/* The next event of a kind after `last`; NULL as `last`: the first. NULL: there is none. */
const fy_event *event_of_kind(const grading *g, const fy_event *last, fy_kind kind);
bool is_on_card(uint8_t device);                                   /* a real one or a simulated one */
const fy_event *storage_birth(const grading *g, uint32_t storage); /* its alloc event, or NULL */
uint32_t given_storage(const grading *g, const char *name);        /* of the input when it was asked for; 0: none */

/* Record a verdict. at: the deciding event, or NULL. expected and got are short; message is one plain
 * sentence: what happened, with the line, and what the lesson wanted. Returns pass. */
bool check(grading *g, const char *name, bool pass, const fy_event *at, const char *expected, const char *got,
           const char *message);
/* Text that lives as long as the grading. */
const char *grade_say(grading *g, const char *format, ...) __attribute__((format(printf, 2, 3)));
/* "fy_matmul at line 14", "the copy at line 9 (48 bytes, h2d)". */
const char *grade_where(grading *g, const fy_event *e);
int grade_line(const fy_event *e);                                  /* in the learner's source; -1: none */
const char *grade_text(grading *g, const fy_event *e, fy_ref text); /* "" where the event has none */
const char *grade_device(grading *g, uint8_t device);               /* "cuda:0" */

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
/* At most so many copies of a direction (FY_WORD_h2d). looks: do fy_print and fy_item count as well? */
bool check_copies(grading *g, const char *name, fy_word dir, int most, bool looks);
/* "answer-on-the-card" (any card) or "answer-at-home": where it was handed in. */
bool check_answer_on_card(grading *g, const char *answer);
bool check_answer_at_home(grading *g, const char *answer);

/* Inputs and answers. Values are doubles, row-major; the arrays live as long as the grading. */
typedef struct grade_array {
    const double *data; /* NULL: there is none */
    int64_t count;
    int64_t shape[8];
    int ndim;
    fy_word dtype;         /* FY_WORD_float32 ... */
    uint8_t device;        /* an answer's when it was handed in */
    const fy_event *event; /* the given or answer event; of several answers the last */
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
const fy_event *shows_misconception(grading *g, const char *name);

/* Follow bytes backwards in time, through copies and ops; a write that is overwritten later still
 * counts. Does the content of `storage` at the end of the run descend from `ancestor`? Likewise for what
 * `answer` (an answer event) handed in at its moment. Did this op or copy contribute to it, or this
 * host_read or host_write touch bytes that did? A storage descends from itself. */
bool storage_comes_from(const grading *g, uint32_t storage, uint32_t ancestor);
bool answer_comes_from(const grading *g, const fy_event *answer, uint32_t ancestor);
bool leads_to(grading *g, const fy_event *event, const fy_event *answer);
/* Was the content of the copy's destination ever used: read by an op or by the host, handed in, or
 * copied on to something used? If not, the copy was for nothing. */
bool copy_is_used(grading *g, const fy_event *copy);
bool is_look(const fy_event *copy); /* a copy home into no tensor of the program's: for a print, an item, a size */

#endif
