/* SPDX-License-Identifier: ISC */

/*
 * Programs that need the person's own terminal: an editor, a pager, tmux.
 * Everything else is run by base/child, which keeps children away from it.
 */
#ifndef TERMINAL_H
#define TERMINAL_H

#include <stdbool.h>

struct err;

/* Is a person there: are standard input and standard error a terminal? */
bool terminal_here(void);

/* Become the program (argv[0] is looked up in PATH). Returns only on failure:
 * negative errno. */
int terminal_become(const char *const *argv, struct err *err);

/* Run it with our own standard descriptors and wait for its end, however long
 * that takes. Its exit status (128 + signal if a signal ended it), or negative
 * errno. Interrupts from the keyboard go to it while it runs. */
int terminal_run(const char *const *argv, struct err *err);

/* Stop as Ctrl-Z does, alone or with our whole group of processes; returns when
 * we go on, or at once where nobody could continue us. SIGTSTP then has its
 * default action. */
void terminal_stop(bool group);

#endif
