/* lesson_programs.h: builds the programs of lessons with all warnings, runs them on the simulated card, and grades
 * them. A group of tests that uses it has prepare_programs and remove_programs around it, and runs in the repository's
 * root. */
#ifndef LESSON_PROGRAMS_H
#define LESSON_PROGRAMS_H

#include <stdint.h>

#include "lesson_folders.h"

int prepare_programs(void **state);
int remove_programs(void **state);
extern char work_folder[64]; /* the test's programs and logs */

/* Are the programs built with TSan? They take ten times as long, and have one thread. */
bool programs_are_slow(void);
/* Simulates the cards of this lesson from now on; program_of does it, too. */
void choose_cards(const char *id);
/* False, with the compiler's messages on stderr, if it does not build cleanly. */
bool build_program(const char *source, const char *program);
/* Path of the program, built once; "": it does not build. file: in the lesson's folder, "../../tests/..." elsewhere. */
const char *program_of(const char *id, const char *file);
/* The log of one run, which the caller frees. exit_status: of that run. */
char *run_lesson(const char *program, uint64_t seed, const char *given, size_t *size);
extern int exit_status;
/* Fails the test where it cannot be judged. */
verdict graded_program(const char *id, const char *file, uint64_t seed, const char *given);
/* A member of lesson.json; "": there is none. */
const char *text_in(const cJSON *object, const char *name);

#endif
