/* Classes of a C++ program, one size each: the report must name, for 48 bytes geometry::Box and its alias Crate, for 72
 * Stack<double> (an instance of a template), for 88 the nested Outer::Inner; no enum class, no base type. */
#include "check.h"

namespace geometry {
class Box {
    double low[3], high[3];

  public:
    Box() : low{}, high{} {}
    double volume() const { return high[0] - low[0]; }
};
} // namespace geometry
using Crate = geometry::Box;

template <typename T>
struct Stack {
    T items[8];
    long count;
};

struct Outer {
    struct Inner {
        long numbers[11];
    };
    enum class Kind { ONE, TWO };
};

int main() {
    Crate *crate = new Crate;
    Stack<double> *stack = new Stack<double>{};
    Outer::Inner *inner = new Outer::Inner{};
    Outer::Kind *kind = new Outer::Kind{Outer::Kind::ONE};
    void *const all[] = {crate, stack, inner, kind};
    for (void *object : all) keep(object);
    say("volume %d", static_cast<int>(crate->volume()));
    return 0;
}
