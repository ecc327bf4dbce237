/* mprof.h: what a program may ask of mprof.
 *
 * All declarations are weak: a program that was built with them runs without the profiler as well, where they are
 * null. Call them by the macros below, which do nothing then:
 *
 *     #include <mprof.h>
 *
 *     MPROF_RESTART("parsing.data");      record from here on, into this file
 *     parse(input);
 *     MPROF_STOP();                       write it, and record no more
 *
 * With MPROF_START=off in the environment nothing is recorded before the first mprof_restart.
 */
#ifndef MPROF_H
#define MPROF_H

#ifdef __cplusplus
extern "C" {
#endif

/* Writes the profile so far after every `count` allocations, so that a program that never ends, or is killed, leaves
 * one; 0 (the default): at the end only. MPROF_AUTOSAVE=count in the environment does the same from the start. */
extern void set_mprof_autosave(unsigned long count) __attribute__((weak));

/* Writes the profile and stops recording. Nothing is written at the end of the program then. */
extern void mprof_stop(void) __attribute__((weak));

/* Writes the profile, if something was recorded since the start or the last call, forgets it, and records anew, into
 * `filename`; NULL: into the same file as before. Objects that were allocated before are none of the new profile's,
 * nor are their frees. In the name, %p stands for the process id and %n for the program's name. */
extern void mprof_restart(const char *filename) __attribute__((weak));

#ifdef __cplusplus
}
#endif

#define SET_MPROF_AUTOSAVE(count) ((void)(set_mprof_autosave ? (set_mprof_autosave(count), 0) : 0))
#define MPROF_STOP() ((void)(mprof_stop ? (mprof_stop(), 0) : 0))
#define MPROF_RESTART(filename) ((void)(mprof_restart ? (mprof_restart(filename), 0) : 0))

#endif
