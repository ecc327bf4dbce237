/* One thread; each function below keeps objects in its own way, which its name says. With MPROF_LEAK_CHECK=1 the profile
 * must class them as the remarks say. */
#include "reach.h"

#include <pthread.h>
#include <sys/mman.h>

struct node {
    struct node *next;
    char *text;
    long rest[4];
};

void *variable; /* no initial value */
void *initialised = &variable;
__thread void *thread_local;
void **mapped, **shared;
struct node *list;
char *inside;
static pthread_key_t keys[40];

/* Reachable. */
FRAME void in_variable(void) { variable = object(101); }
FRAME void in_initialised(void) { initialised = object(102); }
FRAME void in_thread_local(void) { thread_local = object(103); }
FRAME void in_mapping(void) {
    mapped = mmap(0, 8192, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
    CHECK(mapped != MAP_FAILED);
    mapped[100] = object(104);
}
FRAME void in_shared_mapping(void) {
    shared = mmap(0, 4096, PROT_READ | PROT_WRITE, MAP_SHARED | MAP_ANONYMOUS, -1, 0);
    CHECK(shared != MAP_FAILED);
    shared[7] = object(105);
}
FRAME void in_protected_mapping(void) {
    void **page = mmap(0, 4096, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
    CHECK(page != MAP_FAILED);
    page[9] = object(106);
    CHECK(mprotect(page, 4096, PROT_READ) == 0);
}
FRAME void in_first_keys(void) {
    for (int i = 0; i < 40; i++) CHECK(pthread_key_create(&keys[i], 0) == 0);
    CHECK(pthread_setspecific(keys[3], object(107)) == 0);
}
FRAME void in_last_keys(void) { CHECK(pthread_setspecific(keys[39], object(108)) == 0); }
FRAME void in_environment(void) {
    char *entry = object(109);
    strcpy(entry, "REACH_VARIABLE=1");
    CHECK(putenv(entry) == 0);
}
FRAME void in_list(void) { /* three nodes, one text each */
    for (int i = 0; i < 3; i++) {
        struct node *node = object(sizeof *node);
        node->text = object(60);
        node->next = list;
        list = node;
    }
}
FRAME void in_large_object(void) {
    void **large = object(1 << 20);
    large[100000] = object(110);
    list->rest[0] = (long)large;
}
FRAME void aligned(void) {
    void *made = 0;
    CHECK(posix_memalign(&made, 4096, 111) == 0);
    list->rest[1] = (long)made;
}
FRAME void grown(void) { list->rest[2] = (long)realloc(realloc(object(40), 100), 112); }
/* Moved to where its address is not a multiple of its first alignment any more, as often as not. */
FRAME void grown_aligned(void) {
    void **made = 0;
    CHECK(posix_memalign((void **)&made, 256, 113) == 0);
    CHECK(made = realloc(made, 5000));
    made[0] = object(114);
    list->rest[3] = (long)made;
}
FRAME void empty(void) { list->next->rest[3] = (long)malloc(0); }

/* Possible: a pointer into the middle, and what it leads to. */
FRAME void by_its_middle(void) {
    char **start = object(121);
    start[0] = object(122);
    inside = (char *)start + 50;
}

/* Lost. */
FRAME void lose(void) {
    for (int i = 0; i < 4; i++) object(131);
}
FRAME void lose_large(void) { object(300000); }
FRAME void lose_aligned(void) {
    void *made = 0;
    CHECK(posix_memalign(&made, 256, 132) == 0);
}
/* One lost, the others indirect. */
FRAME void lose_list(void) {
    struct node *first = 0;
    for (int i = 0; i < 5; i++) {
        struct node *node = object(sizeof *node);
        node->next = first;
        first = node;
    }
}
FRAME void lose_ring(void) {
    struct node *first = object(sizeof *first), *last = first;
    for (int i = 0; i < 3; i++) {
        last->next = object(sizeof *first);
        last = last->next;
    }
    last->next = first;
}
/* Lost although a freed object, and the stack below, still have its address. */
FRAME void known_to_freed(void) {
    void **holder = object(4000);
    holder[200] = object(133);
    object(16); /* keeps the holder from being merged with the free end of the heap */
    free(holder);
}
FRAME void known_to_freed_large(void) {
    void **holder = object(500000);
    holder[30000] = object(134);
    free(holder);
}
/* Lost: a pointer to just behind it is none to it; nor is one that is not aligned, or that is not a pointer any more. */
FRAME void known_by_its_end(void) {
    char *made = object(144);
    list->next->rest[0] = (long)(made + 144);
}
struct __attribute__((packed)) { char pad; void *pointer; } crooked __attribute__((aligned(16)));
/* (Much larger than the object before: LeakSanitizer has memory for each size, where one as large begins just behind it.) */
FRAME void known_crooked(void) { crooked.pointer = object(400); }
unsigned long hidden;
FRAME void known_hidden(void) { hidden = ~(unsigned long)object(500); }

FRAME void *for_stack(void) { return object(138); }

int main(void) {
    void *on_stack[4] = {0};
    on_stack[2] = for_stack();
    void (*all[])(void) = {
        in_variable, in_initialised, in_thread_local, in_mapping, in_shared_mapping, in_protected_mapping,
        in_first_keys, in_last_keys, in_environment, in_list, in_large_object, aligned, grown, grown_aligned, empty,
        by_its_middle,
        lose, lose_large, lose_aligned, lose_list, lose_ring, known_to_freed, known_to_freed_large, known_by_its_end,
        known_crooked, known_hidden,
    };
    for (unsigned i = 0; i < sizeof all / sizeof *all; i++) call(all[i]);
    __asm__ volatile("" ::"r"(on_stack) : "memory");
    exit(0);
}
