/* Faults of disk and host, preloaded into a server process: one control page, shared with the test.
 *
 * Words (int64) of the page: see shim.py. Writes and syncs of files under FAULTS_FOLDER are counted,
 * failed, or made the last thing that the process does. What was there before each write is kept in
 * FAULTS_UNDO until a sync, so that the test can take back what a power cut may take.
 */
#define _GNU_SOURCE
#include <dlfcn.h>
#include <errno.h>
#include <fcntl.h>
#include <pthread.h>
#include <signal.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <sys/syscall.h>
#include <sys/utsname.h>
#include <unistd.h>

enum { CLOCK, KILL_IN, FAIL_SYNC, FAIL_WRITE, FULL, UNDO, STALL, WRITES, SYNCS, HIT };
#define HOST 512
#define PATH 1024

static volatile int64_t *page;
static const char *folder;
static int undo = -1;
static pthread_mutex_t lock = PTHREAD_MUTEX_INITIALIZER;

static ssize_t (*real_write)(int, const void *, size_t);
static ssize_t (*real_pwrite)(int, const void *, size_t, off_t);
static int (*real_fsync)(int);
static int (*real_fdatasync)(int);

__attribute__((constructor)) static void begin(void) {
    real_write = dlsym(RTLD_NEXT, "write");
    real_pwrite = dlsym(RTLD_NEXT, "pwrite64");
    real_fsync = dlsym(RTLD_NEXT, "fsync");
    real_fdatasync = dlsym(RTLD_NEXT, "fdatasync");
    const char *control = getenv("FAULTS_CONTROL"), *kept = getenv("FAULTS_UNDO");
    folder = getenv("FAULTS_FOLDER");
    if (!control || !kept || !folder) return;
    int fd = open(control, O_RDWR | O_CLOEXEC);
    if (fd < 0) return;
    void *found = mmap(NULL, 4096, PROT_READ | PROT_WRITE, MAP_SHARED, fd, 0);
    close(fd);
    if (found == MAP_FAILED) return;
    undo = open(kept, O_RDWR | O_APPEND | O_CREAT | O_CLOEXEC, 0600);
    page = found;
}

static int tracked(int fd, char *path) {
    if (!page) return 0;
    char link[40];
    snprintf(link, sizeof link, "/proc/self/fd/%d", fd);
    ssize_t n = readlink(link, path, PATH - 1);
    if (n <= 0) return 0;
    path[n] = 0;
    if (strncmp(path, folder, strlen(folder))) return 0;
    return !(n > 4 && !strcmp(path + n - 4, "-shm"));
}

static void note(char kind, const char *path, int64_t at, int64_t size, int64_t had, const void *old) {
    struct { int32_t kind, path; int64_t at, size, had; } head = {kind, strlen(path), at, size, had};
    size_t total = sizeof head + head.path + (old ? had : 0);
    char *record = malloc(total);
    if (!record) return;
    memcpy(record, &head, sizeof head);
    memcpy(record + sizeof head, path, head.path);
    if (old) memcpy(record + sizeof head + head.path, old, had);
    syscall(SYS_write, undo, record, total);
    free(record);
}

static void keep(int fd, const char *path, int64_t at, size_t size) {
    int again = open(path, O_RDONLY | O_CLOEXEC);
    char *old = malloc(size ? size : 1);
    ssize_t had = again >= 0 && old ? pread(again, old, size, at) : 0;
    if (again >= 0) syscall(SYS_close, again);
    note('W', path, at, size, had > 0 ? had : 0, old);
    free(old);
    (void)fd;
}

static int last(void) {
    return page[KILL_IN] > 0 && __sync_sub_and_fetch(&page[KILL_IN], 1) == 0;
}

static int spend(int word) {
    if (page[word] <= 0) return 0;
    __sync_sub_and_fetch(&page[word], 1);
    __sync_add_and_fetch(&page[HIT], 1);
    return 1;
}

static void die(void) {
    __sync_add_and_fetch(&page[HIT], 1);
    syscall(SYS_kill, getpid(), SIGKILL);
    for (;;) pause();
}

/* Returns 0 to go on, or the error. A write that is the last is torn in the middle. */
static int before(int fd, const void *data, size_t size, int64_t at) {
    char path[PATH];
    if (!tracked(fd, path)) return 0;
    __sync_add_and_fetch(&page[WRITES], 1);
    if (page[FULL]) {
        __sync_add_and_fetch(&page[HIT], 1);
        return ENOSPC;
    }
    if (spend(FAIL_WRITE)) return EIO;
    if (at < 0) {
        struct stat found;
        int flags = fcntl(fd, F_GETFL);
        at = flags & O_APPEND && !fstat(fd, &found) ? found.st_size : lseek(fd, 0, SEEK_CUR);
    }
    if (page[UNDO]) {
        pthread_mutex_lock(&lock);
        keep(fd, path, at, size);
        pthread_mutex_unlock(&lock);
    }
    if (last()) {
        real_pwrite(fd, data, size / 2, at);
        die();
    }
    return 0;
}

ssize_t write(int fd, const void *data, size_t size) {
    int error = before(fd, data, size, -1);
    if (error) { errno = error; return -1; }
    return real_write(fd, data, size);
}

ssize_t pwrite64(int fd, const void *data, size_t size, off_t at) {
    int error = before(fd, data, size, at);
    if (error) { errno = error; return -1; }
    return real_pwrite(fd, data, size, at);
}

ssize_t pwrite(int fd, const void *data, size_t size, off_t at) { return pwrite64(fd, data, size, at); }

static int sync_with(int (*real)(int), int fd) {
    char path[PATH];
    if (!tracked(fd, path)) return real(fd);
    __sync_add_and_fetch(&page[SYNCS], 1);
    if (spend(FAIL_SYNC)) { errno = EIO; return -1; }
    if (last()) die();
    int done = real(fd);
    if (!done && page[UNDO]) {
        pthread_mutex_lock(&lock);
        note('S', path, 0, 0, 0, NULL);
        pthread_mutex_unlock(&lock);
    }
    return done;
}

int fsync(int fd) { return sync_with(real_fsync, fd); }
int fdatasync(int fd) { return sync_with(real_fdatasync, fd); }

static int cut(int fd, off_t size) {
    char path[PATH];
    long done = syscall(SYS_ftruncate, fd, size);
    if (!done && tracked(fd, path) && page[UNDO]) {  /* as if the file system kept the order */
        pthread_mutex_lock(&lock);
        note('S', path, 0, 0, 0, NULL);
        pthread_mutex_unlock(&lock);
    }
    return done;
}

int ftruncate(int fd, off_t size) { return cut(fd, size); }
int ftruncate64(int fd, off_t size) { return cut(fd, size); }

int gethostname(char *name, size_t size) {
    struct utsname found;
    if (syscall(SYS_uname, &found)) return -1;
    const char *told = page ? (const char *)page + HOST : "";
    snprintf(name, size, "%s", *told ? told : found.nodename);
    return 0;
}

int uname(struct utsname *found) {
    int done = syscall(SYS_uname, found);
    const char *told = page ? (const char *)page + HOST : "";
    if (!done && *told) snprintf(found->nodename, sizeof found->nodename, "%s", told);
    return done;
}
