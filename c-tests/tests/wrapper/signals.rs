//! Signals: the program gets what is meant for it, once, and the wrapper ends as it does.

use crate::scratch::{Done, Scratch, done, skipped};
use crate::terminal::Terminal;
use c_tests::Tools;
use std::fs;
use std::io::Write;
use std::process::{Child, Stdio};
use std::thread::sleep;
use std::time::{Duration, Instant};

/// Counts signals until SIGUSR2 comes, then prints how many of which came, and whether SIGHUP was ignored. Says by the
/// file `ready` when it can be sent signals, and by the file `seen` when it has got one.
const COUNTER: &str = r#"
#include <signal.h>
#include <stdio.h>
#include <unistd.h>

static volatile sig_atomic_t seen[65], any;
static void count(int signal) { seen[signal]++; any = 1; }
static void say(const char *name) { fclose(fopen(name, "w")); }

int main(void) {
    struct sigaction hup;
    sigaction(SIGHUP, NULL, &hup);
    int signals[] = { SIGINT, SIGTERM, SIGUSR1, SIGQUIT, SIGUSR2 };
    for (int i = 0; i < 5; i++)
        signal(signals[i], count);
    say("ready");
    for (int told = 0; !seen[SIGUSR2]; usleep(1000))
        if (any && !told++)
            say("seen");
    printf("hup %s\n", hup.sa_handler == SIG_IGN ? "ignored" : "default");
    for (int i = 0; i < 4; i++)
        if (seen[signals[i]])
            printf("signal %d: %d\n", signals[i], (int)seen[signals[i]]);
    return 5;
}
"#;

fn counter() -> Scratch {
    let scratch = Scratch::new();
    scratch.c("counter", COUNTER);
    scratch
}

fn wait_for(scratch: &Scratch, file: &str) {
    let start = Instant::now();
    while !scratch.file(file).exists() {
        assert!(start.elapsed() < Duration::from_secs(60), "{file} does not appear");
        sleep(Duration::from_millis(5));
    }
}

fn kill(child: &Child, signal: i32) {
    // SAFETY: kill(2) touches no memory. The child has not been waited for, so its id is still its own.
    assert_eq!(unsafe { libc::kill(child.id().cast_signed(), signal) }, 0);
}

/// When the program has got a first signal, sends the last one, through the wrapper too: what the wrapper sends twice
/// comes before it. Gives what the program printed, unless that went elsewhere.
fn finish(scratch: &Scratch, child: Child) -> Done {
    wait_for(scratch, "seen");
    kill(&child, libc::SIGUSR2);
    done(child.wait_with_output().expect("it ends"))
}

#[test]
fn signals_reach_the_program_once() {
    for signal in [libc::SIGTERM, libc::SIGINT, libc::SIGUSR1, libc::SIGQUIT] {
        let scratch = counter();
        let mut command = scratch.command(&Tools::get().mprof);
        command.args(["-q", "./counter"]).stdout(Stdio::piped()).stderr(Stdio::piped());
        let child = command.spawn().expect("it runs");
        wait_for(&scratch, "ready");
        kill(&child, signal);
        let run = finish(&scratch, child);
        assert_eq!(run.stdout, format!("hup default\nsignal {signal}: 1\n"));
        assert_eq!((run.stderr.as_str(), run.status), ("", 5));
        assert_eq!(scratch.data_files(), ["mprof.data"]);
    }
}

/// The terminal sends Ctrl-C to the whole foreground group: the wrapper must not send it again.
#[test]
fn the_terminals_signals_reach_the_program_once() {
    let scratch = counter();
    let Some(mut terminal) = Terminal::open() else { return skipped("there are no pseudo terminals") };
    let mut command = scratch.command(&Tools::get().mprof);
    let child = terminal.start(command.args(["-q", "./counter"]));
    wait_for(&scratch, "ready");
    terminal.keyboard_and_screen.write_all(b"\x03").expect("typed");
    let run = finish(&scratch, child);
    assert_eq!(run.status, 5);
    let screen = terminal.screen();
    assert!(screen.contains("signal 2: 1\r\n"), "{screen}");
}

#[test]
fn what_the_parent_ignores_stays_ignored() {
    let scratch = counter();
    let mut command = scratch.command("sh");
    let text = format!("trap '' HUP; exec {} -q ./counter", Tools::get().mprof.display());
    let child = command.args(["-c", &text]).stdout(Stdio::piped()).stderr(Stdio::piped()).spawn();
    let child = child.expect("it runs");
    wait_for(&scratch, "ready");
    kill(&child, libc::SIGHUP);
    kill(&child, libc::SIGTERM);
    let run = finish(&scratch, child);
    assert_eq!((run.stdout.as_str(), run.stderr.as_str()), ("hup ignored\nsignal 15: 1\n", ""));
    assert_eq!(run.status, 5);
}

/// The kernel keeps no exit status for a parent that ignores SIGCHLD.
#[test]
fn a_status_is_passed_on_where_children_are_ignored() {
    let scratch = Scratch::new();
    scratch.script("seven.sh", "#!/bin/sh\nexit 7\n");
    // dash cannot ignore it.
    let text = format!(
        "import os, signal\nsignal.signal(signal.SIGCHLD, signal.SIG_IGN)\nos.execv({0:?}, [{0:?}, '-q', './seven.sh'])",
        Tools::get().mprof
    );
    let Ok(output) = scratch.command("/usr/bin/python3").args(["-c", &text]).output() else {
        return skipped("there is no python3");
    };
    let run = done(output);
    assert_eq!((run.status, run.stderr.as_str()), (7, ""));
}

#[test]
fn a_program_that_a_signal_ends_ends_the_wrapper_so() {
    let scratch = Scratch::new();
    scratch.c("abort", "#include <stdlib.h>\nint main(void) { malloc(10); abort(); }\n");
    scratch.c(
        "fault",
        "#include <stdlib.h>\nint main(void) { malloc(10); *(volatile int *)8 = 1; return 0; }\n",
    );
    scratch.script("kill.sh", "#!/bin/sh\nkill -KILL $$\n");
    let run = scratch.mprof("./abort");
    assert_eq!(run.status, -6);
    assert!(
        run.stderr.starts_with("mprof: allocated 1 object, 10 bytes; kept 1 object, 10 bytes\n"),
        "{}",
        run.stderr
    );
    fs::remove_file(scratch.file("mprof.data")).expect("removed");
    let run = scratch.mprof("./fault");
    assert_eq!(run.status, -11);
    let no_profile = "mprof: no profile was written: signal 11 ended the program before it could write one\n";
    assert_eq!(run.stderr, no_profile);
    let run = scratch.mprof("./kill.sh");
    assert_eq!(run.status, -9);
    // A leak check does not hide how the program ended.
    assert_eq!(scratch.mprof("--fail-on-leak ./abort").status, -6);
    let shell = format!("{} -q ./fault; echo $?", Tools::get().mprof.display());
    let run = done(scratch.command("sh").args(["-c", &shell]).output().expect("it runs"));
    assert_eq!(run.stdout, "139\n");
}

/// A program that signals its parent means whoever started it, not itself.
#[test]
fn what_the_program_sends_its_parent_does_not_come_back() {
    let scratch = Scratch::new();
    scratch.c(
        "notify",
        "#include <signal.h>\n#include <stdio.h>\n#include <unistd.h>\n\
         static volatile sig_atomic_t last;\n\
         static void stop(int signal) { last = signal; }\n\
         int main(void) {\n\
         \x20   signal(SIGUSR2, stop);\n\
         \x20   kill(getppid(), SIGUSR1);\n\
         \x20   fclose(fopen(\"seen\", \"w\"));\n\
         \x20   while (!last) usleep(1000);\n\
         \x20   return 0;\n\
         }\n",
    );
    let mut command = scratch.command(&Tools::get().mprof);
    command.args(["-q", "./notify"]).stdout(Stdio::piped()).stderr(Stdio::piped());
    let run = finish(&scratch, command.spawn().expect("it runs"));
    assert_eq!((run.status, run.stderr.as_str()), (0, ""));
}
