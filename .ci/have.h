/* What this machine has, asked of the compiler itself: preprocess this file and read the words. */
#if __has_include(<cjson/cJSON.h>)
cjson
#endif
#if __has_include(<civetweb.h>)
civetweb
#endif
#if __has_include(<cblas.h>) || __has_include(<openblas/cblas.h>)
openblas
#endif
#if __has_include(<stdarg.h>) && __has_include(<cmocka.h>)
cmocka
#endif
