"""What the workloads are run under."""
import os
import shutil
import subprocess


class Tool:
    """Preloaded libraries, environment variables and words before the command; `{dir}` is the run's folder."""

    def __init__(self, name, preload='', env=None, before=(), display=None, slow=False):
        self.name, self.preload, self.env, self.before = name, preload, env or {}, list(before)
        self.display = display
        # It takes tens of times as long.
        self.slow = slow


def ours(out, library, display):
    """Bare, the two shims, mprof."""
    return [Tool('bare'), Tool('null', os.path.join(out, 'null.so')), Tool('header', os.path.join(out, 'header.so')),
            Tool('mprof', os.path.abspath(library), display=display and [os.path.abspath(display), '{data}'])]


def library_of(compiler, name):
    """Path of a library that the compiler knows, or None."""
    done = subprocess.run([compiler, '-print-file-name=' + name], capture_output=True, text=True, check=False)
    path = os.path.realpath(done.stdout.strip())
    return path if os.path.isfile(path) else None


def peers():
    """Those of the others that are installed."""
    found = []
    sanitizer = library_of('gcc', 'liblsan.so')
    if sanitizer:
        found.append(Tool('lsan', sanitizer, {'LSAN_OPTIONS': 'exitcode=0:log_path={dir}/lsan'}))
    if shutil.which('heaptrack'):
        found.append(Tool('heaptrack', before=[shutil.which('heaptrack'), '-o', '{dir}/heaptrack'],
                          display=['heaptrack_print', '{data}']))
    tcmalloc = library_of('gcc', 'libtcmalloc.so.4')
    if tcmalloc:
        found.append(Tool('gperftools', tcmalloc, {'HEAPPROFILE': '{dir}/gp', 'HEAP_PROFILE_ALLOCATION_INTERVAL': '0',
                                                   'HEAP_PROFILE_INUSE_INTERVAL': '0'}, slow=True))
    valgrind = shutil.which('valgrind')
    if valgrind:
        found.append(Tool('massif', before=[valgrind, '--tool=massif', '--massif-out-file={dir}/massif'], slow=True))
        found.append(Tool('dhat', before=[valgrind, '--tool=dhat', '--dhat-out-file={dir}/dhat'], slow=True))
    return found
