/* possible.h: could a log have come about? A program can write to its own log: each time must be the model's, each
 * value must follow from the inputs. */
#ifndef FERRY_POSSIBLE_H
#define FERRY_POSSIBLE_H

#include "grade.h"

/* "log-is-possible", recorded only if it fails: the first event that cannot be. Logs of a real card and events of a
 * second thread have times that nothing contradicts; values are checked as far as value_replay.h knows them. */
bool check_possible(grading *g);

#endif
