/* realloc: 64 buffers that grow by steps, in turn, and begin anew when they are large. argv[1]: calls of realloc. */
#include <stdio.h>
#include <stdlib.h>

enum { BUFFERS = 64 };

__attribute__((noinline)) static char *grow(char *buffer, size_t size) {
    buffer = realloc(buffer, size);
    if (!buffer) abort();
    buffer[size - 1] = 1;
    return buffer;
}

int main(int argc, char **argv) {
    static char *buffers[BUFFERS];
    static size_t sizes[BUFFERS];
    long count = argc > 1 ? atol(argv[1]) : 1000000;
    size_t sum = 0;
    for (long i = 0; i < count; i++) {
        long b = i % BUFFERS;
        sizes[b] = sizes[b] > 20000 ? 16 : sizes[b] + sizes[b] / 4 + 16;
        buffers[b] = grow(buffers[b], sizes[b]);
        sum += sizes[b];
    }
    printf("%zu bytes\n", sum);
    return 0;
}
