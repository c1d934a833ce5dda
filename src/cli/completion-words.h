/* SPDX-License-Identifier: ISC */

/* Words that only the repository knows, for the completion scripts: workers,
 * tasks, goals, nodes of plans, keys of settings, refs of salvaged work. */
#ifndef COMPLETION_WORDS_H
#define COMPLETION_WORDS_H

#include <stdbool.h>

struct cli;

/* Append the words of that list to cli->text, one a line; false = there is no
 * such list. Prints no errors: a shell asks in the middle of a line. */
bool completion_words_add(struct cli *cli, const char *list);

#endif
