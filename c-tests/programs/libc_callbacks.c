/* Callbacks that allocate, called from inside the C library, which is built without frame pointers and has no debug
 * information here: qsort, bsearch, tsearch and twalk. The report must show each below the function of ours that called
 * the library. */
#include <search.h>
#include "check.h"

static int comparisons;

FRAME int compare(const void *a, const void *b) {
    if (comparisons++ % 64 == 0) free(malloc(41));
    return *(const int *)a - *(const int *)b;
}

FRAME int compare_keeping(const void *a, const void *b) {
    keep(malloc(42));
    return *(const int *)a - *(const int *)b;
}

FRAME void visit(const void *node, VISIT order, int depth) {
    (void)node, (void)depth;
    if (order == postorder || order == leaf) keep(malloc(43));
}

FRAME void sorts(int *numbers, size_t count) { qsort(numbers, count, sizeof *numbers, compare); }

FRAME void searches(int *numbers, size_t count) {
    int wanted = numbers[count / 2];
    kept_count = 0;
    CHECK(bsearch(&wanted, numbers, count, sizeof *numbers, compare_keeping));
}

FRAME void walks(int *numbers, size_t count) {
    void *tree = 0;
    comparisons = 1;
    for (size_t i = 0; i < count; i++) CHECK(tsearch(&numbers[i], &tree, compare));
    twalk(tree, visit);
}

int main(void) {
    static int numbers[100];
    for (int i = 0; i < 100; i++) numbers[i] = i * 7919 % 1009;
    sorts(numbers, 100);
    searches(numbers, 100);
    walks(numbers, 100);
    say("sorted %d", numbers[0] <= numbers[99]);
    return 0;
}
