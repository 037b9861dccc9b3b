/* questions.h: what the learner predicts before a lesson's example runs, and what the run then says. */
#ifndef FERRY_QUESTIONS_H
#define FERRY_QUESTIONS_H

#include "lesson.h"
#include "run.h"

enum { NO_ANSWER = -1 };

typedef struct question_answer {
    long answer;    /* the number, or of a question with choices the index of the right one; NO_ANSWER: the log does not
                       tell */
    char lines[64]; /* of the program, that were counted: "10, 10, 11"; "": none */
} question_answer;

/* answers[i] of question i, from the log of the example's finished run, which is borrowed. */
void questions_answer(const lesson *l, int log_fd, question_answer answers[LESSON_QUESTIONS]);

/* The same, of a run of the example that can be believed: it came to its end, or to the error that it is there to show.
 * Half a log would call right answers wrong. False, with the reason in why. */
bool questions_answered(const lesson *l, const outcome *out, question_answer answers[LESSON_QUESTIONS], char *why,
                        size_t room);

/* An answer in the user's words: a number, or a choice or its number. NO_ANSWER: neither. */
long question_guess(const lesson_question *q, const char *words);
/* The answer in words: "3", or the choice. */
const char *question_words(const lesson_question *q, long answer, char room[24]);

#endif
