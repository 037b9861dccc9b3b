/* grader_process.h: grading one finished run, in a process of its own: a check that crashes or never ends is a
 * finding, and the caller goes on. */
#ifndef FERRY_JUDGE_H
#define FERRY_JUDGE_H

#include "grade.h"

typedef struct judgement {
    bool judged;  /* verdict is whole, and was appended to the log */
    bool spoiled; /* the program cut its log off, or wrote over it: nothing can be judged */
    verdict verdict;
    char trouble[512]; /* why it was not judged, for the learner */
    long long events;  /* in the log, without the verdict's own */
    int last_line;     /* line of the last event that has one; -1: none */
    struct {           /* the last `error` event; code is "" if there is none */
        char code[48], message[512], hint[512];
        int line;
        int64_t seq;
    } error;
} judgement;

/* log_fd: a slot log whose writer was waited for. lesson NULL: nothing is graded, the log is read. */
void judge(int log_fd, const char *lesson, uint64_t seed, const char *given, judgement *out);

#endif
