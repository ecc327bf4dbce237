/* operator new for types that want more alignment than 16 bytes, single and in arrays, which goes to aligned_alloc. The
 * report must show 8 objects of 128 bytes kept by keep_lines and 16 of 4096 freed by pages. */
#include <cstdint>
#include <new>
#include "check.h"

struct alignas(64) Line {
    char bytes[128];
};
struct alignas(4096) Page {
    char bytes[4096];
};

FRAME static void keep_lines() {
    for (int i = 0; i < 8; i++) {
        Line *line = new Line;
        CHECK(reinterpret_cast<std::uintptr_t>(line) % 64 == 0);
        keep(line);
    }
}

FRAME static void pages() {
    for (int i = 0; i < 16; i++) {
        Page *page = new Page;
        CHECK(reinterpret_cast<std::uintptr_t>(page) % 4096 == 0);
        page->bytes[4095] = 1;
        delete page;
    }
}

int main() {
    keep_lines();
    pages();
    Line *several = new Line[3];
    CHECK(reinterpret_cast<std::uintptr_t>(several) % 64 == 0);
    delete[] several;
    say("aligned");
    return 0;
}
