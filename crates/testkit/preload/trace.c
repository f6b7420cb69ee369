/*
 * Writes down what a process does to the files of its database, in order, for replays of power cuts.
 *
 * Loaded before the C library. A record is: what was done (1 byte), the length of the name (1), where
 * in the file (8), how many bytes (4), the name, the bytes; numbers as the machine has them.
 */
#define _GNU_SOURCE
#include <dlfcn.h>
#include <fcntl.h>
#include <limits.h>
#include <pthread.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <sys/uio.h>
#include <unistd.h>

static pthread_mutex_t one_at_a_time = PTHREAD_MUTEX_INITIALIZER;
static int trace = -1;

__attribute__((constructor)) static void begin(void) {
    const char *path = getenv("GODEL_TEST_TRACE");
    if (path) trace = open(path, O_WRONLY | O_CREAT | O_APPEND | O_CLOEXEC, 0600);
}

/* The last part of a path if it is a file of the database, or the folder that it is in. */
static const char *matters(const char *path) {
    const char *slash = strrchr(path, '/');
    const char *name = slash ? slash + 1 : path;
    if (strcmp(name, "data") == 0) return name;
    size_t length = strlen(name);
    int shared = length > 4 && strcmp(name + length - 4, "-shm") == 0;
    return strncmp(name, "godel.db", 8) == 0 && !shared ? name : NULL;
}

static const char *name_of(int file, char *path) {
    struct stat about;
    if (trace < 0 || fstat(file, &about) || !(S_ISREG(about.st_mode) || S_ISDIR(about.st_mode)))
        return NULL;
    char link[64];
    snprintf(link, sizeof link, "/proc/self/fd/%d", file);
    ssize_t length = readlink(link, path, PATH_MAX - 1);
    if (length < 0) return NULL;
    path[length] = 0;
    return matters(path);
}

static void note(char what, const char *name, uint64_t at, const void *bytes, uint32_t length) {
    unsigned char head[14];
    head[0] = (unsigned char)what;
    head[1] = (unsigned char)strlen(name);
    memcpy(head + 2, &at, 8);
    memcpy(head + 10, &length, 4);
    struct iovec parts[3] = {
        {head, sizeof head}, {(void *)name, head[1]}, {(void *)bytes, bytes ? length : 0}};
    if (writev(trace, parts, 3) < 0) abort();
}

#define REAL(name, ...) ((__typeof__(&name))dlsym(RTLD_NEXT, #name))(__VA_ARGS__)

/* Does a thing to a file and writes it down, with nothing in between. */
#define NOTED(file, call, when, ...)                                 \
    char path[PATH_MAX];                                             \
    const char *name = name_of(file, path);                          \
    if (!name) return call;                                          \
    pthread_mutex_lock(&one_at_a_time);                              \
    off_t here = lseek(file, 0, SEEK_CUR);                           \
    __typeof__(call) done = call;                                    \
    (void)here;                                                      \
    if (when) note(__VA_ARGS__);                                     \
    pthread_mutex_unlock(&one_at_a_time);                            \
    return done

ssize_t write(int file, const void *bytes, size_t count) {
    NOTED(file, REAL(write, file, bytes, count), done > 0, 'w', name, here, bytes, done);
}
ssize_t pwrite(int file, const void *bytes, size_t count, off_t at) {
    NOTED(file, REAL(pwrite, file, bytes, count, at), done > 0, 'w', name, at, bytes, done);
}
ssize_t pwrite64(int file, const void *bytes, size_t count, off64_t at) {
    NOTED(file, REAL(pwrite64, file, bytes, count, at), done > 0, 'w', name, at, bytes, done);
}
int ftruncate(int file, off_t length) {
    NOTED(file, REAL(ftruncate, file, length), done == 0, 't', name, length, NULL, 0);
}
int ftruncate64(int file, off64_t length) {
    NOTED(file, REAL(ftruncate64, file, length), done == 0, 't', name, length, NULL, 0);
}
int fsync(int file) {
    NOTED(file, REAL(fsync, file), done == 0, 's', name, 0, NULL, 0);
}
int fdatasync(int file) {
    NOTED(file, REAL(fdatasync, file), done == 0, 's', name, 0, NULL, 0);
}
int unlink(const char *path) {
    const char *name = trace < 0 ? NULL : matters(path);
    if (!name) return REAL(unlink, path);
    pthread_mutex_lock(&one_at_a_time);
    int done = REAL(unlink, path);
    if (done == 0) note('r', name, 0, NULL, 0);
    pthread_mutex_unlock(&one_at_a_time);
    return done;
}
