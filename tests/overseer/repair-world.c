/* SPDX-License-Identifier: ISC */

#include "repair-world.h"
#include "client.h"
#include "overseer-private.h"
#include "people.h"
#include "settings.h"

struct world w;

/* --- the rest of the overseer ----------------------------------------- */

void
overseer_register(struct overseer *o)
{
	(void)o;
}

void
overseer_set_state(struct overseer *o, enum overseer_state state)
{
	o->state = state;
}

char *
overseer_path(const struct overseer *o, const char *name)
{
	return workspace_path(&o->workspace, name);
}

void
console_say(
    struct overseer *o, enum console_colour colour, const char *fmt, ...)
{
	(void)o;
	(void)colour;
	(void)fmt;
}

void
world_repaired(struct overseer *o, enum repair_outcome outcome,
    const char *words, int64_t took_ms, int64_t cost, const char *log)
{
	ck_assert_ptr_eq(o, &w.o);
	ck_assert_int_ge(took_ms, 0);
	w.told++;
	w.cost = cost;
	w.outcome = outcome;
	buf_adds(&w.words, words);
	buf_adds(&w.log, log != NULL ? log : "");
}

/* --- the world ------------------------------------------------------- */

static struct settings *
make_settings(bool worktree, const char *text)
{
	struct settings_facts facts = { .root = w.repo->root,
		.home = "/home/me",
		.default_branch = "main" };
	struct settings_problems problems;
	struct settings *settings =
	    settings_parse(text, strlen(text), &facts, &problems);

	settings_problems_release(&problems);
	ck_assert_int_eq(
	    settings_override(settings, "overseer.remediation_worktree",
		worktree ? "true" : "false", NULL),
	    0);
	ck_assert_int_eq(settings_override(settings,
			     "overseer.remediation_prompt", "mend it", NULL),
	    0);
	return settings;
}

void
world_notify(const char *command)
{
	cleanup_free char *text =
	    xasprintf("[people.channels.told]\ntype = \"command\"\n"
		      "command = \"%s\"\n",
		command);

	settings_free(w.o.settings);
	w.o.settings = make_settings(false, text);
	people_settings(w.o.people, w.o.settings);
}

void
world_set(const char *key, const char *value)
{
	ck_assert_int_eq(settings_override(w.o.settings, key, value, NULL), 0);
}

void
world_begin(bool worktree)
{
	memset(&w, 0, sizeof w);
	buf_init(&w.words);
	buf_init(&w.log);
	w.repo = repo_new(false);
	repo_sh(w.repo,
	    "printf '.llmc\\n.worktrees\\n' >>.git/info/exclude; "
	    "mkdir -p .llmc/logs");
	w.tmux = fake_tmux_new(w.repo->loop);
	w.o.loop = w.repo->loop;
	w.o.git = git_new(w.o.loop,
	    &(struct git_options){ .root = w.repo->root,
		.home = repair_home,
		.box = repair_box,
		.arg = &w.o });
	w.o.people = people_new(w.o.loop, w.repo->root, "overseer", NULL);
	w.o.tmux = fake_tmux_port(w.tmux);
	w.o.workspace.root = xstrdup(w.repo->root);
	w.o.workspace.git_dir = file_join(w.repo->root, ".git");
	w.o.workspace.dir = file_join(w.repo->root, ".llmc");
	w.o.settings = make_settings(worktree, "");
	w.o.daemon = (struct daemon_process)DAEMON_PROCESS_INIT;
	w.o.failure.verdict = HEALTH_DIED;
	w.o.failure.words = xstrdup("the daemon died");
	w.o.failure.signature = xstrdup("died");
	w.o.llmc = xstrdup("/opt/llmc");
	w.session = worktree ? file_join(w.repo->root, ".worktrees/overseer") :
			       xstrdup(w.repo->root);
	unit_at_end(world_end);
}

static void
end_agent(void)
{
	if (w.agent == 0)
		return;
	kill(w.agent, SIGKILL);
	waitpid(w.agent, NULL, 0);
	w.agent = 0;
}

void
world_end(void)
{
	if (w.repo == NULL)
		return;
	repair_stop(&w.o, true);
	ck_assert_ptr_null(w.o.repair);
	end_agent();
	people_free(w.o.people);
	git_free(w.o.git);
	fake_tmux_free(w.tmux);
	settings_free(w.o.settings);
	workspace_release(&w.o.workspace);
	free(w.o.failure.words);
	free(w.o.failure.signature);
	free(w.o.llmc);
	free(w.session);
	repo_free(take_ptr(&w.repo));
	buf_release(&w.words);
	buf_release(&w.log);
}

/* --- waiting ---------------------------------------------------------- */

struct look {
	bool (*fn)(const void *arg);
	const void *arg;
	struct loop_call *call;
};

/* After every pass of the loop, so that no step is missed. */
static void
on_pass(void *arg)
{
	struct look *look = arg;

	if (look->fn(look->arg)) {
		loop_stop(w.o.loop, 0);
		return;
	}
	loop_call_request(look->call);
	poll(NULL, 0, 1); /* leave the processor to what it waits for */
}

static void
on_guard(void *arg)
{
	loop_stop(arg, 1);
}

static void
until(bool (*fn)(const void *arg), const void *arg)
{
	struct look look = { .fn = fn, .arg = arg };
	struct loop_timer *guard;

	if (fn(arg))
		return;
	guard = loop_after(w.o.loop, unit_guard_ms(), on_guard, w.o.loop);
	look.call = loop_call_new(w.o.loop, on_pass, &look);
	loop_call_request(look.call);
	ck_assert_int_eq(loop_run(w.o.loop), 0);
	loop_call_free(look.call);
	loop_timer_free(guard);
}

static bool
is_in_step(const void *arg)
{
	return w.o.repair == NULL ||
	    strcmp(operation_step_name(&w.o.repair->op), arg) == 0;
}

void
world_until_step(const char *step)
{
	until(is_in_step, step);
}

static bool
has_file(const void *path)
{
	return file_exists(path);
}

void
world_until_file(const char *name)
{
	cleanup_free char *path = file_join(w.repo->root, name);

	until(has_file, path);
}

static bool
tmux_has(const void *arg)
{
	return strcmp(w.tmux->trace.data, arg) == 0;
}

void
world_until_tmux(const char *trace)
{
	until(tmux_has, trace);
	buf_clear(&w.tmux->trace);
}

static bool
tmux_holds(const void *arg)
{
	return strstr(w.tmux->trace.data, arg) != NULL;
}

void
world_until_typed(const char *words)
{
	until(tmux_holds, words);
	buf_clear(&w.tmux->trace);
}

static bool
is_looking(const void *arg)
{
	(void)arg;
	return w.o.repair->agent.looking;
}

void
world_until_looking(void)
{
	until(is_looking, NULL);
}

static bool
is_told(const void *arg)
{
	(void)arg;
	return w.told > 0;
}

void
world_until_over(void)
{
	until(is_told, NULL);
}

void
world_until_told(enum repair_outcome outcome, const char *words)
{
	world_until_over();
	ck_assert_int_eq(w.told, 1);
	ck_assert_str_eq(
	    repair_outcome_name(w.outcome), repair_outcome_name(outcome));
	ck_assert_str_eq(w.words.data, words);
	ck_assert_ptr_null(w.o.repair);
}

/* --- the agent ------------------------------------------------------- */

void
world_agent(void)
{
	end_agent();
	w.agent = fork();
	ck_assert_int_ge(w.agent, 0);
	if (w.agent == 0) {
		signal(SIGTERM, SIG_DFL);
		for (;;)
			pause();
	}
	w.tmux->pid = w.agent;
}

void
world_agent_exits(void)
{
	siginfo_t info;

	kill(w.agent, SIGKILL);
	ck_assert_int_eq(
	    waitid(P_PID, (id_t)w.agent, &info, WEXITED | WNOWAIT), 0);
}

int
world_hook(const char *event, const char *data)
{
	const struct repair_agent *a = &w.o.repair->agent;
	cleanup_free char *line = xasprintf(
	    "{\"jsonrpc\":\"2.0\",\"id\":1,\"method\":\"hook.event\","
	    "\"params\":{\"event\":\"%s\",\"worker\":\"overseer\","
	    "\"generation\":%llu,\"id\":\"h%d\",\"data\":%s}}\n",
	    event, (unsigned long long)a->record.generation, w.hooks++, data);
	int fd = client_dial(a->socket, 0, NULL);

	ck_assert_int_ge(fd, 0);
	ck_assert_int_eq(write(fd, line, strlen(line)), (ssize_t)strlen(line));
	return fd;
}

struct answer {
	int fd;
	struct buf text;
};

static bool
is_answered(const void *arg)
{
	struct answer *answer = *(struct answer *const *)arg;
	char part[4096];
	ssize_t n = read(answer->fd, part, sizeof part);

	(void)&w;
	if (n > 0)
		buf_add(&answer->text, part, (size_t)n);
	ck_assert_int_ne(n, 0);
	return memchr(answer->text.data, '\n', answer->text.len) != NULL;
}

char *
world_answer(int fd)
{
	struct answer answer = { .fd = fd, .text = BUF_INIT }, *self = &answer;

	until(is_answered, &self);
	close(fd);
	return buf_take(&answer.text);
}

void
world_finds(void)
{
	repo_sh(w.repo, "echo 'it was the weather' >.llmc/remedy/finding.txt");
}

char *
world_stops(void)
{
	return world_answer(world_hook("Stop", "{}"));
}

void
world_agent_ready(void)
{
	cleanup_free char *paste = NULL, *submit = NULL;
	const struct repair_agent *a = &w.o.repair->agent;

	world_until_tmux("kill start");
	free(world_answer(
	    world_hook("SessionStart", "{\"source\":\"startup\"}")));
	paste =
	    xasprintf("paste [llmc o%llu] ", (unsigned long long)a->receipts);
	until(tmux_holds, paste);
	world_until_typed("mend it");
	submit = xasprintf("{\"prompt\":\"[llmc o%llu] and so on\"}",
	    (unsigned long long)a->receipts);
	free(world_answer(world_hook("UserPromptSubmit", submit)));
	ck_assert(a->record.busy);
}

void
world_work(void)
{
	world_agent();
	repair_begin(&w.o, world_repaired);
	world_until_step("work");
	world_agent_ready();
}
