/* SPDX-License-Identifier: ISC */

/*
 * Auto mode while everything around it breaks: agents, sessions and the tmux
 * server are killed, git lock files appear, hooks are lost or duplicated, and
 * the daemon itself is killed and started again. Every task must land exactly
 * once or fail with an ask to a person, and nothing may be left over. The
 * invariants are checked after every step (chaos-oracle.c). In the end every
 * commit that main ever was at must pass check_command.
 *
 *   CHAOS_SEED     seed for tasks, faults and times (1)
 *   CHAOS_WORKERS  (4)
 *   CHAOS_TASKS    (14)
 *   CHAOS_STEPS    number of faults (30)
 *   CHAOS_LOG      folder for the log of all steps (the working directory)
 *
 * The same seed gives the same faults at the same times, as far as the machine
 * allows. This program acts as the overseer: a daemon that stops with a failure
 * is noted and started again.
 */
#include "autorun.h"
#include "chaos.h"
#include "queue-scenarios.h"

#define STUCK_MS   25000 /* without progress */
#define ASKED_MS   3000 /* the same, until a person looks what is asked */
#define SETTLE_MS  180000 /* to finish after the last fault */
#define QUIET_MS   30000
#define ENDED_MS   5000
#define LOOK_MS    50
#define RESTING_MS 3000 /* for a moment between two patrols */

/* The contents of tasks; %s is the name. One kind conflicts with others of its
 * kind, one has to be told not to ask, one never finishes. */
static const char *const scenes[] = {
	"fake: commit %s.txt %s",
	"fake: sleep 200\nfake: commit %s.txt %s",
	"fake: commit %s.txt %s\nfake: commit more/%s.log %s",
	"fake: sleep 700\nfake: commit %s.txt %s\nfake: sleep 200",
	"fake: commit %s.txt %s\nfake: ask Shall I go on?",
	"fake: commit shared.txt %s\nfake: commit %s.txt %s\nfake: resolve",
	"fake: sleep 100\nfake: commit %s.txt %s\nfake: sleep 300",
	"fake: write %s.txt %s",
};

/* --- the tasks -------------------------------------------------------- */

static void
task_text(int number, size_t scene, struct buf *out)
{
	const char *name = chaos_task_name(number), *at = scenes[scene], *mark;

	buf_addf(out, "%s\n", name);
	for (; (mark = strstr(at, "%s")) != NULL; at = mark + 2) {
		buf_add(out, at, (size_t)(mark - at));
		buf_adds(out, name);
	}
	buf_addf(out, "%s\n", at);
}

/* The folder gets its tasks little by little; the pool has them all from the
 * start. */
static void
tasks_give(struct chaos *c, int count)
{
	for (; c->view.given < count; c->view.given++) {
		cleanup_buf struct buf text = BUF_INIT;
		int number = c->view.given + 1;
		size_t scene = chaos_pick(c, nitems(scenes));

		task_text(number, scene, &text);
		if (c->view.source == CHAOS_FOLDER)
			auto_task(e2e_path("%s.md", chaos_task_name(number)),
			    "%s", text.data);
		else
			e2e_write(e2e_path("%s/%s.md", e2e_dir("pool"),
				      chaos_task_name(number)),
			    text.data);
	}
}

/* Gives each task once. The note is written last: if it is interrupted before
 * that, it has given nothing. */
static const char pool_script[] =
    "exec 8>\"$POOL/lock\"; flock 8\n"
    "for f in \"$POOL\"/task-*.md; do\n"
    "  [ -e \"$f\" ] || exit 4\n"
    "  cat \"$f\"; mv \"$f\" \"$f.given\"\n"
    "  basename \"$f\" .md >>\"$POOL/handed\"; exit 0\n"
    "done\n";

/* Passes with one task whose number ends with 3 or 7; with two it needs another
 * file, which whoever is told of it adds. */
static const char check_script[] =
    "n=$(ls | grep -c '^task-[0-9]*[37].txt$')\n"
    "[ $n -lt 2 ] || [ -e pair.txt ] || { echo two need another file; "
    "echo 'fake: commit pair.txt x'; exit 1; }";

/* --- the run ---------------------------------------------------------- */

static void
check_now(struct chaos *c)
{
	cleanup_buf struct buf problem = BUF_INIT;

	if (!chaos_check(&c->view, &problem))
		chaos_give_up(c, problem.data);
}

static void
let_pass(struct chaos *c, int64_t ms)
{
	int64_t end = clock_mono_ms() + ms;

	while (clock_mono_ms() < end) {
		chaos_daemon_tend(c);
		poll(NULL, 0, ms < LOOK_MS ? (int)ms : LOOK_MS);
	}
}

static void
run_steps(struct chaos *c)
{
	struct chaos_draw draw;

	for (c->step = 1; c->step <= c->steps; c->step++) {
		if (c->view.source == CHAOS_FOLDER)
			tasks_give(c, c->view.tasks * c->step / c->steps);
		chaos_draw(c, &draw);
		let_pass(c, draw.gap_ms);
		chaos_lift_locks(c, c->step);
		chaos_faults[draw.fault].count++;
		chaos_faults[draw.fault].fn(c, &draw);
		check_now(c);
	}
	chaos_lift_locks(c, INT32_MAX);
	e2e_sh(unit_scratch(), "rm -f faults/*");
}

static bool
something_moved(struct chaos *c)
{
	cleanup_buf struct buf now = BUF_INIT;

	for (int i = 1; i <= c->view.tasks; i++)
		buf_addf(&now, "%u%d%d", c->view.places[i], c->view.landed[i],
		    c->view.failed[i]);
	if (c->moved != NULL && strcmp(c->moved, now.data) == 0)
		return false;
	free(c->moved);
	c->moved = buf_take(&now);
	return true;
}

/* The id of the open ask about each task, NULL = none; 0: about tasks that fail
 * alike. */
static void
see_asks(const struct chaos *c, const char *asks[CHAOS_TASKS_MAX + 1])
{
	struct json_object *open =
	    e2e_json(fleet_do("--json", "asks", NULL), 0);

	for (int i = 0; i <= c->view.tasks; i++)
		asks[i] = NULL;
	for (size_t i = 0; i < json_object_array_length(open); i++) {
		struct json_object *ask = json_object_array_get_idx(open, i);
		const char *id = json_string_or(ask, "task", NULL), *title;

		if (strcmp(json_string_or(ask, "key", ""), "alike") == 0)
			asks[0] = json_string_or(ask, "id", "");
		if (id == NULL)
			continue;
		title = auto_member(
		    e2e_json(fleet_do("--json", "task", "show", id, NULL), 0),
		    "record.title");
		for (int n = 1; n <= c->view.tasks; n++)
			if (strcmp(title, chaos_task_name(n)) == 0)
				asks[n] = json_string_or(ask, "id", "");
	}
}

/* Not while the daemon is dead: then it is asked again. */
static bool
is_taken(const char *words, const char *ask)
{
	return e2e_llmc(fleet_root(), "answer", ask, words, NULL)->status == 0;
}

/* A person lets go on what waits for one. */
static bool
answer(struct chaos *c)
{
	const char *asks[CHAOS_TASKS_MAX + 1];
	bool answered = false;

	see_asks(c, asks);
	if (asks[0] != NULL) {
		chaos_note(c, "tasks are given out again");
		answered = is_taken("--yes", asks[0]);
	}
	for (int i = 1; i <= c->view.tasks; i++) {
		if (asks[i] == NULL || chaos_has_settled(&c->view, i))
			continue;
		chaos_note(c, "%s is let go on", chaos_task_name(i));
		answered |= is_taken("Go on.", asks[i]);
	}
	return answered;
}

static void
check_told(struct chaos *c)
{
	const char *asks[CHAOS_TASKS_MAX + 1];

	see_asks(c, asks);
	for (int i = 1; i <= c->view.tasks; i++)
		if (c->view.failed[i] != 0 && asks[i] == NULL)
			chaos_give_up(c,
			    e2e_path("%s failed, and nobody is asked",
				chaos_task_name(i)));
}

/* No more progress: a person would be told, and start it again. */
static void
help(struct chaos *c)
{
	c->moved_ms = clock_mono_ms();
	chaos_note(c, "nothing moves; warnings: %d",
	    auto_logged("autod.log", "a worker waits for a person"));
	if (auto_logged("autod.log", "a worker waits for a person") == 0 ||
	    ++c->helped > 3)
		chaos_give_up(c, "nothing moves, and nobody is told");
	chaos_daemon_end(c, SIGTERM);
	chaos_daemon_up(c);
}

static void
wait_settled(struct chaos *c)
{
	int64_t end = clock_mono_ms() + SETTLE_MS, now;

	c->moved_ms = clock_mono_ms();
	for (;;) {
		check_now(c);
		if (chaos_all_settled(&c->view))
			return;
		now = clock_mono_ms();
		if (now > end)
			chaos_give_up(c, "not all tasks come to their end");
		if (something_moved(c) ||
		    (now - c->moved_ms > ASKED_MS && answer(c)))
			c->moved_ms = now;
		else if (now - c->moved_ms > STUCK_MS)
			help(c);
		let_pass(c, 200);
	}
}

static void
wait_quiet(struct chaos *c)
{
	int64_t end = clock_mono_ms() + QUIET_MS;
	cleanup_buf struct buf problem = BUF_INIT;

	for (;;) {
		chaos_daemon_tend(c);
		buf_clear(&problem);
		if (chaos_check_quiet(&c->view, chaos_daemon_pid(c), &problem))
			return;
		if (clock_mono_ms() > end)
			chaos_give_up(c, problem.data);
		poll(NULL, 0, LOOK_MS);
	}
}

/* What was told to stop may take a moment. */
static void
wait_ended(struct chaos *c)
{
	int64_t end = clock_mono_ms() + ENDED_MS;
	cleanup_buf struct buf problem = BUF_INIT;

	while (!chaos_check_ended(&c->view, &problem)) {
		if (clock_mono_ms() > end)
			chaos_give_up(c, problem.data);
		buf_clear(&problem);
		poll(NULL, 0, LOOK_MS);
	}
}

/* Its descriptors when nothing runs: the fewest seen in a while. */
static void
descriptors_at_rest(struct chaos *c, struct buf *out)
{
	int64_t end = clock_mono_ms() + RESTING_MS;

	wait_quiet(c);
	for (; clock_mono_ms() < end; poll(NULL, 0, 10)) {
		struct buf now = BUF_INIT;

		chaos_descriptors(chaos_daemon_pid(c), &now);
		if (out->len == 0 || now.len < out->len) {
			buf_release(out);
			*out = now;
		} else {
			buf_release(&now);
		}
	}
}

/* The old daemon must have the same descriptors as a new one. */
static void
check_descriptors(struct chaos *c)
{
	cleanup_buf struct buf old = BUF_INIT, fresh = BUF_INIT;

	descriptors_at_rest(c, &old);
	chaos_daemon_end(c, SIGKILL);
	chaos_daemon_up(c);
	descriptors_at_rest(c, &fresh);
	if (strcmp(old.data, fresh.data) != 0)
		chaos_give_up(c,
		    e2e_path("descriptors: %s, of a fresh daemon: %s", old.data,
			fresh.data));
}

static void
report(struct chaos *c, int64_t took_ms)
{
	int landed = 0, failed = 0;

	for (int i = 1; i <= c->view.tasks; i++) {
		landed += c->view.landed[i];
		failed += c->view.failed[i] != 0;
	}
	chaos_note(c,
	    "%d workers, %d tasks (%d landed, %d failed and told), %d faults, "
	    "%d starts of the daemon, %d failures of its own, %d times helped, "
	    "%lld s",
	    c->view.workers, c->view.tasks, landed, failed, c->steps, c->starts,
	    c->failures, c->helped, (long long)took_ms / 1000);
	for (size_t i = 0; chaos_faults[i].name != NULL; i++)
		chaos_note(
		    c, "%4d %s", chaos_faults[i].count, chaos_faults[i].name);
	ck_assert_int_eq(landed + failed, c->view.tasks);
	ck_assert_msg(landed * 2 > c->view.tasks, "only %d landed", landed);
}

static void
set_up(struct chaos *c, enum chaos_source source)
{
	static const char *const settings[][2] = {
		{ "auto.require_commit", "true" },
		{ "auto.max_turns", "4" },
		{ "auto.max_attempts", "4" },
		{ "auto.worker_stall_timeout", "9s" },
		{ "defaults.start_timeout", "24s" },
	};
	int seed = e2e_number("CHAOS_SEED", 1);
	const char *dir = getenv("CHAOS_LOG"), *socket;
	bool folder = source == CHAOS_FOLDER;

	c->view.source = source;
	c->view.workers = e2e_number("CHAOS_WORKERS", 4);
	c->view.tasks = e2e_number("CHAOS_TASKS", 9);
	c->steps = e2e_number("CHAOS_STEPS", 18);
	ck_assert_int_le(c->view.tasks, CHAOS_TASKS_MAX);
	c->random = (uint64_t)seed;
	c->log_path = e2e_path("%s/chaos-%d-%s.log", dir != NULL ? dir : ".",
	    seed, folder ? "folder" : "command");
	c->log = fopen(c->log_path, "we");
	ck_assert_msg(c->log != NULL, "%s", c->log_path);
	c->began_ms = clock_mono_ms();
	e2e_env(e2e_path("FAKE_CLAUDE_FAULTS=%s", e2e_dir("faults")));
	e2e_env("FAKE_CLAUDE_GOES_ON=1");
	e2e_hurry(3);
	for (size_t i = 0; i < nitems(settings); i++)
		auto_set(settings[i][0], settings[i][1]);
	socket = fleet_do("config", "get", "tmux.socket", NULL)->out;
	c->view.socket = e2e_path("%.*s", (int)strcspn(socket, "\n"), socket);
	if (!folder)
		auto_pool(pool_script);
	queue_check(check_script);
	chaos_note(c,
	    "replay: CHAOS_SEED=%d CHAOS_WORKERS=%d CHAOS_TASKS=%d "
	    "CHAOS_STEPS=%d, tasks from the %s; log: %s",
	    seed, c->view.workers, c->view.tasks, c->steps,
	    folder ? "folder" : "command", c->log_path);
}

static void
run(enum chaos_source source)
{
	struct chaos *c = xcalloc(1, sizeof *c);

	c->daemon = (struct procref)PROCREF_INIT;
	set_up(c, source);
	if (source == CHAOS_COMMAND)
		tasks_give(c, c->view.tasks);
	chaos_daemon_up(c);
	run_steps(c);
	wait_settled(c);
	check_descriptors(c);
	chaos_daemon_tend(c);
	auto_drain();
	check_now(c);
	check_told(c);
	wait_ended(c);
	chaos_note(c, "%d tips of main replayed", queue_never_red());
	report(c, clock_mono_ms() - c->began_ms);
	procref_release(&c->daemon);
	fclose(c->log);
	free(c->moved);
	free(c);
}

START_TEST(every_task_of_the_folder_lands_once_or_is_told_of)
{
	run(CHAOS_FOLDER);
}
END_TEST

START_TEST(every_task_of_the_command_lands_once_or_is_told_of)
{
	run(CHAOS_COMMAND);
}
END_TEST

/* Its session is found dead while the worktree is prepared for the task: the
 * new session must get the task, and must not be assumed to be working on
 * it. */
START_TEST(an_agent_killed_before_it_had_its_task_gets_it)
{
	const char *hold = e2e_path("%s/hold", unit_scratch());

	auto_task("first.md", "fake: commit first.txt first");
	auto_up("--concurrency", "1", NULL);
	auto_wait_finished("landed", 1);
	auto_wait_state("workers.auto-1.status", "idle");
	/* The checkout of a new file takes as long as the file hold is there.
	 */
	e2e_write(hold, "");
	e2e_sh(fleet_root(),
	    e2e_path("git config filter.slow.smudge 'cat; while [ -e \"%s\" ]; "
		     "do sleep 0.02; done' && echo 'slow filter=slow' "
		     ">.gitattributes && echo new >slow && git add . && git "
		     "commit -qm Slow",
		hold));
	auto_task("second.md", "fake: commit second.txt second");
	auto_wait_state("workers.auto-1.status", "starting");
	fleet_kill(fleet_agent_pid("auto-1"));
	ck_assert_int_eq(unlink(hold), 0);
	auto_wait_finished("landed", 2);
	auto_drain();
}
END_TEST

static void
begin(void)
{
	fleet_begin();
}

static void
add(Suite *suite, const char *name, const TTest *test)
{
	TCase *tc = tcase_create(name);

	unit_set_timeout(tc,
	    300 + 3.0 * (double)e2e_number("CHAOS_STEPS", 18) +
		5.0 * (double)e2e_number("CHAOS_TASKS", 9));
	tcase_add_checked_fixture(tc, begin, fleet_end);
	tcase_add_test(tc, test);
	suite_add_tcase(suite, tc);
}

/* CK_RUN_CASE=folder or CK_RUN_CASE=command runs one of them alone. */
Suite *
unit_suite(void)
{
	Suite *s = suite_create("chaos");

	add(s, "moments", an_agent_killed_before_it_had_its_task_gets_it);
	add(s, "folder", every_task_of_the_folder_lands_once_or_is_told_of);
	add(s, "command", every_task_of_the_command_lands_once_or_is_told_of);
	return s;
}
