// Models: a translation unit of a large C++ program, as far as its debug information goes. `bench/dwarf.py` links it many
// times over; WORK is the name of its one function that others may call.
#include <algorithm>
#include <chrono>
#include <deque>
#include <filesystem>
#include <fstream>
#include <functional>
#include <future>
#include <iostream>
#include <list>
#include <map>
#include <memory>
#include <optional>
#include <random>
#include <regex>
#include <set>
#include <sstream>
#include <string>
#include <thread>
#include <tuple>
#include <unordered_map>
#include <variant>
#include <vector>

namespace {

template <int N> struct Node {
    std::map<int, std::string> names;
    std::vector<std::unique_ptr<Node<N - 1>>> children;
    std::variant<int, std::string, double> value;
};

template <> struct Node<0> {
    std::string leaf;
};

template <int N> std::size_t fill(Node<N> &node, int width)
{
    std::size_t sum = 0;
    for (int i = 0; i < width; i++) {
        node.names[i] = std::string(40 + N, 'x');
        node.children.push_back(std::make_unique<Node<N - 1>>());
        if constexpr (N > 1)
            sum += fill<N - 1>(*node.children.back(), width);
        else
            node.children.back()->leaf.assign(30, 'y');
        sum += node.names.size();
    }
    return sum;
}

} // namespace

extern "C" std::size_t WORK(int width)
{
    Node<6> root;
    std::size_t sum = fill<6>(root, width);
    std::regex pattern("([a-z]+)[0-9]*(x|y)+");
    std::unordered_map<std::string, std::deque<std::shared_ptr<int>>> table;
    for (int i = 0; i < 20; i++) table["key" + std::to_string(i % 5)].push_back(std::make_shared<int>(i));
    std::set<std::tuple<int, std::string>> ordered;
    for (auto &[k, v] : table) ordered.emplace(static_cast<int>(v.size()), k);
    std::stringstream text;
    for (auto &[n, k] : ordered) text << n << k;
    std::list<std::function<int(int)>> functions;
    functions.push_back([&](int x) { return x + static_cast<int>(sum); });
    if (std::regex_search(text.str(), pattern)) sum += functions.front()(1);
    return sum;
}
