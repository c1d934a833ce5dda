/* SPDX-License-Identifier: ISC */

#include "session-world.h"
#include "hook-event.h"
#include "session-hook.h"
#include "settings.h"

struct world w;

#define GUARD_MS 50000
#define PAST_MS  100000 /* more than passes before world_until() */

/* --- the owner ------------------------------------------------------- */

static void
tell(struct world *to, const char *word, const char *more)
{
	buf_addf(&to->told, "%s%s%s%s", to->told.len > 0 ? " " : "", word,
	    more != NULL ? ":" : "", more != NULL ? more : "");
}

static void
on_changed(void *arg)
{
	(void)arg;
	w.changes++;
}

static bool
may_type(void *arg)
{
	(void)arg;
	return w.typing;
}

static void
on_ready(void *arg, const char *source)
{
	tell(arg, "ready", source);
}

static void
on_submitted(void *arg, const char *receipt)
{
	tell(arg, "submitted", receipt);
}

static void
on_typed(void *arg, const char *text)
{
	tell(arg, "typed", text);
}

static void
on_progressed(void *arg)
{
	tell(arg, "progressed", NULL);
}

static void
on_turn_ended(void *arg, struct server_call *call, const char *last_words)
{
	(void)arg;
	w.call = call;
	tell(&w, call != NULL ? "turn" : "unheard-turn", last_words);
}

static void
on_turn_failed(void *arg, const char *error, const char *text)
{
	tell(arg, "failed", error);
	tell(arg, text, NULL);
}

static void
on_asks_permission(void *arg)
{
	tell(arg, "permission", NULL);
}

static void
on_grew(void *arg, const struct transcript_parser *parser)
{
	(void)arg;
	ck_assert_ptr_eq(parser, session_transcript(w.session));
	tell(&w, "grew", NULL);
}

static void
on_exited(void *arg, bool early)
{
	(void)arg;
	ck_assert_int_eq(session_phase(w.session), SESSION_NONE);
	tell(&w, "exited", early ? "early" : NULL);
}

static void
on_trouble(void *arg, enum session_trouble trouble, const struct err *err)
{
	static const char *const words[SESSION_TROUBLE_COUNT] = {
		[SESSION_NOT_STARTED] = "not-started",
		[SESSION_ENDED_AT_ONCE] = "ended-at-once",
		[SESSION_UNREPORTED] = "unreported",
		[SESSION_UNDELIVERED] = "undelivered",
		[SESSION_LEFT] = "left",
	};

	ck_assert_ptr_nonnull(err);
	ck_assert_int_lt(err->code, 0);
	ck_assert_str_ne(err->msg, "");
	tell(arg, words[trouble], NULL);
}

static const struct session_events events = {
	.changed = on_changed,
	.may_type = may_type,
	.ready = on_ready,
	.submitted = on_submitted,
	.typed = on_typed,
	.progressed = on_progressed,
	.turn_ended = on_turn_ended,
	.turn_failed = on_turn_failed,
	.asks_permission = on_asks_permission,
	.grew = on_grew,
	.exited = on_exited,
	.trouble = on_trouble,
};

void
world_on_end(void *world)
{
	(void)world;
	w.ended++;
}

/* --- saving the record ----------------------------------------------- */

struct wait {
	struct world *world;
	const void *owner;
	void (*fn)(void *arg);
	void *arg;
	struct loop_timer *timer;
};

static struct wait waits[8];

static void
on_written(void *arg)
{
	struct wait *wait = arg, done = *wait;

	if (wait->world->disk_full) {
		loop_timer_restart(wait->timer, 1000);
		return;
	}
	memset(wait, 0, sizeof *wait);
	done.fn(done.arg);
	loop_timer_free(done.timer);
}

static void
then(void *arg, void *owner, void (*fn)(void *fn_arg), void *fn_arg)
{
	(void)arg;
	ck_assert_int_gt(w.changes, 0);
	for (size_t i = 0; i < nitems(waits); i++) {
		if (waits[i].fn != NULL)
			continue;
		waits[i] = (struct wait){ &w, owner, fn, fn_arg,
			loop_after(w.loop, 1, on_written, &waits[i]) };
		return;
	}
	ck_abort_msg("too many wait for the record");
}

static void
forget(void *arg, const void *owner)
{
	(void)arg;
	for (size_t i = 0; i < nitems(waits); i++) {
		if (waits[i].owner != owner)
			continue;
		loop_timer_free(waits[i].timer);
		memset(&waits[i], 0, sizeof waits[i]);
	}
}

/* --- the world ------------------------------------------------------- */

static const char *
projects(void)
{
	return unit_path("projects");
}

void
world_begin(void)
{
	world_begin_as("worker");
}

void
world_begin_as(const char *role)
{
	struct settings_problems problems;
	struct settings_facts facts = { .root = unit_path("repo"),
		.home = "/home/me",
		.default_branch = "main" };
	cleanup_free char *dir = NULL;

	memset(&w, 0, sizeof w);
	/* In the past of the machine's clock, however short it has been up:
	 * world_until() goes over to that, and every timer is due there. */
	clock_virtual_begin(clock_mono_ms() - PAST_MS, 1700000000000);
	buf_init(&w.told);
	w.loop = loop_new();
	w.tmux = fake_tmux_new(w.loop);
	w.workspace.root = xstrdup(facts.root);
	w.workspace.git_dir = file_join(facts.root, ".git");
	w.workspace.dir = file_join(facts.root, ".llmc");
	ck_assert_int_eq(file_mkdirs(w.workspace.dir, 0755, NULL), 0);
	w.settings = settings_parse("", 0, &facts, &problems);
	settings_problems_release(&problems);
	w.host = (struct session_host){ .loop = w.loop,
		.tmux = fake_tmux_port(w.tmux),
		.workspace = &w.workspace,
		.llmc = "/opt/llmc",
		.then = then,
		.forget = forget,
		.arg = &w };
	w.transcript = xasprintf("%s/p/" WORLD_TOLD_ID ".jsonl", projects());
	dir = file_join(projects(), "p");
	ck_assert_int_eq(file_mkdirs(dir, 0755, NULL), 0);
	unlink(w.transcript);
	w.typing = true;
	w.session = session_new(&w.host, "adam", role, &w.record, &events, &w);
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
	if (w.loop == NULL)
		return;
	session_free(w.session);
	for (size_t i = 0; i < nitems(waits); i++)
		ck_assert_ptr_null(waits[i].owner);
	end_agent();
	fake_tmux_free(w.tmux);
	settings_free(w.settings);
	session_record_release(&w.record);
	workspace_release(&w.workspace);
	buf_release(&w.told);
	free(w.transcript);
	loop_free(take_ptr(&w.loop));
	clock_virtual_end();
}

static void
on_time(void *arg)
{
	loop_stop(arg, 0);
}

void
world_run(int64_t ms)
{
	struct loop_timer *timer = loop_after(w.loop, ms, on_time, w.loop);

	loop_run(w.loop);
	loop_timer_free(timer);
}

void
world_until(enum session_phase phase)
{
	int64_t end, reached = clock_mono_ms();

	clock_virtual_end();
	ck_assert_int_le(reached, clock_mono_ms());
	end = clock_mono_ms() + GUARD_MS;
	while (session_phase(w.session) != phase) {
		ck_assert_msg(clock_mono_ms() < end,
		    "waited in vain for phase %d: it is in %d, told: %s",
		    (int)phase, (int)session_phase(w.session), w.told.data);
		world_run(5);
	}
}

void
world_agent(bool stubborn)
{
	sigset_t term;

	end_agent();
	sigemptyset(&term);
	sigaddset(&term, SIGTERM);
	sigprocmask(SIG_BLOCK, &term, NULL);
	w.agent = fork();
	ck_assert_int_ge(w.agent, 0);
	if (w.agent == 0) {
		signal(SIGTERM, stubborn ? SIG_IGN : SIG_DFL);
		sigprocmask(SIG_UNBLOCK, &term, NULL);
		for (;;)
			pause();
	}
	sigprocmask(SIG_UNBLOCK, &term, NULL);
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

void
world_launch(bool resume)
{
	struct session_launch launch = {
		.settings = w.settings,
		.cwd = w.workspace.root,
		.socket = "/run/socket",
		.projects = projects(),
		.resume = resume,
		.stop_blocks_max = 20,
		.start_timeout_ms = WORLD_START_MS,
	};

	session_launch(w.session, &launch);
}

void
world_up(void)
{
	world_agent(false);
	world_launch(false);
	world_run(100);
	world_expect_tmux("kill start");
	world_starts("startup");
	world_expect("ready:startup");
	ck_assert_int_eq(session_phase(w.session), SESSION_UP);
}

/* --- hooks ------------------------------------------------------------ */

static struct json_object *
parse(const char *text)
{
	struct json_object *json = NULL;

	ck_assert_int_eq(
	    json_parse(text, strlen(text), 1 << 20, &json, NULL), 0);
	return json;
}

static bool
hook(const char *event, struct json_object *data, uint64_t generation,
    const char *id, struct server_call *call)
{
	cleanup_json struct json_object *params = json_object_new_object();
	struct hook_event read;

	json_set_string(params, "event", event);
	json_set_string(params, "worker", "adam");
	json_set_int(params, "generation", (int64_t)generation);
	json_set_string(params, "id", id);
	json_set(params, "data", data);
	ck_assert_int_eq(hook_event_read(params, &read, NULL), 0);
	return session_hook(w.session, call, &read);
}

bool
world_hook(const char *event, const char *data, struct server_call *call)
{
	cleanup_free char *id = xasprintf("hook-%d", w.hooks++);

	return hook(event, parse(data), w.record.generation, id, call);
}

bool
world_hook_of(
    const char *event, const char *data, uint64_t generation, const char *id)
{
	return hook(event, parse(data), generation, id, NULL);
}

void
world_starts(const char *source)
{
	cleanup_free char *id = xasprintf("hook-%d", w.hooks++);
	struct json_object *data = json_object_new_object();

	if (!w.toolless)
		world_hook("ToolsListed", "{}", NULL);
	json_set_string(data, "source", source);
	json_set_string(data, "session_id", WORLD_TOLD_ID);
	json_set_string(data, "transcript_path", w.transcript);
	ck_assert(!hook("SessionStart", data, w.record.generation, id, NULL));
}

void
world_submits(const char *text)
{
	cleanup_free char *id = xasprintf("hook-%d", w.hooks++);
	struct json_object *data = json_object_new_object();

	json_set_string(data, "prompt", text);
	ck_assert(
	    !hook("UserPromptSubmit", data, w.record.generation, id, NULL));
}

void
world_writes(const char *text)
{
	cleanup_free char *line = xasprintf("{\"text\":\"%s\"}\n", text);

	ck_assert_int_eq(
	    file_append(w.transcript, line, strlen(line), 0600, false, NULL),
	    0);
}

/* --- expectations ----------------------------------------------------- */

static void
expect(struct buf *got, const char *want)
{
	ck_assert_str_eq(got->data, want);
	buf_clear(got);
}

void
world_expect(const char *told)
{
	expect(&w.told, told);
}

void
world_expect_tmux(const char *trace)
{
	expect(&w.tmux->trace, trace);
}
