//! Programs that nobody here wrote: they behave as ever, and their profiles' totals are those of the C library.
//!
//! Each of them runs bare, under the profiler, with the reference unwinder, and with the library that counts: see
//! `Program::check`. What they allocate depends on paths and versions, so no other numbers are asked for.

use std::fs;
use std::path::Path;
use std::process::Command;

use c_tests::{Outcome, Program};

/// An installed program whose runs need not allocate the same.
fn installed(path: &str) -> Option<Program> {
    Program::installed(path).map(Program::varies)
}

/// The program allocated at least this often, and every chain has its whole beginning.
fn allocated(run: &Outcome, at_least: u64) {
    let total = run.facts().total();
    assert!(total.allocs >= at_least, "{total:?}");
    assert_eq!(run.facts().beginning("[unknown]").allocs, 0, "{:#?}", run.facts().chains());
}

const PYTHON: &str = r#"
import json, re, sys, threading, zlib

class Node:
    def __init__(self, key):
        self.key, self.left, self.right = key, None, None
    def insert(self, key):
        side = 'left' if key < self.key else 'right'
        child = getattr(self, side)
        if child is None:
            setattr(self, side, Node(key))
        else:
            child.insert(key)
    def depth(self):
        return 1 + max([c.depth() for c in (self.left, self.right) if c] or [0])

tree = Node(500)
for i in range(1500):
    tree.insert(i * 7919 % 1009)
text = json.dumps({'n%d' % i: list(range(i % 20)) for i in range(300)}, sort_keys=True)
words = re.findall(r'n\d+5', text)
results = []
threads = [threading.Thread(target=lambda n: results.append(sum(range(n))), args=(n,)) for n in range(8)]
for t in threads: t.start()
for t in threads: t.join()
try:
    1 // 0
except ZeroDivisionError as error:
    caught = str(error)
print(tree.depth(), len(json.loads(text)), len(words), sum(results), len(zlib.decompress(zlib.compress(text.encode()))), caught)
"#;

/// With every object from `malloc`, so that the interpreter's own allocator hides nothing.
#[test]
fn python() {
    let Some(python) = installed("/usr/bin/python3") else { return };
    let python = python.file("script.py", PYTHON).args(&["-S", "script.py"]);
    python.env("PYTHONMALLOC", "malloc").env("PYTHONHASHSEED", "0").check(|run| allocated(run, 20_000));
}

#[test]
fn python_with_its_own_allocator() {
    let Some(python) = installed("/usr/bin/python3") else { return };
    let python = python.file("script.py", PYTHON).args(&["script.py"]).env("PYTHONHASHSEED", "0");
    python.check(|run| allocated(run, 500));
}

const PERL: &str = r#"
use strict;
use warnings;
my %count;
for my $i (1 .. 4000) {
    my $word = join '', map { chr(97 + ($i * $_) % 26) } 1 .. 3 + $i % 5;
    $count{$word}{$i % 7} .= "x$i";
}
my @sorted = sort { length $a <=> length $b || $a cmp $b } keys %count;
my $text = join ',', map { "$_=" . join('', map { $count{$_[0] // $sorted[0]}{$_} // '' } 0 .. 6) } @sorted;
$text =~ s/([aeiou]+)/<$1>/g;
my $caught = eval { die { code => 7 } } ? 0 : $@->{code};
print scalar(@sorted), ' ', length($text), ' ', $caught, "\n";
"#;

#[test]
fn perl() {
    let Some(perl) = installed("/usr/bin/perl") else { return };
    let perl = perl.file("script.pl", PERL).args(&["script.pl"]);
    perl.env("PERL_HASH_SEED", "0").env("PERL_PERTURB_KEYS", "0").check(|run| allocated(run, 20_000));
}

fn sql() -> String {
    let mut sql = String::from("CREATE TABLE people(id INTEGER PRIMARY KEY, name TEXT, at REAL);\nBEGIN;\n");
    for i in 0..3000 {
        let name = format!("name {} {}", i * 7919 % 1009, "x".repeat(i % 40));
        sql += &format!("INSERT INTO people(name, at) VALUES('{name}', {i}.5);\n");
    }
    sql + "COMMIT;\nCREATE INDEX by_name ON people(name);\n\
           SELECT count(*), sum(at), max(length(name)) FROM people WHERE name LIKE 'name 1%';\n\
           SELECT a.name FROM people a JOIN people b ON a.id = b.id + 1 WHERE b.at > 2990 ORDER BY a.name;\n"
}

#[test]
fn sqlite() {
    let Some(sqlite) = installed("/usr/bin/sqlite3") else { return };
    sqlite.args(&["-batch", "base.db"]).stdin(&sql()).check(|run| allocated(run, 20_000));
}

fn c_source() -> String {
    let mut text = String::from("#include <stdio.h>\n#include <stdlib.h>\n#include <string.h>\n");
    for i in 0..60 {
        text += &format!(
            "struct s{i} {{ int a[{n}]; char *text; struct s{i} *next; }};\n\
             int f{i}(struct s{i} *s, int n) {{\n\
             \x20   int sum = 0;\n\
             \x20   for (int k = 0; k < n; k++) {{ sum += s->a[k % {n}] * {i}; if (s->text && s->text[k] == 'x') break; }}\n\
             \x20   switch (sum % 5) {{ case 0: return f{i}(s->next, n - 1); case 1: puts(s->text); break; default: sum++; }}\n\
             \x20   return sum;\n}}\n",
            n = i % 9 + 1,
        );
    }
    text
}

/// The driver starts cc1 and the assembler, by vfork and exec: three processes, three files.
#[test]
fn gcc() {
    let Some(gcc) = installed("/usr/bin/gcc") else { return };
    let gcc = gcc.file("source.c", &c_source()).args(&["-O1", "-c", "source.c", "-o", "source.o"]);
    gcc.check(|run| {
        allocated(run, 100);
        let programs: Vec<String> = run.children().iter().map(|child| child.program()).collect();
        assert!(programs.iter().any(|program| program.ends_with("/cc1")), "{programs:?}");
        assert!(programs.iter().any(|program| program.ends_with("as")), "{programs:?}");
    });
}

/// A repository with a few commits, the same each time.
fn small_repository(folder: &Path) {
    let git = |args: &[&str]| {
        let mut command = Command::new("git");
        command.current_dir(folder).args(args).env("HOME", folder).env("GIT_CONFIG_NOSYSTEM", "1");
        for who in ["AUTHOR", "COMMITTER"] {
            command
                .env(format!("GIT_{who}_NAME"), "Somebody")
                .env(format!("GIT_{who}_EMAIL"), "s@example.org");
            command.env(format!("GIT_{who}_DATE"), "2001-02-03T04:05:06Z");
        }
        let output = command.output().expect("git runs");
        assert!(output.status.success(), "{command:?}: {}", String::from_utf8_lossy(&output.stderr));
    };
    git(&["init", "-q", "-b", "main"]);
    for i in 0..12 {
        let text = (0..50).map(|line| format!("line {} of {i}\n", line * i % 17)).collect::<String>();
        fs::write(folder.join(format!("file{}.txt", i % 4)), text).expect("the folder can be written");
        git(&["add", "."]);
        git(&["commit", "-q", "-m", &format!("Change number {i}")]);
    }
}

#[test]
fn git_log() {
    let found = Command::new("sh").args(["-c", "command -v git"]).output().expect("there is a shell");
    let path = String::from_utf8_lossy(&found.stdout).trim().to_owned();
    let Some(git) = installed(&path) else { return };
    let git = git.prepare(small_repository).args(&["--no-pager", "log", "--stat", "-p", "--graph"]);
    let git = git.env("HOME", "/nonexistent").env("GIT_CONFIG_NOSYSTEM", "1").env("TZ", "UTC");
    git.check(|run| allocated(run, 1000));
}

const PIPELINE: &str = r#"
set -e
numbers() { for i in $(seq 1 40); do echo "$((i * 7919 % 101)) item $i"; done; }
numbers | sort -n | awk '{ sum += $1; last = $3 } END { print sum, last }'
text=$(numbers | grep 7 | sed 's/item/thing/' | tr a-z A-Z | wc -l)
declare -A count
for word in one two three two one two; do count[$word]=$(( ${count[$word]:-0} + 1 )); done
(cd / && exit 3) || echo "subshell ended with $?"
echo "$text ${count[one]} ${count[two]} ${count[three]}"
"#;

/// Every program of the pipelines is watched, each with a file of its own.
#[test]
fn bash_pipeline() {
    let Some(bash) = installed("/bin/bash") else { return };
    bash.file("script.sh", PIPELINE).args(&["script.sh"]).check(|run| {
        allocated(run, 500);
        let programs: Vec<String> = run.children().iter().map(|child| child.program()).collect();
        for wanted in ["/sort", "/seq", "/bash"] {
            assert!(programs.iter().any(|program| program.ends_with(wanted)), "{wanted}: {programs:?}");
        }
    });
}
