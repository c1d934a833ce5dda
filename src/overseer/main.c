/* SPDX-License-Identifier: ISC */

/* overseer: the supervisor: autod's parent, who has it repaired when it breaks.
 */
#include <stdio.h>
#include <string.h>

static const char usage[] = "usage: overseer [--help | --version]\n";

int
main(int argc, char **argv)
{
	if (argc == 2 && strcmp(argv[1], "--version") == 0) {
		puts("overseer " LLMC_VERSION);
		return 0;
	}
	if (argc == 2 && strcmp(argv[1], "--help") == 0) {
		fputs(
		    "overseer is\nthe supervisor: autod's parent, who has it repaired when it breaks.\n\n",
		    stdout);
		fputs(usage, stdout);
		return 0;
	}
	if (argc > 1) {
		fputs(usage, stderr);
		return 2;
	}
	fputs(
	    "overseer: this version only knows its name; CHANGELOG.md says what "
	    "works already\n",
	    stderr);
	return 1;
}
