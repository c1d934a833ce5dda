/* SPDX-License-Identifier: ISC */

/* Starts a session: launched, resumed or adopted. */
#include "base.h"
#include "agent-kind.h"
#include "id.h"
#include "loop.h"
#include "orphans.h"
#include "session-private.h"
#include "tmux.h"
#include "worker.h"

#define POLL_MS 1000 /* if the kernel does not report its exit */

static void
fail(struct session *s, enum session_trouble trouble, const struct err *err)
{
	log_debug("%s: no session: %s", s->worker, err->msg);
	s->running = false;
	session_unwatch(s);
	s->events.trouble(s->arg, trouble, err);
}

static void
on_pane(int fd, unsigned what, void *arg)
{
	(void)fd;
	(void)what;
	session_check(arg);
}

/* Watch the agent's own process: epoll reports its death at once. */
static int
watch_pane(struct session *s, pid_t pid)
{
	int r = procref_set(&s->pane, pid);

	if (r < 0)
		return r;
	json_object_put(s->record->pane);
	s->record->pane = procref_to_json(&s->pane);
	if (s->pane.pidfd >= 0)
		s->watch = loop_watch_new(
		    s->host->loop, s->pane.pidfd, LOOP_READ, on_pane, s);
	s->events.changed(s->arg);
	return 0;
}

static void
on_started(pid_t pid, const struct err *error, void *arg)
{
	struct session *s = arg;
	struct err err = { 0 };

	s->acting = false;
	if (error != NULL) {
		fail(s, SESSION_NOT_STARTED, error);
		return;
	}
	if (watch_pane(s, pid) < 0) {
		err_set(&err, -ESRCH,
		    "the agent exited at once; look at it with: llmc peek %s",
		    s->worker);
		fail(s, SESSION_ENDED_AT_ONCE, &err);
		return;
	}
	session_tick_later(s, 1);
}

/* Nothing of an earlier session works in the worktree any more. */
static void
start(struct session *s)
{
	const char *const argv[] = { s->host->llmc, "pane", s->launcher, NULL };
	struct tmux_session session = {
		.name = s->name,
		.role = s->role,
		.worker = s->worker,
		.generation = s->record->generation,
		.cwd = s->cwd,
		.argv = argv,
	};

	struct err left = s->left;

	if (s->ending) {
		session_end_rest(s);
		return;
	}
	if (left.code != 0) {
		s->acting = false;
		fail(s, SESSION_NOT_STARTED, &left);
		return;
	}
	s->acting = true;
	orphans_expect(s->host->workspace, s->worker);
	tmux_start(s->host->tmux, &session, on_started, s);
}

static void
on_old_gone(const struct err *err, void *arg)
{
	struct session *s = arg;

	if (err != NULL) {
		s->acting = false;
		fail(s, SESSION_NOT_STARTED, err);
		return;
	}
	session_clear_then(s, start);
}

static void
launch_now(void *arg)
{
	struct session *s = arg;

	s->since_ms = clock_mono_ms();
	if (s->refused.code != 0) {
		s->acting = false;
		session_tick_later(s, 1); /* reported from the loop */
		return;
	}
	log_debug("%s: launching %s", s->worker, s->record->id);
	tmux_kill(s->host->tmux, s->name, on_old_gone, s);
}

/* Write the files now, while the settings are valid; they are read when the
 * session is started. */
static void
prepare(struct session *s, const struct session_launch *launch, bool resume)
{
	struct agent_launch files = {
		.workspace = s->host->workspace,
		.settings = launch->settings,
		.worker = s->worker,
		.cwd = launch->cwd,
		.index = launch->index,
		.generation = s->record->generation,
		.session = s->record->id,
		.sandboxed = launch->sandboxed,
		.guarded = launch->guarded,
		.choice = launch->choice,
		.resume = resume,
		.llmc = s->host->llmc,
		.socket = launch->socket,
		/* A repair is about the machine, not about one worktree. */
		.sees_processes = strcmp(s->role, "worker") != 0,
		.repair = strcmp(s->role, "worker") != 0,
		.read = launch->read,
		.write = launch->write,
		.tools = s->tools,
		.max_turns = launch->stop_blocks_max,
		.cgroup = launch->cgroup,
		.scope = launch->scope,
	};

	free(take_ptr(&s->launcher));
	agent_prepare(&files, &s->launcher, &s->refused);
}

/* Reset what is known from an earlier session. */
static void
begin(struct session *s, int64_t start_timeout_ms)
{
	if (session_phase(s) != SESSION_NONE)
		fatalx("%s: a session is already running", s->name);
	session_stop_acting(s);
	s->running = true;
	s->refused = (struct err){ 0 };
	s->late = s->compacting = s->background = s->listed = false;
	s->held_ms = -1;
	s->since_ms = s->hook_ms = clock_mono_ms();
	s->start_timeout_ms = start_timeout_ms;
}

void
session_launch(struct session *s, const struct session_launch *launch)
{
	struct session_record *record = s->record;
	bool resume = launch->resume && record->id != NULL;
	char id[ID_UUID_SIZE];

	begin(s, launch->start_timeout_ms);
	session_unwatch(s);
	s->reported = false;
	s->resumed = resume;
	if (!resume) {
		id_uuid(id);
		xstrset(&record->id, id);
		xstrset(&record->transcript, NULL);
	}
	record->generation++;
	record->open_tools = 0;
	xstrset(&record->projects, launch->projects);
	xstrset(&s->cwd, launch->cwd);
	prepare(s, launch, resume);
	s->acting = true;
	session_then(s, launch_now);
}

int
session_adopt(struct session *s, pid_t pane_pid, int64_t start_timeout_ms)
{
	int r = watch_pane(s, pane_pid);

	if (r < 0)
		return r;
	begin(s, start_timeout_ms);
	s->reported = s->record->ready;
	s->resumed = s->record->transcript != NULL;
	delivery_recovered(s->record, clock_wall_ms());
	session_life_follow(s);
	session_tick_later(s, 1);
	return 0;
}

void
session_launch_tick(struct session *s)
{
	int64_t wait = s->since_ms + s->start_timeout_ms - clock_mono_ms();
	struct err err = { 0 };

	if (s->acting)
		return;
	if (s->refused.code != 0) {
		err = s->refused;
		fail(s, SESSION_NOT_STARTED, &err);
	} else if (!procref_alive(&s->pane)) {
		session_gone(s);
	} else if (wait > 0) {
		session_tick_later(
		    s, s->watch != NULL || wait < POLL_MS ? wait : POLL_MS);
	} else if (!s->late) {
		s->late = true;
		err_set(&err, -ETIMEDOUT,
		    "the agent did not report the start of its session: a "
		    "dialog may be open");
		s->events.trouble(s->arg, SESSION_UNREPORTED, &err);
	}
}
