/* SPDX-License-Identifier: ISC */

/*
 * llmc top for tests, typed into a shell in a real terminal: a tmux server of
 * the test's own, with one pane. Needs fleet_begin(); top_end() ends it, and so
 * does the end of the test, whatever it is. Functions that wait fail the test
 * after a time.
 */
#ifndef TOPRUN_H
#define TOPRUN_H

#include "unit.h"

/* A shell in a terminal of this size; nothing runs in it yet. */
void top_shell(int columns, int rows);
void top_end(void);

/* Type llmc top into it, with this before it ("NO_COLOR=1 ", or ""). */
void top_type(const char *before);
/* The pid of the one that was typed last. */
int top_pid(void);
/* Wait until it has ended, with this status. */
void top_wait_end(int status);

/* As tmux send-keys understands them: "j Enter", "-l text". */
void top_keys(const char *keys);
void top_resize(int columns, int rows);

/* What the terminal shows. */
const char *top_screen(void);
/* The same, with the sequences of its colours. */
const char *top_colours(void);
/* Wait until it shows the words, or no longer. */
void top_wait(const char *words);
void top_wait_without(const char *words);
/* What tmux knows about the pane: "#{alternate_on}". */
const char *top_ask(const char *format);
/* Wait until the terminal shows exactly what a new llmc top would print. */
void top_wait_same(int columns, int rows);

#endif
