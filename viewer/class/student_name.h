/* student_name.h: what a student is called. A folder may have any name, but a table, a terminal and the other programs
 * that read a table take text only. */
#ifndef FERRY_STUDENT_NAME_H
#define FERRY_STUDENT_NAME_H

#include <stddef.h>

/* The folder's name; each byte that is no UTF-8, and each of a control character, as \xHH, and a backslash so as well:
 * two folders never have one name. The caller frees it. */
char *student_name(const char *folder);
/* Replaces control characters by blanks, in place: for messages that hold names or words of others. */
void make_printable(char *text);

#endif
