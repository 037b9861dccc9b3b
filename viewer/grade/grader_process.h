/* grader_process.h: grades one finished run in a child process, so that a check that crashes or hangs is reported and
 * the caller continues. */
#ifndef FERRY_JUDGE_H
#define FERRY_JUDGE_H

#include "grade.h"

typedef struct judgement {
    bool ended;   /* the grading came to its end */
    bool judged;  /* verdict is complete, and was appended to the log */
    bool spoiled; /* the log was cut off or overwritten: it cannot be graded */
    verdict verdict;
    char trouble[512]; /* why it was not graded, for the learner */
    long long events;  /* in the log, without the verdict's */
    int last_line;     /* of the last event that has a line; -1: none */
    int64_t last_seq;  /* of that event; -1: none */
    struct {           /* the last `error` event; code "": none */
        char code[48], message[512], hint[512];
        int line;
        int64_t seq;
    } error;
} judgement;

/* A judgement in progress. */
typedef struct judging {
    int pid, why_not; /* pid: 0: none; -1: the process could not be started; why_not: errno */
    int failed[2];    /* a pipe: its first end becomes readable when the verdict is that it failed; 0: none */
    judgement *shared;
} judging;

/* log_fd: a slot log whose writer has been waited for; borrowed. lesson NULL: the log is read but not graded. own: the
 * shared object that has its check (own_check.h); NULL: one of Ferry's. cards: those that were simulated, as FERRY_SIM
 * has it; NULL: real ones. */
judging judge_begin(int log_fd, const char *lesson, const char *own, uint64_t seed, const char *given,
                    const char *cards);
/* Is it done, or within so many milliseconds? */
bool judge_is_done(const judging *g, int milliseconds);
/* Is it known that it failed? */
bool judge_has_failed(const judging *g);
/* Blocks until it is done, 30 s at most. */
void judge_end(judging *g, judgement *out);
/* Ends what nobody waits for. */
void judge_cancel(judging *g);

#endif
