/* operator new in its usual forms: single, array, nothrow, sized delete, placement, and one that fails. The report must
 * show them as operator new called by the function that used it: singles 20 of 24 bytes, arrays 10 of 400, all freed;
 * lost keeps 5 of 24. */
#include <cstdint>
#include <new>
#include "check.h"

struct Point {
    double x, y, z;
};

/* A compiler may leave out an allocation that nobody sees (C++14): these are seen. */
static Point *volatile point;
static int *volatile numbers;

FRAME static void singles() {
    for (int i = 0; i < 20; i++) {
        point = new Point{1, 2, 3};
        delete point;
    }
}

FRAME static void arrays() {
    for (int i = 0; i < 10; i++) {
        numbers = new int[100];
        delete[] numbers;
    }
}

FRAME static void without_throwing() {
    for (int i = 0; i < 10; i++) {
        point = new (std::nothrow) Point;
        CHECK(point);
        delete point;
    }
}

FRAME static void lost() {
    for (int i = 0; i < 5; i++) keep(new Point);
}

FRAME static void too_much(volatile std::size_t size) {
    bool thrown = false;
    try {
        keep(new char[size]);
    } catch (const std::bad_alloc &) {
        thrown = true;
    }
    CHECK(thrown);
    char *none = new (std::nothrow) char[size];
    CHECK(!none);
}

int main() {
    singles();
    arrays();
    without_throwing();
    lost();
    too_much(PTRDIFF_MAX);
    alignas(Point) char room[sizeof(Point)];
    Point *placed = new (room) Point;
    placed->~Point();
    say("%d kept", kept_count);
    return 0;
}
