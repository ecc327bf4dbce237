// C++ as it is written: strings, vectors, maps and shared pointers, filled and thrown away. argv[1]: rounds of some
// 150 allocations.
#include <cstdio>
#include <cstdlib>
#include <map>
#include <memory>
#include <string>
#include <vector>

struct Person {
    std::string name;
    std::vector<std::shared_ptr<Person>> friends;
};

__attribute__((noinline)) static std::shared_ptr<Person> meet(const std::string &name) {
    auto person = std::make_shared<Person>();
    person->name = name + ", who has a name too long to be stored within";
    return person;
}

__attribute__((noinline)) static std::size_t party(unsigned seed) {
    std::map<std::string, std::shared_ptr<Person>> guests;
    for (unsigned i = 0; i < 20; i++) {
        std::string name = "guest number " + std::to_string(seed * (i + 1) % 97);
        auto &guest = guests[name];
        if (!guest) guest = meet(name);
        for (auto &other : guests)
            if (other.second != guest && other.first.size() % 3 == i % 3) guest->friends.push_back(other.second);
    }
    std::size_t sum = 0;
    for (auto &guest : guests) {
        sum += guest.second->friends.size();
        guest.second->friends.clear();
    }
    return sum;
}

int main(int argc, char **argv) {
    long rounds = argc > 1 ? std::atol(argv[1]) : 10000;
    std::size_t sum = 0;
    for (long i = 0; i < rounds; i++) sum += party(static_cast<unsigned>(i));
    std::printf("%zu friends\n", sum);
    return 0;
}
