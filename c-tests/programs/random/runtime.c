/* The random programs' main function, threads, coroutines, pool of objects, and truth.
 *
 * usage: program SEED THREADS ROUNDS CALLS DEPTH
 * Each thread makes ROUNDS rounds of at most CALLS calls, nested at most DEPTH deep. */
#include "runtime.h"

#include <errno.h>
#include <fcntl.h>
#include <pthread.h>
#include <signal.h>
#include <stdio.h>
#include <sys/mman.h>
#include <sys/syscall.h>
#include <ucontext.h>
#include <unistd.h>

enum { NODES = 1 << 20, SLOTS = 256, COROUTINES = 3, COROUTINE_STACK = 1 << 19, COROUTINE_DEPTH = 60, HANDLER_DEPTH = 8 };

static void fail(const char *what) {
    char line[200];
    int length = snprintf(line, sizeof line, "does not hold: %s\n", what);
    if (write(2, line, (size_t)length) < 0) _exit(98);
    _exit(99);
}

#define STRING(x) #x
#define LINE(x) STRING(x)
#define CHECK(condition) \
    do { \
        if (!(condition)) fail("line " LINE(__LINE__) ": " #condition); \
    } while (0)

/* ---- the truth ---- */

struct node {
    unsigned parent, function, first, next; /* first child, next sibling; 0: none */
    unsigned long allocs, bytes, frees, freed_bytes;
};

static struct node nodes[NODES];
static unsigned node_count = 1;
static pthread_mutex_t nodes_lock = PTHREAD_MUTEX_INITIALIZER;

unsigned enter(unsigned parent, unsigned function) {
    pthread_mutex_lock(&nodes_lock);
    unsigned *link = &nodes[parent].first;
    while (*link && nodes[*link].function != function) link = &nodes[*link].next;
    if (!*link) {
        CHECK(node_count < NODES);
        *link = node_count++;
        nodes[*link].parent = parent;
        nodes[*link].function = function;
    }
    unsigned found = *link;
    pthread_mutex_unlock(&nodes_lock);
    return found;
}

static void add(unsigned long *number, unsigned long more) { __atomic_fetch_add(number, more, __ATOMIC_RELAXED); }

static void allocated(unsigned node, size_t size) {
    add(&nodes[node].allocs, 1);
    add(&nodes[node].bytes, size);
}

void freed(struct object object) {
    if (!object.pointer) return;
    add(&nodes[object.node].frees, 1);
    add(&nodes[object.node].freed_bytes, object.size);
}

/* Exceptions are all freed in the end. What they take besides the thrown object is the C++ library's affair. */
void thrown(unsigned node) { allocated(enter(node, ALLOCATE_EXCEPTION), 0); }

static void write_truth(void) {
    static char text[1 << 16];
    int file = open("truth", O_WRONLY | O_CREAT | O_TRUNC, 0666);
    CHECK(file >= 0);
    size_t length = 0;
    for (unsigned i = 1; i <= node_count; i++) {
        if (i == node_count || length > sizeof text - 200) {
            CHECK(write(file, text, length) == (ssize_t)length);
            length = 0;
        }
        if (i == node_count) break;
        const struct node *n = &nodes[i];
        length += (size_t)snprintf(text + length, sizeof text - length, "%u %u %lu %lu %lu %lu\n", n->parent,
                                   n->function, n->allocs, n->bytes, n->frees, n->freed_bytes);
    }
    CHECK(close(file) == 0);
}

/* ---- chance ---- */

unsigned draw(struct self *self, unsigned below) {
    self->random = self->random * 6364136223846793005u + 1442695040888963407u;
    return (unsigned)(self->random >> 33) % below;
}

size_t draw_size(struct self *self) {
    switch (draw(self, 32)) {
    case 0: return 0;
    case 1: return 1024 + draw(self, 4000);
    case 2: return draw(self, 8) ? 300 : 150000 + draw(self, 100000);
    case 3: case 4: case 5: return 100 + draw(self, 1000);
    default: return 1 + draw(self, 96);
    }
}

int turns(struct self *self, int most) {
    if (self->left-- <= 0) return 0;
    return 1 + (int)draw(self, (unsigned)most);
}

void touch(struct self *self, volatile void *memory, size_t size) {
    unsigned char *bytes = (unsigned char *)memory;
    for (size_t i = 0; i < size; i += 24) bytes[i] = (unsigned char)self->random;
    if (size) self->sum += bytes[size / 2 / 24 * 24];
}

/* ---- objects ---- */

static struct object pool[SLOTS];
static pthread_mutex_t pool_lock = PTHREAD_MUTEX_INITIALIZER;

static void fill(struct object object, size_t from) {
    unsigned char *bytes = (unsigned char *)object.pointer;
    for (size_t i = from; i < object.size; i++) bytes[i] = (unsigned char)(object.size + i);
}

static void check(struct object object, size_t size) {
    const unsigned char *bytes = (const unsigned char *)object.pointer;
    for (size_t i = 0; i < size; i++) CHECK(bytes[i] == (unsigned char)(object.size + i));
}

static struct object exchange(struct self *self, struct object object) {
    unsigned slot = draw(self, SLOTS);
    pthread_mutex_lock(&pool_lock);
    struct object old = pool[slot];
    pool[slot] = object;
    pthread_mutex_unlock(&pool_lock);
    return old;
}

/* An object that another takes the place of is never freed. */
void remember(struct self *self, unsigned node, void *pointer, size_t size, size_t alignment) {
    CHECK(pointer && (uintptr_t)pointer % alignment == 0);
    CHECK(malloc_usable_size(pointer) >= size);
    struct object object = {pointer, size, node};
    allocated(node, size);
    fill(object, 0);
    exchange(self, object);
}

void remember_zeroes(struct self *self, unsigned node, void *pointer, size_t size) {
    CHECK(pointer);
    for (size_t i = 0; i < size; i++) CHECK(((unsigned char *)pointer)[i] == 0);
    remember(self, node, pointer, size, 16);
}

struct object take(struct self *self) {
    struct object none = {0, 0, 0};
    struct object object = exchange(self, none);
    if (object.pointer) check(object, object.size);
    return object;
}

void resized(struct self *self, unsigned node, struct object object, void *pointer, size_t size) {
    freed(object);
    if (object.pointer && size == 0) {
        CHECK(!pointer);
        return;
    }
    CHECK(pointer);
    size_t both = object.size < size ? object.size : size;
    struct object moved = {pointer, object.size, node};
    check(moved, object.pointer ? both : 0);
    remember(self, node, pointer, size, 16);
}

/* ---- signals ---- */

static __thread struct self *current;

#define CALL_ANY(self, here, depth) functions[draw(self, function_count)](self, here, depth)

static FRAME void handler(int number) {
    struct self *self = current;
    int error = errno;
    struct flow flow = self->flow, inside = {0, 0, 0, COROUTINES, 0};
    unsigned here = enter(self->signalled, HANDLER);
    self->flow = inside;
    void *volatile object = malloc((size_t)number);
    remember(self, here, object, (size_t)number, 16);
    CALL_ANY(self, here, self->depth);
    self->flow = flow;
    errno = error;
}

void interrupt(struct self *self, unsigned node, int depth) {
    if (!self->flow.signals || self->left <= 0) return;
    self->signalled = node;
    self->depth = depth < HANDLER_DEPTH ? depth : HANDLER_DEPTH;
    syscall(SYS_tgkill, getpid(), (int)syscall(SYS_gettid), SIGUSR1);
}

/* ---- coroutines ---- */

struct coroutine {
    ucontext_t resumer, own;
    struct self *self;
    struct flow flow;
    int depth, finished;
    char *stack;
};

static FRAME void coroutine(unsigned high, unsigned low) {
    struct coroutine *c = (struct coroutine *)((uintptr_t)high << 32 | low);
    unsigned here = enter(TOP, COROUTINE);
    for (int turn = turns(c->self, 3); turn > 0; turn--) {
        CALL_ANY(c->self, here, c->depth);
        yield(c->self);
    }
    c->finished = 1;
}

/* The stack of a coroutine that was left unfinished, by a jump or an exception past it, is used again. */
struct coroutine *begin_coroutine(struct self *self, int depth) {
    if (self->flow.stacks >= COROUTINES) return 0;
    struct coroutine *c = &self->coroutines[self->flow.stacks++];
    struct flow flow = {0, 0, 1, COROUTINES, c};
    c->self = self;
    c->flow = flow;
    c->depth = depth < COROUTINE_DEPTH ? depth : COROUTINE_DEPTH;
    c->finished = 0;
    CHECK(getcontext(&c->own) == 0);
    c->own.uc_stack.ss_sp = c->stack;
    c->own.uc_stack.ss_size = COROUTINE_STACK;
    c->own.uc_link = &c->resumer;
    uintptr_t number = (uintptr_t)c;
    makecontext(&c->own, (void (*)(void))coroutine, 2, (unsigned)(number >> 32), (unsigned)number);
    return c;
}

int resume(struct self *self, struct coroutine *c) {
    struct flow flow = self->flow;
    self->flow = c->flow;
    CHECK(swapcontext(&c->resumer, &c->own) == 0);
    c->flow = self->flow;
    self->flow = flow;
    if (!c->finished) return 1;
    self->flow.stacks--;
    return 0;
}

void yield(struct self *self) {
    struct coroutine *c = self->flow.coroutine;
    if (c) CHECK(swapcontext(&c->own, &c->resumer) == 0);
}

/* ---- threads ---- */

static unsigned long seed, rounds, calls, depth;
static unsigned long sums;

static FRAME void work(struct self *self, unsigned here, unsigned number) {
    static __thread struct coroutine own[COROUTINES];
    struct flow flow = {0, 0, 1, 0, 0};
    self->random = seed * 1000003 + number;
    self->coroutines = own;
    self->sum = 0;
    for (int i = 0; i < COROUTINES; i++) {
        own[i].stack = (char *)mmap(0, COROUTINE_STACK, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
        CHECK(own[i].stack != MAP_FAILED);
    }
    current = self;
    for (unsigned long round = 0; round < rounds; round++) {
        self->flow = flow;
        for (self->left = (long)calls; self->left > 0;) CALL_ANY(self, here, (int)depth);
    }
    add(&sums, self->sum);
}

static FRAME void *worker(void *number) {
    struct self self;
    work(&self, enter(enter(TOP, WORKER), WORK), (unsigned)(uintptr_t)number);
    return 0;
}

int main(int argc, char **argv) {
    pthread_t threads[16];
    struct self self;
    if (argc < 6) return 1;
    seed = strtoul(argv[1], 0, 10);
    rounds = strtoul(argv[3], 0, 10);
    calls = strtoul(argv[4], 0, 10);
    depth = strtoul(argv[5], 0, 10);
    uintptr_t count = strtoul(argv[2], 0, 10);
    CHECK(count <= 16);
    struct sigaction action = {.sa_handler = handler};
    CHECK(sigaction(SIGUSR1, &action, 0) == 0);
    for (uintptr_t i = 0; i < count; i++) CHECK(pthread_create(&threads[i], 0, worker, (void *)(i + 1)) == 0);
    work(&self, enter(enter(TOP, MAIN), WORK), 0);
    for (uintptr_t i = 0; i < count; i++) CHECK(pthread_join(threads[i], 0) == 0);
    write_truth();
    return 0;
}
