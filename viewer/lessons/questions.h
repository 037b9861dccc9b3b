/* questions.h: what the learner predicts before a lesson's example runs, and what the run then says. */
#ifndef FERRY_QUESTIONS_H
#define FERRY_QUESTIONS_H

#include "lesson.h"

enum { NO_ANSWER = -1 };

/* answers[i] of question i, from the log of the example's finished run, which is borrowed: the number, or of a question
 * with choices the index of the right one. NO_ANSWER where the log does not tell. */
void questions_answer(const lesson *l, int log_fd, long answers[LESSON_QUESTIONS]);

/* The answer in words: "3", or the choice. */
const char *question_words(const lesson_question *q, long answer, char room[24]);

#endif
