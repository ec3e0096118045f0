// Preloaded into a server, writes down in order what it does to the files below a folder, and each answer that leaves it.
//
// COUNTERFOIL_WATCHED: the folder, as realpath gives it. COUNTERFOIL_WATCH_LOG: the log, outside it. What is not seen here (link,
// copy_file_range, fallocate and their like) shows when the log is replayed: the files it makes would be others than those there.
// COUNTERFOIL_FAILING "KIND ERRNO FIRST TIMES END": of the steps of KIND (S a sync, W a write) to files whose names end with END
// ("/": all), those from the FIRST on, so many TIMES, are not done but fail with ERRNO, as on a disk that breaks or is full.
#define _GNU_SOURCE
#include <dlfcn.h>
#include <errno.h>
#include <fcntl.h>
#include <limits.h>
#include <pthread.h>
#include <stdarg.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/socket.h>
#include <sys/stat.h>
#include <sys/uio.h>
#include <unistd.h>

#define DESCRIPTORS 65536
#define NEXT(function) \
  static __typeof__(&function) next; \
  if (!next) next = (__typeof__(&function))dlsym(RTLD_NEXT, #function)

struct __attribute__((packed)) head {
  uint8_t kind;
  int32_t descriptor;
  int64_t at;
  uint32_t length;
};

// One step of the process and its line in the log are one: no other thread's comes between.
static pthread_mutex_t order = PTHREAD_MUTEX_INITIALIZER;
static int log_file = -1;
static char folder[PATH_MAX];
static size_t folder_length;
static uint8_t watched[DESCRIPTORS];
static char failing_kind, failing_end[PATH_MAX];
static int failing_errno;
static long failing_first, failing_times, failing_seen;
static uint8_t may_fail[DESCRIPTORS];

__attribute__((constructor)) static void begin(void) {
  const char *name = getenv("COUNTERFOIL_WATCHED"), *log = getenv("COUNTERFOIL_WATCH_LOG");
  if (!name || !log) return;
  folder_length = strlen(strcpy(folder, name));
  log_file = open(log, O_WRONLY | O_CREAT | O_APPEND | O_CLOEXEC, 0600);
  if (log_file < 0) abort();
  const char *failing = getenv("COUNTERFOIL_FAILING");
  if (failing && sscanf(failing, "%c %d %ld %ld %4095s", &failing_kind, &failing_errno, &failing_first, &failing_times,
                        failing_end) != 5)
    abort();
}

static void note(char kind, int descriptor, int64_t at, const struct iovec *parts, int count, size_t length) {
  NEXT(writev);
  struct head head = {(uint8_t)kind, descriptor, at, (uint32_t)length};
  struct iovec all[64] = {{&head, sizeof head}};
  if (count > 63) abort();
  int used = 1;
  for (size_t left = length; left > 0; used++) {
    all[used] = parts[used - 1];
    if (all[used].iov_len > left) all[used].iov_len = left;
    left -= all[used].iov_len;
  }
  int kept = errno;
  if (next(log_file, all, used) != (ssize_t)(sizeof head + length)) abort();
  errno = kept;
}

static void note_bytes(char kind, int descriptor, int64_t at, const void *bytes, size_t length) {
  struct iovec part = {(void *)bytes, length};
  note(kind, descriptor, at, &part, 1, length);
}

// The path below the folder; nothing for any other. SQLite's shared memory is not meant to last.
static const char *below(const char *path) {
  if (strncmp(path, folder, folder_length) != 0) return NULL;
  const char *rest = path + folder_length;
  if (*rest != '/' && *rest != 0) return NULL;
  size_t length = strlen(rest);
  if (length > 4 && strcmp(rest + length - 4, "-shm") == 0) return NULL;
  return *rest ? rest + 1 : rest;
}

static void note_open(int descriptor, int flags) {
  char link[64], path[PATH_MAX];
  int kept = errno;
  if (log_file < 0 || descriptor < 0 || descriptor >= DESCRIPTORS) return;
  snprintf(link, sizeof link, "/proc/self/fd/%d", descriptor);
  ssize_t length = readlink(link, path, sizeof path - 1);
  path[length < 0 ? 0 : length] = 0;
  const char *name = below(path);
  watched[descriptor] = name != NULL;
  if (name) note_bytes('O', descriptor, flags, name, strlen(name));
  size_t end = strlen(failing_end);
  int named = end > 0 && (size_t)length >= end && strcmp(path + length - end, failing_end) == 0;
  may_fail[descriptor] = name != NULL && (named || strcmp(failing_end, "/") == 0);
  errno = kept;
}

#define OPEN(name, given, ...) \
  int name(__VA_ARGS__ const char *path, int flags, ...) { \
    va_list list; \
    va_start(list, flags); \
    mode_t mode = flags & (O_CREAT | O_TMPFILE) ? va_arg(list, mode_t) : 0; \
    va_end(list); \
    NEXT(name); \
    pthread_mutex_lock(&order); \
    int descriptor = next given; \
    note_open(descriptor, flags); \
    pthread_mutex_unlock(&order); \
    return descriptor; \
  }
#define COMMA ,
OPEN(open, (path, flags, mode))
OPEN(open64, (path, flags, mode))
OPEN(openat, (at, path, flags, mode), int at COMMA)
OPEN(openat64, (at, path, flags, mode), int at COMMA)

// Whether bytes for this descriptor go to a watched file ('W'), to a client over TCP ('A'), or to nobody who matters here. The last
// must be left alone: libuv's signal handlers write to a pipe, maybe while this very thread holds `order`.
static char audience(int descriptor) {
  struct stat status;
  struct sockaddr_storage peer;
  socklen_t size = sizeof peer;
  int kept = errno;
  char found = 0;
  if (log_file < 0 || descriptor == log_file || fstat(descriptor, &status) != 0) found = 0;
  else if (S_ISREG(status.st_mode)) found = descriptor < DESCRIPTORS && watched[descriptor] ? 'W' : 0;
  else if (S_ISSOCK(status.st_mode) && getpeername(descriptor, (struct sockaddr *)&peer, &size) == 0)
    found = peer.ss_family == AF_INET || peer.ss_family == AF_INET6 ? 'A' : 0;
  errno = kept;
  return found;
}

// Whether this step is one that fails. A sync that does loses what it was to save: no later one brings it back.
static int fails(char kind, int descriptor) {
  if (kind != failing_kind || descriptor >= DESCRIPTORS || !watched[descriptor] || !may_fail[descriptor]) return 0;
  failing_seen++;
  if (failing_seen < failing_first || failing_seen >= failing_first + failing_times) return 0;
  note_bytes('F', descriptor, kind == 'S', "", 0);
  errno = failing_errno;
  return 1;
}

// Does a step, and notes it where it succeeded.
#define STEP(type, call, noting) \
  pthread_mutex_lock(&order); \
  type result = call; \
  int failure = errno; \
  if (log_file >= 0 && result >= 0) noting; \
  pthread_mutex_unlock(&order); \
  errno = failure; \
  return result

// The same for bytes. An offset below 0 stands for the file's position, which has moved on by now.
#define WRITE(parts, count, offset, call) \
  char kind = audience(descriptor); \
  if (!kind) return call; \
  STEP(ssize_t, fails(kind, descriptor) ? -1 : call, note(kind, descriptor, \
                           kind == 'W' && (offset) < 0 ? lseek(descriptor, 0, SEEK_CUR) - result : (offset), \
                           parts, (int)(count), (size_t)result))

#define ONE_PART struct iovec part = {(void *)bytes, length}
ssize_t write(int descriptor, const void *bytes, size_t length) {
  NEXT(write);
  ONE_PART;
  WRITE(&part, 1, -1, next(descriptor, bytes, length));
}
ssize_t pwrite64(int descriptor, const void *bytes, size_t length, off64_t at) {
  NEXT(pwrite64);
  ONE_PART;
  WRITE(&part, 1, at, next(descriptor, bytes, length, at));
}
ssize_t writev(int descriptor, const struct iovec *parts, int count) {
  NEXT(writev);
  WRITE(parts, count, -1, next(descriptor, parts, count));
}
ssize_t sendmsg(int descriptor, const struct msghdr *message, int flags) {
  NEXT(sendmsg);
  WRITE(message->msg_iov, message->msg_iovlen, -1, next(descriptor, message, flags));
}

#define IF_WATCHED(kind, at) \
  if (descriptor < DESCRIPTORS && watched[descriptor]) note_bytes(kind, descriptor, at, "", 0)
int ftruncate64(int descriptor, off64_t size) {
  NEXT(ftruncate64);
  STEP(int, next(descriptor, size), IF_WATCHED('T', size));
}
int fsync(int descriptor) {
  NEXT(fsync);
  STEP(int, fails('S', descriptor) ? -1 : next(descriptor), IF_WATCHED('S', 0));
}
int fdatasync(int descriptor) {
  NEXT(fdatasync);
  STEP(int, fails('S', descriptor) ? -1 : next(descriptor), IF_WATCHED('S', 0));
}

static void note_name(char kind, const char *path) {
  const char *name = below(path);
  if (name) note_bytes(kind, -1, 0, name, strlen(name));
}
int unlink(const char *path) {
  NEXT(unlink);
  STEP(int, next(path), note_name('U', path));
}
int mkdir(const char *path, mode_t mode) {
  NEXT(mkdir);
  STEP(int, next(path, mode), note_name('M', path));
}
int rename(const char *from, const char *to) {
  NEXT(rename);
  const char *old = below(from), *new = below(to);
  struct iovec parts[3] = {{(void *)old, old ? strlen(old) : 0}, {"\n", 1}, {(void *)new, new ? strlen(new) : 0}};
  size_t length = parts[0].iov_len + 1 + parts[2].iov_len;
  STEP(int, next(from, to), if (old || new) note('R', -1, 0, parts, 3, length));
}
