"""What is run: programs of our own, which are compiled here, and real ones where they are installed."""
import glob
import os
import shutil
import subprocess
import sys

import inputs

HERE = os.path.dirname(os.path.abspath(__file__))
SOURCES = os.path.join(HERE, 'workloads')
SHIMS = os.path.join(HERE, 'shims')


class Workload:
    """A command line; its last word is a number that the scale is applied to, unless `amount` is 0.

    `goal`: nanoseconds that an allocation with its free may take longer. `stdin`: a file. `threads`: how many run at
    once besides the first. `server`: it is a redis server, and a client makes the work.
    """

    def __init__(self, words, amount=0, goal=None, env=None, stdin=None, threads=0, server=False):
        self.words, self.amount, self.goal, self.env = words, amount, goal, env or {}
        self.stdin, self.threads, self.server = stdin, threads, server

    def is_there(self):
        return os.path.exists(self.words[0])

    def command(self, scale):
        return self.words + ([str(max(1, int(self.amount * scale)))] if self.amount else [])


def all_workloads(out, scale):
    """By name; `out` is where programs and inputs are. Inputs have one size, but the scripts' rounds are scaled."""
    def own(name, amount, goal, *before, threads=0):
        return Workload([os.path.join(out, name), *before], amount, goal, threads=threads)

    def script(name):
        return os.path.join(SOURCES, name)

    def made(name):
        return os.path.join(out, name)

    cc1 = subprocess.run(['gcc', '-print-prog-name=cc1'], capture_output=True, text=True, check=True).stdout.strip()
    return {
        'widgets': own('widgets', 6000000, 15),
        'deep': own('deep', 5000000, 75, '200'),
        'sizes': own('sizes', 8000000, 40),
        'threads': own('threads', 12000000, 30, '4', threads=4),
        'cpp': own('cpp', 800000, 20),
        'realloc': own('realloc', 9000000, 25),
        'sqlite': Workload(['/usr/bin/sqlite3', ':memory:'], goal=25, stdin=made('load.sql')),
        'cc1': Workload([cc1, '-quiet', '-O1', '-fpreprocessed', made('big.i'), '-o', '/dev/null'], goal=80),
        'jq': Workload(['/usr/bin/jq', '-c', 'map(select(.at.x > 500) | .score) | add', made('big.json')], goal=20),
        'python': Workload(['/usr/bin/python3', script('objects.py')], 10, 50,
                           {'PYTHONMALLOC': 'malloc', 'PYTHONHASHSEED': '0'}),
        'perl': Workload(['/usr/bin/perl', script('hashes.pl')], 20, 30,
                         {'PERL_HASH_SEED': '0', 'PERL_PERTURB_KEYS': '0'}),
        'redis': Workload(['/usr/bin/redis-server'], 0, 35, threads=4, server=True),
    }


def thread_workload(out, threads):
    """The same work for each of so many threads."""
    return Workload([os.path.join(out, 'threads'), str(threads)], 6000000 * threads, threads=threads)


def build(out):
    """Compiles the workloads, the shims and the runner, and makes the inputs."""
    os.makedirs(out, exist_ok=True)
    for source in sorted(glob.glob(os.path.join(SOURCES, '*.c*'))):
        compiler = 'g++' if source.endswith('.cpp') else 'gcc'
        if not shutil.which(compiler):
            print('left out, there is no %s: %s' % (compiler, os.path.basename(source)), file=sys.stderr)
            continue
        name = os.path.splitext(os.path.basename(source))[0]
        subprocess.run([compiler, '-O2', '-g', '-Wall', '-o', os.path.join(out, name), source, '-pthread'], check=True)
    for shim in ('null', 'header', 'count'):
        subprocess.run(['gcc', '-O2', '-Wall', '-fno-builtin', '-shared', '-fPIC', '-o', os.path.join(out, shim + '.so'),
                        os.path.join(SHIMS, shim + '.c')], check=True)
    subprocess.run(['gcc', '-O2', '-o', os.path.join(out, 'runner'), os.path.join(HERE, 'runner.c')], check=True)
    inputs.make(out)
