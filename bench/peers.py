#!/usr/bin/env python3
"""Compares peak and totals of mprof with those of massif, heaptrack and DHAT, exact numbers, as a Markdown table.

    bench/peers.py --lib target/release/libmprof.so --display target/release/mpdisplay NAME=COMMAND ...

Each command is split at spaces and run once under each tool. What is asked for: bytes that the program requested (massif
with --heap-admin=0 and --peak-inaccuracy=0.0, heap only). Standard library only.
"""
import argparse
import glob
import json
import os
import re
import subprocess
import tempfile

ALLOCATORS = re.compile(r"\b(malloc|calloc|realloc|memalign|posix_memalign|aligned_alloc|reallocarray)\b")


def known(name):
    """A function as all tools can call it: without parameters, `???` without a name."""
    return "???" if re.search(r"\+0x[0-9a-f]+$", name) else re.sub(r"\(.*\)$", "", name)


def run(command, stdin, **env):
    with open(stdin or os.devnull) as source:
        return subprocess.run(command, stdin=source, env={**os.environ, **env}, stdout=subprocess.DEVNULL,
                              stderr=subprocess.PIPE, text=True, errors="replace")


def mprof(args, command, stdin, folder):
    data = os.path.join(folder, "mprof.data")
    run(command, stdin, LD_PRELOAD=args.lib, MPROF_DATA=data, MPROF_FOLLOW="0")
    show = [args.display, data, "--no-pager", "-v", "--tables", "direct,lifetime"]
    text = subprocess.run(show, stdout=subprocess.PIPE, text=True).stdout
    total = re.search(r"^Allocated: (\d+) objects?, (\d+) bytes", text, re.M)
    peak = re.search(r"^Peak: +(\d+) objects?, (\d+) bytes", text, re.M)
    temporary = re.search(r"(\d+) of them were temporary", text)
    sites = {}
    for line in text.splitlines():
        row = re.match(r" *\d+\.\d +(\d+) \|.*\| *\d+ \|.*\| *(\d+)  (.*)$", line)
        if row:
            before = sites.get(known(row[3]), (0, 0))
            sites[known(row[3])] = (before[0] + int(row[1]), before[1] + int(row[2]))
    return dict(objects=int(total[1]), bytes=int(total[2]), peak=int(peak[2]), peak_objects=int(peak[1]),
                temporary=int(temporary[1]) if temporary else 0, sites=sites)


def massif(command, stdin, folder):
    out = os.path.join(folder, "massif.out")
    run(["valgrind", "--tool=massif", "--heap-admin=0", "--peak-inaccuracy=0.0", "--depth=1",
         f"--massif-out-file={out}", *command], stdin)
    with open(out) as file:
        return max(int(number) for number in re.findall(r"^mem_heap_B=(\d+)", file.read(), re.M))


def heaptrack(command, stdin, folder):
    run(["heaptrack", "-o", os.path.join(folder, "heaptrack"), *command], stdin)
    file = glob.glob(os.path.join(folder, "heaptrack*"))[0]
    out = os.path.join(folder, "as-massif")
    text = subprocess.run(["heaptrack_print", "-f", file, "-p", "0", "-a", "0", "-T", "0", "-M", out],
                          stdout=subprocess.PIPE, text=True, errors="replace").stdout
    calls = re.search(r"calls to allocation functions: (\d+)", text)
    temporary = re.search(r"temporary memory allocations: (\d+)", text)
    shown = re.search(r"peak heap memory consumption: (\S+)", text)
    return dict(calls=int(calls[1]), temporary=int(temporary[1]), shown=shown[1])


def dhat(command, stdin, folder):
    out = os.path.join(folder, "dhat.json")
    run(["valgrind", "--tool=dhat", f"--dhat-out-file={out}", *command], stdin)
    with open(out) as file:
        data = json.load(file)
    names = [re.sub(r"^0x[0-9A-F]+: ", "", name) for name in data["ftbl"]]
    sites = {}
    sums = [0, 0, 0, 0]
    for point in data["pps"]:
        frames = [re.sub(r" \((in )?[^()]*\)$", "", names[index]) for index in point["fs"]]
        callers = [frame for frame in frames if not ALLOCATORS.match(frame)] or frames
        site = sites.setdefault(known(callers[0]), [0, 0])
        site[0] += point["tb"]
        site[1] += point["tbk"]
        for index, key in enumerate(["tb", "tbk", "gb", "gbk"]):
            sums[index] += point[key]
    return dict(bytes=sums[0], objects=sums[1], peak=sums[2], peak_objects=sums[3],
                sites={name: tuple(site) for name, site in sites.items()})


def compare(args, name, command, stdin):
    with tempfile.TemporaryDirectory() as folder:
        ours = mprof(args, command, stdin, folder)
        peak = massif(command, stdin, folder)
        track = heaptrack(command, stdin, folder)
        points = dhat(command, stdin, folder)
    same = [site for site, sums in ours["sites"].items() if points["sites"].get(site) == sums]
    rows = [name, ours["objects"], ours["bytes"], points["objects"], points["bytes"], ours["peak"], peak,
            track["shown"], points["peak"], ours["temporary"], track["temporary"],
            f"{len(same)} of {len(ours['sites'])}"]
    print("| " + " | ".join(str(row) for row in rows) + " |", flush=True)
    for site in sorted(set(ours["sites"]) | set(points["sites"])):
        if ours["sites"].get(site) != points["sites"].get(site) and args.verbose:
            print(f"    {site}: {ours['sites'].get(site)} {points['sites'].get(site)}", flush=True)


def main():
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--lib", required=True)
    parser.add_argument("--display", required=True)
    parser.add_argument("-v", "--verbose", action="store_true", help="the sites that differ, too")
    parser.add_argument("commands", nargs="+", metavar="NAME=COMMAND", help="a `< FILE` at the end is read")
    args = parser.parse_args()
    print("| program | objects | bytes | objects, DHAT | bytes, DHAT | peak | peak, massif | peak, heaptrack "
          "| peak, DHAT | temporary | temporary, heaptrack | same sites as DHAT |")
    print("|---|" + "---:|" * 11)
    for entry in args.commands:
        name, command = entry.split("=", 1)
        command, _, stdin = command.partition(" < ")
        compare(args, name, command.split(), stdin.strip())


main()
