/* sha256.h: SHA-256 in base64, as a Content-Security-Policy names an inline script. */
#ifndef FERRY_SHA256_H
#define FERRY_SHA256_H

#include <stddef.h>

void sha256_base64(const void *data, size_t size, char out[45]);

#endif
