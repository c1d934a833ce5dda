/* SPDX-License-Identifier: ISC */

#include "e2e.h"
#include "stepkills.h"

void
stepkills_at(int step)
{
	const char *llmc = e2e_llmc_path();

	/* Only a folder may have a space in its name. */
	e2e_env(e2e_path("LD_LIBRARY_PATH=%.*s/../../tests/tools",
	    (int)(strrchr(llmc, '/') - llmc), llmc));
	e2e_env("LD_PRELOAD=stepkill.so");
	e2e_env("STEPKILL_PROGRAM=autod");
	e2e_env(e2e_path("STEPKILL_ARM=%s", unit_path("arm")));
	e2e_env(e2e_path("STEPKILL_COUNT=%s", unit_path("steps")));
	e2e_env(e2e_path("STEPKILL_N=%d", step));
}

void
stepkills_arm(void)
{
	e2e_write(unit_path("arm"), "");
}

int
stepkills_spread(int row, int count, int steps)
{
	return (2 * row + 1) * steps / (2 * count);
}
