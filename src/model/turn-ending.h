/* SPDX-License-Identifier: ISC */

/* How the agent's last message ends: does it ask, or refuse? */
#ifndef TURN_ENDING_H
#define TURN_ENDING_H

#include <stdbool.h>

enum turn_ending {
	ENDING_PLAIN,
	ENDING_QUESTION, /* asks, though nobody can answer */
	ENDING_REFUSAL, /* says that it cannot or will not */
	ENDING_COUNT
};

/* Reads the last paragraph. An offer after finished work ("Let me know if you
 * would like ...") is not a question, nor is a question inside code or a
 * quotation. Empty or NULL is plain. */
enum turn_ending turn_ending_read(const char *last_words);

/* Does it say, in a few words at least, that the task needs no change? Only
 * then is a task that ends without one believed to be done. */
bool turn_ending_explains(const char *last_words);

#endif
