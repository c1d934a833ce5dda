/* SPDX-License-Identifier: ISC */

#include "base.h"
#include "kept.h"
#include "sibling.h"

const char *
kept_modes(void)
{
	const char *modes = getenv("LLMC_KEEPER_MODE"); /* for tests */

	if (modes != NULL && modes[0] != '\0')
		return modes;
	return geteuid() == 0 ? "namespace,cgroup,reaper" : "cgroup,reaper";
}

char **
kept_argv(const char *const *argv, unsigned flags)
{
	/* Without it a command does not run at all: it is part of llmc. */
	char *keeper = sibling_find("keeper");
	char **kept = NULL;

	strv_take(&kept, keeper != NULL ? keeper : xstrdup("keeper"));
	strv_add(&kept, "--command");
	strv_add(&kept, "--mode");
	strv_add(&kept, kept_modes());
	if ((flags & KEPT_ALONE) == 0) {
		strv_add(&kept, "--parent");
		strv_take(&kept, xasprintf("%d", (int)getpid()));
	}
	strv_add(&kept, "--");
	strv_add_all(&kept, argv);
	return kept;
}

char **
kept_shell(const char *command, unsigned flags)
{
	const char *const argv[] = { "/bin/sh", "-c", command, NULL };

	return kept_argv(argv, flags);
}
