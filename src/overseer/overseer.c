/* SPDX-License-Identifier: ISC */

#include "base.h"

#include <malloc.h>
#include <poll.h>
#include <signal.h>

#include "child.h"
#include "config.h"
#include "git.h"
#include "id.h"
#include "identity.h"
#include "loop.h"
#include "machine.h"
#include "overseer-private.h"
#include "people.h"
#include "preflight.h"
#include "session-sweep.h"
#include "settings.h"
#include "sibling.h"
#include "tmux.h"
#include "watch.h"
#include "workspace.h"

static int start_check(const struct overseer *o, struct err *err);
static int start_check_only(struct overseer *o);

#define LOG_SIZE   (20 * 1024 * 1024)
#define LOG_KEEP   3
#define LARGE      (32 * 1024) /* bytes */
#define LOCK_TRIES 25
#define LOCK_MS    20 /* between them */

/* --- the beginning --------------------------------------------------- */

static void
on_stop_signal(int signo, void *arg)
{
	struct overseer *o = arg;

	(void)signo;
	HAPPENS(o, WHEN_STOP);
}

static void
on_reload_signal(int signo, void *arg)
{
	struct overseer *o = arg;

	(void)signo;
	HAPPENS(o, WHEN_RELOAD);
}

/* llmc restart. */
static void
on_restart_signal(int signo, void *arg)
{
	struct overseer *o = arg;

	(void)signo;
	HAPPENS(o, WHEN_UPGRADE);
}

/* A child that a killed overseer was just starting holds its lock until it
 * executes: that is waited for. */
static int
take_lock(struct overseer *o, struct err *err)
{
	cleanup_free char *file = overseer_path(o, "overseer.lock");
	cleanup_free char *registration = overseer_path(o, "overseer.json");

	if (o->run.restart.lock > 0 &&
	    lock_inherit(o->run.restart.lock, file) == 0)
		o->lock = o->run.restart.lock;
	else
		o->lock = lock_try(file, err);
	for (int i = 0; i < LOCK_TRIES && o->lock == -EAGAIN; i++) {
		poll(NULL, 0, LOCK_MS);
		o->lock = lock_try(file, err);
	}
	if (o->lock == -EAGAIN)
		return err_set(err, -EAGAIN,
		    "another overseer is running for %s; see: llmc status",
		    o->workspace.root);
	if (o->lock < 0)
		return o->lock;
	file_replace_tidy(registration);
	*err = (struct err){ 0 };
	return 0;
}

static int
open_ports(struct overseer *o, struct err *err)
{
	cleanup_free char *config = overseer_path(o, "tmux.conf");
	struct tmux_options tmux = {
		.command = settings_string(o->settings, "tmux.command"),
		.socket = settings_string(o->settings, "tmux.socket"),
		.config = config,
	};
	cleanup_free char *worktrees = workspace_resolve(
	    &o->workspace, settings_string(o->settings, "repo.worktree_dir"));
	cleanup_free char *checks = overseer_path(o, "checks");
	const char *const own[] = { worktrees, checks, NULL };
	struct git_options git = {
		.root = o->workspace.root,
		.run_hooks = settings_bool(o->settings, "repo.run_hooks"),
		.own = own,
		.home = repair_home,
		.box = repair_box,
		.arg = o,
	};

	o->git = git_new(o->loop, &git);
	o->llmc = sibling_find("llmc");
	o->autod = sibling_find("autod");
	o->program = sibling_find("overseer");
	if (o->llmc == NULL)
		return err_set(err, -ENOENT,
		    "cannot find the program llmc next to overseer");
	return tmux_new(o->loop, &tmux, &o->tmux, err);
}

/* A verdict that a person has not cleared stands. */
static int
overseer_check_history(struct overseer *o, struct err *err)
{
	cleanup_free char *file = history_manual_file(&o->workspace);
	cleanup_buf struct buf words = BUF_INIT;
	int r = history_load(&o->workspace, &o->history, err);

	if (r < 0)
		return r;
	if (file != NULL)
		return err_set(err, -EPERM,
		    "there is %s: do what it says, remove it, and start again",
		    file);
	if (spiral_is_over(o->history.events, o->history.count, &words))
		return err_set(err, -ELOOP,
		    "the last run ended with a failure spiral (%.*s); see llmc "
		    "log failures, fix the cause, then: llmc overseer --clear "
		    "\"what was done\"",
		    (int)strcspn(words.data, "\n"), words.data);
	return 0;
}

static void
on_watchdog(void *arg)
{
	(void)arg;
	notify_service("WATCHDOG=1");
}

static int
begin(struct overseer *o, struct err *err)
{
	int64_t period = notify_watchdog_ms();
	int r;

	o->reaper = reaper_new(o->loop);
	r = writer_open(o, err);
	if (r < 0)
		return r;
	o->run.signals[0] =
	    loop_signal_new(o->loop, SIGTERM, on_stop_signal, o);
	o->run.signals[1] = loop_signal_new(o->loop, SIGINT, on_stop_signal, o);
	o->run.signals[2] =
	    loop_signal_new(o->loop, SIGHUP, on_reload_signal, o);
	o->run.signals[3] =
	    loop_signal_new(o->loop, SIGUSR2, on_restart_signal, o);
	way_out_open();
	if (o->run.restart.kept > 0)
		kept_listener_drain(&o->listener, o->run.restart.kept);
	if (period > 0)
		o->run.watchdog = loop_every(o->loop, period, on_watchdog, o);
	console_say(o, CONSOLE_PLAIN,
	    "Supervising %s. Ctrl-C stops it. See what happens with: llmc "
	    "status, or llmc log --follow",
	    o->workspace.root);
	r = respond_begin(o, err);
	if (r == 0)
		notify_service("READY=1");
	return r;
}

void
overseer_close(struct overseer *o)
{
	repair_stop(o, true);
	writer_close(o);
	observe_end(o);
	tail_free(o->sight.tail);
	json_object_put(take_ptr(&o->sight.beat));
	daemon_process_release(&o->daemon);
	procref_release(&o->run.self);
	kept_listener_release(&o->listener);
	evidence_release(&o->failure.evidence);
	history_release(&o->history);
	git_free(o->git);
	config_read_free(o->reader);
	loop_timer_free(o->run.delay);
	loop_timer_free(o->run.watchdog);
	loop_timer_free(o->rewrite);
	loop_call_free(o->write);
	reaper_free(o->reaper);
	for (size_t i = 0; i < nitems(o->run.signals); i++)
		loop_signal_free(o->run.signals[i]);
	tmux_finish(o->tmux);
	tmux_free(o->tmux);
	for (size_t i = 0; i < OVERSEER_EVENTS; i++)
		free(o->run.events[i]);
	people_free(o->people);
	settings_free(o->settings);
	fd_close(o->run.sweep_lock);
	fd_close(o->lock);
	free(o->branch);
	free(o->autod);
	free(o->program);
	free(o->llmc);
	free(o->run.instance);
	free(o->failure.class);
	free(o->failure.words);
	free(o->failure.signature);
	free(o->failure.evidence_stamp);
	if (o->loop != NULL)
		loop_free(o->loop);
	workspace_release(&o->workspace);
	log_close();
}

/* The exit status for a start that was refused; 0 for no error. */
static int
overseer_exit_of(const struct err *err)
{
	switch (err->code) {
	case 0:
		return OVERSEER_STOPPED;
	case -EAGAIN:
	case -EBUSY:
		return OVERSEER_REFUSED;
	case -ELOOP:
		return OVERSEER_SPIRAL;
	case -EPERM:
		return OVERSEER_MANUAL;
	default:
		return OVERSEER_ERROR;
	}
}

static int
clear_history(struct overseer *o, struct err *err)
{
	struct spiral_event event = {
		.kind = SPIRAL_CLEAR,
		.at_ms = clock_wall_ms(),
		.words = xstrdup(o->options->clear),
	};
	int r = history_load(&o->workspace, &o->history, err);

	if (r == 0)
		r = history_add(&o->workspace, &o->history, &event, err);
	if (r == 0)
		console_print(o, CONSOLE_PLAIN,
		    "Cleared: the next failure counts as the first.");
	return r;
}

static int
find_root(struct overseer *o, struct err *err)
{
	const char *root = o->options->root;
	cleanup_free char *session = NULL;
	int r = root != NULL ? workspace_at(root, &o->workspace, err) :
			       workspace_find(".", &o->workspace, err);

	if (r == 0 && root_mark_check(&o->workspace, err) < 0)
		r = err->code = -EBUSY; /* refused; -EPERM asks for a person */
	if (r == 0 && identity_own(&o->workspace, &session) == 1)
		r = err_set(err, -EBUSY,
		    "agents may not start overseer; this is the session of %s",
		    session);
	return r;
}

static int
open_log(const struct overseer *o, struct err *err)
{
	cleanup_free char *log = overseer_path(o, "logs/overseer.log");
	int r;

	r = log_open(&(struct log_options){ .component = "overseer",
	    .path = log,
	    .max_size = LOG_SIZE,
	    .keep = LOG_KEEP,
	    .level = LOG_LEVEL_INFO });
	return file_is_misplaced(r) ?
	    err_set(err, r, "%s: %s", log, file_strerror(r)) :
	    0;
}

/* Until it oversees; a refusal is reported. */
static int
open_all(struct overseer *o, struct err *err)
{
	int r = start_check(o, err);

	if (r == 0)
		r = overseer_load_settings(o, err);
	if (r == 0)
		r = open_ports(o, err);
	if (r == 0)
		r = overseer_check_history(o, err);
	return r == 0 ? begin(o, err) : r;
}

int
overseer_open(struct overseer *o, const struct overseer_options *options)
{
	char instance[ID_UUID_SIZE];
	struct err err = { 0 };
	int r;

	*o = (struct overseer){ .happens = respond_happens,
		.options = options,
		.lock = -1,
		.daemon = DAEMON_PROCESS_INIT,
		.listener = KEPT_LISTENER_INIT,
		.sight = { .complaint = BUF_INIT },
		.failure = OVERSEER_FAILURE_INIT,
		.run = OVERSEER_RUN_INIT };
	o->run.started_unix = clock_wall_ms() / 1000;
	/* Texts of failures are large and short-lived: their memory goes back
	 * to the kernel, instead of staying as holes in the heap for years. */
	mallopt(M_MMAP_THRESHOLD, LARGE);
	mallopt(M_TRIM_THRESHOLD, LARGE);
	procref_set_self(&o->run.self);
	restart_taken(&o->run.restart);
	r = find_root(o, &err);
	if (r == 0 && options->check) {
		o->run.exit_status = start_check_only(o);
		return 0;
	}
	if (r == 0)
		r = open_log(o, &err);
	if (r == 0) {
		id_uuid(instance);
		o->run.instance = xstrdup(instance);
		r = take_lock(o, &err);
	}
	if (r == 0 && options->clear != NULL) {
		r = clear_history(o, &err);
		o->run.exit_status = r < 0 ? OVERSEER_ERROR : OVERSEER_STOPPED;
	} else if (r == 0) {
		o->loop = loop_new();
		o->people =
		    people_new(o->loop, o->workspace.root, "overseer", NULL);
		r = open_all(o, &err);
	}
	if (r < 0) {
		o->run.exit_status = overseer_exit_of(&err);
		console_fail(o, err.msg);
		log_info("not started: %s", err.msg);
	}
	return r;
}

/* llmc restart: the daemon stays a child of this process, whose next program
 * finds it in overseer.json. */
static void
hand_on(struct overseer *o, struct restart *ret_restart, char **ret_program)
{
	int ends[2];

	restart_hold_signals();
	if (o->daemon.child != NULL)
		child_release(take_ptr(&o->daemon.child));
	*ret_program = take_ptr(&o->program);
	*ret_restart = (struct restart){ .count = o->run.restart.count + 1,
		.lock = restart_keep(o->lock) };
	snprintf(ret_restart->instance, sizeof ret_restart->instance, "%s",
	    o->run.instance);
	if (fd_channel_pair(ends) < 0)
		return;
	kept_listener_give(&o->listener, ends[1]);
	fd_close(ends[1]);
	ret_restart->kept = restart_keep(ends[0]);
	fd_close(ends[0]);
}

int
overseer_run(const struct overseer_options *options)
{
	cleanup_free char *program = NULL;
	struct restart again = { 0 };
	struct overseer o;
	int status, r = overseer_open(&o, options);

	if (r == 0 && o.loop != NULL && !o.run.over)
		status = loop_run(o.loop);
	else
		status = o.run.exit_status;
	if (o.run.again)
		hand_on(&o, &again, &program);
	overseer_close(&o);
	if (program != NULL) {
		r = restart_become(program, options->argv, &again);
		fprintf(stderr, "overseer: %s: %s\n", program, strerror(-r));
	}
	return status;
}

/* Before a start: print what is not right. -EBUSY if it must not start: no
 * daemon is running that could be taken over, and none could do any work. */
static int
start_check(const struct overseer *o, struct err *err)
{
	cleanup_free char *lock = overseer_path(o, "state.lock");
	cleanup_buf struct buf text = BUF_INIT;
	struct preflight preflight;
	int failed,
	    r = start_facts_check(&o->workspace, false, &preflight, err);

	if (r < 0)
		return r;
	failed = preflight.counts[PREFLIGHT_FAIL];
	preflight_print(&preflight, &text);
	preflight_release(&preflight);
	if (!o->options->json)
		console_error(text.data);
	/* A daemon that runs must not be left alone. */
	if (failed == 0 || lock_is_held(lock) == 1)
		return 0;
	return err_set(err, -EBUSY,
	    "not started: %d check%s failed; try again with: llmc overseer "
	    "--check",
	    failed, failed == 1 ? "" : "s");
}

/* For --check: print it all, with what an earlier run left for a person. The
 * exit status of a start. */
static int
start_check_only(struct overseer *o)
{
	struct preflight preflight = { 0 };
	struct err err = { 0 };
	int status;

	if (start_facts_check(&o->workspace, false, &preflight, &err) < 0) {
		console_fail(o, err.msg);
		return OVERSEER_ERROR;
	}
	overseer_check_history(o, &err);
	if (o->options->json) {
		cleanup_json struct json_object *json =
		    preflight_json(&preflight);
		cleanup_buf struct buf text = BUF_INIT;
		struct json_object *checks, *check;

		if (err.code < 0) {
			check = json_object_new_object();
			json_set_string(check, "name", "history");
			json_set_string(check, "status",
			    preflight_level_name(PREFLIGHT_FAIL));
			json_set_string(check, "detail", err.msg);
			json_set_string(check, "fix", NULL);
			json_object_object_get_ex(json, "checks", &checks);
			json_object_array_add(checks, check);
			json_set_bool(json, "ok", false);
		}
		json_print(json, true, &text);
		fputs(text.data, stdout);
	} else {
		cleanup_buf struct buf text = BUF_INIT;

		preflight_print(&preflight, &text);
		if (err.code < 0)
			buf_addf(&text, "fail  history: %s\n", err.msg);
		buf_adds(&text,
		    preflight.counts[PREFLIGHT_FAIL] == 0 && err.code == 0 ?
			"The overseer can start.\n" :
			"The overseer cannot start.\n");
		fputs(text.data, stdout);
	}
	status = preflight.counts[PREFLIGHT_FAIL] > 0 ? OVERSEER_REFUSED :
							overseer_exit_of(&err);
	preflight_release(&preflight);
	return status;
}
