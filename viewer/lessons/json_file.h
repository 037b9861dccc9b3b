/* json_file.h: a file of JSON that people write, and the line of a mistake in it. */
#ifndef FERRY_JSON_FILE_H
#define FERRY_JSON_FILE_H

#include <cjson/cJSON.h>
#include <stdbool.h>
#include <stddef.h>

/* The caller deletes it. NULL, with the file, the line and `mend`, what to do, in err: it cannot be read, or is no
 * JSON. Text after the end of the JSON is passed over. */
cJSON *json_file_read(const char *path, const char *mend, char *err, size_t room);
/* The line on which text begins that follows the JSON; 0: there is none. */
int json_file_rest(const char *path);

#endif
