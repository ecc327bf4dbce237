//! Signals: the program gets what is meant for it, once, and the wrapper ends as it does.

use crate::scratch::{Done, Scratch, done, skipped};
use c_tests::Tools;
use std::fs;
use std::io::Write;
use std::process::{Command, Stdio};
use std::thread::sleep;
use std::time::{Duration, Instant};

/// Counts signals for a moment after the first, prints how many of which came, and whether SIGHUP is ignored; says by a
/// file when it is ready.
const COUNTER: &str = r#"
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <time.h>
#include <unistd.h>

static volatile sig_atomic_t seen[65], any;
static void count(int signal) { seen[signal]++; any = 1; }

int main(void) {
    struct sigaction hup;
    sigaction(SIGHUP, NULL, &hup);
    printf("hup %s\n", hup.sa_handler == SIG_IGN ? "ignored" : "default");
    fflush(stdout);
    int signals[] = { SIGINT, SIGTERM, SIGUSR1, SIGUSR2, SIGQUIT };
    for (int i = 0; i < 5; i++)
        signal(signals[i], count);
    fclose(fopen("ready", "w"));
    for (int i = 0; i < 1000 && !any; i++)
        usleep(10000);
    struct timespec rest = { 0, 300000000 };
    while (nanosleep(&rest, &rest) != 0) {}
    for (int i = 0; i < 5; i++)
        if (seen[signals[i]])
            printf("signal %d: %d\n", signals[i], (int)seen[signals[i]]);
    return 5;
}
"#;

fn wait_for(scratch: &Scratch, file: &str) {
    let start = Instant::now();
    while !scratch.file(file).exists() {
        assert!(start.elapsed() < Duration::from_secs(20), "{file} does not appear");
        sleep(Duration::from_millis(5));
    }
}

/// Starts the program, sends the wrapper a signal when it is ready, and gives what came of it.
fn send(scratch: &Scratch, signal: &str, program: &str) -> Done {
    let mut command = scratch.command(&Tools::get().mprof);
    command.args(["-q", program]).stdout(Stdio::piped()).stderr(Stdio::piped());
    let child = command.spawn().expect("it runs");
    wait_for(scratch, "ready");
    let sent = Command::new("kill").arg(signal).arg(child.id().to_string()).status().expect("kill runs");
    assert!(sent.success());
    done(child.wait_with_output().expect("it ends"))
}

#[test]
fn signals_reach_the_program_once() {
    for (signal, number) in [("-TERM", 15), ("-INT", 2), ("-USR1", 10), ("-QUIT", 3)] {
        let scratch = Scratch::new();
        scratch.c("counter", COUNTER);
        let run = send(&scratch, signal, "./counter");
        assert_eq!(run.stdout, format!("hup default\nsignal {number}: 1\n"));
        assert_eq!((run.stderr.as_str(), run.status), ("", 5));
        assert_eq!(scratch.data_files(), ["mprof.data"]);
    }
}

/// The terminal sends Ctrl-C to the whole foreground group: the wrapper must not send it again.
#[test]
fn the_terminals_signals_reach_the_program_once() {
    let scratch = Scratch::new();
    scratch.c("counter", COUNTER);
    let mut command = scratch.command("script");
    command.args(["-qec", &format!("{} -q ./counter", Tools::get().mprof.display()), "/dev/null"]);
    command.stdin(Stdio::piped()).stdout(Stdio::piped());
    let Ok(mut child) = command.spawn() else { return skipped("script(1) is not installed") };
    wait_for(&scratch, "ready");
    let mut keyboard = child.stdin.take().expect("a pipe");
    keyboard.write_all(b"\x03").expect("typed");
    let run = done(child.wait_with_output().expect("it ends"));
    drop(keyboard);
    assert_eq!(run.status, 5);
    assert!(run.stdout.contains("signal 2: 1\r\n"), "{}", run.stdout);
}

#[test]
fn what_the_parent_ignores_stays_ignored() {
    let scratch = Scratch::new();
    scratch.c("counter", COUNTER);
    scratch.write("ready", "");
    let text = format!(
        "trap '' HUP; {} -q ./counter & sleep 0.5; kill -HUP $!; kill -TERM $!; wait $!",
        Tools::get().mprof.display()
    );
    let run = done(scratch.command("sh").args(["-c", &text]).output().expect("it runs"));
    assert_eq!(run.stdout, "hup ignored\nsignal 15: 1\n");
    assert_eq!(run.status, 5);
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
        "#include <signal.h>\n#include <unistd.h>\n\
         int main(void) { kill(getppid(), SIGUSR1); usleep(200000); return 0; }\n",
    );
    assert_eq!(scratch.mprof("-q ./notify").status, 0);
}
