/* SPDX-License-Identifier: ISC */

/* The daemon of the chaos run, and the faults that are injected. */
#include "base.h"
#include "autorun.h"
#include "chaos.h"

#define GAP_MS       20 /* minimum time between two faults */
#define GAP_MORE_MS  250 /* random time added to it */
#define DRAIN_MS     12000 /* to stop, with git lock files in the way */
#define FAILURES_MAX 12 /* of the daemon itself, in one run */
#define UP_MS        20000

static const char *const hook_events[] = { "Stop", "UserPromptSubmit",
	"SessionStart", "PreToolUse", "PostToolUse", "SessionEnd" };

size_t
chaos_pick(struct chaos *c, size_t count)
{
	c->random = c->random * 6364136223846793005u + 1442695040888963407u;
	return (size_t)(c->random >> 33) % count;
}

void
chaos_note(struct chaos *c, const char *fmt, ...)
{
	cleanup_free char *words = NULL;
	va_list ap;

	va_start(ap, fmt);
	words = xvasprintf(fmt, ap);
	va_end(ap);
	printf("# %6lld %3d %s\n", (long long)(clock_mono_ms() - c->began_ms),
	    c->step, words);
	fprintf(c->log, "%6lld %3d %s\n",
	    (long long)(clock_mono_ms() - c->began_ms), c->step, words);
	fflush(stdout);
	fflush(c->log);
}

void
chaos_give_up(struct chaos *c, const char *words)
{
	struct e2e_run *known = e2e_sh(fleet_root(),
	    "{ tail -n 600 .llmc/logs/autod.log; \"$LLMC\" status; "
	    "\"$STATE\"; git log --oneline -5; "
	    "ps -eo pid,ppid,args --forest | tail -n 40; } 2>&1");

	chaos_note(c, "FAILED: %s", words);
	fputs(known->out, c->log);
	fprintf(c->log, "--- what the daemon printed\n%s", auto_output());
	fflush(c->log);
	ck_abort_msg("%s; the rest is in %s", e2e_shown(words), c->log_path);
}

/* --- the daemon ------------------------------------------------------- */

pid_t
chaos_daemon_pid(const struct chaos *c)
{
	return c->daemon.pid;
}

void
chaos_daemon_up(struct chaos *c)
{
	const char *workers = e2e_path("%d", c->view.workers);

	int64_t end = clock_mono_ms() + UP_MS;
	const char *path = e2e_path("%s/.llmc/daemon.json", fleet_root());

	unlink(path); /* left by a daemon that was killed */
	auto_launch("--concurrency", workers, NULL);
	procref_release(&c->daemon);
	c->starts++;
	while (!auto_has_ended()) {
		if (e2e_exists(path)) {
			procref_set(&c->daemon, fleet_daemon_pid());
			return;
		}
		if (clock_mono_ms() > end)
			chaos_give_up(c, "the daemon does not start");
		poll(NULL, 0, 5); /* a file of another program */
	}
}

/* A daemon that stopped by itself has said why. */
void
chaos_daemon_tend(struct chaos *c)
{
	struct json_object *failure;
	const char *words;
	int status;

	if (!auto_has_ended())
		return;
	status = auto_wait_exit();
	failure = auto_failure();
	words = e2e_path("%s: %s", json_string_or(failure, "class", "?"),
	    json_string_or(failure, "words", "?"));
	json_object_put(failure);
	chaos_note(
	    c, "the daemon stopped, status %d: %s", status, e2e_shown(words));
	if (status != 1 || failure == NULL)
		chaos_give_up(c, "the daemon ended without a failure");
	if (++c->failures > FAILURES_MAX)
		chaos_give_up(c, "the daemon fails again and again");
	chaos_daemon_up(c);
}

void
chaos_daemon_end(struct chaos *c, int signo)
{
	procref_signal(&c->daemon, signo);
	auto_wait_exit();
}

/* --- the faults ------------------------------------------------------- */

static pid_t
agent_of(const struct chaos *c, size_t worker)
{
	struct chaos_pane panes[CHAOS_PANES_MAX];
	size_t count = chaos_panes(&c->view, panes);
	const char *name = e2e_path("llmc-auto-%zu", worker + 1);

	for (size_t i = 0; i < count; i++)
		if (strcmp(panes[i].session, name) == 0)
			return panes[i].pid;
	return 0;
}

static void
fault_agent(struct chaos *c, const struct chaos_draw *draw)
{
	struct procref ref = PROCREF_INIT;
	pid_t pid = agent_of(c, draw->worker);

	if (pid > 0 && procref_set(&ref, pid) == 0)
		procref_signal(&ref, SIGKILL);
	procref_release(&ref);
	chaos_note(
	    c, "agent auto-%zu is killed (%d)", draw->worker + 1, (int)pid);
}

static void
tmux(const struct chaos *c, const char *command)
{
	e2e_sh(fleet_root(),
	    e2e_path("tmux -L %s %s >/dev/null 2>&1; true", c->view.socket,
		command));
}

static void
fault_session(struct chaos *c, const struct chaos_draw *draw)
{
	tmux(c, e2e_path("kill-session -t =llmc-auto-%zu", draw->worker + 1));
	chaos_note(c, "session auto-%zu is killed", draw->worker + 1);
}

static void
fault_server(struct chaos *c, const struct chaos_draw *draw)
{
	if (draw->a % 2 == 0)
		tmux(c, "kill-server");
	else
		tmux(c,
		    "display-message -p '#{pid}' 2>/dev/null | "
		    "xargs -r kill -KILL");
	chaos_note(c, "the tmux server is killed%s",
	    draw->a % 2 == 0 ? "" : " the hard way");
}

static void
fault_daemon(struct chaos *c, const struct chaos_draw *draw)
{
	(void)draw;
	chaos_note(c, "the daemon is killed (%d)", (int)chaos_daemon_pid(c));
	chaos_daemon_end(c, SIGKILL);
	chaos_daemon_up(c);
}

static void
fault_drain(struct chaos *c, const struct chaos_draw *draw)
{
	int64_t began = clock_mono_ms();

	(void)draw;
	chaos_note(
	    c, "the daemon is told to end (%d)", (int)chaos_daemon_pid(c));
	chaos_daemon_end(c, SIGTERM);
	if (clock_mono_ms() - began > DRAIN_MS)
		chaos_give_up(c, "the daemon took too long to end");
	chaos_daemon_up(c);
}

static void
fault_lock(struct chaos *c, const struct chaos_draw *draw)
{
	const char *names[] = {
		e2e_path("worktrees/auto-%zu/index.lock", draw->worker + 1),
		"index.lock",
		e2e_path("worktrees/auto-%zu/HEAD.lock", draw->worker + 1),
		"refs/heads/main.lock",
	};
	const char *name = names[draw->a % nitems(names)];
	const char *path = e2e_path("%s/.git/%s", fleet_root(), name);
	int until = c->step + 1 + (int)(draw->b % 12), fd;
	struct stat st;

	for (size_t i = 0; i < CHAOS_LOCKS_MAX; i++) {
		if (c->locks[i].path != NULL)
			continue;
		fd = open(path, O_WRONLY | O_CREAT | O_EXCL | O_CLOEXEC, 0644);
		if (fd == -1) {
			chaos_note(c, "lock %s: %s", name, strerror(errno));
			return;
		}
		fstat(fd, &st);
		close(fd);
		c->locks[i].path = xstrdup(path);
		c->locks[i].inode = st.st_ino;
		c->locks[i].until = until;
		chaos_note(c, "lock %s until step %d", name, until);
		return;
	}
}

static void
fault_hook(struct chaos *c, const struct chaos_draw *draw, const char *what)
{
	/* Stop is the most important one. */
	const char *event =
	    hook_events[draw->a % 10 < nitems(hook_events) ? draw->a % 10 : 0];

	e2e_write(e2e_path("%s/auto-%zu.%s", e2e_dir("faults"),
		      draw->worker + 1, event),
	    what);
	chaos_note(c, "%s %s of auto-%zu", what, event, draw->worker + 1);
}

static void
fault_lose(struct chaos *c, const struct chaos_draw *draw)
{
	fault_hook(c, draw, "lose");
}

static void
fault_double(struct chaos *c, const struct chaos_draw *draw)
{
	fault_hook(c, draw, "double");
}

struct chaos_fault chaos_faults[] = {
	{ "agent killed", 6, fault_agent, 0 },
	{ "session killed", 3, fault_session, 0 },
	{ "tmux server killed", 1, fault_server, 0 },
	{ "lock of git", 5, fault_lock, 0 },
	{ "hook lost", 4, fault_lose, 0 },
	{ "hook doubled", 4, fault_double, 0 },
	{ "daemon killed", 4, fault_daemon, 0 },
	{ "daemon drained", 1, fault_drain, 0 },
	{ NULL, 0, NULL, 0 },
};

void
chaos_draw(struct chaos *c, struct chaos_draw *draw)
{
	size_t total = 0, nth;

	for (size_t i = 0; chaos_faults[i].name != NULL; i++)
		total += chaos_faults[i].weight;
	nth = chaos_pick(c, total);
	for (draw->fault = 0; nth >= chaos_faults[draw->fault].weight;
	     draw->fault++)
		nth -= chaos_faults[draw->fault].weight;
	draw->worker = chaos_pick(c, (size_t)c->view.workers);
	draw->a = chaos_pick(c, 1000);
	draw->b = chaos_pick(c, 1000);
	draw->gap_ms = GAP_MS + (int64_t)chaos_pick(c, GAP_MORE_MS);
}

void
chaos_lift_locks(struct chaos *c, int step)
{
	struct stat st;

	for (size_t i = 0; i < CHAOS_LOCKS_MAX; i++) {
		if (c->locks[i].path == NULL || c->locks[i].until > step)
			continue;
		chaos_note(
		    c, "lifted: %s", strstr(c->locks[i].path, "/.git/") + 6);
		/* The daemon may have removed it as stale, and another git may
		 * have created its own. */
		if (stat(c->locks[i].path, &st) == 0 &&
		    st.st_ino == c->locks[i].inode)
			unlink(c->locks[i].path);
		free(take_ptr(&c->locks[i].path));
	}
}
