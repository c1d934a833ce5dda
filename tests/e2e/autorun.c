/* SPDX-License-Identifier: ISC */

#include "base.h"
#include "filed.h"
#include "autorun.h"

#define ARGS_MAX   16
#define OUTPUT_MAX 3000 /* bytes of output in a message */
#define LOOK_MS    10 /* between looks at files */
#define LOG_LOOKS  50 /* of them, before one at the book */

/* Belongs to the current fleet; another root is another fleet. */
static struct {
	const char *root;
	const char *instance; /* of the last daemon seen */
	int commits; /* on main when the first run began */
} run;

static void
know_fleet(void)
{
	if (run.root == fleet_root())
		return;
	run.root = fleet_root();
	run.instance = "";
	run.commits = fleet_commits();
}

/* As much of it as Check allows in a message. */
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
		    "{ tail -n 25 .llmc/logs/autod.log; \"$LLMC\" status; "
		    "tail -n 5 .llmc/logs/auto.log; } | tail -c 3000");

		ck_abort_msg(
		    "waited in vain for %s: %s", what, e2e_shown(known->out));
	}
	poll(NULL, 0, LOOK_MS); /* waits for other programs */
}

/* --- before the run --------------------------------------------------- */

void
auto_task(const char *name, const char *fmt, ...)
{
	const char *folder = fleet_file("tasks/todo");
	const char *aside = e2e_path("%s/.%s.new", folder, name);
	cleanup_free char *text = NULL;
	va_list ap;

	ck_assert_int_eq(file_mkdirs(folder, 0755, NULL), 0);
	va_start(ap, fmt);
	text = xvasprintf(fmt, ap);
	va_end(ap);
	e2e_write(aside, text);
	ck_assert_int_eq(rename(aside, e2e_path("%s/%s", folder, name)), 0);
}

void
auto_set(const char *key, const char *value)
{
	e2e_set(fleet_root(), key, value);
}

void
auto_tune(const char *tuning)
{
	const char *file = e2e_scratch("tuning");

	e2e_write(e2e_path("%s.new", file),
	    e2e_path("%s %s", access(file, F_OK) == 0 ? e2e_read(file) : "",
		tuning));
	ck_assert_int_eq(rename(e2e_path("%s.new", file), file), 0);
	e2e_env(e2e_path("LLMC_TEST_TUNING=%s", file));
}

void
auto_pool(const char *script)
{
	const char *file = e2e_scratch("pool.sh");

	e2e_script(file,
	    e2e_path("#!/bin/sh\nPOOL='%s'\n%s\n", e2e_dir("pool"), script));
	auto_set("auto.task_pool_command", e2e_path("'%s'", file));
}

void
auto_ails(const char *steps)
{
	const char *file = e2e_scratch("ails");

	e2e_env(e2e_path("FAKE_CLAUDE_MORE=%s", file));
	e2e_write(e2e_path("%s.new", file), steps);
	ck_assert_int_eq(rename(e2e_path("%s.new", file), file), 0);
}

const char *
auto_gates(void)
{
	const char *folder = e2e_path("%s/gates", unit_scratch());

	mkdir(folder, 0700);
	return folder;
}

const char *
auto_gate(const char *name)
{
	const char *base = e2e_path("%s/%s", auto_gates(), name);

	return e2e_path("touch '%s.here'; n=0; until [ -e '%s.open' ] || "
			"[ ! -e '%s.here' ] || [ $n -gt 12000 ]; do sleep "
			"0.05; n=$((n + 1)); done",
	    base, base, base);
}

void
auto_wait_gate(const char *name)
{
	while (!e2e_exists(e2e_path("%s/%s.here", auto_gates(), name)))
		wait_on(e2e_path("somebody at the gate %s", name));
}

void
auto_open_gate(const char *name)
{
	e2e_write(e2e_path("%s/%s.open", auto_gates(), name), "");
}

/* --- the run ---------------------------------------------------------- */

static void
launch(const char *const *args)
{
	cleanup_buf struct buf command = BUF_INIT;
	cleanup_child_result struct child_result result;
	struct child_spec spec = {
		.cwd = fleet_root(), .env = e2e_edits(), .detach = true
	};
	struct err err = { 0 };

	know_fleet();
	text_add_shell(&command, e2e_llmc_path());
	buf_adds(&command, " up --auto");
	for (size_t i = 0; args[i] != NULL; i++) {
		buf_addc(&command, ' ');
		text_add_shell(&command, args[i]);
	}
	remove(e2e_scratch("auto.pid"));
	remove(e2e_scratch("auto.status"));
	/* Not in the background of a shell, which would ignore SIGINT. */
	e2e_script(e2e_scratch("auto.sh"),
	    e2e_path("#!/bin/sh\necho $$ >'%s.new'\nmv '%s.new' '%s'\nexec %s",
		e2e_scratch("auto.pid"), e2e_scratch("auto.pid"),
		e2e_scratch("auto.pid"), command.data));
	spec.shell = e2e_path("exec </dev/null >>'%s' 2>&1\n'%s'\n"
			      "echo $? >'%s.new'\nmv '%s.new' '%s'",
	    e2e_scratch("auto.out"), e2e_scratch("auto.sh"),
	    e2e_scratch("auto.status"), e2e_scratch("auto.status"),
	    e2e_scratch("auto.status"));
	ck_assert_msg(child_run(&spec, &result, &err) == 0, "%s", err.msg);
}

static void
gather(const char *arg, va_list ap, const char *args[ARGS_MAX + 1])
{
	size_t i = 0;

	for (; arg != NULL; arg = va_arg(ap, const char *)) {
		ck_assert_uint_lt(i, ARGS_MAX);
		args[i++] = arg;
	}
	args[i] = NULL;
}

void
auto_launch(const char *arg, ...)
{
	const char *args[ARGS_MAX + 1];
	va_list ap;

	va_start(ap, arg);
	gather(arg, ap, args);
	va_end(ap);
	launch(args);
}

static const char *
instance_in(const char *name)
{
	struct json_object *json = e2e_load(fleet_file(name));
	const char *id =
	    e2e_path("%s", json_string_or(json, "instance_id", ""));

	json_object_put(json);
	return id;
}

void
auto_up(const char *arg, ...)
{
	const char *args[ARGS_MAX + 1], *id;
	va_list ap;

	va_start(ap, arg);
	gather(arg, ap, args);
	va_end(ap);
	launch(args);
	for (;;) {
		id = instance_in("daemon.json");
		if (id[0] != '\0' && strcmp(id, run.instance) != 0 &&
		    strcmp(id, instance_in("auto.heartbeat")) == 0)
			break;
		ck_assert_msg(!auto_has_ended(), "it ended at once: %s",
		    e2e_shown(auto_output()));
		wait_on("the daemon");
	}
	run.instance = id;
	/* From here on its workers are known. */
	auto_wait_event("daemon_startup", id);
}

int
auto_run(const char *arg, ...)
{
	const char *args[ARGS_MAX + 1];
	va_list ap;

	va_start(ap, arg);
	gather(arg, ap, args);
	va_end(ap);
	launch(args);
	return auto_wait_exit();
}

bool
auto_has_ended(void)
{
	return e2e_exists(e2e_scratch("auto.status"));
}

void
auto_signal(int signo)
{
	while (!e2e_exists(e2e_scratch("auto.pid")))
		wait_on("the program to begin");
	ck_assert_msg(
	    !auto_has_ended(), "it has ended: %s", e2e_shown(auto_output()));
	ck_assert_int_eq(
	    kill((int)strtol(e2e_read(e2e_scratch("auto.pid")), NULL, 10),
		signo),
	    0);
}

int
auto_wait_exit(void)
{
	int status;

	while (!auto_has_ended())
		wait_on("the end of the run");
	status = (int)strtol(e2e_read(e2e_scratch("auto.status")), NULL, 10);
	ck_assert_msg(status != 128 + SIGSEGV && status != 128 + SIGABRT,
	    "it crashed: %s", e2e_shown(auto_output()));
	return status;
}

void
auto_drain(void)
{
	int status;

	auto_signal(SIGINT);
	status = auto_wait_exit();
	ck_assert_msg(
	    status == 0, "status %d: %s", status, e2e_shown(auto_output()));
}

void
auto_kill9_daemon(void)
{
	fleet_kill(fleet_daemon_pid());
	auto_wait_exit();
}

const char *
auto_output(void)
{
	const char *file = e2e_scratch("auto.out");

	return e2e_exists(file) ? last_of(e2e_read(file)) : "";
}

/* --- files it wrote ---------------------------------------------------- */

static bool
is_event(const char *line, const char *type)
{
	struct json_object *json = json_tokener_parse(line), *event = NULL;
	bool is = json_object_object_get_ex(json, "event", &event) &&
	    strcmp(json_string_or(event, "type", ""), type) == 0;

	json_object_put(json);
	return is;
}

/* Count the lines of a file (the last may be incomplete) that contain the words
 * and are such events. */
static int
count_lines(const char *file, const char *type, const char *words)
{
	const char *text = e2e_exists(file) ? e2e_read(file) : "", *end;
	int count = 0;

	for (; (end = strchr(text, '\n')) != NULL; text = end + 1) {
		cleanup_free char *line = xstrndup(text, (size_t)(end - text));

		count += (words == NULL || strstr(line, words) != NULL) &&
		    (type == NULL ||
			(strstr(line, type) != NULL && is_event(line, type)));
	}
	return count;
}

int
auto_events(const char *type, const char *words)
{
	return count_lines(fleet_file("logs/auto.log"), type, words);
}

void
auto_wait_events(const char *type, const char *words, int count)
{
	const char *what = e2e_path("%d of the event %s with %s", count,
	    type != NULL ? type : "any", words != NULL ? words : "anything");

	while (auto_events(type, words) < count)
		wait_on(what);
}

void
auto_wait_event(const char *type, const char *words)
{
	auto_wait_events(type, words, 1);
}

int
auto_logged(const char *log, const char *words)
{
	return count_lines(fleet_file(e2e_path("logs/%s", log)), NULL, words);
}

void
auto_wait_logged(const char *log, const char *words)
{
	while (auto_logged(log, words) == 0)
		wait_on(words);
}

void
auto_no_complaints(void)
{
	const char *found = e2e_sh(fleet_root(),
	    "grep -E '\"level\": ?\"(WARN|ERROR)\"' .llmc/logs/autod.log || "
	    "true")
				->out;

	ck_assert_msg(found[0] == '\0', "%s", e2e_shown(found));
}

struct json_object *
auto_state(void)
{
	struct json_object *json = e2e_state(fleet_root());

	ck_assert_ptr_nonnull(json);
	return json;
}

struct json_object *
auto_failure(void)
{
	return e2e_load(fleet_file("failure.json"));
}

struct json_object *
auto_heartbeat(void)
{
	return e2e_load(fleet_file("auto.heartbeat"));
}

void
auto_failed(const char *class, const char *words)
{
	struct json_object *json = auto_failure();

	ck_assert_msg(
	    json != NULL, "no failure.json: %s", e2e_shown(auto_output()));
	ck_assert_str_eq(json_string_or(json, "class", ""), class);
	if (words != NULL)
		e2e_has(json_string_or(json, "words", ""), words);
	json_object_put(json);
}

const char *
auto_member(struct json_object *json, const char *path)
{
	struct json_object *at = json;
	size_t len;

	for (; *path != '\0' && at != NULL; path += len + (path[len] == '.')) {
		const char *key =
		    e2e_path("%.*s", (int)strcspn(path, "."), path);

		len = strlen(key);
		if (json_object_is_type(at, json_type_array))
			at = json_object_array_get_idx(
			    at, (size_t)strtol(key, NULL, 10));
		else if (!json_object_object_get_ex(at, key, &at))
			at = NULL;
	}
	return at == NULL ? "" : e2e_path("%s", json_object_get_string(at));
}

void
auto_wait_state(const char *path, const char *text)
{
	for (;;) {
		struct json_object *json = e2e_state(fleet_root());
		bool there = strcmp(auto_member(json, path), text) == 0;

		json_object_put(json);
		if (there)
			break;
		wait_on(e2e_path("%s to be %s", path, text));
	}
}

void
auto_put_state(struct json_object *state)
{
	e2e_put_state(fleet_root(), state);
}

int
auto_finished(const char *outcome)
{
	struct json_object *tasks = filed_tasks(fleet_root());
	int count = 0;

	for (size_t i = 0; tasks != NULL && i < json_object_array_length(tasks);
	     i++)
		count += outcome == NULL ||
		    strcmp(auto_member(
			       json_object_array_get_idx(tasks, i), "outcome"),
			outcome) == 0;
	json_object_put(tasks);
	return count;
}

void
auto_wait_finished(const char *outcome, int count)
{
	/* To look at the book takes a process, so the log is read first; a
	 * daemon may have been killed before it wrote there. */
	for (int looks = 1; (auto_events("task_finished", NULL) < count &&
				looks % LOG_LOOKS != 0) ||
	     auto_finished(outcome) < count;
	     looks++)
		wait_on(e2e_path("%d tasks with outcome %s", count,
		    outcome != NULL ? outcome : "any"));
}

const char *
auto_folder(const char *name)
{
	return e2e_sh(fleet_root(),
	    e2e_path("ls '%s' 2>/dev/null || true",
		fleet_file(e2e_path("tasks/%s", name))))
	    ->out;
}

/* --- git ---------------------------------------------------------------- */

int
auto_landed(void)
{
	know_fleet();
	return fleet_commits() - run.commits;
}

void
auto_wait_landed(int count)
{
	int looks = 0;

	while (auto_landed() < count) {
		wait_on(e2e_path("%d landed commits", count));
		e2e_rest(&looks);
	}
}

void
auto_history(const char *subject, ...)
{
	va_list ap;

	ck_assert_str_eq(
	    e2e_git(fleet_root(), "rev-list", "--min-parents=2", "main", NULL),
	    "");
	va_start(ap, subject);
	for (; subject != NULL; subject = va_arg(ap, const char *)) {
		const char *found = e2e_sh(fleet_root(),
		    e2e_path("git log --format=%%s main | grep -cFx -e '%s'",
			subject))
					->out;

		ck_assert_msg(strcmp(found, "1\n") == 0,
		    "\"%s\" %s times in %s", subject, e2e_shown(found),
		    e2e_shown(fleet_log()));
	}
	va_end(ap);
}

void
auto_salvaged(const char *worker, const char *file)
{
	struct e2e_run *found = e2e_sh(fleet_root(),
	    e2e_path("git for-each-ref --format='%%(refname)' "
		     "refs/llmc/salvage/%s | while read -r ref; do "
		     "git cat-file -e \"$ref:%s\" 2>/dev/null && echo yes; "
		     "done; true",
		worker, file));

	ck_assert_msg(
	    found->out[0] != '\0', "%s of %s is not saved", file, worker);
}

void
auto_wait_shell(const char *script)
{
	int looks = 0;

	while (e2e_sh(fleet_root(), script)->status != 0) {
		wait_on(script);
		e2e_rest(&looks);
	}
}

void
auto_no_sessions(void)
{
	struct e2e_run *list = e2e_sh(fleet_root(),
	    "tmux -L \"$(\"$LLMC\" config get tmux.socket)\" list-sessions "
	    "2>/dev/null || true");

	ck_assert_msg(list->out[0] == '\0', "%s", e2e_shown(list->out));
}
