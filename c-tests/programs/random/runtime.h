/* What the functions of random programs share. A program of these keeps the truth about itself: each function takes the
 * node of its caller in a tree of calls and finds its own node below it, and every allocation and free is counted at a
 * node. At the end the tree is written to the file `truth`. Nothing in the runtime allocates from the heap. */
#ifndef RUNTIME_H
#define RUNTIME_H

#ifndef _GNU_SOURCE
#define _GNU_SOURCE
#endif
#include <alloca.h>
#include <malloc.h>
#include <setjmp.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>

#ifdef __cplusplus
extern "C" {
#endif

/* A function that stays a frame of its own, in every build. */
#define FRAME __attribute__((noipa))

/* Nodes of the truth without a caller. */
enum { TOP = 0 };

/* Functions that every program has, besides its own, which follow. */
enum { MAIN, WORKER, WORK, COROUTINE, HANDLER, GUARD, OPERATOR_NEW, ALLOCATE_EXCEPTION, OWN_FUNCTIONS };

struct coroutine;

/* Where control may go from here; a function that catches a jump or an exception takes back the flow that it had. */
struct flow {
    jmp_buf *jump;               /* the innermost place for longjmp on this stack, or none */
    int catching;                /* functions on this stack that catch exceptions */
    int signals;                 /* a signal may be raised */
    int stacks;                  /* coroutines begun and not finished */
    struct coroutine *coroutine; /* that may yield here, or none */
};

/* One thread of the program. */
struct self {
    uint64_t random;
    long left; /* calls that may still be made in this round */
    struct flow flow;
    unsigned long sum;  /* what must not be optimised away */
    unsigned signalled; /* the node that raises a signal */
    int depth;          /* calls that its handler may nest */
    struct coroutine *coroutines;
};

/* An object and the node that allocated it. */
struct object {
    void *pointer;
    size_t size;
    unsigned node;
};

unsigned enter(unsigned parent, unsigned function);
unsigned draw(struct self *self, unsigned below);
size_t draw_size(struct self *self);
int turns(struct self *self, int most);

/* Counts a new object at `node`, fills it, and puts it where any function of any thread may take it. */
void remember(struct self *self, unsigned node, void *pointer, size_t size, size_t alignment);
/* As remember, for memory that must be zero. */
void remember_zeroes(struct self *self, unsigned node, void *pointer, size_t size);
/* An object to free or to resize, or a null pointer. */
struct object take(struct self *self);
/* Counts a free of it at the node that allocated it. */
void freed(struct object object);
/* Counts `object` as freed and `pointer` as new; checks that the contents went along. */
void resized(struct self *self, unsigned node, struct object object, void *pointer, size_t size);
/* An exception is about to be allocated. */
void thrown(unsigned node);

/* Writes into `size` bytes of stack. */
void touch(struct self *self, volatile void *memory, size_t size);

/* Raises a signal here, whose handler calls functions. */
void interrupt(struct self *self, unsigned node, int depth);

struct coroutine *begin_coroutine(struct self *self, int depth);
int resume(struct self *self, struct coroutine *coroutine);
void yield(struct self *self);

/* The functions that can be called by number. */
typedef void function(struct self *self, unsigned parent, int depth);
extern function *const functions[];
extern const unsigned function_count;

#ifdef __cplusplus
}

struct Thrown {
    unsigned node;
    long more[3];
};

/* Its destructor calls a function: also where an exception leaves the scope. */
struct Guard {
    struct self *self;
    unsigned parent;
    int depth;
    FRAME ~Guard();
};
#endif

#endif
