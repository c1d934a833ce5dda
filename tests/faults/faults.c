/* SPDX-License-Identifier: ISC */

#include <sys/mman.h>

#include "autorun.h"
#include "faults.h"

#define ROWS_MAX 2000 /* of a story with "all": more than any has steps */

static struct faults *running;
static int wanted;
static bool is_back; /* the daemon, after its kill */

int
faults_count(int sample)
{
	return e2e_number("FAULTS", sample);
}

uint64_t
faults_seed(void)
{
	return (uint64_t)e2e_number("FAULTS_SEED", 1);
}

static bool
faults_all(void)
{
	const char *text = getenv("FAULTS");

	return text != NULL && strcmp(text, "all") == 0;
}

int
faults_rows(struct faults *story)
{
	story->steps = mmap(NULL, sizeof *story->steps, PROT_READ | PROT_WRITE,
	    MAP_SHARED | MAP_ANONYMOUS, -1, 0);
	if (story->steps == MAP_FAILED)
		fatal("mmap");
	if (getenv("FAULTS_AT") != NULL)
		return 1;
	return 1 + (faults_all() ? ROWS_MAX : faults_count(story->sample));
}

/* The steps are cut into as many parts as there are kills; one step of each is
 * taken. */
static int
faults_step(const struct faults *story, int row)
{
	int count = faults_count(story->sample), steps = *story->steps;
	struct dice dice = { faults_seed() * 1000003 + (uint64_t)row };
	int first, next;

	if (getenv("FAULTS_AT") != NULL)
		return e2e_number("FAULTS_AT", 1);
	if (row == 0)
		return 0;
	ck_assert_msg(steps > 0, "the first row counted no steps");
	if (faults_all() || count >= steps)
		return row;
	first = 1 + (row - 1) * steps / count;
	next = 1 + row * steps / count;
	dice_next(&dice);
	return first + (int)dice_below(&dice, (unsigned)(next - first));
}

bool
faults_begin(struct faults *story, int row)
{
	const char *llmc = e2e_llmc_path();

	running = story;
	wanted = faults_step(story, row);
	is_back = false;
	if (row > 0 && wanted > *story->steps)
		return false;
	/* Only a folder may have a space in its name. */
	e2e_env(e2e_path("LD_LIBRARY_PATH=%.*s/../../tests/faults",
	    (int)(strrchr(llmc, '/') - llmc), llmc));
	e2e_env("LD_PRELOAD=stepkill.so");
	e2e_env("STEPKILL_PROGRAM=autod");
	e2e_env(e2e_path("STEPKILL_ARM=%s", unit_path("arm")));
	e2e_env(e2e_path("STEPKILL_COUNT=%s", unit_path("steps")));
	e2e_env(e2e_path("STEPKILL_N=%d", wanted));
	return true;
}

void
faults_arm(void)
{
	e2e_write(unit_path("arm"), "");
}

static void
faults_restart(void (*killed)(void))
{
	ck_assert_msg(!is_back, "it ended again: %s", e2e_shown(auto_output()));
	is_back = true;
	if (killed != NULL)
		killed();
	auto_up(NULL);
}

void
faults_wait(const char *script, void (*killed)(void))
{
	int looks = 0;

	while (e2e_sh(fleet_root(), script)->status != 0) {
		if (auto_has_ended())
			faults_restart(killed);
		if (unit_is_late())
			auto_wait_shell(script); /* says what is known */
		e2e_rest(&looks);
	}
}

static int
faults_lines(const char *text)
{
	int lines = 0;

	for (; (text = strchr(text, '\n')) != NULL; text++)
		lines++;
	return lines;
}

/* Returns whether there was a kill. */
static bool
faults_disarm(void)
{
	bool was = remove(unit_path("arm")) != 0;
	const char *steps = unit_path("steps");

	if (wanted == 0) {
		ck_assert_msg(!was, "killed, but it was to count only");
		*running->steps =
		    e2e_exists(steps) ? faults_lines(e2e_read(steps)) : 0;
	}
	printf("# step %d of %d: %s, %s\n", wanted, *running->steps,
	    was ? "killed" : "not reached",
	    e2e_shown(e2e_sh(
		"/", e2e_path("tail -n 1 '%s' 2>/dev/null || true", steps))
			  ->out));
	fflush(stdout);
	return was;
}

void
faults_run(void)
{
	auto_wait_exit();
	if (faults_disarm())
		auto_run("--until-empty", NULL);
}

bool
faults_end(void (*killed)(void))
{
	bool was = faults_disarm();

	if (was && !is_back) {
		auto_wait_exit();
		faults_restart(killed);
	}
	return was;
}
