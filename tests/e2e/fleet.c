/* SPDX-License-Identifier: ISC */

#include "base.h"

#include <dirent.h>
#include <glob.h>
#include <sys/syscall.h>

#include "autorun.h"
#include "fleet.h"

#define ARGS_MAX 16

static const char *root, *tmux_socket;
int fleet_patience = 1;
static const char *(*make_origin)(void);

/* A path from meson or the caller; kept, since the environment is cleared. */
static const char *
given(const char *name, const char **kept)
{
	const char *value = getenv(name);

	if (*kept == NULL && value != NULL && value[0] != '\0')
		*kept = e2e_path("%s", value);
	return *kept;
}

static const char *
needed(const char *name, const char **kept)
{
	ck_assert_msg(given(name, kept) != NULL, "%s is not set", name);
	return *kept;
}

const char *
fleet_real_agent(void)
{
	static const char *kept;

	return given("LLMC_REAL_CLAUDE", &kept);
}

const char *
fleet_prompt_log(void)
{
	return e2e_path("%s/prompts.jsonl", unit_scratch());
}

const char *
fleet_usage_file(void)
{
	return e2e_path("%s/usage", unit_scratch());
}

const char *
fleet_headers_file(void)
{
	return e2e_path("%s/headers", unit_scratch());
}

static const char *
rules_file(void)
{
	return e2e_path("%s/rules", unit_scratch());
}

void
fleet_answer(const char *words, const char *steps)
{
	struct json_object *rules = e2e_load(rules_file()),
			   *rule = json_object_new_object();

	if (rules == NULL)
		rules = json_object_new_array();
	json_set_string(rule, "words", words);
	json_set_string(rule, "steps", steps);
	json_object_array_add(rules, rule);
	e2e_write(e2e_path("%s.new", rules_file()),
	    json_object_to_json_string(rules));
	ck_assert_int_eq(
	    rename(e2e_path("%s.new", rules_file()), rules_file()), 0);
	json_object_put(rules);
}

static void
guard(void)
{
	e2e_guard(root,
	    e2e_path("cd '%s' && [ -e auto.pid ] && [ ! -e auto.status ] && "
		     "kill -KILL \"$(cat auto.pid)\"\n"
		     "TMUX_TMPDIR='%s' tmux -L %s kill-server",
		unit_scratch(), unit_scratch(), tmux_socket));
}

/* In a box, the agent writes its log, and waits at gates, in the scratch
 * folder; what is hidden inside it (root and home) stays hidden. */
void
fleet_box(const char *mode)
{
	const char *agent = e2e_setting(root, "defaults.agent_command");

	e2e_set(root, "defaults.sandbox", mode);
	e2e_set(root, "defaults.sandbox_write",
	    e2e_path("[\"%s\"]", unit_scratch()));
	/* For tests that put a script in front of it. */
	e2e_set(root, "defaults.sandbox_read",
	    e2e_path("[\"%.*s\"]", (int)(strrchr(agent, '/') - agent), agent));
}

void
fleet_clone_of(const char *(*make)(void))
{
	make_origin = make;
}

/* As a person begins, with a file of their own that git ignores: what suits the
 * project is accepted. */
static const char *
clone_origin(void)
{
	const char *dir = unit_path("a fleet");

	e2e_git(NULL, "-c", "protocol.file.allow=always", "clone", "-q",
	    "--recurse-submodules", make_origin(), dir, NULL);
	e2e_git(dir, "config", "user.name", "Test", NULL);
	e2e_git(dir, "config", "user.email", "test@example.invalid", NULL);
	e2e_write(e2e_path("%s/.env", dir), "KEY=mine\n");
	e2e_expect(e2e_llmc(dir, "init", "--yes", NULL), 0, NULL);
	return dir;
}

static const char *
begin(const char *agent)
{
	unit_at_end(fleet_end);
	e2e_env(e2e_path("TMPDIR=%s", unit_scratch()));
	e2e_env(e2e_path("FLEET=%s", unit_scratch()));
	e2e_env(e2e_path("TMUX_TMPDIR=%s", unit_scratch()));
	e2e_env(e2e_path("FAKE_CLAUDE_LOG=%s", fleet_prompt_log()));
	root = make_origin != NULL ? clone_origin() : e2e_workspace("a fleet");
	e2e_set(root, "defaults.agent_command", agent);
	e2e_set(root, "defaults.env",
	    "[\"FLEET\", \"LLMC\", \"FAKE_CLAUDE_LOG\", \"FAKE_CLAUDE_MORE\", "
	    "\"FAKE_CLAUDE_FAULTS\", \"FAKE_CLAUDE_IDLE_MS\", "
	    "\"FAKE_CLAUDE_IGNORE_ENTER\", \"FAKE_CLAUDE_GOES_ON\", "
	    "\"FAKE_CLAUDE_NOTIFY_MS\", \"FAKE_CLAUDE_NO_SESSIONSTART\", "
	    "\"FAKE_CLAUDE_START_MS\", \"CHAOS_LOG\"]");
	e2e_set(root, "daemon.patrol_interval", "1500ms");
	/* Unless a test is about it, a check needs no trial. */
	auto_tune("trial=0 admission=0");
	e2e_set(root, "defaults.allow_root", "true");
	if (strcmp(e2e_sandbox(), "off") != 0)
		fleet_box(e2e_sandbox());
	else if (strcmp(e2e_setting(root, "defaults.sandbox"), "off") != 0)
		fleet_box(e2e_setting(root, "defaults.sandbox"));
	tmux_socket = e2e_setting(root, "tmux.socket");
	guard();
	return root;
}

void
fleet_begin(void)
{
	static const char *kept;

	begin(needed("LLMC_FAKE_CLAUDE", &kept));
}

/* The stub of the API, with a log of what reached the model. */
static const char *
start_api(const char *stub)
{
	const char *port = e2e_path("%s/port", unit_scratch()), *url;

	e2e_leave_behind(e2e_path("exec '%s' --with %d --log '%s' --usage '%s' "
				  "--rules '%s' --headers '%s' >'%s' "
				  "2>/dev/null </dev/null",
	    stub, (int)getpid(), fleet_prompt_log(), fleet_usage_file(),
	    rules_file(), fleet_headers_file(), port));
	while (!e2e_exists(port) || strchr(e2e_read(port), '\n') == NULL) {
		ck_assert_msg(!unit_is_late(), "no stub of the API");
		poll(NULL, 0, 5); /* a file of another program */
	}
	url = e2e_path("http://127.0.0.1:%ld",
	    strtol(e2e_read(port) + strlen("PORT "), NULL, 10));
	e2e_env(e2e_path("ANTHROPIC_BASE_URL=%s", url));
	return url;
}

const char *
fleet_real_env(void)
{
	/* Only talk to the stub, and fail quickly. */
	static const char *const edits[] = { "ANTHROPIC_API_KEY=" FLEET_API_KEY,
		"DISABLE_TELEMETRY=1", "DISABLE_AUTOUPDATER=1",
		"DISABLE_ERROR_REPORTING=1",
		"CLAUDE_CODE_DISABLE_NONESSENTIAL_TRAFFIC=1",
		"CLAUDE_CODE_DISABLE_OFFICIAL_MARKETPLACE_AUTOINSTALL=1",
		"CLAUDE_CODE_MAX_RETRIES=2", "LC_ALL=C.UTF-8", NULL };
	static const char *stub;
	const char *agent = fleet_real_agent();

	needed("LLMC_STUB_API", &stub);
	e2e_llmc_path(); /* the caller's environment is cleared */
	start_api(stub);
	for (size_t i = 0; edits[i] != NULL; i++)
		e2e_env(edits[i]);
	return agent;
}

const char *
fleet_begin_real(void)
{
	begin(fleet_real_env());
	/* On a busy machine it takes longer than the default. */
	e2e_set(root, "defaults.start_timeout", "60s");
	return root;
}

const char *
fleet_begin_stubbed(void)
{
	static const char *stub, *fake;
	const char *url;

	needed("LLMC_STUB_API", &stub);
	needed("LLMC_FAKE_CLAUDE", &fake);
	e2e_llmc_path();
	url = start_api(stub);
	begin(fake);
	return url;
}

void
fleet_up(void)
{
	fleet_do("up", "--detach", NULL);
}

/* Does a process work in the repository, or name it? */
static bool
is_of_root(int pid)
{
	char text[PATH_MAX + 64] = "";
	cleanup_fd int fd = -1;
	ssize_t len =
	    readlink(e2e_path("/proc/%d/cwd", pid), text, sizeof text - 1);

	if (len > 0 && strncmp(text, root, strlen(root)) == 0)
		return true;
	fd = open(e2e_path("/proc/%d/cmdline", pid), O_RDONLY | O_CLOEXEC);
	len = fd == -1 ? -1 : read(fd, text, sizeof text);
	return len > 0 && memmem(text, (size_t)len, root, strlen(root)) != NULL;
}

/* Kill them, but for keepers: they end what is left of their agents, elsewhere
 * too. False if there are none. */
static bool
kill_all(void)
{
	DIR *dir = opendir("/proc");
	struct dirent *entry;
	bool any = false;

	ck_assert_ptr_nonnull(dir);
	while ((entry = readdir(dir)) != NULL) {
		int pid = (int)strtol(entry->d_name, NULL, 10);
		char name[32] = "";
		cleanup_fd int fd = -1;

		if (pid <= 0 || pid == getpid() || !is_of_root(pid))
			continue;
		fd = open(e2e_path("/proc/%d/comm", pid), O_RDONLY | O_CLOEXEC);
		any = true;
		if (fd == -1 || read(fd, name, sizeof name - 1) <= 0 ||
		    strcmp(name, "keeper\n") != 0)
			kill(pid, SIGKILL);
	}
	closedir(dir);
	return any;
}

/* No daemon and no tmux server must be left, and nothing that writes to the
 * scratch folder, which is removed now. Leaks are found when a daemon ends. */
void
fleet_end(void)
{
	int64_t end = clock_mono_ms() + 20000;

	if (root == NULL)
		return;
	if (E2E_SANITIZED)
		e2e_llmc(root, "down", NULL);
	kill_all();
	if (e2e_exists(e2e_path(
		"%s/tmux-%d/%s", unit_scratch(), (int)getuid(), tmux_socket)))
		e2e_sh(NULL,
		    e2e_path("exec tmux -L '%s' kill-server", tmux_socket));
	while (kill_all() && clock_mono_ms() < end)
		poll(NULL, 0, 2); /* other programs, which are not ours */
	root = NULL;
}

const char *
fleet_root(void)
{
	return root;
}

const char *
fleet_file(const char *name)
{
	return e2e_path("%s/.llmc/%s", fleet_root(), name);
}

const char *
fleet_worktree(const char *worker)
{
	return e2e_path("%s/.worktrees/%s", root, worker);
}

static struct e2e_run *
run_list(const char *command, va_list ap)
{
	const char *args[ARGS_MAX] = { command };

	for (size_t i = 1; i < ARGS_MAX - 1; i++) {
		args[i] = va_arg(ap, const char *);
		if (args[i] == NULL)
			break;
	}
	return e2e_llmcv(root, args);
}

struct e2e_run *
fleet_do(const char *command, ...)
{
	struct e2e_run *run;
	va_list ap;

	va_start(ap, command);
	run = run_list(command, ap);
	va_end(ap);
	ck_assert_msg(run->status == 0, "%s: status %d: %s", run->command,
	    run->status, e2e_shown(run->err));
	return run;
}

void
fleet_fails(const char *words, const char *command, ...)
{
	struct e2e_run *run;
	va_list ap;

	va_start(ap, command);
	run = run_list(command, ap);
	va_end(ap);
	e2e_expect(run, 1, words);
}

void
fleet_wait(const char *worker, const char *status)
{
	struct e2e_run *run;

	do
		run = e2e_llmc(root, "wait", worker, "--until", status,
		    "--timeout", "30s", NULL);
	while (strstr(run->err, "timed out") != NULL && !unit_is_late());
	if (run->status != 0) {
		struct e2e_run *log = e2e_sh(
		    root, "tail -n 30 .llmc/logs/autod.log; \"$LLMC\" status");

		ck_abort_msg("%s did not become %s: %s %s", worker, status,
		    e2e_shown(run->err), e2e_shown(log->out));
	}
}

void
fleet_add(const char *worker)
{
	fleet_do("add", worker, NULL);
	fleet_wait(worker, "idle");
}

void
fleet_start(const char *worker, const char *task)
{
	fleet_do("start", "--worker", worker, "--prompt", task, NULL);
}

struct json_object *
fleet_worker(const char *worker)
{
	struct json_object *state = e2e_state(root);
	struct json_object *workers = NULL, *record = NULL;

	ck_assert_msg(json_object_object_get_ex(state, "workers", &workers) &&
		json_object_object_get_ex(workers, worker, &record),
	    "no record of %s in %s", worker,
	    e2e_shown(json_object_to_json_string(state)));
	json_object_get(record);
	json_object_put(state);
	return record;
}

const char *
fleet_conversation(const char *worker)
{
	struct json_object *record = fleet_worker(worker);
	const char *text = e2e_read(json_string_or(record, "transcript", ""));

	json_object_put(record);
	return text;
}

const char *
fleet_status(const char *worker)
{
	struct json_object *record = fleet_worker(worker);
	const char *status =
	    e2e_path("%s", json_string_or(record, "status", "?"));

	json_object_put(record);
	return status;
}

static int
count_words(struct json_object *prompts, const char *words)
{
	int count = 0;

	for (size_t i = 0; i < json_object_array_length(prompts); i++)
		count += strstr(json_object_get_string(
				    json_object_array_get_idx(prompts, i)),
			     words) != NULL;
	return count;
}

/* A line of the stub's log contains everything said in one conversation so far:
 * use the highest count of each. */
static void
count_line(
    struct json_object *seen, struct json_object *line, const char *words)
{
	struct json_object *prompts = NULL;
	const char *conversation = json_string_or(line, "conversation", "");
	const char *session = strstr(conversation, "session_id");
	int count;

	if (!json_object_object_get_ex(line, "prompts", &prompts))
		return;
	/* The rest of the id describes the machine, and may differ between two
	 * processes that have just started. */
	if (session != NULL)
		conversation = session;
	count = count_words(prompts, words);
	if (count > json_int_or(seen, conversation, 0))
		json_set_int(seen, conversation, count);
}

static int
sum(struct json_object *seen)
{
	int total = 0;

	{
		json_object_object_foreach(seen, key, most)
		{
			(void)key;
			total += json_object_get_int(most);
		}
	}
	return total;
}

int
fleet_prompts(const char *words)
{
	struct json_object *seen = json_object_new_object(), *json;
	const char *line;
	int count = 0;

	if (!e2e_exists(fleet_prompt_log()))
		line = "";
	else
		line = e2e_read(fleet_prompt_log());
	for (; *line != '\0'; line += strcspn(line, "\n") + 1) {
		json = json_tokener_parse(line);
		/* The last line may be incomplete. */
		if (json == NULL || strchr(line, '\n') == NULL)
			break;
		count +=
		    strstr(json_string_or(json, "prompt", ""), words) != NULL;
		count_line(seen, json, words);
		json_object_put(json);
	}
	count += sum(seen);
	json_object_put(seen);
	return count;
}

static int
number_member(const char *path, const char *key)
{
	struct json_object *json = json_tokener_parse(e2e_read(path));
	int number = (int)json_int_or(json, key, 0);

	json_object_put(json);
	return number;
}

int
fleet_daemon_pid(void)
{
	return number_member(e2e_path("%s/.llmc/daemon.json", root), "pid");
}

static int
recorded_pid(const char *worker)
{
	struct json_object *record = fleet_worker(worker), *pane = NULL;
	int pid = 0;

	if (json_object_object_get_ex(record, "pane", &pane))
		pid = (int)json_int_or(pane, "pid", 0);
	json_object_put(record);
	return pid;
}

int
fleet_next_agent_pid(const char *worker, int before)
{
	int pid;

	while ((pid = recorded_pid(worker)) <= 1 || pid == before) {
		ck_assert_msg(!unit_is_late(), "%s has no new process", worker);
		poll(NULL, 0, 10); /* a file of another program */
	}
	return pid;
}

/* It may report before tmux has reported its process. */
int
fleet_agent_pid(const char *worker)
{
	return fleet_next_agent_pid(worker, 0);
}

void
fleet_kill(int pid)
{
	struct pollfd event = { .events = POLLIN };

	event.fd = (int)syscall(SYS_pidfd_open, pid, 0);
	ck_assert_int_ge(event.fd, 0);
	ck_assert_int_eq(kill(pid, SIGKILL), 0);
	ck_assert_int_eq(poll(&event, 1, (int)unit_guard_ms()), 1);
	close(event.fd);
}

const char *
fleet_log(void)
{
	return e2e_git(root, "log", "--format=%s", "main", NULL);
}

int
fleet_commits(void)
{
	return (int)strtol(
	    e2e_git(root, "rev-list", "--count", "main", NULL), NULL, 10);
}

static bool
has_spooled(void)
{
	glob_t found;
	bool any = glob(e2e_path("%s/.llmc/run/*/spool/*.json", root), 0, NULL,
		       &found) == 0;

	globfree(&found);
	return any;
}

void
fleet_wait_spooled(void)
{
	while (!has_spooled()) {
		ck_assert_msg(!unit_is_late(), "nothing is spooled");
		poll(NULL, 0, 10); /* a folder of another program */
	}
}

void
fleet_wait_prompt(const char *words)
{
	while (fleet_prompts(words) == 0) {
		ck_assert_msg(!unit_is_late(), "no prompt with: %s", words);
		poll(NULL, 0, 10); /* a file of another program */
	}
}

/* Is the prompt in the conversation's file, from which it can be resumed? */
static bool
written_down(const char *worker, const char *words)
{
	struct json_object *record = fleet_worker(worker);
	const char *file =
	    e2e_path("%s", json_string_or(record, "transcript", ""));

	json_object_put(record);
	return file[0] != '\0' && e2e_exists(file) &&
	    strstr(e2e_read(file), words) != NULL;
}

void
fleet_wait_written(const char *worker, const char *words)
{
	while (!written_down(worker, words)) {
		ck_assert_msg(!unit_is_late(),
		    "not in the transcript of %s: %s", worker, words);
		poll(NULL, 0, 10); /* a file of another program */
	}
}
