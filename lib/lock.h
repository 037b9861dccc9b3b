/* lock.h: locks that a fork waits for. A child has one thread alone: a lock that another thread held when it was made
 * would stay held in it for ever, with half-changed data behind it. Nobody takes a second lock, nor emits, while
 * holding one of these: so a fork may take them in any order. */
#ifndef FERRY_LOCK_H
#define FERRY_LOCK_H

#include <pthread.h>

#define FY_LOCK(name) \
    static pthread_mutex_t name = PTHREAD_MUTEX_INITIALIZER; \
    static void name##_take(void) { pthread_mutex_lock(&name); } \
    static void name##_give(void) { pthread_mutex_unlock(&name); } \
    __attribute__((constructor(102))) static void name##_watch(void) \
    { \
        pthread_atfork(name##_take, name##_give, name##_give); \
    }

#endif
