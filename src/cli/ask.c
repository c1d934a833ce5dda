/* SPDX-License-Identifier: ISC */

#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "ask.h"
#include "buf.h"
#include "cli.h"
#include "mem.h"
#include "terminal.h"
#include "text.h"

/* The first byte of the line that was typed; 0 = none was. */
static char
read_answer(void)
{
	char first = 0, c = 0;

	for (size_t n = 0; read(STDIN_FILENO, &c, 1) == 1; n++) {
		if (n == 0)
			first = c;
		if (c == '\n')
			break;
	}
	return first;
}

bool
ask_again(struct cli *cli, const char *question)
{
	char answer;

	if (cli->json || !terminal_here())
		return false;
	fprintf(stderr, "%s [Y/n] ", question);
	answer = read_answer();
	return answer != 0 && answer != 'n' && answer != 'N';
}

int
ask_confirm(struct cli *cli, bool yes, const char *fmt, ...)
{
	cleanup_free char *question = NULL;
	cleanup_buf struct buf shown = BUF_INIT;
	va_list ap;
	char answer;

	if (yes)
		return CLI_OK;
	va_start(ap, fmt);
	question = xvasprintf(fmt, ap);
	va_end(ap);
	if (cli->json || !terminal_here())
		return cli_fail(cli, "not_confirmed",
		    "%s There is no terminal to ask on; to confirm, add --yes",
		    question);
	text_add_visible(&shown, question, strlen(question), true);
	fprintf(stderr, "%s [y/N] ", shown.data);
	answer = read_answer();
	if (answer == 'y' || answer == 'Y')
		return CLI_OK;
	return cli_fail(
	    cli, "not_confirmed", "not confirmed; nothing was done");
}
