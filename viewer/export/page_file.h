/* page_file.h: a saved run with its page in one HTML file, which opens without a server and without network. */
#ifndef FERRY_PAGE_FILE_H
#define FERRY_PAGE_FILE_H

#include <stdio.h>

#include "feed.h"
#include "text.h"

/* Writes the page with all lines of the feed so far, and with its findings (findings_json), or "" for none. False: err
 * says why, or is empty if only a write failed. */
bool page_file_write(FILE *out, feed *f, const char *label, const fy_text *findings, char *err, size_t room);

#endif
