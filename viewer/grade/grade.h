/* grade.h: grading a finished run. The first part is for callers that want a verdict; the rest is the API of a
 * lesson's check.c.
 *
 * A lesson's check.c defines one lesson_check: the lesson's folder name and a function that inspects the run's events
 * and answers, never source text, printed output or variable names. It records one verdict per requirement, in the
 * order in which a learner should fix them: values, then devices, then costs.
 *
 *     static void judge(grading *g)
 *     {
 *         if (!check_same_device(g) || !check_answered(g, "y")) return;      // the checks below need an answer
 *         grade_array x = grade_given(g, "x");                               // the input, regenerated from the seed
 *         double *want = x.data ? grade_numbers(g, x.count) : NULL;
 *         for (int64_t i = 0; want && i < x.count; i++) want[i] = 2 * x.data[i];
 *         check_values(g, "y", want, x.ndim, x.shape);
 *         check_ran_on_card(g, "y", "x");
 *         check_copies(g, "one-copy", FY_WORD_h2d, 1, false);                // at most one copy to the card
 *     }
 *     const lesson_check lesson_check_07 = {"07-name", judge};               // lesson_check_ and what precedes "-"
 *
 * Strings and arrays that these functions return live as long as the grading; a check frees nothing. Nothing here is
 * thread-safe. The log comes from the learner's program: ids and numbers in it may be wrong, so every function accepts
 * an id that does not exist. Running out of memory ends the process. */
#ifndef FERRY_GRADE_H
#define FERRY_GRADE_H

#include "trace.h"

/* ---- verdicts --------------------------------------------------------------------------------- */

enum { VERDICT_CHECKS = 32 };

typedef struct verdict {
    bool pass; /* all checks passed, and there was at least one */
    int passed, checks;
    struct verdict_check {
        char name[64]; /* kebab-case, stable: lesson.json refers to it */
        bool pass;
        int64_t seq; /* of the deciding event; -1: none */
        int line;    /* the event's line in the learner's source; -1: none */
        char expected[256], got[256], message[512];
        char limits[64];   /* "copies to the card": what is limited; "": the check is of no limit */
        double most, used; /* of it */
    } check[VERDICT_CHECKS];
} verdict;

/* Grades a finished run. seed and given ("mat1:float32:4x3 ...") are what the run was started with. Returns false, with
 * a sentence in err, only for an unknown lesson: a run that crashed, has no events, or has more than TRACE_MOST is
 * graded and fails. */
bool grade_run(const char *lesson, const trace *run, uint64_t seed, const char *given, verdict *out, char *err,
               size_t room);

/* The cards that runs from now on were started with, as FERRY_SIM names them (""; NULL, at first: any). It may change
 * the environment: for a process that only grades. */
void grade_expect_cards(const char *spec);

/* Appends the verdict to the log that this process writes to (fy_log_write_to): a `check` event per check, then one
 * `grade` event. false: no log is open. */
bool grade_emit(const char *lesson, const verdict *v);

/* The first failed check's message, or that all passed. */
const char *verdict_message(const verdict *v);
/* Has each check a name? Who writes a verdict into the grader's memory spares the names. */
bool verdict_is_named(const verdict *v);
/* The first failed check; NULL: none failed. */
const struct verdict_check *verdict_failure(const verdict *v);
/* The check of this name; NULL: the verdict has none. */
const struct verdict_check *verdict_check_named(const verdict *v, const char *name);

/* ---- for check.c: definition and context --------------------------------------------------------- */

typedef struct grading grading; /* the run that is graded, and its verdict so far */

typedef struct lesson_check {
    const char *id; /* the lesson's folder name */
    void (*judge)(grading *g);
} lesson_check;

extern const lesson_check *lesson_checks[];            /* NULL-terminated; make lists those in lessons/ */
const lesson_check *lesson_check_find(const char *id); /* NULL: no such lesson */
/* grade_run by a check that is at hand. */
void grade_run_by(const lesson_check *l, const trace *run, uint64_t seed, const char *given, verdict *out);

const trace *grade_trace(const grading *g);
uint64_t grade_seed(const grading *g);

/* ---- events --------------------------------------------------------------------------------------
 * e->kind (FY_KIND_copy), e->seq (its index in the run), e->line (0: none), and the kind's fields in e->is:
 * e->is.copy.bytes. lib/trace/schema.h lists the kinds and fields. Words of the schema are numbers (FY_WORD_h2d), and
 * so are devices (0: the CPU, 1: cuda:0); ids start at 1, 0 is none. Strings and lists are read by lib/trace's
 * event_reader.h (fy_event_is compares a string).
 *
 * These macros search the events of one kind. In the condition `it` is the event and `is` its record, so that the
 * compiler checks the fields. The result is NULL when there is none.
 *
 *     next_event(g, NULL, copy, is->dir == FY_WORD_h2d && is->src.storage != x)    the first such copy
 *     next_event(g, c, copy, true)                                                 the first copy after event c
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

/* The first event of the kind after `last`, or of the run if `last` is NULL. NULL: none. */
const fy_event *event_of_kind(const grading *g, const fy_event *last, fy_kind kind);
/* An op of this name, or one that computes the same: a relu may be a clamp, a maximum or a where. */
bool computes_as(const fy_event *op, const char *name);
bool is_on_card(uint8_t device);                                   /* real or simulated; not the CPU, not "no device" */
const fy_event *storage_birth(const grading *g, uint32_t storage); /* its alloc event; NULL: none */
const fy_event *completion_of(grading *g, uint32_t id);            /* of an op's or a copy's work; NULL: none */
uint32_t given_storage(const grading *g, const char *name);        /* of the input as fy_given returned it; 0: none */

/* ---- recording a verdict --------------------------------------------------------------------------- */

/* Records a verdict under a stable kebab-case name and returns pass. at: the deciding event, or NULL. expected and got
 * are short and comparable ("y = 3", "2 copies"); message is one plain sentence: what happened, on which line, and what
 * the lesson wants. Beyond VERDICT_CHECKS verdicts, only a first failure is recorded: it replaces the last one. */
bool check(grading *g, const char *name, bool pass, const fy_event *at, const char *expected, const char *got,
           const char *message);
/* Says of the check recorded last that it is of a limit, which the page draws as a bar: `used` of at most `most`. */
void check_is_limit(grading *g, const char *of_what, double most, double used);
const char *grade_say(grading *g, const char *format, ...) __attribute__((format(printf, 2, 3)));
/* An event in words: "fy_matmul at line 14", "the copy at line 9 (48 bytes from cpu to cuda:0)". */
const char *grade_where(grading *g, const fy_event *e);
int grade_line(const fy_event *e);                                  /* -1: none, or e is NULL */
const char *grade_text(grading *g, const fy_event *e, fy_ref text); /* a string field, as valid UTF-8; "": absent */
const char *grade_device(grading *g, uint8_t device);               /* "cuda:0"; "": no device */

/* ---- checks that lessons share: each records one verdict, under the quoted name, and returns it -------- */

/* "same-device": no call failed because its tensors were on different devices. */
bool check_same_device(grading *g);
/* "answered": the answer was submitted, with its values, and the run ended; else why not. The checks below expect a
 * passed check_answered. */
bool check_answered(grading *g, const char *answer);
/* "right-numbers": shape and values, within 1e-5 (relative and absolute). want: row-major, or NULL where the inputs do
 * not fit the lesson: the check then fails and says so. */
bool check_values(grading *g, const char *answer, const double *want, int ndim, const int64_t *shape);
/* "ran-on-the-card": the answer was computed from the input `given`, and every op with operands that contributed to it
 * ran on a card; fy_cat, fy_pin_memory and others that put elements elsewhere and compute nothing may run on the CPU. */
bool check_ran_on_card(grading *g, const char *answer, const char *given);
/* "computed-by-ferry": at least `least` ops with operands ran on a card and contributed to the answer, each of `ops`
 * ("matmul add") or what computes the same among them; and no raw pointer (fy_data), memory of the program
 * (fy_from_blob) or file contributed. */
bool check_computed(grading *g, const char *answer, const char *ops, int least);
/* `name`: at most `most` copies in a direction (FY_WORD_h2d, _d2h, _d2d, _p2p). looks: include the copies that fy_print
 * and size queries make; those of fy_item always count. */
bool check_copies(grading *g, const char *name, fy_word dir, int most, bool looks);
/* "answer-on-the-card" (any card), "answer-on-the-cpu": the answer's device when it was submitted. */
bool check_answer_on_card(grading *g, const char *answer);
bool check_answer_at_home(grading *g, const char *answer);

/* ---- checks of costs, ordering and beliefs: limits.c; each records one verdict under `name` --------------- */

/* The run does not show this misconception (a name of misconceptions.c, "to-moves-it"). The message says what is true,
 * and where it shows. */
bool check_understood(grading *g, const char *name, const char *misconception);
/* At most so many bytes in a direction (FY_WORD_h2d, _d2h, _d2d), or over the bus in both (FY_WORD_none). Includes what
 * fy_print and fy_item copy. */
bool check_bytes(grading *g, const char *name, fy_word dir, int64_t most);
/* The host waits for a card at most so often: for values that it reads (fy_item, fy_print), copies that block, and
 * calls that synchronize. */
bool check_waits(grading *g, const char *name, int most);
/* Never more than so many bytes of tensors at once on a device: 0 the CPU, 1 cuda:0. */
bool check_peak(grading *g, const char *name, uint8_t device, int64_t most);
/* Bytes of tensors on a device when the answer is submitted. */
bool check_left(grading *g, const char *name, uint8_t device, const char *answer, int64_t most);
/* The run, with all that it queued, is over within so many modelled nanoseconds of its first work on a card: the
 * first use of the card, which reserves memory, is not counted. */
bool check_time(grading *g, const char *name, int64_t most_ns);
/* "no-data-race": every access is ordered after those that it depends on. */
bool check_ordered(grading *g);
/* "no-error": no call of Ferry failed. */
bool check_no_error(grading *g);

/* ---- a statement on trial: claims.c ------------------------------------------------------------------------
 * The learner says fy_mark("true") or fy_mark("false") of a statement, and the run has to contain the events that
 * decide it. A check.c searches them and tells what they show; it need not know what the learner says.
 *
 *     static evidence find(grading *g)
 *     {
 *         const fy_event *c = next_event(g, NULL, copy, is->why == FY_WORD_print);
 *         if (c) return shows_true(c, grade_say(g, "%s was made by fy_print", grade_where(g, c)));
 *         return shows_nothing(NULL, NULL);
 *     }
 *     static void judge(grading *g)
 *     {
 *         evidence e = find(g);
 *         if (!check_claim(g, e, "a tensor in VRAM that is printed")) return;
 *         check_uses_given(g, e.at, "x");
 *         check_small(g, 4);
 *         check_finished(g);
 *     }
 */

/* What a run shows of the statement. */
typedef struct evidence {
    enum { RUN_SHOWS_NOTHING, RUN_SHOWS_TRUE, RUN_SHOWS_FALSE } shows;
    const fy_event *at; /* the deciding event; where nothing is shown: the one that comes closest, or NULL */
    const char *what;   /* it shows: a clause with its line, "fy_relu at line 4 ran on cpu". Nothing: why that does not
                           decide it, in sentences; NULL: nothing comes close */
} evidence;

evidence shows_true(const fy_event *at, const char *what);
evidence shows_false(const fy_event *at, const char *what);
evidence shows_nothing(const fy_event *at, const char *why);

/* Up to three verdicts, the first failure ends them: "claimed": there is exactly one mark "true" or "false". "shown":
 * the run decides the statement; `experiment` says what kind of lines would, and gives none away. "claim-holds": the
 * claim is what the run shows. Returns whether all three passed. */
bool check_claim(grading *g, evidence e, const char *experiment);
/* "uses-the-input": the deciding op, copy, host_read, answer or grad is of bytes that come from the input. */
bool check_uses_given(grading *g, const fy_event *e, const char *given);
/* "small-experiment": at most so many copies and operations, so that no heap of calls is handed in as a proof. */
bool check_small(grading *g, int most);
/* "finished": no call failed, and main ended. */
bool check_finished(grading *g);

const fy_event *tensor_birth(const grading *g, uint32_t tensor); /* its tensor event; NULL: none */
bool storage_is_on_card(const grading *g, uint32_t storage);     /* false for an id that does not exist */

/* ---- inputs and answers ------------------------------------------------------------------------------ */

typedef struct grade_array {
    const double *data; /* row-major, whatever the dtype; NULL: unavailable */
    int64_t count;      /* of elements */
    int64_t shape[8];
    int ndim;
    fy_word dtype;         /* FY_WORD_float32 ... */
    uint8_t device;        /* of an answer, when it was submitted */
    const fy_event *event; /* the given event, or the last answer event of that name; NULL: none */
} grade_array;

grade_array grade_given(grading *g,
                        const char *name); /* regenerated from seed, name, shape and dtype: not from the log */
grade_array grade_answer(grading *g, const char *name);
/* A zeroed array for n expected values; NULL if n is negative or above 2^24 elements. Pass it on to check_values. */
double *grade_numbers(grading *g, int64_t n);
/* |a - b| <= atol + rtol |b| for every element. On failure `where` is the first differing index; -1: the counts differ,
 * or an array is NULL. NaN equals nothing, infinity only itself. */
bool arrays_close(const double *a, int64_t na, const double *b, int64_t nb, double rtol, double atol, int64_t *where);

/* ---- data flow --------------------------------------------------------------------------------------- */

/* These follow bytes backwards in time through copies and ops, by storage: whoever wrote into a storage contributed to
 * it, even if a later write replaced those bytes. A storage descends from itself. */
bool storage_comes_from(const grading *g, uint32_t storage, uint32_t ancestor);      /* at the end of the run */
bool answer_comes_from(const grading *g, const fy_event *answer, uint32_t ancestor); /* when it was submitted */
/* Did an op or copy contribute to the answer, or a host_read or host_write access bytes that did? */
bool leads_to(grading *g, const fy_event *event, const fy_event *answer);
/* Were the copied bytes used: read by an op or the host, submitted, or copied on to where they were used? */
bool copy_is_used(grading *g, const fy_event *copy);
bool is_look(const fy_event *copy); /* made by fy_print, fy_item or a size query, into no tensor of the program */

/* ---- misconceptions ------------------------------------------------------------------------------------ */

/* The event that shows that the program rests on this misconception (a name of misconceptions.c, "to-moves-it"); NULL:
 * none does. Ends the process for an unknown name, or a misconception that cannot be detected yet. */
const fy_event *shows_misconception(grading *g, const char *name);

#endif
