"""One run, and runs in turn."""
import glob
import os
import socket
import subprocess
import sys
import tempfile
import time

CLIENT = ['-n', '400000', '-P', '32', '-r', '100000', '-d', '64', '-t', 'set,lpush,hset,zadd', '-q']


class Failed(Exception):
    """A run that did not end as it should."""


class Run:
    """One finished run: elapsed seconds, processor seconds (user and system), kilobytes resident at most, what it
    printed, bytes of the files that the tool left; seconds of the tool's display where that was asked for."""

    def __init__(self, out, workload, tool, scale, analyse=False):
        self.display = self.contexts = self.allocating = self.threads = None
        with tempfile.TemporaryDirectory(prefix='bench-') as top:
            folder = os.path.join(top, 'run')
            os.mkdir(folder)
            self._run(out, workload, tool, scale, top, folder)
            files = [path for path in glob.glob(os.path.join(folder, '*')) if os.path.isfile(path)]
            self.data = sum(os.path.getsize(path) for path in files)
            if analyse and files:
                self._look(tool, folder, files, out)

    def _run(self, out, workload, tool, scale, top, folder):
        def filled(text):
            return text.replace('{dir}', folder)

        env = {name: os.environ[name] for name in ('PATH', 'HOME') if name in os.environ}
        env.update(workload.env, LC_ALL='C', **{name: filled(value) for name, value in tool.env.items()})
        command = [filled(word) for word in tool.before] + workload.command(scale)
        if workload.server:
            port = free_port()
            command += ['--port', str(port), '--bind', '127.0.0.1', '--save', '', '--appendonly', 'no', '--dir', top]
        result, printed = os.path.join(top, 'result'), os.path.join(top, 'printed')
        with open(workload.stdin or os.devnull, 'rb') as stdin, open(printed, 'wb') as stdout:
            process = subprocess.Popen([os.path.join(out, 'runner'), result, tool.preload, *command], cwd=folder,
                                       env=env, stdin=stdin, stdout=stdout, stderr=subprocess.DEVNULL)
            seconds = client(port, process, scale) if workload.server else None
            if process.wait() != 0:
                raise Failed('the runner failed')
        with open(result, encoding='ascii') as file:
            status, elapsed, processor, resident = file.read().split()
        if int(status) != 0:
            raise Failed('status %s' % status)
        self.seconds = seconds or float(elapsed)
        self.processor, self.resident = float(processor), int(resident)
        with open(printed, 'rb') as file:
            self.printed = b'' if workload.server else file.read()

    def _look(self, tool, folder, files, out):
        counter = os.path.join(out, 'count-contexts')
        if tool.name == 'mprof' and os.path.exists(counter):
            done = subprocess.run([counter, files[0]], capture_output=True, text=True, check=True)
            self.contexts, self.allocating, self.threads = (int(word) for word in done.stdout.split())
        if tool.display:
            words = [word for part in tool.display for word in (files if part == '{data}' else [part])]
            before = time.monotonic()
            subprocess.run(words, cwd=folder, stdin=subprocess.DEVNULL, stdout=subprocess.DEVNULL,
                           stderr=subprocess.DEVNULL, check=False)
            self.display = time.monotonic() - before

    def record(self):
        """For JSON."""
        return {name: value for name, value in vars(self).items() if name != 'printed'}


def free_port():
    with socket.socket() as found:
        found.bind(('127.0.0.1', 0))
        return found.getsockname()[1]


def client(port, server, scale):
    """Loads a redis server and shuts it down; gives the seconds that the load took."""
    ask = ['redis-cli', '-h', '127.0.0.1', '-p', str(port)]
    for _ in range(1000):
        if server.poll() is not None:
            raise Failed('the server ended')
        if subprocess.run(ask + ['ping'], capture_output=True, text=True, check=False).stdout.strip() == 'PONG':
            break
        time.sleep(0.02)
    load = CLIENT[:1] + [str(max(1000, int(int(CLIENT[1]) * scale)))] + CLIENT[2:]
    before = time.monotonic()
    subprocess.run(['redis-benchmark', '-h', '127.0.0.1', '-p', str(port), *load], stdout=subprocess.DEVNULL,
                   stderr=subprocess.DEVNULL, check=True)
    took = time.monotonic() - before
    subprocess.run(ask + ['shutdown', 'nosave'], capture_output=True, check=False)
    return took


def count(out, workload, scale):
    """Allocations that the workload makes, and objects that it has at once at most."""
    from tools import Tool
    with tempfile.TemporaryDirectory(prefix='bench-') as folder:
        path = os.path.join(folder, 'count')
        Run(out, workload, Tool('count', os.path.join(out, 'count.so'), {'COUNT_FILE': path}), scale)
        with open(path, encoding='ascii') as file:
            allocs, live = file.read().split()
            return int(allocs), int(live)


def in_turn(out, workload, tools, options):
    """Runs by tool's name. A round runs each tool once, in an order that rotates, so that a machine that grows slower
    or faster favours nobody; slow tools take part in the first round only."""
    runs = {tool.name: [] for tool in tools}
    expected = None
    for number in range(options.rounds):
        turn = number % len(tools)
        for tool in tools[turn:] + tools[:turn]:
            if tool.slow and number > 0:
                continue
            try:
                run = Run(out, workload, tool, options.scale, analyse=number == 0)
            except Failed as failure:
                if tool.name in ('bare', 'mprof'):
                    sys.exit('bench: %s under %s: %s' % (workload.words[0], tool.name, failure))
                print('left out, %s under %s: %s' % (workload.words[0], tool.name, failure), file=sys.stderr)
                tool.slow = True
                continue
            if expected is None and tool.name == 'bare':
                expected = run.printed
            # Others add lines of their own.
            if expected is not None and expected not in run.printed or tool.name == 'mprof' and expected != run.printed:
                sys.exit('bench: %s under %s: another output than bare' % (workload.words[0], tool.name))
            runs[tool.name].append(run)
    return runs
