/* handmade.h: logs written by hand, for tests of those who read logs. Each line gets the next seq. */
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
/* One event: its fields as JSON, without the braces; quotes are written ' to stay readable. Returns its seq. */
int hand(handmade *h, const char *format, ...) __attribute__((format(printf, 2, 3)));
void hand_end(handmade *h);

#endif
