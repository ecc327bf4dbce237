"""The inputs of the real programs: made once in a folder, always the same."""
import os
import random
import subprocess


def sql(path, rows=150000):
    rnd = random.Random(1)
    with open(path, "w") as f:
        f.write("CREATE TABLE part(id INTEGER PRIMARY KEY, name TEXT, price REAL, maker INTEGER);\n"
                "CREATE TABLE maker(id INTEGER PRIMARY KEY, name TEXT);\nCREATE INDEX by_maker ON part(maker);\nBEGIN;\n")
        for i in range(500):
            f.write(f"INSERT INTO maker VALUES({i}, 'maker {rnd.randrange(10**9)}');\n")
        for i in range(rows):
            f.write(f"INSERT INTO part VALUES({i}, 'part {rnd.randrange(10**9)} of the assembly', {rnd.random() * 100:.2f}, {rnd.randrange(500)});\n")
            if i % 10 == 0:
                f.write(f"SELECT count(*) FROM part WHERE id = {rnd.randrange(i + 1)};\n")
        f.write("COMMIT;\n")
        for i in range(200):
            f.write(f"SELECT m.name, count(*), sum(p.price), group_concat(substr(p.name, 1, 6)) FROM part p JOIN maker m ON m.id = p.maker "
                    f"WHERE m.id BETWEEN {i} AND {i + 10} GROUP BY m.name ORDER BY 3;\n")


def c_source(path, functions=700):
    rnd = random.Random(2)
    with open(path, "w") as f:
        f.write("#include <stdio.h>\n#include <stdlib.h>\n#include <string.h>\n")
        for i in range(functions):
            f.write(f"struct s{i} {{ int a, b; double d[{1 + i % 7}]; struct s{i} *next; }};\n"
                    f"int f{i}(struct s{i} *p, int n)\n{{\n    int r = {rnd.randrange(1000)};\n"
                    f"    for (int i = 0; i < n; i++) {{\n        switch ((i + p->a) % 5) {{\n"
                    f"        case 0: r += p->b * {rnd.randrange(1, 99)}; break;\n"
                    f"        case 1: r ^= (int)p->d[i % {1 + i % 7}]; break;\n"
                    f"        case 2: if (p->next) r -= p->next->a; break;\n"
                    f"        default: p->a = r >> {rnd.randrange(1, 7)}; p->d[0] += r * {rnd.random():.4f};\n        }}\n    }}\n"
                    + (f"    return r + f{i - 1}((void *)p, n - 1);\n" if i % 3 else "    return r;\n") + "}\n")


def json_file(path, megabytes=50):
    rnd = random.Random(3)
    with open(path, "w") as f:
        f.write("[")
        i = size = 0
        while size < megabytes * 1000000:
            row = (f'{{"id":{i},"name":"user {rnd.randrange(10**6)}","score":{rnd.random():.5f},'
                   f'"tags":["a{rnd.randrange(50)}","b{rnd.randrange(50)}"],"at":{{"x":{rnd.randrange(999)},"y":{rnd.randrange(999)}}}}}')
            f.write((",\n" if i else "") + row)
            size += len(row) + 2
            i += 1
        f.write("]\n")


def make(out):
    """Writes those that are not there yet."""
    def missing(name):
        return not os.path.exists(os.path.join(out, name))

    if missing("load.sql"):
        sql(os.path.join(out, "load.sql"))
    if missing("big.i"):
        c_source(os.path.join(out, "big.c"))
        subprocess.run(["gcc", "-E", "-o", os.path.join(out, "big.i"), os.path.join(out, "big.c")], check=True)
    if missing("big.json"):
        json_file(os.path.join(out, "big.json"))
