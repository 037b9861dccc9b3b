/* handmade.c: see handmade.h. */
#include "handmade.h"

void hand_bytes(handmade *h, const char *bytes, size_t n)
{
    if (h->size + n + 1 > h->room) h->text = realloc(h->text, h->room = 2 * (h->size + n + 1));
    if (!h->text) abort();
    memcpy(h->text + h->size, bytes, n);
    h->size += n;
    h->text[h->size] = 0;
}

int hand(handmade *h, const char *format, ...)
{
    char body[65536], line[66000];
    va_list args;
    va_start(args, format);
    vsnprintf(body, sizeof body, format, args);
    va_end(args);
    for (char *p = body; *p; p++)
        if (*p == '\'') *p = '"';
    int n = snprintf(line, sizeof line, "{\"seq\":%d,\"t\":0,\"th\":0,%s}\n", h->seq, body);
    hand_bytes(h, line, (size_t)n);
    return h->seq++;
}

void hand_end(handmade *h)
{
    free(h->text);
    *h = (handmade){0};
}
