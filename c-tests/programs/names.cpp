/* Functions with names as C++ makes them: namespaces, templates, operators, constructors, lambdas, virtual functions.
 * Each keeps one object of its own size. The report must show the names readable: shop::Shelf<int, 7>::stock 101,
 * its constructor 102, operator[] 103, a lambda in main 104, a function in an unnamed namespace 105, and a virtual
 * function called through its base 106. */
#include <cstddef>
#include "check.h"

namespace shop {
template <typename T, int N>
struct Shelf {
    FRAME explicit Shelf(T) { keep(malloc(102)); }
    FRAME void stock(T) { keep(malloc(101)); }
    FRAME T operator[](std::size_t) const {
        keep(malloc(103));
        return T();
    }
};
} // namespace shop

namespace {
FRAME void hidden() { keep(malloc(105)); }
} // namespace

struct Base {
    virtual ~Base() = default;
    virtual void act() = 0;
};

struct Derived : Base {
    FRAME void act() override { keep(malloc(106)); }
};

FRAME static void call(Base &base) { base.act(); }

int main() {
    shop::Shelf<int, 7> shelf(1);
    shelf.stock(2);
    (void)shelf[3];
    auto lambda = [](std::size_t size) FRAME { keep(malloc(size)); };
    lambda(104);
    hidden();
    Derived derived;
    call(derived);
    say("%d kept", kept_count);
    return 0;
}
