"""Python's usual life: classes, dictionaries, closures, text; to be run with PYTHONMALLOC=malloc. argv[1]: rounds."""
import json
import re
import sys


class Node:
    def __init__(self, key, children):
        self.key = key
        self.children = children

    def total(self):
        return self.key + sum(child.total() for child in self.children)


def tree(depth, key):
    return Node(key, [tree(depth - 1, key * 3 + i) for i in range(3)] if depth else [])


def words(count):
    text = ' '.join('w%d' % (i * 7919 % 1009) for i in range(count))
    found = {}
    for word in re.findall(r'w\d+', text):
        found.setdefault(word[:3], []).append(word)
    return {key: sorted(value) for key, value in found.items()}


result = 0
for i in range(int(sys.argv[1]) if len(sys.argv) > 1 else 20):
    result += tree(5, i).total()
    result += len(json.loads(json.dumps(words(800))))
print(result)
