/* run_settings.h: was a run made with what the lesson gives it: the seed, the cards, Ferry's settings? The budgets of a
 * lesson hold for these alone. */
#ifndef FERRY_RUN_SETTINGS_H
#define FERRY_RUN_SETTINGS_H

#include "grade.h"

/* "lesson-settings", recorded only if it fails: what is set otherwise, and which variable sets it. */
bool check_settings(grading *g);

#endif
