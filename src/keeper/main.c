/* SPDX-License-Identifier: ISC */

/*
 * keeper [options] -- PROGRAM ARG...
 *
 * Runs PROGRAM and ends with its status when it and everything that it started
 * are gone. See keeper-private.h.
 *
 * keeper --bare [--no-abstract] [--filter FD] [--seal FD:FILE] -- PROGRAM...
 *
 * Becomes PROGRAM, which has nothing open but the standard streams, has a
 * session keyring of its own, and cannot connect to abstract unix sockets of
 * others. FD is open for bwrap --seccomp then, and the other FD is a copy of
 * FILE that nobody can change: /proc/self/fd/FD can be executed.
 *
 * keeper --init FD -- PROGRAM ARG...
 *
 * Is the init of a pid namespace (bwrap --as-pid-1): see keeper-box.c. FD and
 * what is above are closed.
 */
#include <getopt.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "keeper-private.h"

static bool
add_mode(struct keeper *keeper, const char *word, size_t len)
{
	for (int i = 0; i < KEEPER_MODE_COUNT; i++) {
		const char *name = keeper_mode_word((enum keeper_mode)i);

		if (strlen(name) != len || strncmp(name, word, len) != 0)
			continue;
		if (keeper->mode_count == KEEPER_MODE_COUNT)
			return false;
		keeper->modes[keeper->mode_count++] = (enum keeper_mode)i;
		return true;
	}
	return false;
}

/* "auto", or modes separated by commas. */
static bool
set_modes(struct keeper *keeper, const char *words)
{
	if (strcmp(words, "auto") == 0)
		words = "namespace,cgroup,scope,reaper";
	keeper->mode_count = 0;
	for (;;) {
		size_t len = strcspn(words, ",");

		if (!add_mode(keeper, words, len))
			return false;
		if (words[len] == '\0')
			return true;
		words += len + 1;
	}
}

static int
usage(void)
{
	keeper_say("usage: keeper [--terminal | --command [--parent PID]] "
		   "[--record FILE] [--mark MARK] [--cgroup DIR] "
		   "[--mode auto|MODE,...] -- PROGRAM ARG...; "
		   "modes: namespace, cgroup, scope, reaper, box; "
		   "or: keeper --bare [--no-abstract] [--filter FD] "
		   "[--seal FD:FILE] -- PROGRAM ARG...; "
		   "or: keeper --init FD -- PROGRAM ARG...");
	return KEEPER_FAILED;
}

int
main(int argc, char **argv)
{
	static const struct option options[] = {
		{ "terminal", no_argument, NULL, 't' },
		{ "command", no_argument, NULL, 'C' },
		{ "parent", required_argument, NULL, 'p' },
		{ "record", required_argument, NULL, 'r' },
		{ "mark", required_argument, NULL, 'm' },
		{ "mode", required_argument, NULL, 'M' },
		{ "cgroup", required_argument, NULL, 'c' },
		{ "bare", no_argument, NULL, 'b' },
		{ "no-abstract", no_argument, NULL, 'A' },
		{ "filter", required_argument, NULL, 'f' },
		{ "seal", required_argument, NULL, 's' },
		{ "init", required_argument, NULL, 'i' },
		{ NULL, 0, NULL, 0 },
	};
	static struct keeper keeper;
	const char *modes = getenv("LLMC_KEEPER_MODE");
	struct keeper_bare box = { .filter = -1, .seal = -1 };
	bool bare = false;
	int option, spare = -1;
	char *end;

	if (modes == NULL || modes[0] == '\0')
		modes = "auto";
	while ((option = getopt_long(argc, argv, "+", options, NULL)) != -1) {
		switch (option) {
		case 't':
			keeper.terminal = true;
			break;
		case 'C':
			keeper.command = true;
			break;
		case 'p':
			keeper.parent = (pid_t)strtol(optarg, NULL, 10);
			break;
		case 'r':
			keeper.record = optarg;
			break;
		case 'm':
			keeper.mark = optarg;
			break;
		case 'M':
			modes = optarg;
			break;
		case 'c':
			keeper.cgroup = optarg;
			break;
		case 'b':
			bare = true;
			break;
		case 'A':
			box.scoped = true;
			break;
		case 'f':
			box.filter = (int)strtol(optarg, NULL, 10);
			break;
		case 's':
			box.seal = (int)strtol(optarg, &end, 10);
			if (*end != ':')
				return usage();
			box.sealed = end + 1;
			break;
		case 'i':
			spare = (int)strtol(optarg, NULL, 10);
			break;
		default:
			return usage();
		}
	}
	keeper.argv = &argv[optind];
	if (optind == argc || bare < box.scoped)
		return usage();
	if (bare)
		return keeper_box_become(keeper.argv, &box);
	if (spare != -1)
		_exit(keeper_box_init(keeper.argv, spare));
	if (!set_modes(&keeper, modes))
		return usage();
	if (keeper.mark != NULL && setenv("LLMC_KEEPER", keeper.mark, 1) == -1)
		return KEEPER_FAILED;
	/* There is nothing to flush or to free. */
	_exit(keeper_outer_run(&keeper));
}
