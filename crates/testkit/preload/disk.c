/*
 * Breaks the disk of one process at one of its steps. GODEL_TEST_DISK says how, on what, to which file
 * and at which step: `kill write godel.db 7` writes half of what was to be written the seventh time and
 * kills the process; `fail sync godel.db-wal 3` does not sync the third time, and says so.
 *
 * After a failed sync the next ones say yes, as Linux does, and are written down beside: one byte each
 * to the file that GODEL_TEST_DISK_AGAIN names.
 */
#define _GNU_SOURCE
#include <dlfcn.h>
#include <errno.h>
#include <fcntl.h>
#include <limits.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

static char how[8], what[8], name[64];
static long left = -1;
static int again = -1;

__attribute__((constructor)) static void begin(void) {
    const char *text = getenv("GODEL_TEST_DISK"), *path = getenv("GODEL_TEST_DISK_AGAIN");
    if (!text || sscanf(text, "%7s %7s %63s %ld", how, what, name, &left) != 4) left = -1;
    if (path) again = open(path, O_WRONLY | O_CREAT | O_APPEND | O_CLOEXEC, 0600);
}

/* How many steps are left until the broken one, which is 0; below it if this is another file. */
static long step(int file, const char *kind) {
    char link[64], path[PATH_MAX];
    if (left < 0 || strcmp(what, kind)) return -1;
    snprintf(link, sizeof link, "/proc/self/fd/%d", file);
    ssize_t length = readlink(link, path, sizeof path - 1);
    if (length < 0) return -1;
    path[length] = 0;
    const char *slash = strrchr(path, '/');
    if (!slash || strcmp(slash + 1, name)) return -1;
    long before = __atomic_load_n(&left, __ATOMIC_SEQ_CST), now;
    do now = before > 0 ? before - 1 : 0;
    while (!__atomic_compare_exchange_n(&left, &before, now, 0, __ATOMIC_SEQ_CST, __ATOMIC_SEQ_CST));
    return now;
}

#define REAL(name, ...) ((__typeof__(&name))dlsym(RTLD_NEXT, #name))(__VA_ARGS__)

static void die(void) {
    kill(getpid(), SIGKILL);
    pause();
}

ssize_t pwrite(int file, const void *bytes, size_t count, off_t at) {
    if (step(file, "write") == 0) {
        REAL(pwrite, file, bytes, count / 2, at);
        die();
    }
    return REAL(pwrite, file, bytes, count, at);
}
ssize_t pwrite64(int file, const void *bytes, size_t count, off64_t at) {
    if (step(file, "write") == 0) {
        REAL(pwrite64, file, bytes, count / 2, at);
        die();
    }
    return REAL(pwrite64, file, bytes, count, at);
}

/* Tells whether a sync is to fail. */
static int fails(int file) {
    static int failed;
    if (step(file, "sync") != 0) return 0;
    if (!strcmp(how, "kill")) die();
    if (!__atomic_exchange_n(&failed, 1, __ATOMIC_SEQ_CST)) return 1;
    if (again >= 0 && write(again, "!", 1) < 0) abort();
    return 0;
}
int fsync(int file) {
    if (!fails(file)) return REAL(fsync, file);
    errno = EIO;
    return -1;
}
int fdatasync(int file) {
    if (!fails(file)) return REAL(fdatasync, file);
    errno = EIO;
    return -1;
}
