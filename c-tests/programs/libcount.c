/* A library to preload behind the profiler (LD_PRELOAD="libmprof.so libcount.so"): it counts what the profiler asks of
 * the C library, by its own lights, so that the profile's totals can be held against it.
 *
 *   allocs   successful malloc, calloc, realloc, reallocarray and memalign-family calls; a realloc of an object to a
 *            new size is one free and one allocation, whether it moves or not
 *   frees    frees of a pointer that is not NULL, and such reallocs; realloc(p, 0) frees only
 *   bytes    bytes asked for by those allocations
 *   aligned  those of them that asked for an alignment over 16 bytes
 *   padding  the sum of those alignments
 *
 * The counters lie in a shared mapping of the file $LIBCOUNT_FILE.PID, so that the file holds the last state however
 * the process ends: no exit handler of ours could be later than the profiler's. A forked child (not a vforked one,
 * which shares its parent's memory) begins a file of its own, marked `forked`; an exec'd image overwrites the file.
 * The C library's functions are found behind this library by dlsym at the first call: glibc's __libc_ names are the
 * profiler's too. dlsym allocates only where it fails, which it must not here. The functions here do not call each
 * other by their public names, which are the profiler's. */
#define _GNU_SOURCE
#include <dlfcn.h>
#include <errno.h>
#include <fcntl.h>
#include <stdint.h>
#include <stdio.h>
#include <string.h>
#include <sys/mman.h>
#include <unistd.h>

static struct {
    void *(*malloc)(size_t), *(*calloc)(size_t, size_t), *(*realloc)(void *, size_t), *(*memalign)(size_t, size_t);
    void (*free)(void *);
} real;

struct counts {
    uint64_t magic, pid, forked, allocs, frees, bytes, aligned, padding;
};

static struct counts nowhere;                 /* where nothing can be written */
static struct counts *shared = &nowhere;
static volatile uint64_t *attached;           /* a page that fork wipes: 1 where `shared` is this process's */
static int attaching;                         /* 0 not yet, 1 being done, 2 done */
static char base[4096];

/* Finds LIBCOUNT_FILE in the environment that the kernel gave this image: the first calls come before the C library has
 * set `environ`, and programs clear it. */
static int find_base(void) {
    static const char name[] = "LIBCOUNT_FILE=";
    int fd = open("/proc/self/environ", O_RDONLY | O_CLOEXEC);
    if (fd < 0) return 0;
    char block[4096];
    size_t matched = 0, length = 0;
    int failed = 0, found = 0;                /* `failed`: this variable is another one */
    for (ssize_t n; !found && (n = read(fd, block, sizeof block)) > 0;)
        for (ssize_t i = 0; i < n && !found; i++) {
            char c = block[i];
            if (c == 0) {
                found = matched == sizeof name - 1;
                matched = length = 0;
                failed = 0;
            } else if (failed) {
            } else if (matched < sizeof name - 1) {
                if (c == name[matched]) matched++;
                else failed = 1;
            } else if (length < sizeof base - 32) {
                base[length++] = c;
                base[length] = 0;
            }
        }
    close(fd);
    return found;
}

static void begin_file(int forked) {
    shared = &nowhere;
    char path[sizeof base + 32];
    snprintf(path, sizeof path, "%s.%d", base, (int)getpid());
    int fd = open(path, O_RDWR | O_CREAT | O_TRUNC | O_CLOEXEC, 0644);
    if (fd < 0) return;
    if (ftruncate(fd, sizeof *shared) == 0) {
        struct counts *map = mmap(0, sizeof *shared, PROT_READ | PROT_WRITE, MAP_SHARED, fd, 0);
        if (map != MAP_FAILED) {
            map->magic = 0x746e756f6362696c;  /* "libcount" */
            map->pid = (uint64_t)getpid();
            map->forked = (uint64_t)forked;
            shared = map;
        }
    }
    close(fd);
}

static void *next(const char *name) {
    void *function = dlsym(RTLD_NEXT, name);
    if (!function) _exit(97);
    return function;
}

static void attach(void) {
    int saved = errno, state = 0;
    if (__atomic_compare_exchange_n(&attaching, &state, 1, 0, __ATOMIC_ACQUIRE, __ATOMIC_ACQUIRE)) {
        real.malloc = (void *(*)(size_t))next("malloc");
        real.calloc = (void *(*)(size_t, size_t))next("calloc");
        real.realloc = (void *(*)(void *, size_t))next("realloc");
        real.memalign = (void *(*)(size_t, size_t))next("memalign");
        real.free = (void (*)(void *))next("free");
        void *page = mmap(0, 4096, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
        if (page != MAP_FAILED && find_base()) {
            madvise(page, 4096, MADV_WIPEONFORK);
            begin_file(0);
            attached = page;
            *attached = 1;
        }
        __atomic_store_n(&attaching, 2, __ATOMIC_RELEASE);
    } else {
        while (__atomic_load_n(&attaching, __ATOMIC_ACQUIRE) != 2) {
        }
        if (attached && !*attached) {         /* the only thread of a forked child */
            *attached = 1;
            begin_file(1);
        }
    }
    errno = saved;
}

static void add(uint64_t *counter, uint64_t n) { __atomic_fetch_add(counter, n, __ATOMIC_RELAXED); }

static struct counts *counts(void) {
    if (__builtin_expect(__atomic_load_n(&attaching, __ATOMIC_ACQUIRE) != 2 || (attached && !*attached), 0)) attach();
    return shared;
}

static void *allocated(struct counts *c, void *object, size_t size) {
    if (object) {
        add(&c->allocs, 1);
        add(&c->bytes, size);
    }
    return object;
}

void *malloc(size_t size) {
    struct counts *c = counts(); /* first: it finds the real functions */
    return allocated(c, real.malloc(size), size);
}

void *calloc(size_t count, size_t size) {
    struct counts *c = counts();
    return allocated(c, real.calloc(count, size), count * size);
}

void free(void *object) {
    struct counts *c = counts();
    if (object) add(&c->frees, 1);
    real.free(object);
}

static void *change(void *object, size_t size) {
    struct counts *c = counts();
    void *now = real.realloc(object, size);
    if (object && (now || size == 0)) add(&c->frees, 1);
    return allocated(c, now, size);
}

void *realloc(void *object, size_t size) { return change(object, size); }

void *reallocarray(void *object, size_t count, size_t size) {
    size_t bytes;
    if (__builtin_mul_overflow(count, size, &bytes)) {
        errno = ENOMEM;
        return 0;
    }
    return change(object, bytes);
}

static void *take(size_t alignment, size_t size) {
    struct counts *c = counts();
    void *object = allocated(c, real.memalign(alignment, size), size);
    if (object && alignment > 16) {
        add(&c->aligned, 1);
        add(&c->padding, alignment);
    }
    return object;
}

void *memalign(size_t alignment, size_t size) { return take(alignment, size); }

void *aligned_alloc(size_t alignment, size_t size) { return take(alignment, size); }

int posix_memalign(void **out, size_t alignment, size_t size) {
    if (alignment % sizeof(void *) || alignment & (alignment - 1) || alignment == 0) return EINVAL;
    int saved = errno;
    void *object = take(alignment, size);
    errno = saved;
    if (!object) return ENOMEM;
    *out = object;
    return 0;
}

void *valloc(size_t size) { return take((size_t)getpagesize(), size); }

void *pvalloc(size_t size) {
    size_t page = (size_t)getpagesize();
    if (size > SIZE_MAX - page) return errno = ENOMEM, (void *)0;
    return take(page, (size + page - 1) & ~(page - 1));
}
