/* SPDX-License-Identifier: ISC */

/*
 * The daemon's process: started, through the shell only for a command of a
 * person's, and ended with its grace.
 *
 * A process that holds an inotify watch is 15 ms in the kernel before its
 * parent is told of its end. So it is given a channel, which breaks at once:
 * what is past its last instruction by then, and did not end well, counts as
 * gone. (autod opens its watch first, so that it is closed last.) The listener
 * of the page goes through it, too (kept-listener.h).
 */
#include <fcntl.h>
#include <signal.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <unistd.h>

#include "buf.h"
#include "child.h"
#include "clock.h"
#include "console.h"
#include "daemon-process.h"
#include "daemon-takeover.h"
#include "ending.h"
#include "errtext.h"
#include "fd-channel.h"
#include "file.h"
#include "lock.h"
#include "log.h"
#include "loop.h"
#include "mem.h"
#include "overseer.h"
#include "people.h"
#include "respond.h"
#include "settings.h"
#include "sibling.h"
#include "strv.h"
#include "text.h"
#include "way-out.h"

#define DEFAULT_COMMAND "llmc up --auto"
#define SAID_MAX        (1024 * 1024) /* of standard error, then it is emptied */
#define SMALL_MAX       4096
#define FOREVER_MS      (3650 * 24 * 3600 * (int64_t)1000)
#define NOW_MS          800 /* for an end at once */
#define NOW_KILL_MS     400 /* after SIGKILL then; together less than way-out.c */
#define KILL_MS         5000 /* after SIGKILL, for what hangs in the kernel */

/* A child outlives its meaning when its end was known before it was told. */
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
	way_out_daemon(-1);
	let_go(d);
	loop_watch_free(take_ptr(&d->watch));
	loop_timer_free(take_ptr(&d->kill));
	procref_release(&d->ref);
	free(take_ptr(&d->how_ended));
	free(take_ptr(&d->instance));
}

/* --- the end --------------------------------------------------------- */

static void
gone(struct overseer *o, int status, const char *words)
{
	cleanup_free char *lock = overseer_path(o, "state.lock");
	struct daemon_process *d = &o->daemon;

	way_out_daemon(-1);
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
	if (d->told_to_end && !o->stopping && o->state != STATE_ENDING_DAEMON) {
		observe_end(o); /* an earlier overseer wanted it to end */
		daemon_takeover_or_end(o);
	} else if (o->state == STATE_STARTING && !d->adopted && !d->ready &&
	    lock_is_held(lock) == 1) {
		observe_end(o);
		d->beaten = true;
		daemon_takeover_or_end(o);
	} else {
		respond_ended(o);
	}
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

void
daemon_process_watch(struct overseer *o)
{
	if (o->daemon.ref.pidfd >= 0)
		o->daemon.watch = loop_watch_new(
		    o->loop, o->daemon.ref.pidfd, LOOP_READ, on_pidfd, o);
}

/* Where it hangs, appended; for people. */
static void
add_place(const struct procref *ref, struct buf *out)
{
	cleanup_free char *file = xasprintf("/proc/%d/wchan", (int)ref->pid);
	cleanup_buf struct buf place = BUF_INIT;

	if (file_read(file, SMALL_MAX, &place, NULL) == 0 && place.len > 1)
		buf_addf(out, ", in %s", place.data);
}

/* No other may be started while it is there. */
static void
on_kill_over(void *arg)
{
	struct overseer *o = arg;
	struct daemon_process *d = &o->daemon;
	cleanup_buf struct buf words = BUF_INIT;

	d->stuck = true;
	buf_addf(&words,
	    "The daemon (pid %d) does not end, even by SIGKILL: it "
	    "hangs in the kernel (state %c",
	    (int)d->ref.pid, procref_state(&d->ref));
	add_place(&d->ref, &words);
	buf_adds(&words,
	    "). Most often a disk or network file system does not answer.");
	if (o->stopping) {
		buf_adds(&words, " It is left as it is.");
		ending_begin(o,
		    o->forced ? OVERSEER_FORCED : OVERSEER_UNREPAIRED,
		    words.data);
		return;
	}
	buf_adds(&words,
	    " Another is started as soon as it has ended; Ctrl-C leaves it.");
	console_say(o, CONSOLE_RED, "%s", words.data);
	overseer_tell(o,
	    &(struct notice){ .class = NOTICE_FAILURE,
		.what = "the daemon cannot be ended",
		.why = words.data,
		.signature = o->signature,
		.failure = o->words });
}

static void
on_grace_over(void *arg)
{
	struct overseer *o = arg;
	struct daemon_process *d = &o->daemon;

	procref_signal_group(&d->ref, SIGKILL);
	procref_signal(&d->ref, SIGKILL);
	log_info("the daemon does not stop: SIGKILL was sent");
	loop_timer_free(d->kill);
	d->kill = loop_after(
	    o->loop, o->forced ? NOW_KILL_MS : KILL_MS, on_kill_over, o);
}

void
daemon_process_end(struct overseer *o, bool now)
{
	struct daemon_process *d = &o->daemon;

	if (!d->alive) {
		respond_ended(o);
		return;
	}
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
	loop_timer_free(d->kill);
	d->kill = loop_after(o->loop,
	    now ? NOW_MS :
		  settings_duration(o->settings, "overseer.stop_grace"),
	    on_grace_over, o);
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
		respond_read_evidence(o);
	else
		o->daemon.said_from = o->evidence_to = st.st_size;
	return fd;
}

static int
spawn(struct overseer *o, struct child_spec *spec, struct err *err)
{
	struct daemon_process *d = &o->daemon;
	struct daemon_run *run = xcalloc(1, sizeof *run);
	int ends[2] = { -1, -1 }, r;

	/* Without the channel its death is told a little later. */
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

void
daemon_process_start(struct overseer *o)
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
	overseer_set_state(o, STATE_STARTING);
	if (spawn(o, &spec, &err) < 0) {
		gone(o, 127, err.msg);
		return;
	}
	d->alive = true;
	way_out_daemon(d->ref.pidfd);
	overseer_register(o);
	observe_begin(o);
}
