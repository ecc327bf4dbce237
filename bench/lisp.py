#!/usr/bin/env python3
"""What a cons of compiled Lisp code costs under ECL: bare, counted by a shim that does nothing else, and under mprof, in
turn. Prints the least and the median of the processor times, nanoseconds a cons.

    bench/lisp.py target/release/libmprof.so [ROUNDS]
"""

import os
import pathlib
import statistics
import subprocess
import sys
import tempfile

HERE = pathlib.Path(__file__).resolve().parent
CONSES = 1_000_000


def run(command, folder, library=None):
    environment = dict(os.environ)
    if library:
        environment["LD_PRELOAD"] = str(library)
    return subprocess.run(
        command, cwd=folder, env=environment, check=True, capture_output=True, text=True
    ).stdout


def main():
    library = pathlib.Path(sys.argv[1]).resolve()
    rounds = int(sys.argv[2]) if len(sys.argv) > 2 else 9
    with tempfile.TemporaryDirectory() as folder:
        source = HERE / "workloads" / "conses.lisp"
        form = f'(progn (compile-file "{source}" :output-file "{folder}/conses.fas") (ext:quit 0))'
        run(["ecl", "--norc", "--eval", form], folder)
        shim = pathlib.Path(folder) / "conses.so"
        run(["gcc", "-O2", "-shared", "-fPIC", "-o", shim, HERE / "shims" / "conses.c"], folder)
        ways = {"bare": None, "counted": shim, "mprof": library}
        times = {way: [] for way in ways}
        for _ in range(rounds):
            for way, preloaded in ways.items():
                said = run(["ecl", "--norc", "--load", "conses.fas", "--eval", "(ext:quit 0)"], folder, preloaded)
                milliseconds = int(said.split()[-1])
                times[way].append(milliseconds * 1_000_000 / CONSES)
        print(f"{'':8}{'least':>8}{'median':>8}   ns a cons, {rounds} rounds")
        for way, all_times in times.items():
            print(f"{way:8}{min(all_times):8.0f}{statistics.median(all_times):8.0f}")


main()
