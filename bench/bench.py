#!/usr/bin/env python3
"""What the library costs: runs each workload bare, under two shims, and under it, in turn, and prints tables.

    make bench
    make bench-peers
    bench/bench.py --library target/release/libmprof.so --rounds 9 --workload deep,python
    bench/bench.py --library new.so --other old=old.so --scale 0.2

Each run begins in an empty folder and must print what the bare run prints. "null" hands every call on and does no more,
"header" puts a header before each object and counts by call site: no profiler that knows every object can do less.
Needs Python 3.8 and gcc; a workload whose program is not installed is left out.
"""
import argparse
import json
import os
import statistics
import subprocess
import sys

import measure
import tables
import tools
import workloads


def arguments():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument('--library', required=True, help='the library to measure')
    parser.add_argument('--display', help='mpdisplay, to time it')
    parser.add_argument('--counter', help='mprof-format\'s example `count`, to count contexts')
    parser.add_argument('--other', action='append', default=[], metavar='NAME=PATH',
                        help='another library to preload, for comparison; several allowed')
    parser.add_argument('--peers', action='store_true', help='other profilers too, as far as they are installed')
    parser.add_argument('--workload', default='', help='names, with commas; all by default')
    parser.add_argument('--rounds', type=int, default=5)
    parser.add_argument('--scale', type=float, default=1.0, help='factor on the amount of work')
    parser.add_argument('--out', default='target/bench', help='folder for programs and inputs')
    parser.add_argument('--json', help='write all single runs and the figures to this file')
    options = parser.parse_args()
    for path in filter(None, [options.library, options.display, options.counter]):
        if not os.path.isfile(path):
            sys.exit('bench: there is no ' + path)
    return options


def bench(name, workload, under, out, options):
    """All that is known of one workload in the end."""
    allocs, live = measure.count(out, workload, options.scale)
    runs = measure.in_turn(out, workload, under, options)
    figures = {who: tables.figures(of, runs['bare'], allocs) for who, of in runs.items() if of}
    print('%s done' % name, file=sys.stderr)
    return {'allocs': allocs, 'live': live, 'threads': workload.threads, 'goal': workload.goal, 'figures': figures,
            'runs': {who: [run.record() for run in of] for who, of in runs.items()}}


def scaling(under, out, options):
    """Least seconds with one thread and with two, by tool. More rounds: where two processors are shared with others,
    most runs say little."""
    found = {tool.name: [[], []] for tool in under}
    for _ in range(options.rounds * 2):
        for tool in under:
            for which, threads in enumerate((1, 2)):
                run = measure.Run(out, workloads.thread_workload(out, threads), tool, options.scale)
                found[tool.name][which].append(run.seconds)
    return {who: (min(one), min(two)) for who, (one, two) in found.items()}


def start(under, out, options):
    """Median seconds of `true`, by tool."""
    found = {tool.name: [] for tool in under}
    for _ in range(options.rounds * 10):
        for tool in under:
            found[tool.name].append(measure.Run(out, workloads.Workload(['/bin/true']), tool, 1).seconds)
    return {who: statistics.median(seconds) for who, seconds in found.items()}


def main():
    options = arguments()
    out = os.path.abspath(options.out)
    workloads.build(out)
    if options.counter:
        subprocess.run(['cp', options.counter, os.path.join(out, 'count-contexts')], check=True)
    under = tools.ours(out, options.library, options.display)
    for other in options.other:
        name, _, path = other.partition('=')
        under.append(tools.Tool(name, os.path.abspath(path)))
    mine = list(under)
    if options.peers:
        under += tools.peers()
    known = workloads.all_workloads(out, options.scale)
    chosen = options.workload.split(',') if options.workload else list(known)
    results = {}
    for name in chosen:
        if name not in known:
            sys.exit('bench: no workload %s; there are %s' % (name, ', '.join(known)))
        if not known[name].is_there():
            print('left out, not installed: ' + name, file=sys.stderr)
            continue
        for tool in under:
            tool.slow = tool.slow and tool.name in ('gperftools', 'massif', 'dhat')
        results[name] = bench(name, known[name], under, out, options)
    threads, begin = scaling(mine, out, options), start(mine, out, options)
    tables.times(results)
    tables.sizes(results)
    tables.scaling(threads)
    tables.start(begin)
    if options.json:
        with open(options.json, 'w', encoding='ascii') as file:
            json.dump({'scale': options.scale, 'workloads': results, 'threads': threads, 'true': begin}, file, indent=1)


if __name__ == '__main__':
    main()
