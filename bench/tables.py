"""The results as tables, none wider than 80 columns."""
import statistics


def middle(runs, field):
    return statistics.median(getattr(run, field) for run in runs)


def least(runs, field):
    return min(getattr(run, field) for run in runs)


def show(title, head, rows):
    """Prints one table; the first two columns are text."""
    print('\n' + title + '\n')
    widths = [max(len(line[i]) for line in rows + [head]) for i in range(len(head))]
    for line in [head] + rows:
        cells = (cell.ljust(width) if i < 2 else cell.rjust(width) for i, (cell, width) in enumerate(zip(line, widths)))
        print('  '.join(cells).rstrip())


def figures(runs, bare, allocs):
    """The numbers of one tool on one workload: medians and minima, ratios, nanoseconds added per allocation."""
    def added(of, field):
        return (of(runs, field) - of(bare, field)) / allocs * 1e9

    return {
        'seconds': middle(runs, 'seconds'), 'least_seconds': least(runs, 'seconds'),
        'ratio': middle(runs, 'seconds') / middle(bare, 'seconds'),
        'added_ns': added(middle, 'seconds'), 'least_added_ns': added(least, 'seconds'),
        'added_processor_ns': added(middle, 'processor'), 'least_added_processor_ns': added(least, 'processor'),
        'added_bytes': (middle(runs, 'resident') - middle(bare, 'resident')) * 1024,
        'file_bytes': middle(runs, 'data'), 'display_seconds': runs[0].display,
        'contexts': runs[0].contexts, 'allocating': runs[0].allocating,
    }


def memory_goal(live, contexts, threads):
    """Bytes: 16 an object, 64 a context, 4 MB, half a MB a thread at once."""
    return 16 * live + 64 * contexts + 4e6 + 0.5e6 * (threads + 1)


def file_goal(name, contexts, allocating):
    """Bytes: 8 a context, 16 a context with allocations, 4 KB; 10 KB for the paper's program."""
    return 10000 if name == 'widgets' else 8 * contexts + 16 * allocating + 4000


def times(results):
    rows = []
    for name, result in results.items():
        for who, f in result['figures'].items():
            if who == 'bare':
                rows.append([name, who, '%.3f' % f['seconds'], '%.3f' % f['least_seconds'], '', '', '', '', '', ''])
                continue
            goal = '%d' % result['goal'] if who == 'mprof' and result['goal'] else ''
            rows.append(['', who, '%.3f' % f['seconds'], '%.3f' % f['least_seconds'], '%.2f' % f['ratio'],
                         '%.1f' % f['added_ns'], '%.1f' % f['least_added_ns'], '%.1f' % f['added_processor_ns'],
                         '%.1f' % f['least_added_processor_ns'], goal])
    show('Time: seconds (median, least), ratio of medians, nanoseconds added per\nallocation with its free: elapsed '
         '(median, least), processor (median, least)',
         ['workload', 'under', 's', 's least', 'ratio', 'ns', 'least', 'cpu ns', 'least', 'goal'], rows)


def sizes(results):
    rows = []
    for name, result in results.items():
        for who, f in result['figures'].items():
            if who in ('bare', 'null'):
                continue
            row = [name, who, '%.2f' % (f['added_bytes'] / 1e6), '', '%d' % f['file_bytes'], '', '', '', '']
            if f['contexts'] is not None:
                row[3] = '%.2f' % (memory_goal(result['live'], f['contexts'], result['threads']) / 1e6)
                row[5] = '%d' % file_goal(name, f['contexts'], f['allocating'])
                row[6:8] = '%d' % f['contexts'], '%d' % f['allocating']
            if f['display_seconds'] is not None:
                row[8] = '%.2f' % f['display_seconds']
            rows.append(row)
    show('Space: megabytes of memory added and the goal, bytes of data and the goal,\ncontexts, those with '
         'allocations, seconds until the report is there',
         ['workload', 'under', 'MB', 'goal', 'data', 'goal', 'contexts', 'alloc.', 'report'], rows)


def scaling(results):
    rows = [['', who, '%.3f' % one, '%.3f' % two, '%.2f' % (2 * one / two)] for who, (one, two) in results.items()]
    show('Threads: least seconds for one thread and for two with as much work each,\ngrowth of the throughput',
         ['', 'under', 'one', 'two', 'growth'], rows)


def start(results):
    bare = results['bare']
    rows = [['', who, '%.2f' % (1e3 * seconds), '%.2f' % (1e3 * (seconds - bare))] for who, seconds in results.items()]
    show('Start and end: milliseconds of `true`, median, and added', ['', 'under', 'ms', 'added'], rows)
