/* SPDX-License-Identifier: ISC */

/*
 * A week of the overseer in virtual time. Everything is real except the daemon:
 * it is a process that does nothing, for which this test registers, beats and
 * holds the lock, on the overseer's own loop and clock. Now and then it dies,
 * hangs, complains, is stopped, loses its registration, fails or stalls; in
 * between the wall clock is set, and the machine stands still, for long or just
 * long enough for the heartbeat to become too old. Every failure must be
 * noticed in time, none may be invented, and after a week the process must be
 * as large as after two days, with the same descriptors.
 *
 *   WEEK_SEED  seed for the events (1)
 *
 * To check that the test can fail, the overseer was broken on purpose:
 * descriptors grow if it does not close its tail of the log; a machine that
 * stands still "hangs" if it does not wait, or after a short sleep if it does
 * not check twice; and the last lines of one daemon count against the next if
 * it does not compare the pid.
 */
#include <dirent.h>

#include "e2e.h"
#include "overseer-private.h"
#include "settings.h"
#include "tune.h"

#define MINUTE_MS  ((int64_t)60 * 1000)
#define HOUR_MS    (60 * MINUTE_MS)
#define WEEK_MS    (7 * 24 * HOUR_MS)
#define SETTLED_MS (48 * HOUR_MS) /* then its size is measured */
#define BEAT_MS    5000
#define SLOW_MS    3000
#define NAP_MS     200 /* longer than heartbeat_timeout */
#define TICK_MS    50 /* while the daemon starts or ends */
#define WALL_MS    ((int64_t)1800000000 * 1000)
#define REAL_MS    5000 /* for a process to end */
#define GROWTH     1.05
#define NOISE_KB   256 /* of an allocator that keeps freed memory */

/* What can go wrong, and how long it may take until it is noticed: checks come
 * every heartbeat_timeout, and a busy machine gets one more period. */
static const struct {
	enum health_verdict verdict;
	int64_t within_ms;
} troubles[] = {
	{ HEALTH_DIED, 1 },
	{ HEALTH_COMPLAINED, 1 },
	{ HEALTH_FAILED, 1 },
	{ HEALTH_FROZEN, 31 * 1000 },
	{ HEALTH_IDENTITY, 32 * 1000 },
	{ HEALTH_HUNG, 2 * MINUTE_MS },
	{ HEALTH_STALLED, 62 * MINUTE_MS },
};

struct week {
	struct overseer overseer;
	struct loop_timer *tick, *day, *end;
	struct loop_call *still;
	struct dice dice;
	char *daemon_json, *heartbeat, *failure_json, *lock_file, *log;
	int lock, beat_fd;
	int pid; /* of the daemon that we replace */
	char instance[64];
	uint64_t daemons, beats;
	bool silent; /* it has stopped beating */
	bool assigned; /* a worker has a task */
	int64_t activity_unix; /* since then */
	size_t trouble; /* the current one, nitems(troubles) = none */
	int64_t since_ms; /* wall clock */
	int64_t next_ms; /* time of the next one */
	int64_t beat_ms; /* monotonic, of the last one */
	bool nap; /* the next disturbance is a nap */
	struct buf wanted; /* verdicts, one per line */
	int sizes; /* measurements */
	double rss_kb;
	int fds;
	int jumps, stills, naps;
};

/* --- resources --------------------------------------------------------- */

static int
count_fds(void)
{
	DIR *dir = opendir("/proc/self/fd");
	int count = 0;

	ck_assert_ptr_nonnull(dir);
	while (readdir(dir) != NULL)
		count++;
	closedir(dir);
	return count;
}

static double
rss_kb(void)
{
	cleanup_buf struct buf text = BUF_INIT;
	long long size = 0, resident = 0;

	ck_assert_int_eq(file_read("/proc/self/statm", 4096, &text, NULL), 0);
	ck_assert_int_eq(sscanf(text.data, "%lld %lld", &size, &resident), 2);
	return (double)resident * (double)sysconf(_SC_PAGESIZE) / 1024;
}

/* --- the fake daemon --------------------------------------------------- */

static void
put(const char *path, struct json_object *json)
{
	struct err err = { 0 };

	ck_assert_msg(json_save(path, json, 0600, &err) == 0, "%s", err.msg);
	json_object_put(json);
}

static void
beat(struct week *w)
{
	cleanup_free char *text = xasprintf(
	    "{\"instance_id\":\"%s\",\"sequence\":%llu,\"monotonic_ms\":%lld,"
	    "\"activity_unix\":%lld,\"expected\":[%s]}          \n",
	    w->instance, (unsigned long long)++w->beats,
	    (long long)clock_mono_ms(), (long long)w->activity_unix,
	    w->assigned ? "\"auto-1\"" : "        ");

	w->beat_ms = clock_mono_ms();
	if (!w->silent)
		ck_assert_int_eq(pwrite(w->beat_fd, text, strlen(text), 0),
		    (ssize_t)strlen(text));
}

/* One task is assigned from now on; or none. The next beat says it. */
static void
set_work(struct week *w, bool assigned)
{
	w->assigned = assigned;
	w->activity_unix = clock_wall_ms() / 1000;
}

static void
register_daemon(struct week *w, const char *instance)
{
	struct json_object *json = procref_to_json(&w->overseer.daemon.ref);

	json_set_string(json, "instance_id", instance);
	json_set_int(json, "start_time_unix", clock_wall_ms() / 1000);
	json_set_bool(json, "auto", true);
	put(w->daemon_json, json);
}

static void
say(const struct week *w, int pid)
{
	cleanup_free char *line = xasprintf("{\"level\":\"WARN\",\"pid\":%d,"
					    "\"message\":\"number %llu\"}\n",
	    pid, (unsigned long long)w->daemons);

	ck_assert_int_eq(
	    file_append(w->log, line, strlen(line), 0600, false, NULL), 0);
}

/* The overseer has started a daemon. */
static void
come_up(struct week *w)
{
	if (w->pid != 0)
		say(w, w->pid); /* a late line of the one before */
	w->pid = w->overseer.daemon.ref.pid;
	w->lock = lock_try(w->lock_file, NULL);
	ck_assert_int_ge(w->lock, 0);
	snprintf(w->instance, sizeof w->instance, "daemon-%llu",
	    (unsigned long long)++w->daemons);
	w->silent = false;
	remove(w->failure_json);
	register_daemon(w, w->instance);
	set_work(w, false);
	beat(w);
}

/* --- faults ------------------------------------------------------------ */

/* Wait until the kernel reports its exit, so that the next pass of the loop
 * sees it. */
static void
await_end(struct week *w)
{
	struct pollfd gone = { .fd = w->overseer.daemon.ref.pidfd,
		.events = POLLIN };

	int ready;

	do
		ready = poll(&gone, 1, REAL_MS);
	while (ready == -1 && errno == EINTR); /* SIGCHLD */
	ck_assert_int_eq(ready, 1);
	w->lock = fd_close(w->lock);
}

static void
kill_daemon(struct week *w)
{
	kill(w->pid, SIGKILL);
	await_end(w);
}

static void
stop_daemon(struct week *w)
{
	w->silent = true;
	kill(w->pid, SIGSTOP);
	for (int i = 0; procref_state(&w->overseer.daemon.ref) != 'T'; i++) {
		ck_assert_int_lt(i, REAL_MS);
		poll(NULL, 0, 1); /* only a parent is notified, and we are
				   * not */
	}
}

static void
raise_failure(struct week *w)
{
	struct json_object *json = json_object_new_object();

	json_set_string(json, "class", "made_up");
	json_set_string(json, "words", "it does not work");
	json_set_string(json, "instance_id", w->instance);
	put(w->failure_json, json);
	kill_daemon(w);
}

static void
make_trouble(struct week *w)
{
	w->trouble = dice_below(&w->dice, nitems(troubles));
	w->since_ms = clock_wall_ms();
	buf_addf(&w->wanted, "%s\n",
	    health_verdict_name(troubles[w->trouble].verdict));
	switch (troubles[w->trouble].verdict) {
	case HEALTH_DIED:
		kill_daemon(w);
		break;
	case HEALTH_COMPLAINED:
		say(w, w->pid);
		break;
	case HEALTH_FAILED:
		raise_failure(w);
		break;
	case HEALTH_FROZEN:
		stop_daemon(w);
		break;
	case HEALTH_IDENTITY:
		register_daemon(w, "another");
		break;
	case HEALTH_HUNG:
		w->silent = true;
		break;
	default:
		set_work(w, true);
		break;
	}
}

/* It has been noticed. */
static void
noticed(struct week *w)
{
	int64_t took = w->overseer.failure.at_ms - w->since_ms;

	ck_assert_msg(w->trouble < nitems(troubles),
	    "nothing happened, and it says: %s", w->overseer.failure.words);
	ck_assert_msg(
	    w->overseer.failure.verdict == troubles[w->trouble].verdict,
	    "it takes %s for %s",
	    health_verdict_name(troubles[w->trouble].verdict),
	    w->overseer.failure.words);
	ck_assert_msg(took <= troubles[w->trouble].within_ms,
	    "%s was noticed after %lld ms",
	    health_verdict_name(w->overseer.failure.verdict), (long long)took);
	w->trouble = nitems(troubles);
	w->next_ms = clock_mono_ms() + 20 * MINUTE_MS +
	    (int64_t)dice_below(&w->dice, 160) * MINUTE_MS;
}

/* --- time -------------------------------------------------------------- */

/* The machine stands still just long enough for the last heartbeat to become
 * too old, though the overseer's own check is hardly late. */
static void
take_nap(void *arg)
{
	struct week *w = arg;
	int64_t timeout = settings_duration(
	    w->overseer.settings, "overseer.heartbeat_timeout");

	w->naps++;
	clock_virtual_advance(w->beat_ms + timeout + NAP_MS - clock_mono_ms());
	loop_timer_restart(w->tick, NAP_MS); /* the daemon wakes up too */
}

/* A person sets the clock; the machine is suspended. */
static void
odd_hour(void *arg)
{
	struct week *w = arg;
	int64_t day = 24 * HOUR_MS;

	if (w->nap && w->overseer.sight.beat_ms != w->beat_ms &&
	    w->trouble == nitems(troubles)) {
		loop_timer_restart(w->day, 1000);
		return;
	}
	loop_timer_restart(
	    w->day, (3 + (int64_t)dice_below(&w->dice, 6)) * HOUR_MS + 1234);
	if (w->overseer.state != STATE_RUNNING || w->trouble < nitems(troubles))
		return;
	if (w->nap) {
		w->nap = false;
		loop_call_request(w->still); /* not within the time of a
					      * callback */
		return;
	}
	w->nap = true; /* the next time */
	if (dice_below(&w->dice, 2) == 0) {
		w->jumps++;
		clock_virtual_begin(clock_mono_ms(),
		    clock_wall_ms() +
			(dice_below(&w->dice, 2) == 0 ? day : -day));
	} else {
		w->stills++;
		clock_virtual_advance(
		    (1 + (int64_t)dice_below(&w->dice, 20)) * MINUTE_MS);
		/* The daemon wakes up later. */
		loop_timer_restart(w->tick, SLOW_MS);
	}
}

/* Always in the same state: it is running, and nothing is in progress. */
static void
take_size(struct week *w)
{
	int fds = count_fds();

	if (w->sizes++ == 0) {
		w->fds = fds;
		w->rss_kb = rss_kb();
	}
	ck_assert_msg(fds == w->fds, "%d descriptors, %d before", fds, w->fds);
}

static void
tick(void *arg)
{
	struct week *w = arg;
	struct overseer *o = &w->overseer;
	bool runs = o->state == STATE_RUNNING && o->daemon.ref.pid == w->pid;

	if (o->state == STATE_STARTING && o->daemon.alive &&
	    o->daemon.ref.pid != w->pid) {
		if (w->trouble < nitems(troubles))
			noticed(w);
		come_up(w);
	} else if (o->state == STATE_ENDING_DAEMON && o->daemon.alive) {
		if (w->trouble < nitems(troubles))
			noticed(w);
		await_end(w); /* it was sent SIGTERM */
	} else if (!o->daemon.alive) {
		w->lock = fd_close(w->lock);
		if (o->state == STATE_ENDING_DAEMON)
			poll(NULL, 0, 5); /* llmc reset may need several
					   * tries */
	} else if (runs) {
		beat(w);
		if (w->trouble == nitems(troubles) &&
		    clock_mono_ms() >= w->next_ms) {
			if (clock_mono_ms() > SETTLED_MS)
				take_size(w);
			make_trouble(w);
		}
	}
	loop_timer_restart(w->tick, runs ? BEAT_MS : TICK_MS);
}

static void
week_over(void *arg)
{
	struct week *w = arg;

	/* Not in the middle of something. */
	ck_assert_msg(clock_mono_ms() < WEEK_MS + 3 * HOUR_MS,
	    "after a week nobody has noticed the last of: %s", w->wanted.data);
	if (w->trouble < nitems(troubles) || w->overseer.state != STATE_RUNNING)
		loop_timer_restart(w->end, MINUTE_MS);
	else
		loop_stop(w->overseer.loop, 0);
}

/* --- the run ----------------------------------------------------------- */

static void
set(const char *root, const char *key, const char *value)
{
	e2e_expect(e2e_llmc(root, "config", "set", key, value, NULL), 0, NULL);
}

static const char *
set_up(void)
{
	static const char *const settings[][2] = {
		/* Exits soon by itself, if this test is killed. */
		{ "overseer.daemon_command", "sleep 900" },
		{ "defaults.agent_command", "true" }, /* none is started */
		{ "overseer.remediation_prompt", "none" },
		{ "overseer.remediate", "false" },
	};
	const char *root = e2e_workspace("week"), *llmc = e2e_llmc_path();
	int folder = (int)(strrchr(llmc, '/') - llmc);

	setenv("PATH", e2e_path("%.*s:%s", folder, llmc, getenv("PATH")), 1);
	e2e_expect(e2e_sh(root,
		       "git config user.name T && git config user.email t@x && "
		       "git commit -q --allow-empty -m Start"),
	    0, NULL);
	tune("same_failures=0");
	for (size_t i = 0; i < nitems(settings); i++)
		set(root, settings[i][0], settings[i][1]);
	/* Accepted as they are: git, which takes real time, is not asked. */
	e2e_expect(
	    e2e_sh(root, "cat .llmc/config.toml >>.git/llmc-init"), 0, NULL);
	return root;
}

/* A history of maximum size, so that it does not grow from here. */
static void
fill_history(const char *root)
{
	cleanup_buf struct buf text = BUF_INIT;

	for (int i = 0; i < HISTORY_MAX; i++)
		buf_addf(&text,
		    "{\"kind\":\"stop\",\"at_ms\":%lld,\"run_ms\":1,"
		    "\"signature\":\"stopped by a person, as it happens\","
		    "\"words\":\"stopped by a person, as it happens\"}\n",
		    (long long)WALL_MS - HISTORY_MAX + i);
	e2e_write(e2e_path("%s/.llmc/failures.jsonl", root), text.data);
}

static void
week_open(struct week *w, const struct overseer_options *options)
{
	*w = (struct week){ .dice = { (uint64_t)e2e_number("WEEK_SEED", 1) },
		.trouble = nitems(troubles),
		.wanted = BUF_INIT,
		.daemon_json = xasprintf("%s/.llmc/daemon.json", options->root),
		.heartbeat =
		    xasprintf("%s/.llmc/auto.heartbeat", options->root),
		.failure_json =
		    xasprintf("%s/.llmc/failure.json", options->root),
		.lock = -1,
		.lock_file = xasprintf("%s/.llmc/state.lock", options->root),
		.log = xasprintf("%s/.llmc/logs/autod.log", options->root) };
	e2e_write(w->log, ""); /* its follower opens it once it exists */
	fill_history(options->root);
	/* It asks git before it starts, which takes real time. */
	ck_assert_int_eq(overseer_open(&w->overseer, options), 0);
	clock_virtual_begin(1000, WALL_MS);
	w->beat_fd = open(w->heartbeat, O_WRONLY | O_CREAT | O_CLOEXEC, 0600);
	ck_assert_int_ge(w->beat_fd, 0);
	w->next_ms = HOUR_MS;
	w->tick = loop_after(w->overseer.loop, TICK_MS, tick, w);
	w->day = loop_after(w->overseer.loop, 5 * HOUR_MS, odd_hour, w);
	w->end = loop_after(w->overseer.loop, WEEK_MS, week_over, w);
	w->still = loop_call_new(w->overseer.loop, take_nap, w);
}

static void
week_close(struct week *w)
{
	loop_timer_free(w->tick);
	loop_timer_free(w->day);
	loop_timer_free(w->end);
	loop_call_free(w->still);
	kill_daemon(w);
	overseer_close(&w->overseer);
	clock_virtual_end();
	close(w->beat_fd);
	buf_release(&w->wanted);
	free(w->daemon_json);
	free(w->heartbeat);
	free(w->failure_json);
	free(w->lock_file);
	free(w->log);
}

/* The verdicts in the history, one per line. */
static void
read_history(const struct week *w, struct buf *out)
{
	const struct history *history = &w->overseer.history;

	for (size_t i = 0; i < history->count; i++) {
		const struct spiral_event *event = &history->events[i];

		if (event->kind == SPIRAL_STOP || event->kind == SPIRAL_START)
			continue;
		ck_assert_int_eq(event->kind == SPIRAL_STALL,
		    strncmp(event->signature, "stalled", 7) == 0);
		buf_addf(out, "%.*s\n", (int)strcspn(event->signature, ":/"),
		    event->signature);
	}
}

static void
verify(const struct week *w)
{
	cleanup_buf struct buf found = BUF_INIT;
	double grown = rss_kb();

	read_history(w, &found);
	ck_assert_str_eq(found.data, w->wanted.data);
	ck_assert_uint_eq(w->overseer.history.unsaved, 0);
	ck_assert_int_gt(w->jumps, 0);
	ck_assert_int_gt(w->stills, 0);
	ck_assert_int_gt(w->naps, 5);
	ck_assert_int_gt(w->sizes, 20);
#ifndef __SANITIZE_ADDRESS__
	ck_assert_msg(grown <= w->rss_kb * GROWTH + NOISE_KB,
	    "%.0f KiB, %.0f after two days", grown, w->rss_kb);
#endif
	printf("# %llu daemons, %d clock jumps, %d times still, %d naps; "
	       "%.0f KiB after two days, %.0f in the end; %d descriptors\n",
	    (unsigned long long)w->daemons, w->jumps, w->stills, w->naps,
	    w->rss_kb, grown, w->fds);
	fflush(stdout);
}

const int unit_timeout = 300; /* seconds, each */

TEST(a_week_goes_by_and_no_failure_is_missed)
{
	struct overseer_options options = { .root = set_up() };
	cleanup_fd int out = dup(STDOUT_FILENO), null = -1;
	struct week w;

	/* Its output for people is not TAP. */
	fflush(stdout);
	null = open("/dev/null", O_WRONLY | O_CLOEXEC);
	ck_assert_int_ne(dup2(null, STDOUT_FILENO), -1);
	week_open(&w, &options);
	ck_assert_int_eq(loop_run(w.overseer.loop), 0);
	fflush(stdout);
	ck_assert_int_ne(dup2(out, STDOUT_FILENO), -1);
	verify(&w);
	week_close(&w);
}
