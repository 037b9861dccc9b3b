/* One program for each library that Ferry links with: `cc -DHAVE_cjson .ci/have.c -lcjson`. Run by .ci/have. */
#if defined HAVE_cjson
#include <cjson/cJSON.h>
int main(void) { return cJSON_Parse("{}") == 0; }
#elif defined HAVE_civetweb
#include <civetweb.h>
int main(void) { return mg_start(0, 0, 0) == 0; }
#elif defined HAVE_cmark
#include <cmark.h>
int main(void) { return cmark_markdown_to_html("", 0, CMARK_OPT_DEFAULT) == 0; }
#elif defined HAVE_openblas
#if __has_include(<cblas.h>)
#include <cblas.h>
#else
#include <openblas/cblas.h> /* Fedora's place */
#endif
int main(void) { return (int)cblas_ddot(0, 0, 1, 0, 1); }
#elif defined HAVE_zip
#include <zip.h>
int main(void) { return zip_open("", 0, (int *)0) == 0; }
#elif defined HAVE_cmocka
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <cmocka.h>
int main(void) { return cmocka_run_group_tests((struct CMUnitTest *)0, 0, 0); }
#endif
