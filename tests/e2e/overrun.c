/* SPDX-License-Identifier: ISC */

#include "base.h"

#include <dirent.h>

#include "overrun.h"

#define LOOK_MS      10
#define READ_MAX     (1024 * 1024)
#define OUTPUT_MAX   1500 /* bytes of output in a message */
#define TIMEOUT_S    150
#define BEAT_MS      5000 /* between two heartbeats */
#define BEAT_LATE_MS 2000 /* allowed on a machine that is busy with tests */

static int seen; /* pid of the last daemon */

static const char *
last_of(const char *text)
{
	size_t len = strlen(text);

	return len > OUTPUT_MAX ? text + len - OUTPUT_MAX : text;
}

/* Poll again soon, or fail with what is known. */
static void
wait_on(const char *what)
{
	if (unit_is_late()) {
		struct e2e_run *known = e2e_sh(fleet_root(),
		    "tail -n 5 .llmc/logs/overseer.log | cut -c 1-300; "
		    "tail -n 8 .llmc/logs/autod.log | cut -c 1-300");

		ck_abort_msg("waited in vain for %s: %s %s", what,
		    e2e_shown(last_of(over_output())), e2e_shown(known->out));
	}
	poll(NULL, 0, LOOK_MS); /* waits for other programs */
}

/* --- before and after ------------------------------------------------- */

void
over_leave_behind(const char *script)
{
	struct child_spec spec = { .shell = script,
		.cwd = unit_scratch(),
		.env = e2e_edits(),
		.detach = true };
	cleanup_child_result struct child_result result;
	struct err err = { 0 };

	ck_assert_msg(child_run(&spec, &result, &err) == 0, "%s", err.msg);
}

/* The overseer must be ended before the daemon, which it would start again; so
 * must anything it started in between. */
static void
guard(void)
{
	over_leave_behind(e2e_path("exec >/dev/null 2>&1 </dev/null\n"
				   "tail --pid=%d -s 0.2 -f /dev/null\n%s",
	    (int)getpid(),
	    e2e_path("[ -e '%s' ] || exit\nkill -KILL \"$(cat '%s')\"\n"
		     "pid=$(sed -n 's/.*\"pid\": *\\([0-9]*\\).*/\\1/p' "
		     "'%s')\n[ -z \"$pid\" ] || kill -KILL \"$pid\"\n"
		     "TMUX_TMPDIR='%s' tmux -L %s kill-server",
		e2e_scratch("over.pid"), e2e_scratch("over.pid"),
		fleet_file("daemon.json"), unit_scratch(),
		e2e_setting(fleet_root(), "tmux.socket"))));
}

/* Timeouts for programs that need their time, however fast the clocks run. */
static void
set_times(int times)
{
	static const struct {
		const char *key;
		int ms;
	} settings[] = {
		{ "daemon.patrol_interval", 900 },
		{ "overseer.remediation_timeout", 60000 },
	};

	for (size_t i = 0; i < nitems(settings); i++)
		auto_set(
		    settings[i].key, e2e_path("%dms", settings[i].ms * times));
	auto_tune(e2e_path(
	    "daemon_start=%d daemon_stop=%d", 20000 * times, 10000 * times));
	auto_set("overseer.heartbeat_timeout",
	    e2e_path("%dms", BEAT_MS + BEAT_LATE_MS * times));
}

void
over_hurry(int times)
{
	e2e_hurry(times);
	set_times(times);
}

static void
set_up(void)
{
	const char *llmc = e2e_llmc_path();
	int folder = (int)(strrchr(llmc, '/') - llmc);

	unit_at_end(over_end);
	e2e_env(e2e_path("PATH=%.*s:%s", folder, llmc, getenv("PATH")));
	set_times(1);
	over_remedy(0, "Repair it.");
	auto_landed(); /* counts from here */
	guard();
}

void
over_begin(void)
{
	fleet_begin();
	auto_ails("");
	set_up();
}

void
over_begin_real(void)
{
	fleet_begin_real();
	fleet_do("doctor", "trust", "--onboarding", NULL);
	set_up();
}

void
over_end(void)
{
	if (fleet_root() == NULL)
		return;
	if (e2e_exists(e2e_scratch("over.pid")) && !over_has_ended() &&
	    over_alive(over_pid()))
		fleet_kill(over_pid());
	fleet_end();
}

void
over_culprit(const char *script)
{
	e2e_script(e2e_scratch("culprit.sh"), e2e_path("%s\n", script));
	auto_ails(e2e_path("fake: run case $PWD in */.worktrees/auto-*) "
			   "[ ! -e '%s' ] || . '%s' ;; esac",
	    e2e_scratch("culprit.sh"), e2e_scratch("culprit.sh")));
}

const char *
over_remove_culprit(void)
{
	return e2e_path("fake: run rm '%s'", e2e_scratch("culprit.sh"));
}

void
over_remedy(int off, const char *fmt, ...)
{
	cleanup_free char *steps = NULL;
	va_list ap;

	va_start(ap, fmt);
	steps = xvasprintf(fmt, ap);
	va_end(ap);
	auto_set("overseer.remediation_prompt",
	    e2e_path("You repair a test.\n%s\nfake: run mkdir -p "
		     "\"$LLMC_ROOT/.llmc/remedy\"; echo mended "
		     ">\"$LLMC_ROOT/.llmc/remedy/finding.txt\"",
		steps));
	if (!off)
		return;
	auto_set("overseer.remediate", "false");
	auto_tune("same_failures=2");
}

/* --- the run ---------------------------------------------------------- */

static void
launch(const char *args, const char *output)
{
	const char *pid = e2e_scratch("over.pid");
	const char *status = e2e_scratch("over.status");

	remove(pid);
	remove(status);
	remove(e2e_scratch("over.out"));
	/* Not in the background of a shell, which would ignore SIGINT. */
	e2e_script(e2e_scratch("over.sh"),
	    e2e_path("#!/bin/sh\ncd '%s'\necho $$ >'%s.new'\n"
		     "mv '%s.new' '%s'\nexec '%s' overseer%s\n",
		fleet_root(), pid, pid, pid, e2e_llmc_path(), args));
	over_leave_behind(e2e_path("exec </dev/null >'%s' 2>&1\n'%s'\n"
				   "echo $? >'%s.new'\nmv '%s.new' '%s'",
	    output, e2e_scratch("over.sh"), status, status, status));
}

void
over_start(void)
{
	launch("", e2e_scratch("over.out"));
}

void
over_start_on(const char *output)
{
	launch("", output);
}

int
over_run(const char *arg, ...)
{
	cleanup_buf struct buf args = BUF_INIT;
	va_list ap;

	va_start(ap, arg);
	for (; arg != NULL; arg = va_arg(ap, const char *)) {
		buf_addc(&args, ' ');
		text_add_shell(&args, arg);
	}
	va_end(ap);
	launch(args.data, e2e_scratch("over.out"));
	return over_wait_exit();
}

bool
over_has_ended(void)
{
	return e2e_exists(e2e_scratch("over.status"));
}

int
over_pid(void)
{
	while (!e2e_exists(e2e_scratch("over.pid")))
		wait_on("the overseer to begin");
	return (int)strtol(e2e_read(e2e_scratch("over.pid")), NULL, 10);
}

void
over_signal(int signo)
{
	ck_assert_msg(!over_has_ended(), "it has ended: %s",
	    e2e_shown(last_of(over_output())));
	ck_assert_int_eq(kill(over_pid(), signo), 0);
}

int
over_wait_exit(void)
{
	int status;

	while (!over_has_ended())
		wait_on("the end of the overseer");
	status = (int)strtol(e2e_read(e2e_scratch("over.status")), NULL, 10);
	ck_assert_msg(status != 128 + SIGSEGV && status != 128 + SIGABRT,
	    "it crashed: %s", e2e_shown(last_of(over_output())));
	return status;
}

void
over_kill9(void)
{
	fleet_kill(over_pid());
	over_wait_exit();
}

const char *
over_output(void)
{
	const char *file = e2e_scratch("over.out");

	return e2e_exists(file) ? e2e_read(file) : "";
}

static int
count_words(const char *text, const char *words)
{
	int count = 0;

	while ((text = strstr(text, words)) != NULL) {
		text += strlen(words);
		count++;
	}
	return count;
}

void
over_wait_says_times(const char *words, int times)
{
	while (count_words(over_output(), words) < times) {
		ck_assert_msg(!over_has_ended(), "it ended without \"%s\": %s",
		    words, e2e_shown(last_of(over_output())));
		wait_on(words);
	}
}

void
over_wait_says(const char *words)
{
	over_wait_says_times(words, 1);
}

/* --- what it reports -------------------------------------------------- */

const char *
over_member(const char *path)
{
	struct json_object *json = e2e_load(fleet_file("overseer.json"));
	const char *text = auto_member(json, path);

	json_object_put(json);
	return text;
}

const char *
over_instance(void)
{
	struct json_object *json = e2e_load(fleet_file("daemon.json"));
	const char *text = auto_member(json, "instance_id");

	json_object_put(json);
	return text;
}

bool
over_alive(int pid)
{
	const char *file = e2e_path("/proc/%d/stat", pid), *after;

	if (pid <= 0 || !e2e_exists(file))
		return false;
	after = strrchr(e2e_read(file), ')');
	return after != NULL && after[2] != 'Z' && after[2] != 'X';
}

static bool
is_daemon_of(int pid, const char *root)
{
	cleanup_free char *comm = xasprintf("/proc/%d/comm", pid);
	cleanup_free char *line = xasprintf("/proc/%d/cmdline", pid);
	cleanup_buf struct buf name = BUF_INIT, args = BUF_INIT;

	if (file_read(comm, READ_MAX, &name, NULL) < 0 ||
	    strcmp(name.data, "autod\n") != 0 ||
	    file_read(line, READ_MAX, &args, NULL) < 0)
		return false;
	return memmem(args.data, args.len, root, strlen(root) + 1) != NULL &&
	    memmem(args.data, args.len, "--oneshot", 9) == NULL;
}

int
over_count_daemons(int *ret_pid)
{
	const char *root = fleet_root();
	DIR *proc = opendir("/proc");
	const struct dirent *entry;
	int count = 0;

	ck_assert_ptr_nonnull(proc);
	while ((entry = readdir(proc)) != NULL) {
		int pid = (int)strtol(entry->d_name, NULL, 10);

		/* A zombie has no command line. */
		if (pid <= 0 || !is_daemon_of(pid, root))
			continue;
		*ret_pid = pid;
		count++;
	}
	closedir(proc);
	return count;
}

int
over_daemon(int before)
{
	int pid;

	for (;;) {
		pid = (int)strtol(over_member("daemon.pid"), NULL, 10);
		if (strtol(over_member("pid"), NULL, 10) == over_pid() &&
		    strcmp(over_member("state"), "Running") == 0 && pid > 1 &&
		    pid != before && over_alive(pid) &&
		    strcmp(over_instance(),
			over_member("daemon.instance_id")) == 0)
			break;
		ck_assert_msg(!over_has_ended(), "it ended: %s",
		    e2e_shown(last_of(over_output())));
		wait_on("a daemon that runs");
	}
	ck_assert_int_eq(fleet_daemon_pid(), pid);
	seen = pid;
	return pid;
}

void
over_complain(int daemon)
{
	const char *line = e2e_path("{\"level\":\"WARN\",\"pid\":%d,"
				    "\"message\":\"" OVER_COMPLAINT "\"}\n",
	    daemon);

	ck_assert_int_eq(file_append(fleet_file("logs/autod.log"), line,
			     strlen(line), 0600, false, NULL),
	    0);
}

int
over_kill_twice(void)
{
	int first = over_daemon(0), second;

	fleet_kill(first);
	second = over_daemon(first);
	e2e_lacks(over_output(), "Entering remediation mode");
	fleet_kill(second);
	return second;
}

int
over_remembered(const char *kind, const char *words)
{
	const char *file = fleet_file("failures.jsonl"), *text, *end;
	int count = 0;

	text = e2e_exists(file) ? e2e_read(file) : "";
	for (; (end = strchr(text, '\n')) != NULL; text = end + 1) {
		cleanup_free char *line = xstrndup(text, (size_t)(end - text));
		struct json_object *json = json_tokener_parse(line);

		count += strcmp(json_string_or(json, "kind", ""), kind) == 0 &&
		    (words == NULL || strstr(line, words) != NULL);
		json_object_put(json);
	}
	return count;
}

/* A process of the overseer's own writes it, a moment later. */
void
over_remembers_least(const char *kind, const char *words, int count)
{
	while (over_remembered(kind, words) < count && !unit_is_late())
		poll(NULL, 0, LOOK_MS); /* waits for other programs */
	ck_assert_int_ge(over_remembered(kind, words), count);
}

void
over_remembers(const char *kind, const char *words, int count)
{
	over_remembers_least(kind, words, count);
	ck_assert_int_eq(over_remembered(kind, words), count);
}

/* --- expectations ----------------------------------------------------- */

/* Sessions with a live process; a dead session may keep its screen. */
static const char *
live_sessions(void)
{
	return e2e_sh(fleet_root(),
	    "tmux -L \"$(\"$LLMC\" config get tmux.socket)\" list-panes -a -F "
	    "'#{pane_dead} #{session_name}' 2>/dev/null | grep '^0' || true")
	    ->out;
}

void
over_ends(int status, const char *words)
{
	int ended = over_wait_exit();

	ck_assert_msg(ended == status, "status %d, not %d: %s", ended, status,
	    e2e_shown(last_of(over_output())));
	if (words != NULL)
		e2e_has(over_output(), words);
	ck_assert_int_ne(lock_is_held(fleet_file("state.lock")), 1);
	ck_assert(!over_alive(seen));
	e2e_lacks(live_sessions(), "llmc-overseer");
}

bool
over_recovers(int off, const char *failure, int before)
{
	if (off) {
		over_ends(OVER_SPIRAL, "The same failure keeps happening");
		e2e_has(over_output(), "--clear");
		over_remembers_least("failure", failure, 1);
		over_remembers("remedy", NULL, 0);
		return false;
	}
	over_wait_says("Entering remediation mode");
	over_wait_says("Remediation completed in");
	over_wait_says("Remediation complete. Restarting daemon");
	over_remembers_least("failure", failure, 1);
	over_remembers("remedy", "\"completed\"", 1);
	over_daemon(before);
	return true;
}

void
over_undisturbed(int daemon)
{
	ck_assert_int_eq(over_daemon(0), daemon);
	over_remembers("failure", NULL, 0);
	over_remembers("stall", NULL, 0);
	e2e_lacks(over_output(), "Failure");
	auto_no_complaints();
}

void
over_stop(void)
{
	over_signal(SIGINT);
	over_ends(OVER_STOPPED, "Stopped.");
	ck_assert_str_eq(live_sessions(), "");
	ck_assert_str_eq(over_member("state"), "Terminated");
}

void
over_finish(void)
{
	auto_wait_finished("landed", 1);
	over_stop();
	auto_history("work.txt: x", NULL);
}

/* --- suites ----------------------------------------------------------- */

static const struct failure_row *
find_row(const char *row)
{
	for (size_t i = 0; i < failure_row_count; i++)
		if (strcmp(failure_rows[i].row, row) == 0)
			return &failure_rows[i];
	fprintf(stderr, "the table has no row %s\n", row);
	exit(99);
}

static size_t
rows_of(const char *program)
{
	size_t count = 0;

	for (size_t i = 0; i < failure_row_count; i++)
		count += strcmp(failure_rows[i].program, program) == 0;
	return count;
}

Suite *
over_suite(const char *program, const struct over_test *tests, size_t count)
{
	Suite *s = suite_create(program);
	bool off = true;

	if (rows_of(program) != count) {
		fprintf(stderr, "%s has not the tests of the table\n", program);
		exit(99);
	}
	for (size_t i = 0; i < count; i++) {
		const struct failure_row *row = find_row(tests[i].row);
		TCase *tc = tcase_create(tests[i].test->name);

		if (strcmp(row->test, tests[i].test->name) != 0 ||
		    strcmp(row->program, program) != 0) {
			fprintf(stderr, "row %s is not %s\n", row->row,
			    tests[i].test->name);
			exit(99);
		}
		unit_set_timeout(tc, TIMEOUT_S);
		tcase_add_checked_fixture(tc, over_begin, over_end);
		tcase_add_loop_test(
		    tc, tests[i].test, 0, row->fails_unrepaired && off ? 2 : 1);
		if (row->fails_unrepaired && getenv("UNIT_WHOLE") == NULL)
			off = false;
		suite_add_tcase(s, tc);
	}
	return s;
}
