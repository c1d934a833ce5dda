/* SPDX-License-Identifier: ISC */

/* Ask the person, as before something is lost. */
#ifndef ASK_H
#define ASK_H

#include <stdbool.h>

struct cli;

/* "<question> [y/N] ". CLI_OK for a yes, typed or given in advance (yes: the
 * flag --yes). Otherwise the failure is reported: the person said no, or there
 * is nobody to ask, as always with --json. */
int ask_confirm(struct cli *cli, bool yes, const char *fmt, ...)
    __attribute__((format(printf, 3, 4)));

/* "<question> [Y/n] ", about something that can be repeated. False for a no, or
 * if there is nobody to ask. */
bool ask_again(struct cli *cli, const char *question);

#endif
