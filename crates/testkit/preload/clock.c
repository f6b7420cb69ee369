/*
 * Sets the clock on the wall of one process: it is off by the seconds that stand in a file, which may
 * change at any time. Clocks that only go forward are left alone.
 */
#define _GNU_SOURCE
#include <dlfcn.h>
#include <fcntl.h>
#include <stdlib.h>
#include <time.h>
#include <unistd.h>

static int file = -1;

__attribute__((constructor)) static void begin(void) {
    const char *path = getenv("GODEL_TEST_CLOCK");
    if (path) file = open(path, O_RDONLY | O_CLOEXEC);
}

int clock_gettime(clockid_t clock, struct timespec *now) {
    static __typeof__(&clock_gettime) real;
    if (!real) real = (__typeof__(real))dlsym(RTLD_NEXT, "clock_gettime");
    int done = real(clock, now);
    char text[32];
    ssize_t length = clock == CLOCK_REALTIME && file >= 0 ? pread(file, text, 31, 0) : 0;
    if (done == 0 && length > 0) {
        text[length] = 0;
        now->tv_sec += atol(text);
    }
    return done;
}
