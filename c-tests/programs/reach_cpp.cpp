/* Objects of C++ to which only pointers into their middles are left, which are as good as ones to their starts: arrays of
 * a type with a destructor, and a base class that is not the first one. And one where such a pointer is none. */
#include "reach.h"

#include <string>

struct Item {
    long value = 1;
    ~Item() {}
};

struct First {
    virtual ~First() {}
    long first = 1;
};
struct Second {
    virtual ~Second() {}
    long second = 2;
};
struct Both : First, Second {
    long both = 3;
};
struct Plain {
    long a = 1000, b = 2, c = 3;
};

Item *items;
Second *second;
long *member;
std::string *text;

FRAME void array(void) { items = new Item[7]; }
FRAME void base(void) { second = new Both; }
FRAME void middle(void) { member = &(new Plain)->b; }
FRAME void string(void) { text = new std::string(100, 'x'); }
FRAME void lose(void) {
    Both *both = new Both;
    __asm__ volatile("" ::"r"(both) : "memory");
}

int main() {
    call(array);
    call(base);
    call(middle);
    call(string);
    call(lose);
}
