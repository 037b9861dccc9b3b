/* assets.h: the files of www/, embedded in the library. The Makefile generates the table (assets.S) with
 * assets.sh. */
#ifndef FERRY_ASSETS_H
#define FERRY_ASSETS_H

#include <stddef.h>

typedef struct asset {
    const char *path; /* "/index.html" */
    const unsigned char *data;
    size_t size;
} asset;

extern const asset fy_assets[]; /* ends with a NULL path */

/* The file for a request's path, "/" being index.html; NULL if there is none. (http.c) */
const asset *asset_find(const char *path);
const char *asset_type(const char *path); /* its content type */

#endif
