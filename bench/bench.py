#!/usr/bin/env python3
"""What the library costs: runs each workload bare and under it, in turn, and prints a table.

    make bench
    bench/bench.py --library target/release/libmprof.so --rounds 9 --workload deep,python
    bench/bench.py --library new.so --other old=old.so --scale 0.2

Each run begins in an empty folder and must print what the bare run prints. A round runs bare, the library, and each
--other, in an order that rotates, so that a machine that grows slower or faster favours nobody. Times are elapsed
seconds, medians of all rounds; "ns" is the time that was added for each allocation call (malloc, calloc, realloc and
the aligned ones, with the frees that go with them). Needs Python 3.8 and gcc; what else is missing is left out.
"""
import argparse
import glob
import json
import os
import shutil
import statistics
import struct
import subprocess
import sys
import tempfile

HERE = os.path.dirname(os.path.abspath(__file__))
SOURCES = os.path.join(HERE, 'workloads')
COUNTER = os.path.join(HERE, os.pardir, 'c-tests', 'programs', 'libcount.c')


class Workload:
    """A command line; the last word is a number that the scale is applied to, unless `amount` is 0."""

    def __init__(self, words, amount, env=None, needs=(), stdin=None):
        self.words, self.amount, self.env, self.needs, self.stdin = words, amount, env or {}, needs, stdin

    def missing(self):
        return [program for program in self.needs if not shutil.which(program)]

    def command(self, scale):
        return self.words + ([str(max(1, int(self.amount * scale)))] if self.amount else [])


def insertions(count):
    """Statements for sqlite3: as many insertions, an index, and questions."""
    lines = ['CREATE TABLE t(id INTEGER PRIMARY KEY, name TEXT, x REAL);', 'BEGIN;']
    lines += ["INSERT INTO t(name, x) VALUES('name %d', %d.25);" % (i * 7919 % 10007, i % 500) for i in range(count)]
    lines += ['COMMIT;', 'CREATE INDEX n ON t(name);', 'SELECT count(*), sum(x) FROM t WHERE name LIKE \'name 7%\';',
              'SELECT max(c) FROM (SELECT count(*) c FROM t GROUP BY name);']
    return '\n'.join(lines) + '\n'


def c_text(count):
    """A translation unit of as many functions."""
    return ''.join('int f%d(int *a, int n) { int s = 0; for (int i = 0; i < n; i++) { if (a[i] > %d) s += a[i] * i; '
                   'else s ^= f%d(a, n - 1); } return s; }\n' % (i, i % 50, max(0, i - 1)) for i in range(count))


def workloads(out, scale):
    """All of them by name; `out` is where programs and inputs are made."""
    def built(name, amount):
        return Workload([os.path.join(out, name)], amount)

    def written(name, text):
        path = os.path.join(out, name)
        with open(path, 'w', encoding='ascii') as file:
            file.write(text)
        return path

    def script(name):
        return os.path.join(SOURCES, name)

    return {
        'widgets': built('widgets', 12000000),
        'deep': built('deep', 6000000),
        'sites': built('sites', 10000000),
        'threads': built('threads', 20000000),
        'growth': built('growth', 10000000),
        'containers': built('containers', 60000),
        'python': Workload(['/usr/bin/python3', script('objects.py')], 400,
                           {'PYTHONMALLOC': 'malloc', 'PYTHONHASHSEED': '0'}, ['/usr/bin/python3']),
        'perl': Workload(['/usr/bin/perl', script('hashes.pl')], 80,
                         {'PERL_HASH_SEED': '0', 'PERL_PERTURB_KEYS': '0'}, ['/usr/bin/perl']),
        'sqlite': Workload(['/usr/bin/sqlite3', ':memory:'], 0, {}, ['/usr/bin/sqlite3'],
                           written('insertions.sql', insertions(int(100000 * scale)))),
        'cc1': Workload([compiler_proper(), '-quiet', '-O1', '-o', '/dev/null',
                         written('unit.c', c_text(int(700 * scale) + 1))], 0),
    }


def compiler_proper():
    return subprocess.run(['gcc', '-print-prog-name=cc1'], capture_output=True, text=True, check=True).stdout.strip()


def build(out):
    """Compiles the workloads, the runner and the counting library; gives the latter two."""
    for source in sorted(glob.glob(os.path.join(SOURCES, '*.c*'))):
        compiler = ['g++'] if source.endswith('.cpp') else ['gcc']
        if not shutil.which(compiler[0]):
            print('left out, there is no %s: %s' % (compiler[0], os.path.basename(source)), file=sys.stderr)
            continue
        name = os.path.splitext(os.path.basename(source))[0]
        subprocess.run(compiler + ['-O2', '-g', '-Wall', '-o', os.path.join(out, name), source, '-pthread'], check=True)
    counter = os.path.join(out, 'libcount.so')
    subprocess.run(['gcc', '-O2', '-shared', '-fPIC', '-fno-builtin', '-o', counter, COUNTER], check=True)
    runner = os.path.join(out, 'runner')
    subprocess.run(['gcc', '-O2', '-o', runner, os.path.join(HERE, 'runner.c')], check=True)
    return runner, counter


class Run:
    """One finished run: seconds, processor seconds, kilobytes resident, what it printed, bytes of data files."""

    def __init__(self, runner, workload, scale, preload, extra=None):
        env = {name: os.environ[name] for name in ('PATH', 'HOME') if name in os.environ}
        env.update(workload.env, LC_ALL='C', **(extra or {}))
        with tempfile.TemporaryDirectory(prefix='bench-') as folder, tempfile.NamedTemporaryFile('r') as result, \
                open(workload.stdin or os.devnull, 'rb') as stdin:
            done = subprocess.run([runner, result.name, preload or '', *workload.command(scale)], cwd=folder, env=env,
                                  stdin=stdin, stdout=subprocess.PIPE, stderr=subprocess.DEVNULL, check=True)
            status, seconds, processor, resident = result.read().split()
            self.seconds, self.processor, self.resident = float(seconds), float(processor), int(resident)
            self.data = sum(os.path.getsize(path) for path in glob.glob(os.path.join(folder, 'mprof.data*')))
            self.printed = int(status), done.stdout


def allocation_calls(runner, workload, scale, counter):
    """How many allocations the workload makes."""
    with tempfile.TemporaryDirectory(prefix='bench-') as folder:
        Run(runner, workload, scale, counter, {'LIBCOUNT_FILE': os.path.join(folder, 'count')})
        calls = 0
        for path in glob.glob(os.path.join(folder, 'count.*')):
            with open(path, 'rb') as file:
                calls += struct.unpack('<8Q', file.read(64))[3]
        return calls


def measure(runner, workload, libraries, options):
    """Runs by name of library, '' for bare; stops where a library changes what is printed."""
    runs = {name: [] for name in libraries}
    names = list(libraries)
    expected = None
    for number in range(options.rounds):
        turn = number % len(names)
        for name in names[turn:] + names[:turn]:
            run = Run(runner, workload, options.scale, libraries[name])
            if expected is None:
                expected = run.printed
            if run.printed != expected:
                sys.exit('bench: %s under %s: another output or status than before' % (workload.words[0], name or 'nothing'))
            runs[name].append(run)
    return runs


def row(name, who, runs, bare, calls):
    """One line of the table."""
    def middle(field, of):
        return statistics.median(getattr(run, field) for run in of)

    seconds, before = middle('seconds', runs), middle('seconds', bare)
    cells = [name, who or 'bare', '%.3f' % seconds,
             '%.3f-%.3f' % (min(run.seconds for run in runs), max(run.seconds for run in runs))]
    if who:
        cells += ['%.2f' % (seconds / before), '%.1f' % ((seconds - before) / calls * 1e9),
                  '%.2f' % (middle('resident', runs) / middle('resident', bare)), '%d' % middle('data', runs)]
    else:
        cells += ['', '%d calls' % calls, '%d KB' % middle('resident', runs), '']
    return cells


def table(rows):
    head = ['workload', 'under', 'seconds', 'range', 'ratio', 'ns', 'resident', 'data']
    widths = [max(len(line[i]) for line in rows + [head]) for i in range(len(head))]
    for line in [head] + rows:
        print('  '.join(cell.ljust(width) if i < 2 else cell.rjust(width)
                        for i, (cell, width) in enumerate(zip(line, widths))).rstrip())


def arguments():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument('--library', required=True, help='the library to measure')
    parser.add_argument('--other', action='append', default=[], metavar='NAME=PATH',
                        help='another library to preload, for comparison; several allowed')
    parser.add_argument('--workload', default='', help='names, with commas; all by default')
    parser.add_argument('--rounds', type=int, default=5)
    parser.add_argument('--scale', type=float, default=1.0, help='factor on the amount of work')
    parser.add_argument('--json', help='write all single runs to this file')
    return parser.parse_args()


def main():
    options = arguments()
    libraries = {'': None, 'mprof': os.path.abspath(options.library)}
    for other in options.other:
        name, _, path = other.partition('=')
        libraries[name] = os.path.abspath(path)
    for path in filter(None, libraries.values()):
        if not os.path.isfile(path):
            sys.exit('bench: there is no ' + path)
    with tempfile.TemporaryDirectory(prefix='bench-') as out:
        runner, counter = build(out)
        known = workloads(out, options.scale)
        chosen = options.workload.split(',') if options.workload else list(known)
        for name in chosen:
            if name not in known:
                sys.exit('bench: no workload %s; there are %s' % (name, ', '.join(known)))
        rows, single = [], {}
        for name in chosen:
            workload = known[name]
            if workload.missing() or not os.path.exists(workload.words[0]):
                print('left out, not installed: ' + name, file=sys.stderr)
                continue
            calls = allocation_calls(runner, workload, options.scale, counter)
            runs = measure(runner, workload, libraries, options)
            rows += [row(name, who, runs[who], runs[''], calls) for who in libraries]
            single[name] = {'calls': calls, 'runs': {who or 'bare': [vars(run) for run in of] for who, of in runs.items()}}
        table(rows)
    if options.json:
        with open(options.json, 'w', encoding='utf-8') as file:
            json.dump(single, file, indent=1, default=lambda value: value.decode('utf-8', 'replace'))


if __name__ == '__main__':
    main()
