/* SPDX-License-Identifier: ISC */

#include "base.h"

#include <fcntl.h>
#include <signal.h>
#include <sys/stat.h>
#include <sys/syscall.h>
#include <sys/wait.h>
#include <time.h>

#include "child.h"
#include "loop.h"
#include "overseer-private.h"
#include "people.h"
#include "client.h"
#include "settings-table.h"
#include "settings.h"
#include "sibling.h"

#define LEAVE_MS        1700
#define WAY_OUT_KILL_MS 1900 /* a handler does not run in every system call */

/* Handlers have no argument. */
static struct {
	struct sigaction next[NSIG]; /* those of the loop */
	volatile sig_atomic_t signals;
	volatile sig_atomic_t daemon; /* its pidfd, that gets SIGKILL; -1 =
				       * there is none */
	int leave, kill; /* timers */
} way_out = { .daemon = -1, .leave = -1, .kill = -1 };

static void
begin_timer(int timer, long ms)
{
	struct itimerspec at = {
		.it_value = { ms / 1000, ms % 1000 * 1000000 },
	};

	if (timer >= 0)
		syscall(SYS_timer_settime, timer, 0, &at, NULL);
}

static void
on_stop_signal(int signo)
{
	const struct sigaction *next = &way_out.next[signo];

	if (next->sa_handler != SIG_DFL && next->sa_handler != SIG_IGN)
		next->sa_handler(signo);
	if (++way_out.signals != 2)
		return;
	begin_timer(way_out.leave, LEAVE_MS);
	begin_timer(way_out.kill, WAY_OUT_KILL_MS);
}

static void
on_leave(int signo)
{
	(void)signo;
	if (way_out.daemon >= 0)
		/* One system call, which a handler may make.
		 * NOLINTNEXTLINE(bugprone-signal-handler) */
		syscall(SYS_pidfd_send_signal, (int)way_out.daemon, SIGKILL,
		    NULL, 0);
	_exit(OVERSEER_FORCED);
}

static int
make_timer(int signo)
{
	struct sigevent event = { .sigev_notify = SIGEV_SIGNAL,
		.sigev_signo = signo };
	int timer = -1;

	return syscall(SYS_timer_create, CLOCK_MONOTONIC, &event, &timer) == 0 ?
	    timer :
	    -1;
}

void
way_out_open(void)
{
	static const int signals[] = { SIGINT, SIGTERM };
	struct sigaction action = { .sa_handler = on_stop_signal,
		.sa_flags = SA_RESTART };

	way_out.signals = 0;
	way_out.leave = make_timer(SIGALRM);
	way_out.kill = make_timer(SIGKILL);
	signal(SIGALRM, on_leave);
	sigfillset(&action.sa_mask);
	for (size_t i = 0; i < sizeof signals / sizeof signals[0]; i++)
		sigaction(signals[i], &action, &way_out.next[signals[i]]);
}

#define DEFAULT_COMMAND "llmc up --auto"
#define SAID_MAX        (1024 * 1024) /* of standard error, then it is emptied */
#define SMALL_MAX       4096
#define FOREVER_MS      (3650 * 24 * 3600 * (int64_t)1000)
#define NOW_MS          800 /* for an end at once */
#define NOW_KILL_MS     400 /* after SIGKILL then; together less than LEAVE_MS */
#define DAEMON_PROCESS_KILL_MS \
	5000 /* after SIGKILL, for what hangs in the kernel */

/* A child whose end was found in another way is kept until it is reaped. */
struct daemon_run {
	struct overseer *overseer; /* NULL = known */
};

static void
let_go(struct daemon_process *d)
{
	loop_watch_free(take_ptr(&d->life_watch));
	d->life = fd_close(d->life);
	if (d->run != NULL)
		d->run->overseer = NULL;
	d->run = NULL;
}

void
daemon_process_release(struct daemon_process *d)
{
	way_out.daemon = -1;
	let_go(d);
	loop_watch_free(take_ptr(&d->watch));
	loop_timer_free(take_ptr(&d->kill));
	procref_release(&d->ref);
	free(take_ptr(&d->how_ended));
	free(take_ptr(&d->instance));
}

/* --- the end --------------------------------------------------------- */

/* It has ended, and that is written down; what follows is for others. */
static void
note_end(struct overseer *o, int status, const char *words)
{
	struct daemon_process *d = &o->daemon;

	way_out.daemon = -1;
	d->alive = false;
	d->child = NULL;
	d->status = status;
	d->ended_ms = clock_mono_ms();
	free(d->how_ended);
	d->how_ended = xstrdup(words);
	loop_watch_free(take_ptr(&d->watch));
	loop_timer_free(take_ptr(&d->kill));
	kept_listener_drain(&o->listener, d->life);
	let_go(d);
	log_info("the daemon (pid %d) %s", (int)d->ref.pid, words);
}

void
daemon_process_tell_end(struct overseer *o)
{
	const struct daemon_process *d = &o->daemon;

	if (d->told_to_end)
		HAPPENS(o, WHEN_ENDED);
	else if (!d->adopted && !d->ready && daemon_lock_is_held(o))
		HAPPENS(o, WHEN_BEATEN);
	else
		HAPPENS(o, WHEN_DIED);
}

static void
gone(struct overseer *o, int status, const char *words)
{
	note_end(o, status, words);
	daemon_process_tell_end(o);
}

static void
on_child_exit(const struct child_result *result, void *arg)
{
	cleanup_free struct daemon_run *run = arg;
	struct overseer *o = run->overseer;
	cleanup_buf struct buf words = BUF_INIT;
	int status = -1;

	if (o == NULL)
		return;
	o->daemon.run = NULL;
	child_result_describe(result, &words);
	if (result->start_error != 0)
		status = 127;
	else if (result->exited)
		status = result->status;
	else
		status = 128 + result->signal;
	gone(o, status, words.data);
}

/* It says something, or the channel is broken. An end that is none of a crash
 * has time. */
static void
on_channel(int fd, unsigned what, void *arg)
{
	struct overseer *o = arg;
	struct daemon_process *d = &o->daemon;
	struct child_result result;
	cleanup_buf struct buf words = BUF_INIT;
	int status = 0;

	(void)what;
	if (kept_listener_read(&o->listener, fd) >= 0)
		return;
	loop_watch_free(take_ptr(&d->life_watch));
	if (procref_ending(&d->ref, &status) < 0 || status == 0)
		return;
	child_result_init(&result);
	result.exited = WIFEXITED(status);
	result.status = WEXITSTATUS(status);
	result.signal = WTERMSIG(status);
	child_result_describe(&result, &words);
	gone(
	    o, result.exited ? result.status : 128 + result.signal, words.data);
}

void
daemon_process_is_gone(struct overseer *o)
{
	gone(o, -1, "exited (its status is not known: it was not our child)");
}

static void
on_pidfd(int fd, unsigned what, void *arg)
{
	struct overseer *o = arg;

	(void)fd;
	(void)what;
	if (!procref_alive(&o->daemon.ref))
		daemon_process_is_gone(o);
}

/* No other may be started while it is there. */
static void
on_kill_over(void *arg)
{
	struct overseer *o = arg;
	struct daemon_process *d = &o->daemon;
	cleanup_buf struct buf words = BUF_INIT;
	cleanup_free char *file = NULL;
	cleanup_buf struct buf place = BUF_INIT;

	d->stuck = true;
	buf_addf(&words,
	    "The daemon (pid %d) does not end, even by SIGKILL: it "
	    "hangs in the kernel (state %c",
	    (int)d->ref.pid, procref_state(&d->ref));
	/* Where it hangs, appended; for people. */
	file = xasprintf("/proc/%d/wchan", (int)d->ref.pid);
	if (file_read(file, SMALL_MAX, &place, NULL) == 0 && place.len > 1)
		buf_addf(&words, ", in %s", place.data);
	buf_adds(&words,
	    "). Most often a disk or network file system does not answer.");
	if (o->state == STATE_STOPPING) {
		buf_adds(&words, " It is left as it is.");
		HAPPENS(o, WHEN_OVER,
		    .status =
			o->run.forced ? OVERSEER_FORCED : OVERSEER_UNREPAIRED,
		    .words = words.data);
		return;
	}
	buf_adds(&words,
	    " Another is started as soon as it has ended; Ctrl-C leaves it.");
	console_say(o, CONSOLE_RED, "%s", words.data);
	overseer_tell(o,
	    &(struct notice){ .class = NOTICE_FAILURE,
		.what = "the daemon cannot be ended",
		.why = words.data,
		.signature = o->failure.signature });
}

static void
on_grace_over(void *arg)
{
	struct overseer *o = arg;
	struct daemon_process *d = &o->daemon;

	procref_signal_group(&d->ref, SIGKILL);
	procref_signal(&d->ref, SIGKILL);
	log_info("the daemon does not stop: SIGKILL was sent");
	loop_timer_set(&d->kill, o->loop,
	    o->run.forced ? NOW_KILL_MS : DAEMON_PROCESS_KILL_MS, on_kill_over,
	    o);
}

void
daemon_process_end(struct overseer *o, bool now)
{
	struct daemon_process *d = &o->daemon;

	if (d->stuck) { /* it has had SIGKILL */
		on_kill_over(o);
		return;
	}
	if (now && !d->told_to_end)
		procref_signal(&d->ref, SIGTERM); /* the first of two */
	procref_signal(&d->ref, SIGTERM); /* the second means: at once */
	procref_signal(&d->ref, SIGCONT); /* a stopped one hears nothing */
	d->told_to_end = true;
	overseer_register(o);
	loop_timer_set(&d->kill, o->loop, now ? NOW_MS : tuning.daemon_stop,
	    on_grace_over, o);
}

/* --- what it leaves --------------------------------------------------- */

/* One of the daemon that has ended, not of the one before it. */
static bool
is_own_beat(const struct daemon_process *d, struct json_object *beat)
{
	return text_is(d->instance, json_string_or(beat, "instance_id", ""));
}

void
daemon_evidence_begin(struct overseer *o)
{
	struct overseer_failure *f = &o->failure;
	cleanup_json struct json_object *beat = NULL;
	char **text = &f->evidence.heartbeat;

	evidence_release(&f->evidence);
	evidence_read_first(&o->workspace,
	    o->daemon.alive ? o->daemon.ref.pid : 0, &f->evidence);
	if (*text != NULL &&
	    json_parse(*text, strlen(*text), strlen(*text), &beat, NULL) == 0 &&
	    !is_own_beat(&o->daemon, beat))
		free(take_ptr(text));
	/* One that ends in order takes its heartbeat away. */
	if (*text == NULL && is_own_beat(&o->daemon, o->sight.beat)) {
		cleanup_buf struct buf last = BUF_INIT;

		json_print(o->sight.beat, false, &last);
		*text = buf_take(&last);
	}
	f->said_from = o->daemon.said_from;
	f->said_to = INT64_MAX;
	free(take_ptr(&f->evidence_stamp));
	f->evidence_saved = NULL;
}

void
daemon_evidence_read(struct overseer *o)
{
	struct overseer_failure *f = &o->failure;
	cleanup_free char *said = overseer_path(o, "logs/autod.stderr");
	char stamp[CLOCK_STAMP_SIZE];

	if (f->said_from < 0)
		return;
	evidence_read_rest(
	    &o->workspace, said, f->said_from, f->said_to, &f->evidence);
	f->said_from = -1;
	clock_format_compact(clock_wall_ms(), stamp);
	xstrset(&f->evidence_stamp, stamp);
}

/* --- the beginning --------------------------------------------------- */

/* Is llmc on PATH, if there is one, the one beside us? Then what it would
 * become is known: it has checked nothing that was not checked before. */
static bool
is_ours(const struct overseer *o)
{
	const char *given =
	    settings_string(o->settings, "overseer.daemon_command");
	cleanup_free char *found = NULL;
	struct stat there, ours;

	if (o->autod == NULL || strcmp(given, DEFAULT_COMMAND) != 0)
		return false;
	found = sibling_program("llmc");
	return found == NULL ||
	    (stat(found, &there) == 0 && stat(o->llmc, &ours) == 0 &&
		there.st_dev == ours.st_dev && there.st_ino == ours.st_ino);
}

static void
add_option(char ***argv, const char *name, const char *value)
{
	if (value == NULL)
		return;
	strv_add(argv, name);
	strv_add(argv, value);
}

/* Its words; for a command of a person's only what follows it. */
static char **
words_of(const struct overseer *o, bool ours)
{
	const struct overseer_options *options = o->options;
	char **argv = NULL;

	if (ours) {
		strv_add(&argv, o->autod);
		add_option(&argv, "--root", o->workspace.root);
		strv_add(&argv, "--auto");
	}
	add_option(&argv, "--concurrency", options->concurrency);
	add_option(&argv, "--task-pool-command", options->task_pool_command);
	add_option(
	    &argv, "--post-accept-command", options->post_accept_command);
	return argv;
}

/* What the shell is given. It empties the file, since that may wait for the
 * disk. */
static void
add_command(const struct overseer *o, bool ours, bool empties,
    const char *const *words, struct buf *command)
{
	cleanup_free char *said = overseer_path(o, "logs/autod.stderr");

	if (empties) {
		buf_adds(command, ": >");
		text_add_shell(command, said);
		buf_addc(command, '\n');
	}
	buf_adds(command, "exec");
	if (!ours)
		buf_addf(command, " %s",
		    settings_string(o->settings, "overseer.daemon_command"));
	for (; *words != NULL; words++) {
		buf_addc(command, ' ');
		text_add_shell(command, *words);
	}
}

/* Where its standard output and error go: the end of the file. Only what there
 * is: to look does not wait for the disk. -1 = there is no such file. */
static int
open_said(struct overseer *o, bool *ret_empties)
{
	cleanup_free char *file = overseer_path(o, "logs/autod.stderr");
	struct stat st;
	int fd = file_open(file, O_WRONLY | O_APPEND, 0);

	if (fd < 0) {
		file_make_private(file, NULL, NULL);
		fd = file_open(file, O_WRONLY | O_APPEND, 0);
	}
	if (fd < 0 || fstat(fd, &st) == -1)
		return fd_close(fd);
	*ret_empties = st.st_size >= SAID_MAX;
	if (*ret_empties)
		daemon_evidence_read(o);
	else
		o->daemon.said_from = o->failure.said_to = st.st_size;
	return fd;
}

static int
spawn(struct overseer *o, struct child_spec *spec, struct err *err)
{
	struct daemon_process *d = &o->daemon;
	struct daemon_run *run = xcalloc(1, sizeof *run);
	int ends[2] = { -1, -1 }, r;

	/* Without the channel its death is noticed a little later. */
	if (fd_channel_pair(ends) == 0) {
		spec->extra_fd = ends[1];
		kept_listener_give(&o->listener, ends[0]);
	}
	run->overseer = o;
	r = child_spawn(o->loop, spec, on_child_exit, run, &d->child, err);
	fd_close(ends[1]);
	d->life = ends[0];
	if (r < 0) {
		free(run);
		return r;
	}
	r = procref_set(&d->ref, child_pid(d->child));
	if (r < 0) {
		free(run);
		child_abandon(take_ptr(&d->child));
		return err_errno(err, r, "cannot watch it");
	}
	d->run = run;
	if (d->life >= 0)
		d->life_watch =
		    loop_watch_new(o->loop, d->life, LOOP_READ, on_channel, o);
	return 0;
}

/* False: it has ended already. */
static bool
start(struct overseer *o)
{
	struct daemon_process *d = &o->daemon;
	cleanup_free char *failure = overseer_path(o, "failure.json");
	cleanup_free char *path = NULL;
	cleanup_strv char **argv = NULL;
	cleanup_buf struct buf command = BUF_INIT;
	cleanup_fd int said = -1;
	bool ours = is_ours(o), empties = false;
	struct child_spec spec = { .cwd = o->workspace.root,
		.deadline_ms = FOREVER_MS };
	struct err err = { 0 };

	/* What lies on PATH comes first; ours is for those who run it from
	 * where it was built. */
	path = xasprintf("PATH=%s:%.*s",
	    getenv("PATH") != NULL ? getenv("PATH") : "/usr/bin:/bin",
	    (int)(strrchr(o->llmc, '/') - o->llmc), o->llmc);
	spec.env =
	    (const char *const[]){ path, FD_CHANNEL_VARIABLE "=9", NULL };
	daemon_process_release(d);
	*d = (struct daemon_process)DAEMON_PROCESS_INIT;
	d->started_ms = clock_mono_ms();
	said = open_said(o, &empties);
	spec.output_fd = said > 0 ? said : 0;
	argv = words_of(o, ours);
	if (ours && !empties) {
		spec.argv = strv_const(argv);
	} else {
		add_command(o, ours, empties, strv_const(argv), &command);
		spec.shell = command.data;
	}
	if (file_exists(failure))
		unlink(failure); /* an earlier one's; this one may die before
				  * it can */
	if (spawn(o, &spec, &err) < 0) {
		note_end(o, 127, err.msg);
		return false;
	}
	d->alive = true;
	way_out.daemon = d->ref.pidfd;
	overseer_register(o);
	return true;
}

#define REGISTRATION_MAX (64 * 1024)
#define TAKE_MS          5000 /* for who holds the lock to register and beat */

bool
daemon_lock_is_held(const struct overseer *o)
{
	cleanup_free char *lock = overseer_path(o, "state.lock");

	return lock_is_held(lock) == 1;
}

/* Find the process again; false for one that is gone, or as good as that. */
static bool
find(struct procref *ref, struct json_object *json)
{
	int status = 0;

	return procref_from_json(ref, json, NULL) == 0 &&
	    procref_open(ref) == 0 && procref_ending(ref, &status) < 0;
}

/* Takes ref and instance over. */
static void
adopt(struct overseer *o, struct procref *ref, char *instance, int64_t unix_s)
{
	struct daemon_process *d = &o->daemon;
	int64_t age;
	int64_t now;

	daemon_process_release(d);
	*d = (struct daemon_process)DAEMON_PROCESS_INIT;
	d->ref = *ref;
	d->alive = d->adopted = true;
	d->instance = instance;
	/* How long it runs by the wall clock, on ours; never in the future. */
	age = clock_wall_ms() - unix_s * 1000;
	now = clock_mono_ms();
	d->started_ms = age < 0 ? now : now - age;
	*ref = (struct procref)PROCREF_INIT;
	way_out.daemon = d->ref.pidfd;
	/* Watch for its end; for one that is not our child. */
	if (d->ref.pidfd >= 0)
		d->watch = loop_watch_new(
		    o->loop, d->ref.pidfd, LOOP_READ, on_pidfd, o);
	console_say(o, CONSOLE_GREEN, "Took over the running daemon (pid %d).",
	    (int)d->ref.pid);
	overseer_register(o);
}

/* --- who holds the lock ---------------------------------------------- */

static int
refuse(struct err *err, int code, const char *why)
{
	return err_set(err, code,
	    "a daemon is running for this repository, but %s; stop it with: "
	    "llmc down",
	    why);
}

/* It must be who is registered, alive, of auto mode, and the one that beats.
 * -EAGAIN: not yet, or no more. */
static int
verify(const struct overseer *o, struct procref *ref,
    struct json_object **ret_daemon, struct err *err)
{
	cleanup_free char *registration = overseer_path(o, "daemon.json");
	cleanup_free char *heartbeat = overseer_path(o, "auto.heartbeat");
	cleanup_json struct json_object *daemon = NULL, *beat = NULL;

	if (json_load(registration, REGISTRATION_MAX, &daemon, NULL) < 0)
		return refuse(err, -EAGAIN, "its registration cannot be read");
	if (!find(ref, daemon))
		return refuse(err, -EAGAIN, "it is not the registered one");
	if (!json_bool_or(daemon, "auto", false))
		return refuse(err, -EBUSY, "it is not in auto mode");
	if (json_load(heartbeat, REGISTRATION_MAX, &beat, NULL) < 0 ||
	    strcmp(json_string_or(daemon, "instance_id", ""),
		json_string_or(beat, "instance_id", "?")) != 0)
		return refuse(
		    err, -EAGAIN, "its heartbeat is that of another daemon");
	*ret_daemon = take_ptr(&daemon);
	return 0;
}

int
daemon_process_take(struct overseer *o, struct err *err)
{
	struct daemon_process *d = &o->daemon;
	struct procref ref = PROCREF_INIT;
	cleanup_json struct json_object *daemon = NULL;
	int r;

	if (!daemon_lock_is_held(o)) {
		d->take_ms = 0;
		if (d->beaten) /* so that was not why it failed */
			return DAEMON_ENDED;
		return start(o) ? DAEMON_TAKEN : DAEMON_ENDED;
	}
	r = verify(o, &ref, &daemon, err);
	if (r == 0) {
		d->take_ms = 0;
		adopt(o, &ref,
		    xstrdup(json_string_or(daemon, "instance_id", "")),
		    json_int_or(daemon, "start_time_unix", 0));
		return DAEMON_TAKEN;
	}
	procref_release(&ref);
	if (r != -EAGAIN)
		return r;
	if (d->take_ms == 0) {
		d->take_ms = clock_mono_ms();
		log_info("the daemon's lock is held: %s", err->msg);
	}
	if (clock_mono_ms() - d->take_ms > TAKE_MS)
		return r;
	*err = (struct err){ 0 };
	return DAEMON_LATER;
}

bool
daemon_process_adopt(struct overseer *o, struct json_object *daemon)
{
	struct procref ref = PROCREF_INIT;

	if (!find(&ref, daemon)) {
		procref_release(&ref);
		return false;
	}
	adopt(o, &ref, NULL, json_int_or(daemon, "started_unix", 0));
	return true;
}
