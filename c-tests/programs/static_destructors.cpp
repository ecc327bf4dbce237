/* Containers with static storage, which are freed after main, and objects of function-local statics and of a
 * thread_local. None of them is a leak: the profile is written after all destructors. The report must show 3 objects of
 * 190 bytes kept by forgotten, and nothing else kept of the program's. */
#include <map>
#include <memory>
#include <string>
#include <vector>
#include "check.h"

static std::vector<std::string> names;
static std::map<int, std::unique_ptr<int[]>> table;
static thread_local std::string own(500, 'o');

struct LastWords {
    std::unique_ptr<char[]> text{new char[77]};
    ~LastWords() {
        std::string more(200, 'm');
        text.reset();
    }
};

FRAME static LastWords &local() {
    static LastWords words;
    return words;
}

FRAME static void fill() {
    for (int i = 0; i < 50; i++) {
        names.push_back(std::string(100 + static_cast<std::size_t>(i), 'n'));
        table[i] = std::make_unique<int[]>(40);
    }
    local().text[0] = 1;
    own += 'x';
}

FRAME static void forgotten() {
    for (int i = 0; i < 3; i++) keep(malloc(190));
}

int main() {
    fill();
    forgotten();
    say("%zu names", names.size());
    return 0;
}
