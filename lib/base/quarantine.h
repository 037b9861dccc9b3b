/* quarantine.h: memory of public objects (modules, optimizers) that the program has freed. The last ones are kept, so
 * that a use after free finds the mark that says so. */
#ifndef FERRY_QUARANTINE_H
#define FERRY_QUARANTINE_H

void fy_quarantine(void *freed); /* frees it, later */

#endif
