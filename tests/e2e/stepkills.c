/* SPDX-License-Identifier: ISC */

#include "autorun.h"
#include "stepkills.h"

#define WAIT_MS 60000

static int wanted;
static bool is_back; /* the daemon, after its kill */

void
stepkills_at(int step)
{
	const char *llmc = e2e_llmc_path();

	wanted = step;
	is_back = false;
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

static void
restart(void (*killed)(void))
{
	ck_assert_msg(!is_back, "it ended again: %s", e2e_shown(auto_output()));
	is_back = true;
	if (killed != NULL)
		killed();
	auto_up(NULL);
}

void
stepkills_wait(const char *script, void (*killed)(void))
{
	int64_t end = clock_mono_ms() + WAIT_MS;
	int looks = 0;

	while (e2e_sh(fleet_root(), script)->status != 0) {
		if (auto_has_ended())
			restart(killed);
		if (clock_mono_ms() > end)
			auto_wait_shell(script); /* says what is known */
		e2e_rest(&looks);
	}
}

bool
stepkills_disarm(void (*killed)(void))
{
	bool was = remove(unit_path("arm")) != 0;

	if (was && !is_back) {
		auto_wait_exit();
		restart(killed);
	}
	printf("# step %d: %s, %s\n", wanted, was ? "killed" : "not reached",
	    e2e_shown(e2e_sh("/",
		e2e_path(
		    "tail -n 1 '%s' 2>/dev/null || true", unit_path("steps")))
			  ->out));
	fflush(stdout);
	return was;
}

int
stepkills_spread(int row, int count, int steps)
{
	return (2 * row + 1) * steps / (2 * count);
}
