/* SPDX-License-Identifier: ISC */

/* overseer: the supervisor. Parses its options; overseer.c does the work. */
#include "base.h"
#include "overseer-private.h"
#include "version.h"

static const char usage[] =
    "usage: overseer [--root DIR] [--concurrency N] [--task-pool-command CMD]\n"
    "                [--post-accept-command CMD] [--json]\n"
    "       overseer [--root DIR] --clear REASON [--json]\n"
    "       overseer [--root DIR] --check [--json]\n"
    "       overseer --help | --table | --version\n";

/* Take the option at argv[i]; the number of words used, 0 when it is unknown or
 * has no value. */
static int
take_option(int argc, char **argv, int i, struct overseer_options *options)
{
	const struct {
		const char *name;
		const char **value;
		bool *flag;
	} table[] = {
		{ "--root", &options->root, NULL },
		{ "--concurrency", &options->concurrency, NULL },
		{ "--task-pool-command", &options->task_pool_command, NULL },
		{ "--post-accept-command", &options->post_accept_command,
		    NULL },
		{ "--clear", &options->clear, NULL },
		{ "--check", NULL, &options->check },
		{ "--json", NULL, &options->json },
	};

	for (size_t j = 0; j < nitems(table); j++) {
		if (strcmp(argv[i], table[j].name) != 0)
			continue;
		if (table[j].flag != NULL) {
			*table[j].flag = true;
			return 1;
		}
		if (i + 1 == argc)
			return 0;
		*table[j].value = argv[i + 1];
		return 2;
	}
	return 0;
}

int
main(int argc, char **argv)
{
	struct overseer_options options = { .root = getenv("LLMC_ROOT"),
		.argv = argv };

	fatal_on(log_fatal);
	/* Started from a console: what we start is not that session's. */
	unsetenv("LLMC_KEEPER");
	for (int i = 1, taken; i < argc; i += taken) {
		if (strcmp(argv[i], "--version") == 0) {
			puts("overseer " LLMC_VERSION);
			return 0;
		}
		if (strcmp(argv[i], "--table") == 0) {
			cleanup_buf struct buf table = BUF_INIT;

			overseer_table_print(&table);
			fputs(table.data, stdout);
			return 0;
		}
		if (strcmp(argv[i], "--help") == 0) {
			printf("%soverseer keeps autod running, and repairs it "
			       "when it breaks. llmc overseer starts it; see "
			       "overseer(8).\n",
			    usage);
			return 0;
		}
		taken = take_option(argc, argv, i, &options);
		if (taken == 0) {
			fprintf(stderr, "overseer: %s: unknown argument\n%s",
			    argv[i], usage);
			return OVERSEER_USAGE;
		}
	}
	if (options.clear != NULL && options.clear[0] == '\0') {
		fputs("overseer: --clear needs a reason\n", stderr);
		return OVERSEER_USAGE;
	}
	return overseer_run(&options);
}
