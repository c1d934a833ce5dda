/* SPDX-License-Identifier: ISC */

#include "floor-world.h"
#include "workspace.h"

#include <sys/socket.h>
#include <sys/un.h>

#include "book.h"
#include "repo.h"
#include "rpc.h"
#include "state-book.h"
#include "settings-table.h"
#include "worker-op.h"

struct floor_world floor_world;

#define QUIET_LOOKS 5

/* --- writes that fail, or wait ----------------------------------------- */

static int
on_gate(bool after, struct err *err, void *arg)
{
	(void)arg;
	if (floor_world.store_fails && !after)
		return err_set(err, -ENOSPC, "no space left");
	if (floor_world.core->stopping ||
	    (after ? !floor_world.store_untold : !floor_world.store_held))
		return 0;
	floor_world.store_waits = true;
	return -EINPROGRESS;
}

bool
floor_world_store_waits(void)
{
	return floor_world.store_waits;
}

void
floor_world_store_answer(void)
{
	bool waits = floor_world.store_waits;

	floor_world.store_held = floor_world.store_untold =
	    floor_world.store_waits = false;
	if (waits)
		persist_changed(floor_world.core);
}

const char *
floor_world_saved(void)
{
	cleanup_free char *file =
	    workspace_path(&floor_world.workspace, "llmc.db");
	cleanup_json struct json_object *json = NULL;
	struct book *book = NULL;
	struct state state;
	struct err err = { 0 };

	state_init(&state);
	ck_assert_msg(book_look(file, &book, &err) == 0 &&
		state_book_load(book, clock_wall_ms(), &state, &err) == 0,
	    "%s", err.msg);
	json = state_to_json(&state);
	buf_clear(&floor_world.saved);
	json_print(json, true, &floor_world.saved);
	state_release(&state);
	book_close(book);
	return floor_world.saved.data;
}

/* --- the world ------------------------------------------------------- */

static void
write_file(const char *path, const char *text, unsigned mode)
{
	ck_assert_int_eq(file_replace(path, text, strlen(text), mode, NULL), 0);
	ck_assert_int_eq(chmod(path, mode), 0);
}

/* The core needs an llmc and a tmux; neither is ever run. */
static void
make_programs(void)
{
	cleanup_free char *folder = file_join(floor_world.repo->base, "bin");
	cleanup_free char *llmc = file_join(folder, "llmc");
	cleanup_free char *tmux = file_join(folder, "tmux");
	cleanup_free char *path = xasprintf("%s:%s", folder, getenv("PATH"));

	ck_assert_int_eq(file_mkdirs(folder, 0755, NULL), 0);
	write_file(llmc, "#!/bin/sh\nexit 1\n", 0755);
	write_file(tmux, "#!/bin/sh\nexit 1\n", 0755);
	setenv("PATH", path, 1);
}

void
floor_world_errands(void)
{
	cleanup_free char *llmc =
	    xasprintf("%s/bin/llmc", floor_world.repo->base);

	ck_assert_int_eq(unlink(llmc), 0);
}

/* Keep it from launching a session during the test. */
static void
keep_out_of_tmux(struct agent *agent)
{
	agent->retry_ms = clock_mono_ms() + 3600 * 1000;
}

void
floor_world_open(void)
{
	struct err err = { 0 };
	int r = core_new(floor_world.loop, &floor_world.workspace,
	    &floor_world.options, &floor_world.core, &err);

	ck_assert_msg(r == 0, "%s", err.msg);
	persist_set_gate(floor_world.core, on_gate, &floor_world);
	floor_world.store_waits = false;
	floor_world.fleet = fleet_new(floor_world.core);
	floor_world.fleet_floor = *floor_world.core->floors[0];
	floor_world.fleet_floor.begin = NULL;
	floor_world.fleet_floor.patrol = NULL;
	floor_world.core->floors[0] = &floor_world.fleet_floor;
	for (size_t i = 0; i < floor_world.fleet->count; i++)
		keep_out_of_tmux(floor_world.fleet->agents[i]);
}

void
floor_world_accept(void)
{
	cleanup_free char *config =
	    workspace_path(&floor_world.workspace, "config.toml");
	cleanup_free char *mark =
	    file_join(floor_world.workspace.git_dir, "llmc-init");
	cleanup_buf struct buf text = BUF_INIT;

	buf_adds(&text, "llmc init was run in this repository\n");
	ck_assert_int_eq(file_read(config, 1 << 20, &text, NULL), 0);
	write_file(mark, text.data, 0600);
}

void
floor_world_begin(const char *settings)
{
	cleanup_free char *config = NULL, *logs = NULL;
	cleanup_free char *text = xasprintf("[tmux]\ncommand = \"tmux\"\n"
					    "[repo]\n"
					    "default_branch = \"main\"\n%s\n",
	    settings != NULL ? settings : "");
	struct err err = { 0 };

	memset(&floor_world, 0, sizeof floor_world);
	buf_init(&floor_world.saved);
	floor_world.repo = repo_new(false);
	floor_world.loop = floor_world.repo->loop;
	ck_assert_msg(workspace_at(floor_world.repo->root,
			  &floor_world.workspace, &err) == 0,
	    "%s", err.msg);
	config = workspace_path(&floor_world.workspace, "config.toml");
	logs = workspace_path(&floor_world.workspace, "logs");
	ck_assert_int_eq(file_mkdirs(logs, 0755, NULL), 0);
	write_file(config, text, 0600);
	floor_world_accept();
	make_programs();
	/* Unless a test is about it, a check needs no trial. */
	tuning.trial = tuning.admission = 0;
	floor_world_open();
	unit_at_end(floor_world_end);
}

/* Refuse the methods of floors that the test does not have. */
static void
refuse(void *arg, struct server_call *call, struct json_object *params)
{
	(void)arg;
	(void)params;
	serve_refuse(call, API_FAILED, "nobody is here");
}

void
floor_world_live(void)
{
	struct err err = { 0 };
	const char *missing;

	while ((missing = serve_missing(floor_world.core)) != NULL)
		serve_handle(floor_world.core, missing, refuse, NULL);
	ck_assert_msg(life_begin(floor_world.core, &err) == 0, "%s", err.msg);
}

void
floor_world_close(void)
{
	fleet_free(take_ptr(&floor_world.fleet));
	core_free(floor_world.core);
	floor_world.core = NULL;
}

struct agent *
floor_world_add(const char *name, enum worker_status status)
{
	struct worker *worker = worker_new(name, clock_wall_ms());
	struct agent *agent;
	cleanup_free char *add = NULL;

	worker->branch = xasprintf("llmc/%s", name);
	worker->worktree =
	    xasprintf("%s/.worktrees/%s", floor_world.workspace.root, name);
	worker->status = status;
	add = xasprintf(
	    "git worktree add -q -b llmc/%s .worktrees/%s main", name, name);
	repo_sh(floor_world.repo, add);
	state_add(&floor_world.core->state, worker);
	agent = agent_new(floor_world.fleet, worker);
	keep_out_of_tmux(agent);
	return agent;
}

const char *
floor_world_sh(const char *text)
{
	return repo_sh(floor_world.repo, text);
}

const char *
floor_world_wt(const char *worker, const char *text)
{
	cleanup_free char *all =
	    xasprintf("cd .worktrees/%s; %s", worker, text);

	return repo_sh(floor_world.repo, all);
}

void
floor_world_trap(int nth, const char *mode)
{
	repo_trap(floor_world.repo, nth, mode);
}

int
floor_world_trap_count(void)
{
	return repo_trap_count(floor_world.repo);
}

/* --- waiting --------------------------------------------------------- */

/* What the test waits for does not happen: what there is instead. */
static void __attribute__((noreturn)) give_up(const char *what)
{
	const struct fleet *fleet = floor_world.fleet;
	cleanup_buf struct buf known = BUF_INIT;

	for (size_t i = 0; i < fleet->count; i++) {
		const struct agent *agent = fleet->agents[i];
		const struct worker *w = agent->worker;

		buf_addf(&known, "; %s is %s, phase %d, step %s, reason: %s",
		    w->name, worker_status_name(w->status),
		    (int)session_phase(agent->session),
		    agent->op != NULL ? operation_step_name(&agent->op->op) :
					"none",
		    w->reason != NULL ? w->reason : "none");
	}
	ck_abort_msg("waited in vain for %s%s; writes: %s, git: %s", what,
	    known.data, persist_is_idle(floor_world.core) ? "none" : "some",
	    git_busy(floor_world.core->git) ? "runs" : "idle");
}

struct look {
	struct loop *loop;
	struct loop_call *call; /* NULL: use a timer */
	const char *what;
	floor_fn *fn;
	void *arg;
};

/* A git, say, works in the machine's time: virtual time does not run away from
 * it, and no guard is in that. */
static void
let_others_work(const char *what)
{
	if (unit_is_late())
		give_up(what);
	if (clock_is_virtual() && floor_world.core != NULL &&
	    git_busy(floor_world.core->git))
		poll(NULL, 0, 1);
}

static void
on_look(void *arg)
{
	struct look *look = arg;

	let_others_work(look->what);
	if (look->fn(look->arg)) {
		loop_stop(look->loop, 0);
	} else if (look->call != NULL) {
		loop_call_request(look->call);
		/* Leave the processor to what it waits for. */
		poll(NULL, 0, 1);
	}
}

/* closely: check in each pass of the loop, before the state is saved; the loop
 * never sleeps then. */
static void
wait_until(const char *what, floor_fn *fn, void *arg, bool closely)
{
	struct look look = {
		.loop = floor_world.loop, .what = what, .fn = fn, .arg = arg
	};
	struct loop_timer *timer = NULL;

	if (closely) {
		look.call = loop_call_new(floor_world.loop, on_look, &look);
		loop_call_request(look.call);
	} else {
		timer = loop_every(floor_world.loop, 1, on_look, &look);
	}
	loop_run(floor_world.loop);
	loop_call_free(look.call);
	loop_timer_free(timer);
}

static void
on_pass(void *arg)
{
	loop_stop(arg, 0);
}

void
floor_world_pass(const char *what)
{
	struct loop_timer *timer =
	    loop_after(floor_world.loop, 1, on_pass, floor_world.loop);

	let_others_work(what);
	loop_run(floor_world.loop);
	loop_timer_free(timer);
}

void
floor_world_wait_for(const char *what, floor_fn *fn, void *arg)
{
	wait_until(what, fn, arg, false);
}

void
floor_world_wait_closely_for(const char *what, floor_fn *fn, void *arg)
{
	wait_until(what, fn, arg, true);
}

static bool
never(void *arg)
{
	(void)arg;
	return false;
}

void
floor_world_wait_stopped(void)
{
	floor_world_wait_for("the end of the daemon", never, NULL);
}

struct settling {
	int quiet; /* looks in a row that found nothing to do */
};

static bool
is_quiet(void)
{
	for (size_t i = 0; i < floor_world.fleet->count; i++)
		if (floor_world.fleet->agents[i]->op != NULL)
			return false;
	/* A move of the branch waits for more than git: for syncs. */
	return persist_is_idle(floor_world.core) &&
	    !git_busy(floor_world.core->git) &&
	    floor_world.core->state.landings.to == NULL;
}

/* Between two steps there may be nothing for a moment. */
static bool
is_settled(void *arg)
{
	struct settling *settling = arg;

	settling->quiet = is_quiet() ? settling->quiet + 1 : 0;
	return settling->quiet == QUIET_LOOKS;
}

void
floor_world_settle(void)
{
	struct settling settling = { 0 };

	floor_world_wait(is_settled, &settling);
}

struct agent_look {
	const struct agent *agent;
	const char *step;
	enum worker_status status;
};

static bool
is_in_status(void *arg)
{
	const struct agent_look *look = arg;

	return look->agent->worker->status == look->status;
}

void
floor_world_wait_status(const struct agent *agent, enum worker_status status)
{
	struct agent_look look = { .agent = agent, .status = status };

	floor_world_wait_for(worker_status_name(status), is_in_status, &look);
}

static bool
is_at_step(void *arg)
{
	const struct agent_look *look = arg;

	return look->agent->op != NULL &&
	    strcmp(operation_step_name(&look->agent->op->op), look->step) == 0;
}

void
floor_world_wait_step(const struct agent *agent, const char *step)
{
	struct agent_look look = { .agent = agent, .step = step };

	wait_until(step, is_at_step, &look, true);
}

/* --- calls ----------------------------------------------------------- */

struct floor_call {
	int fd;
	struct loop_watch *watch;
	struct buf text;
	struct json_object *answer; /* NULL = none yet */
};

static void
on_readable(int fd, unsigned what, void *arg)
{
	struct floor_call *call = arg;
	char bytes[65536];
	ssize_t n = recv(fd, bytes, sizeof bytes, 0);

	(void)what;
	if (n == -1 && errno == EAGAIN)
		return;
	ck_assert_msg(n > 0, "hung up without an answer");
	buf_add(&call->text, bytes, (size_t)n);
	if (call->text.data[call->text.len - 1] != '\n')
		return;
	ck_assert_ptr_null(call->answer);
	ck_assert_int_eq(json_parse(call->text.data, call->text.len,
			     RPC_LINE_MAX, &call->answer, NULL),
	    0);
	loop_watch_free(take_ptr(&call->watch));
}

static int
send_to(const char *path, const char *method, const char *params)
{
	struct sockaddr_un address = { .sun_family = AF_UNIX };
	cleanup_free char *line = xasprintf(
	    "{\"jsonrpc\":\"2.0\",\"id\":1,\"method\":\"%s\"%s%s}\n", method,
	    params != NULL ? ",\"params\":" : "", params != NULL ? params : "");
	int fd = socket(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC | SOCK_NONBLOCK, 0);

	ck_assert_int_ge(fd, 0);
	strlcpy(address.sun_path, path, sizeof address.sun_path);
	ck_assert_int_eq(
	    connect(fd, (struct sockaddr *)&address, sizeof address), 0);
	ck_assert_int_eq(
	    send(fd, line, strlen(line), MSG_NOSIGNAL), (ssize_t)strlen(line));
	return fd;
}

int
floor_world_send(const char *method, const char *params)
{
	return send_to(floor_world.core->socket, method, params);
}

struct floor_call *
floor_world_ask_at(const char *path, const char *method, const char *params)
{
	struct floor_call *call = xcalloc(1, sizeof *call);

	ck_assert_uint_lt(floor_world.call_count, FLOOR_CALLS_MAX);
	floor_world.calls[floor_world.call_count++] = call;
	buf_init(&call->text);
	call->fd = send_to(path, method, params);
	call->watch = loop_watch_new(
	    floor_world.loop, call->fd, LOOP_READ, on_readable, call);
	return call;
}

void
floor_has(const char *text, const char *words)
{
	ck_assert_msg(text != NULL && strstr(text, words) != NULL,
	    "\"%s\" is not in: %s", words, text != NULL ? text : "(nothing)");
}

struct floor_call *
floor_world_ask_as(const char *worker, const char *method, const char *params)
{
	cleanup_free char *socket =
	    run_dir_socket(&floor_world.workspace, worker);

	return floor_world_ask_at(socket, method, params);
}

struct json_object *
floor_world_result(struct floor_call *call)
{
	const char *error = floor_world_answer(call);

	ck_assert_msg(error == NULL, "%s", error);
	return floor_call_result(call);
}

void
floor_world_refused(struct floor_call *call, int code, const char *words)
{
	const char *error = floor_world_answer(call);

	ck_assert_msg(error != NULL, "it was not refused");
	ck_assert_msg(floor_call_code(call) == code, "%d: %s",
	    floor_call_code(call), error);
	ck_assert_msg(strstr(error, words) != NULL, "%s", error);
}

struct floor_call *
floor_world_ask(const char *method, const char *params)
{
	return floor_world_ask_at(floor_world.core->socket, method, params);
}

struct floor_call *
floor_world_call(const char *method, const char *worker, const char *more)
{
	cleanup_free char *name = worker != NULL ?
	    xasprintf("\"worker\":\"%s\"", worker) :
	    xstrdup("");
	cleanup_free char *params = xasprintf("{%s%s}", name, more);

	return floor_world_ask(method, params);
}

void
floor_call_hang_up(struct floor_call *call)
{
	loop_watch_free(take_ptr(&call->watch));
	close(call->fd);
	call->fd = -1;
}

bool
floor_call_is_answered(const struct floor_call *call)
{
	return call->answer != NULL;
}

static bool
is_answered(void *arg)
{
	return floor_call_is_answered(arg);
}

int
floor_call_code(const struct floor_call *call)
{
	struct json_object *error =
	    json_object_object_get(call->answer, "error");

	return error != NULL ? (int)json_int_or(error, "code", 0) : 0;
}

struct json_object *
floor_call_result(const struct floor_call *call)
{
	return json_object_object_get(call->answer, "result");
}

const char *
floor_world_answer(struct floor_call *call)
{
	struct json_object *error;

	floor_world_wait_for("an answer", is_answered, call);
	error = json_object_object_get(call->answer, "error");
	return error != NULL ? json_string_or(error, "message", "") : NULL;
}

struct floor_call *
floor_world_done(struct floor_call *call)
{
	floor_world_result(call);
	return call;
}

static void
call_free(struct floor_call *call)
{
	loop_watch_free(call->watch);
	fd_close(call->fd);
	buf_release(&call->text);
	json_object_put(call->answer);
	free(call);
}

void
floor_world_end(void)
{
	if (floor_world.repo == NULL)
		return;
	if (floor_world.core != NULL)
		floor_world_close();
	for (size_t i = 0; i < floor_world.call_count; i++)
		call_free(floor_world.calls[i]);
	workspace_release(&floor_world.workspace);
	buf_release(&floor_world.saved);
	repo_free(take_ptr(&floor_world.repo));
}
