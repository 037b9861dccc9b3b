/* handmade.h: handwritten logs for tests of log readers. Each line gets the next seq. */
#ifndef HANDMADE_H
#define HANDMADE_H

#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

typedef struct handmade {
    char *text;
    size_t size, room;
    int seq;
} handmade;

void hand_bytes(handmade *h, const char *bytes, size_t n);
/* Adds an event: its fields as JSON without the braces, with ' in place of double quotes; a 'line', with a
 * 'file' and an 'fn' if there are, becomes that of its call. Returns its seq. */
int hand(handmade *h, const char *format, ...) __attribute__((format(printf, 2, 3)));
void hand_end(handmade *h);

#endif
