#!/usr/bin/env python3
"""How long a report takes for a program with very much debug information: one translation unit of C++, linked many times
under different names, run under the library, and its profile shown. Prints the bytes of DWARF, those of the profile, and
the least and the median of the times.

    bench/dwarf.py target/release/libmprof.so target/release/mpdisplay [UNITS [ROUNDS]]
"""

import os
import pathlib
import re
import statistics
import subprocess
import sys
import tempfile
import time

SOURCE = pathlib.Path(__file__).resolve().with_suffix(".cpp")


def build(folder, units):
    """The program: one object file, and copies of it in which its function has other names."""

    def run(*command):
        subprocess.run(command, cwd=folder, check=True)

    run("g++", "-std=c++17", "-g", "-O1", "-DWORK=work", "-c", str(SOURCE), "-o", "unit.o")
    for unit in range(units):
        run("objcopy", "--redefine-sym", f"work=work_{unit}", "unit.o", f"unit_{unit}.o")
    declarations = "".join(f'extern "C" std::size_t work_{unit}(int);\n' for unit in range(units))
    calls = " + ".join(f"work_{unit}(2)" for unit in range(units))
    (folder / "main.cpp").write_text(f"#include <cstddef>\n{declarations}int main() {{ return ({calls}) == 1; }}\n")
    run("g++", "-g", "main.cpp", *(f"unit_{unit}.o" for unit in range(units)), "-o", "program", "-pthread")


def debug_bytes(program):
    sections = subprocess.run(["size", "-A", program], capture_output=True, text=True, check=True).stdout
    return sum(int(size) for size in re.findall(r"^\.debug_\S+ +(\d+)", sections, re.M))


def main():
    library, display = (pathlib.Path(name).resolve() for name in sys.argv[1:3])
    units = int(sys.argv[3]) if len(sys.argv) > 3 else 190
    rounds = int(sys.argv[4]) if len(sys.argv) > 4 else 5
    with tempfile.TemporaryDirectory() as name:
        folder = pathlib.Path(name)
        build(folder, units)
        subprocess.run(["./program"], cwd=folder, check=True, env=dict(os.environ, LD_PRELOAD=str(library)))
        seconds = []
        for _ in range(rounds):
            start = time.monotonic()
            subprocess.run([display, "mprof.data"], cwd=folder, check=True, stdout=subprocess.DEVNULL)
            seconds.append(time.monotonic() - start)
        print(f"DWARF: {debug_bytes(folder / 'program') / 1e6:.0f} MB; profile: {(folder / 'mprof.data').stat().st_size} bytes")
        print(f"mpdisplay: least {min(seconds):.2f} s, median {statistics.median(seconds):.2f} s, {rounds} rounds")


main()
