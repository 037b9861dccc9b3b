/* questions.c: see questions.h. */
#include "questions.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <strings.h>
#include <unistd.h>

#include "feed.h"
#include "log_fact.h"
#include "memory.h"

static log_facts *facts_of_log(int log_fd)
{
    char err[256];
    fy_text lines = {0};
    uint64_t cursor = 0;
    int fd = dup(log_fd);
    feed *f = fd >= 0 ? feed_of_log(fd, err, sizeof err) : NULL;
    if (!f) return NULL;
    feed_writer_ended(f);
    while (feed_read(f, &cursor, &lines, 64 << 10) > 0) continue;
    if (lines.lost) memory_fail("the lines of a run");
    log_facts *facts = log_facts_of(lines.data ? lines.data : "", lines.size);
    free(lines.data);
    feed_free(f);
    return facts;
}

static long answer_of(const log_facts *facts, const lesson_question *q)
{
    char text[64], err[256], *end;
    if (!log_fact(facts, q->fact, text, sizeof text, err, sizeof err)) return NO_ANSWER;
    long n = strtol(text, &end, 10);
    if (!*text || *end || n < 0) return NO_ANSWER;
    if (!q->choice_count) return n;
    int chosen = 0;
    for (int k = 1; k < q->choice_count; k++)
        if (n >= q->from[k]) chosen = k;
    return chosen;
}

void questions_answer(const lesson *l, int log_fd, question_answer answers[LESSON_QUESTIONS])
{
    log_facts *facts = log_fd >= 0 && l->question_count ? facts_of_log(log_fd) : NULL;
    for (int i = 0; i < LESSON_QUESTIONS; i++) {
        answers[i] = (question_answer){.answer = NO_ANSWER};
        if (!facts || i >= l->question_count) continue;
        answers[i].answer = answer_of(facts, &l->questions[i]);
        log_fact_lines(facts, l->questions[i].fact, answers[i].lines, sizeof answers[i].lines);
    }
    log_facts_free(facts);
}

bool questions_answered(const lesson *l, const outcome *out, question_answer answers[LESSON_QUESTIONS], char *why,
                        size_t room)
{
    if (out->end != RUN_PASSED && (out->end != RUN_FAILED || !out->stopped)) {
        snprintf(why, room, "the example did not run to its end: %.600s", out->message);
        return false;
    }
    questions_answer(l, out->log_fd, answers);
    for (int i = 0; i < l->question_count; i++) {
        if (answers[i].answer != NO_ANSWER) continue;
        snprintf(why, room, "the example's run does not tell: %.200s", l->questions[i].ask);
        return false;
    }
    return true;
}

/* "480 000" and "480,000" as 480000: people group digits by threes. Other texts stay as they are. */
static void ungroup(char *words)
{
    size_t first = strspn(words, "0123456789"), n = first;
    char by = words[first];
    if (!first || first > 3 || (by != ' ' && by != ',')) return;
    while (words[n] == by && strspn(words + n + 1, "0123456789") == 3) n += 4;
    if (words[n]) return;
    char *to = words;
    for (const char *p = words; *p; p++)
        if (*p != by) *to++ = *p;
    *to = '\0';
}

long question_guess(const lesson_question *q, const char *words)
{
    char *end, plain[64];
    for (int k = 0; k < q->choice_count; k++)
        if (!strcasecmp(words, q->choices[k])) return k;
    snprintf(plain, sizeof plain, "%s", words);
    ungroup(plain);
    long n = strtol(plain, &end, 10);
    bool fits = *plain && !*end && n >= 0 && (!q->choice_count || n < q->choice_count);
    return fits ? n : NO_ANSWER;
}

const char *question_words(const lesson_question *q, long answer, char room[24])
{
    if (q->choice_count && answer >= 0 && answer < q->choice_count) return q->choices[answer];
    snprintf(room, 24, "%ld", answer);
    return room;
}
