/* SPDX-License-Identifier: ISC */

#include "base.h"

#include <sys/stat.h>

#include "child.h"
#include "event-table.h"
#include "loop.h"
#include "moment.h"
#include "people.h"
#include "overseer-private.h"
#include "session-sweep.h"
#include "settings-table.h"
#include "settings.h"

#define DELAY_MS         1000
#define DELAY_MAX_MS     (5 * 60 * 1000)
#define RESET_MS         60000
#define TAKE_LOOK_MS     5
#define REGISTRATION_MAX (64 * 1024)
#define MANUAL_MAX       (16 * 1024)

static void respond_record(struct overseer *o);

/* True when there is one: then we end. */
static bool
end_for_manual(struct overseer *o)
{
	cleanup_free char *file = history_manual_file(&o->workspace),
			  *why = NULL;
	cleanup_buf struct buf text = BUF_INIT, shown = BUF_INIT;

	if (file == NULL)
		return false;
	file_read(file, MANUAL_MAX, &text, NULL);
	text_add_visible(&shown, text.data, text.len, true);
	why = xasprintf(
	    "A person is needed. %s says:\n%s\nWhen you have done it, remove "
	    "the file and start: llmc overseer",
	    file, shown.data);
	HAPPENS(o, WHEN_OVER, .status = OVERSEER_MANUAL, .words = why);
	return true;
}

/* --- the history ----------------------------------------------------- */

static int64_t
run_ms(const struct daemon_process *d)
{
	int64_t end = d->alive ? clock_mono_ms() : d->ended_ms;

	return d->ready ? end - d->started_ms : 0;
}

static void
remember(struct overseer *o, struct spiral_event *event)
{
	if (event->at_ms == 0)
		event->at_ms = clock_wall_ms();
	history_note(&o->history, event);
	overseer_register(o);
}

static struct spiral_rules
rules(const struct settings *s)
{
	return (struct spiral_rules){
		.cooldown_ms =
		    settings_duration(s, "overseer.restart_cooldown"),
		.same_max = (int)tuning.same_failures,
		.same_window_ms = INT64_C(24) * 60 * 60 * 1000,
		.day_max = (int)tuning.remediations,
		.delay_ms = DELAY_MS,
		.delay_max_ms = DELAY_MAX_MS,
	};
}

/* The failure that is being dealt with, if the history has it: an overseer that
 * was killed may have written it. Its time is its name. NULL = it has not. */
static const struct spiral_event *
find_failure(const struct history *history, int64_t at_ms)
{
	for (size_t i = history->count; i > 0; i--) {
		const struct spiral_event *event = &history->events[i - 1];

		if (event->at_ms == at_ms &&
		    (event->kind == SPIRAL_FAILURE ||
			event->kind == SPIRAL_STALL))
			return event;
	}
	return NULL;
}

/* How a repair of that failure ended; NULL = none has, or it was interrupted.
 * After a clear by a person, what was tried does not count. */
static const struct spiral_event *
find_repair(const struct history *history, const struct spiral_event *failure)
{
	const struct spiral_event *last = &history->events[history->count - 1];
	const char *interrupted = repair_outcome_name(REPAIR_INTERRUPTED);

	return last > failure && last->kind == SPIRAL_REMEDY &&
		last->outcome != NULL &&
		strcmp(last->outcome, interrupted) != 0 ?
	    last :
	    NULL;
}

/* It has cost what a repair costs, and counts towards the day's limit. */
static void
note_cut_short(struct overseer *o)
{
	struct spiral_event event = { .kind = SPIRAL_REMEDY,
		.outcome = xstrdup(repair_outcome_name(REPAIR_INTERRUPTED)),
		.words = xstrdup("the overseer was killed"),
		.signature = xstrdup(o->failure.signature) };

	remember(o, &event);
}

/* --- a verdict ------------------------------------------------------- */

static const char *
words_of(const struct overseer_failure *f, const struct daemon_process *d,
    enum health_verdict verdict)
{
	static const char *const words[HEALTH_VERDICT_COUNT] = {
		[HEALTH_START_FAILED] = "the daemon did not become ready",
		[HEALTH_DIED] = "the daemon died",
		[HEALTH_FAILED] = "the daemon failed",
		[HEALTH_IDENTITY] =
		    "the registration is that of another daemon",
		[HEALTH_HUNG] = "the daemon's heartbeat is stale: it hangs",
		[HEALTH_FROZEN] = "the daemon has been stopped by a signal",
		[HEALTH_COMPLAINED] = "the daemon logged a failure",
		[HEALTH_STALLED] =
		    "tasks are assigned, but there is no progress",
	};

	if (verdict == HEALTH_FAILED && f->words != NULL)
		return f->words;
	if (verdict == HEALTH_DIED && d->status == 0)
		return "the daemon ended, but not because of the overseer";
	return words[verdict] != NULL ? words[verdict] : "it exited";
}

/* What it said last, when it could not start; appended. */
static void
add_last_line(const struct evidence *evidence, struct buf *out)
{
	const char *text = evidence->standard_error, *line = text;
	size_t len = text != NULL ? strlen(text) : 0;

	while (len > 0 && text[len - 1] == '\n')
		len--;
	if (len == 0)
		return;
	for (size_t i = 0; i < len; i++)
		if (text[i] == '\n')
			line = text + i + 1;
	buf_adds(out, ": ");
	text_add_visible(out, line, len - (size_t)(line - text), false);
}

static void
note_failure(struct overseer_failure *f, const struct daemon_process *d,
    const struct sight *seen, enum health_verdict verdict, const char *words)
{
	cleanup_buf struct buf all = BUF_INIT, signature = BUF_INIT;

	if (verdict != HEALTH_FAILED)
		free(take_ptr(&f->class));
	buf_adds(&all, words != NULL ? words : words_of(f, d, verdict));
	if (!d->alive && d->how_ended != NULL && verdict != HEALTH_FAILED)
		buf_addf(&all, " (%s)", d->how_ended);
	if (!d->alive && verdict == HEALTH_START_FAILED)
		add_last_line(&f->evidence, &all);
	free(f->words);
	f->words = xstrdup(all.data);
	health_signature(verdict, f->class, f->words, &signature);
	free(f->signature);
	f->signature = xstrdup(signature.data);
	f->verdict = verdict;
	f->abrupt = health_is_abrupt(verdict, !d->alive, d->status);
	f->ran_ms = run_ms(d);
	f->beat_age_s =
	    seen->beat_ms > 0 ? (clock_mono_ms() - seen->beat_ms) / 1000 : -1;
}

/* Where people find it. */
static const char *
failure_evidence(const struct overseer_failure *f)
{
	return f->evidence.dir != NULL ? f->evidence.dir : "none";
}

/* The daemon says that the run is over, and so is ours. */
static void
act_complete(struct overseer *o, const struct occurrence *what)
{
	const char *why = what->words != NULL ? what->words : "it was asked to";
	struct spiral_event event = {
		.kind = SPIRAL_STOP,
		.run_ms = run_ms(&o->daemon),
		.words = xstrdup(why),
	};

	remember(o, &event);
	console_say(o, CONSOLE_PLAIN, "The daemon has ended: %s.", why);
	ending_begin(o, OVERSEER_STOPPED, NULL);
}

static void
begin_failure(struct overseer *o, const struct occurrence *what)
{
	o->failure.at_ms = clock_wall_ms();
	note_failure(
	    &o->failure, &o->daemon, &o->sight, what->verdict, what->words);
	console_say(o, CONSOLE_RED, "Failure (%s): %s",
	    health_verdict_name(what->verdict), o->failure.words);
}

/* The signal first; its end comes through the loop. */
static void
act_end_daemon(struct overseer *o, const struct occurrence *what)
{
	daemon_process_end(o, false);
	daemon_evidence_begin(o);
	daemon_evidence_read(o);
	begin_failure(o, what);
}

/* A new start may come before the evidence of one that just died is read. */
static void
act_find_dead(struct overseer *o, const struct occurrence *what)
{
	daemon_evidence_begin(o);
	if (what->verdict != HEALTH_DIED)
		daemon_evidence_read(o);
	begin_failure(o, what);
	respond_record(o);
}

/* An earlier overseer was dealing with a failure, which we have read. */
static void
act_resume(struct overseer *o, const struct occurrence *what)
{
	struct overseer_failure *f = &o->failure;
	struct daemon_process *d = &o->daemon;

	(void)what;
	f->beat_age_s = -1;
	d->ready = f->ran_ms > 0;
	d->started_ms = clock_mono_ms() - f->ran_ms;
	d->ended_ms = clock_mono_ms();
	daemon_evidence_begin(o);
	daemon_evidence_read(o);
	console_say(o, CONSOLE_RED,
	    "An earlier overseer was handling a failure (%s): %s",
	    health_verdict_name(f->verdict), f->words);
	if (d->alive)
		daemon_process_end(o, false);
	else
		respond_record(o);
}

/* --- the next start ---------------------------------------------------- */

static void
on_due(void *arg)
{
	struct overseer *o = arg;

	HAPPENS(o, WHEN_DUE);
}

static void
act_pause(struct overseer *o, const struct occurrence *what)
{
	cleanup_buf struct buf until = BUF_INIT;
	cleanup_buf struct buf pause = BUF_INIT;

	loop_timer_free(take_ptr(&o->run.delay));
	if (what->delay_ms == 0) {
		overseer_reload(o, true);
		return;
	}
	o->run.until_ms = clock_wall_ms() + what->delay_ms;
	moment_add(&until, o->run.until_ms);
	text_add_duration(&pause, what->delay_ms);
	console_say(o, CONSOLE_YELLOW,
	    "Waiting %s, until %s, before the daemon is started again: it "
	    "keeps failing.",
	    pause.data, until.data);
	o->run.delay = loop_after(o->loop, what->delay_ms, on_due, o);
}

static void
act_read(struct overseer *o, const struct occurrence *what)
{
	(void)what;
	o->run.until_ms = 0;
	overseer_reload(o, true);
}

/* Start it, or take over who holds its lock, now or a little later. Negative
 * errno: refused, with the reason. */
static int
take(struct overseer *o, struct err *err)
{
	int r = daemon_process_take(o, err);

	if (r == DAEMON_TAKEN)
		observe_begin(o);
	else if (r == DAEMON_ENDED)
		daemon_process_tell_end(o);
	else if (r == DAEMON_LATER)
		loop_timer_set(&o->run.delay, o->loop, TAKE_LOOK_MS, on_due, o);
	return r < 0 ? r : 0;
}

static void
act_take(struct overseer *o, const struct occurrence *what)
{
	struct err err = { 0 };

	(void)what;
	observe_end(o);
	if (take(o, &err) < 0)
		HAPPENS(
		    o, WHEN_OVER, .status = OVERSEER_REFUSED, .words = err.msg);
}

static void
act_take_other(struct overseer *o, const struct occurrence *what)
{
	o->daemon.beaten = true;
	act_take(o, what);
}

static void
act_say_ready(struct overseer *o, const struct occurrence *what)
{
	(void)what;
	console_say(o, CONSOLE_GREEN, "The daemon is running (pid %d).",
	    (int)o->daemon.ref.pid);
}

static void
act_look(struct overseer *o, const struct occurrence *what)
{
	(void)what;
	observe_look(o);
}

/* True when the settings may not be used: a daemon would refuse them, and a
 * repair must not accept them. Then we end. */
static bool
end_for_settings(struct overseer *o, const struct err *err)
{
	cleanup_free char *why = NULL;

	if (err->code != -EPERM && err->code != -ENOENT)
		return false;
	why = xasprintf(
	    "The daemon is not started again: %s, then: llmc overseer",
	    err->msg);
	HAPPENS(o, WHEN_OVER, .status = OVERSEER_UNREPAIRED, .words = why);
	return true;
}

static void
act_start(struct overseer *o, const struct occurrence *what)
{
	if (!end_for_settings(o, what->err) && !end_for_manual(o))
		act_take(o, what);
}

/* --- a stall: the workers that stand still are set back -------------- */

struct resets {
	struct overseer *overseer;
	char **names;
	size_t next;
	int64_t delay_ms;
};

static void reset_next(struct resets *r);

static void
on_reset(const struct child_result *result, void *arg)
{
	struct resets *r = arg;

	if (!child_succeeded(result))
		log_info("%s could not be reset", r->names[r->next - 1]);
	reset_next(r);
}

static void
reset_next(struct resets *r)
{
	struct overseer *o = r->overseer;
	const char *name = strv_const(r->names)[r->next++];
	const char *const argv[] = { o->llmc, "--root", o->workspace.root,
		"reset", name, "--yes", "--failed", o->failure.words, NULL };
	struct child_spec spec = { .argv = argv, .deadline_ms = RESET_MS };

	if (name != NULL && o->state == STATE_ENDING_DAEMON &&
	    child_spawn(o->loop, &spec, on_reset, r, NULL, NULL) == 0)
		return;
	HAPPENS(o, WHEN_RESTART, .delay_ms = r->delay_ms);
	strv_free(r->names);
	free(r);
}

static void
act_reset(struct overseer *o, const struct occurrence *what)
{
	struct resets *r = xcalloc(1, sizeof *r);
	struct json_object *expected = NULL;

	r->overseer = o;
	r->delay_ms = what->delay_ms;
	if (json_get_array(o->sight.beat, "", "expected", &expected, NULL) < 0)
		expected = NULL;
	for (size_t i = 0;
	     expected != NULL && i < json_object_array_length(expected); i++) {
		const char *name = json_object_get_string(
		    json_object_array_get_idx(expected, i));

		if (name != NULL && text_is_name(name))
			strv_add(&r->names, name);
	}
	reset_next(r);
}

/* --- what is chosen ------------------------------------------------------ */

/* True when no repair could help the class that the daemon reported: then we
 * end. */
static bool
end_for_class(struct overseer *o)
{
	const struct failure_class *class =
	    failure_class_find(o->failure.class);
	cleanup_free char *why = NULL;

	if (o->failure.verdict != HEALTH_FAILED ||
	    class->help == FAILURE_HELP_REPAIR)
		return false;
	writer_finish(o); /* the evidence gets its folder */
	why = xasprintf(
	    "No repair can help: %s.\nThe failure (%s): %s\nEvidence: %s\n"
	    "What to do: %s, then: llmc overseer",
	    class->what, class->name, o->failure.words,
	    failure_evidence(&o->failure), class->fix);
	HAPPENS(o, WHEN_OVER, .status = OVERSEER_UNREPAIRED, .words = why);
	return true;
}

static void
act_choose(struct overseer *o, const struct occurrence *what)
{
	struct spiral_rules limits = rules(o->settings);
	struct spiral_decision decision = spiral_decide(
	    o->history.events, o->history.count, &limits, clock_wall_ms());

	if (end_for_settings(o, what->err))
		return;
	if (writer_is_stuck(o)) {
		/* Nothing else would work, either. */
		loop_timer_set(&o->run.delay, o->loop, DELAY_MS, on_due, o);
	} else if (decision.action == SPIRAL_END) {
		cleanup_free char *why = NULL;
		const char *which = strcmp(decision.why, "day_budget") == 0 ?
		    "The limit of remediations per day is reached." :
		    strcmp(decision.why, "slow_spiral") == 0 ?
		    "The same failure keeps happening." :
		    "The daemon failed again soon after a remediation: a failure "
		    "spiral.";

		writer_finish(o); /* the evidence gets its folder */
		why = xasprintf(
		    "%s\nLast failure (%s): %s\nEvidence: %s\nHistory: llmc log failures\n"
		    "Fix the cause, then: llmc overseer --clear \"what was done\" and "
		    "llmc overseer",
		    which, health_verdict_name(o->failure.verdict),
		    o->failure.words, failure_evidence(&o->failure));
		HAPPENS(o, WHEN_OVER, .status = OVERSEER_SPIRAL, .words = why);
	} else if (o->failure.verdict == HEALTH_STALLED) {
		HAPPENS(o, WHEN_RESET, .delay_ms = decision.delay_ms);
	} else if (decision.action == SPIRAL_RESTART ||
	    !settings_bool(o->settings, "overseer.remediate")) {
		HAPPENS(o, WHEN_RESTART, .delay_ms = decision.delay_ms);
	} else {
		HAPPENS(o, WHEN_REPAIR);
	}
}

/* Is a new start tried before anything else? */
static bool
restarts_first(const struct overseer *o)
{
	struct spiral_rules limits = rules(o->settings);
	struct spiral_decision decision = spiral_decide(
	    o->history.events, o->history.count, &limits, clock_wall_ms());

	return o->failure.abrupt && o->failure.verdict != HEALTH_STALLED &&
	    (decision.action == SPIRAL_RESTART ||
		(decision.action == SPIRAL_REPAIR &&
		    !settings_bool(o->settings, "overseer.remediate") &&
		    decision.delay_ms == 0));
}

/* Settings are not read again for it: the daemon looks at its own. */
static void
act_retry(struct overseer *o, const struct occurrence *what)
{
	act_take(o, what);
	if (o->state != STATE_TERMINATED &&
	    settings_bool(o->settings, "overseer.remediate"))
		console_say(o, CONSOLE_YELLOW,
		    "Starting the daemon again at once. Another failure like "
		    "this within %d minutes is repaired.",
		    (int)(SPIRAL_ABRUPT_MS / 60000));
}

static bool
ended_with(const struct spiral_event *repair, enum repair_outcome outcome)
{
	return strcmp(repair->outcome, repair_outcome_name(outcome)) == 0;
}

/* What follows a repair; its line is in the history. */
static void
follow_repair(struct overseer *o, const struct spiral_event *repair)
{
	const char *words = repair->words != NULL ? repair->words : "unknown";
	const char *log = repair->log;
	cleanup_free char *why = NULL;

	if (end_for_manual(o))
		return;
	if (ended_with(repair, REPAIR_NO_FIX)) {
		/* The daemon may do without a fix; if not, its next failure is
		 * a spiral. */
		console_say(o, CONSOLE_YELLOW,
		    "⚠ Nothing was repaired: %s. The daemon is started once more.",
		    words);
		people_tell(o->people, o->settings,
		    &(struct notice){ .class = NOTICE_REPAIR,
			.what = "a repair ended without a fix",
			.why = words },
		    PEOPLE_SAVED);
		HAPPENS(o, WHEN_RESTART);
		return;
	}
	if (ended_with(repair, REPAIR_COMPLETED)) {
		console_say(o, CONSOLE_GREEN,
		    "✓ Remediation completed in %.1fs",
		    (double)repair->took_ms / 1000);
		console_say(o, CONSOLE_GREEN,
		    "✓ Remediation complete. Restarting daemon...");
		HAPPENS(o, WHEN_RESTART);
		return;
	}
	console_say(o, CONSOLE_YELLOW, "⚠ Remediation issue: %s", words);
	why = xasprintf(
	    "The failure could not be repaired: %s.\nThe failure (%s): %s\n"
	    "Evidence: %s\nWhat was tried: %s\nHistory: llmc log failures\n"
	    "Fix the cause, then: llmc overseer (no --clear is needed)",
	    words, health_verdict_name(o->failure.verdict), o->failure.words,
	    failure_evidence(&o->failure), log != NULL ? log : "nothing");
	HAPPENS(o, WHEN_OVER, .status = OVERSEER_UNREPAIRED, .words = why);
}

/* What follows the repair of an earlier overseer. A person who starts another
 * one after a repair that failed may have removed the cause: the daemon is
 * tried, and its next failure is a spiral. */
static void
follow_earlier(struct overseer *o, const struct spiral_event *repair)
{
	if (ended_with(repair, REPAIR_COMPLETED)) {
		follow_repair(o, repair);
		return;
	}
	console_say(o, CONSOLE_YELLOW,
	    "⚠ Its repair did not help: %s. The daemon is started once more.",
	    repair->words != NULL ? repair->words : "unknown");
	HAPPENS(o, WHEN_RESTART);
}

/* The daemon of the failure has ended. */
static void
respond_record(struct overseer *o)
{
	struct overseer_failure *f = &o->failure;
	struct spiral_event event = {
		.kind = f->verdict == HEALTH_STALLED ? SPIRAL_STALL :
						       SPIRAL_FAILURE,
		.run_ms = run_ms(&o->daemon),
	};
	const struct spiral_event *known, *repair;
	bool first;

	/* It may have complained, or hung, and reported its failure later. */
	if ((f->verdict == HEALTH_COMPLAINED ||
		(f->abrupt && o->daemon.instance != NULL)) &&
	    observe_failure(o))
		note_failure(f, &o->daemon, &o->sight, HEALTH_FAILED, NULL);
	else if (f->verdict == HEALTH_COMPLAINED)
		f->abrupt =
		    health_is_abrupt(f->verdict, true, o->daemon.status);
	observe_end(o);
	known = find_failure(&o->history, f->at_ms);
	repair = known != NULL ? find_repair(&o->history, known) : NULL;
	if (known == NULL) {
		event.at_ms = f->at_ms;
		event.abrupt = f->abrupt;
		event.signature = xstrdup(f->signature);
		event.class = f->class != NULL ? xstrdup(f->class) : NULL;
		event.words = xstrdup(f->words);
		remember(o, &event);
	}
	if (f->cut_short && repair == NULL)
		note_cut_short(o);
	f->cut_short = false;
	if (run_ms(&o->daemon) >= rules(o->settings).cooldown_ms)
		f->attempt = 0; /* a healthy run: begin to count anew */
	first = repair == NULL && restarts_first(o);
	if (!first)
		daemon_evidence_read(o);
	if (repair != NULL) {
		follow_earlier(o, repair);
	} else if (!end_for_manual(o) && !end_for_class(o)) {
		if (first)
			HAPPENS(o, WHEN_RETRY);
		else
			overseer_reload(o, true);
	}
	daemon_evidence_read(o);
}

static void
act_record(struct overseer *o, const struct occurrence *what)
{
	(void)what;
	respond_record(o);
}

/* --- a repair ------------------------------------------------------------ */

static void
on_repaired(struct overseer *o, enum repair_outcome outcome, const char *words,
    int64_t took_ms, int64_t cost, const char *log)
{
	struct spiral_event event = {
		.kind = SPIRAL_REMEDY,
		.took_ms = took_ms,
		.cost = cost,
		.outcome = xstrdup(repair_outcome_name(outcome)),
		.words = xstrdup(words),
		.log = log != NULL ? xstrdup(log) : NULL,
		.signature = xstrdup(o->failure.signature),
	};

	remember(o, &event);
	writer_finish(o); /* killed now, we must not forget that we tried */
	HAPPENS(o, WHEN_REPAIRED,
	    .repair = &o->history.events[o->history.count - 1]);
}

static void
act_repair(struct overseer *o, const struct occurrence *what)
{
	(void)what;
	overseer_tell(o,
	    &(struct notice){
		.class = NOTICE_REPAIR, .why = o->failure.words });
	repair_begin(o, on_repaired);
}

/* --- a person wants it to end -------------------------------------------- */

static void
say_stopping(struct overseer *o)
{
	console_say(o, CONSOLE_PLAIN,
	    "Stopping the daemon. Press Ctrl-C again to stop at once.");
	loop_timer_free(take_ptr(&o->run.delay));
}

static void
act_stop(struct overseer *o, const struct occurrence *what)
{
	(void)what;
	if (o->daemon.alive)
		daemon_process_end(o, false);
	if (o->state == STATE_TERMINATED)
		return; /* a daemon that nothing ends was left */
	say_stopping(o);
	if (!o->daemon.alive)
		HAPPENS(o, WHEN_ENDED);
}

static void
act_stop_repair(struct overseer *o, const struct occurrence *what)
{
	(void)what;
	say_stopping(o);
	repair_stop(o, false);
}

/* The second Ctrl-C is for those in a hurry. */
static void
act_stop_now(struct overseer *o, const struct occurrence *what)
{
	(void)what;
	o->run.forced = true;
	if (o->daemon.alive)
		daemon_process_end(o, true);
	console_say(o, CONSOLE_YELLOW, "Stopping at once.");
	if (o->state == STATE_TERMINATED)
		return;
	repair_stop(o, true);
	if (!o->daemon.alive)
		HAPPENS(o, WHEN_ENDED);
}

static void
act_hurry(struct overseer *o, const struct occurrence *what)
{
	(void)what;
	o->run.forced = true;
	if (o->run.exit_status == OVERSEER_STOPPED)
		o->run.exit_status = OVERSEER_FORCED;
	if (o->run.sweep != NULL)
		session_sweep_hurry(o->run.sweep);
	console_say(o, CONSOLE_YELLOW, "Stopping at once.");
}

static void
act_stopped(struct overseer *o, const struct occurrence *what)
{
	struct spiral_event event = { .kind = SPIRAL_STOP,
		.run_ms = run_ms(&o->daemon) };

	(void)what;
	remember(o, &event);
	ending_begin(
	    o, o->run.forced ? OVERSEER_FORCED : OVERSEER_STOPPED, NULL);
}

static void
act_interrupted(struct overseer *o, const struct occurrence *what)
{
	(void)what;
	console_say(o, CONSOLE_YELLOW, "⚠ Remediation interrupted");
	if (!o->run.forced) /* else the daemon is seen to first */
		HAPPENS(o, WHEN_OVER, .status = OVERSEER_STOPPED);
}

static void
act_follow(struct overseer *o, const struct occurrence *what)
{
	if (ended_with(what->repair, REPAIR_INTERRUPTED))
		act_interrupted(o, what); /* by the end of our loop */
	else
		follow_repair(o, what->repair);
}

static void
act_end(struct overseer *o, const struct occurrence *what)
{
	ending_begin(o, what->status, what->words);
}

/* --- other signals -------------------------------------------------------- */

static void
act_reload(struct overseer *o, const struct occurrence *what)
{
	(void)what;
	overseer_reload(o, false);
}

static void
act_refuse(struct overseer *o, const struct occurrence *what)
{
	(void)what;
	console_say(o, CONSOLE_YELLOW,
	    "llmc restart: not now; this overseer goes on as it is.");
}

/* What is being repaired, or waited for, is not in any file that the next
 * program could go on from. */
static void
act_upgrade(struct overseer *o, const struct occurrence *what)
{
	if (o->daemon.told_to_end || o->daemon.take_ms > 0 ||
	    o->program == NULL) {
		act_refuse(o, what);
		return;
	}
	console_say(o, CONSOLE_PLAIN,
	    "llmc restart: the overseer's program on disk takes over.");
	o->run.again = true;
	overseer_register(o);
	loop_stop(o->loop, OVERSEER_ERROR);
}

/* --- what happens ----------------------------------------------------------
 */

overseer_happens_fn *const respond_acts[ACT_COUNT] = {
	[ACT_TAKE] = act_take,
	[ACT_TAKE_OTHER] = act_take_other,
	[ACT_START] = act_start,
	[ACT_RETRY] = act_retry,
	[ACT_SAY_READY] = act_say_ready,
	[ACT_LOOK] = act_look,
	[ACT_COMPLETE] = act_complete,
	[ACT_END_DAEMON] = act_end_daemon,
	[ACT_FIND_DEAD] = act_find_dead,
	[ACT_RESUME] = act_resume,
	[ACT_RECORD] = act_record,
	[ACT_READ] = act_read,
	[ACT_CHOOSE] = act_choose,
	[ACT_PAUSE] = act_pause,
	[ACT_RESET] = act_reset,
	[ACT_REPAIR] = act_repair,
	[ACT_FOLLOW] = act_follow,
	[ACT_STOP] = act_stop,
	[ACT_STOP_REPAIR] = act_stop_repair,
	[ACT_STOP_NOW] = act_stop_now,
	[ACT_STOPPED] = act_stopped,
	[ACT_INTERRUPTED] = act_interrupted,
	[ACT_END] = act_end,
	[ACT_HURRY] = act_hurry,
	[ACT_RELOAD] = act_reload,
	[ACT_UPGRADE] = act_upgrade,
	[ACT_REFUSE] = act_refuse,
};

void
respond_happens(struct overseer *o, const struct occurrence *what)
{
	const struct overseer_row *row = &overseer_table[o->state][what->event];

	if (row->next != o->state)
		overseer_set_state(o, row->next);
	if (row->act != ACT_NONE)
		respond_acts[row->act](o, what);
}

/* --- what an earlier overseer wrote down ------------------------------ */

static bool
read_verdict(const char *name, enum health_verdict *ret_verdict)
{
	for (unsigned i = 0; i < HEALTH_VERDICT_COUNT; i++) {
		if (strcmp(health_verdict_name(i), name) == 0) {
			*ret_verdict = i;
			return true;
		}
	}
	return false;
}

/* Not after a crash of the overseer: only its regular end, or that there was
 * none, makes this start a person's. */
static void
note_start(struct overseer *o, struct json_object *json, int r)
{
	struct spiral_event event = { .kind = SPIRAL_START,
		.at_ms = clock_wall_ms() };
	const char *state = json_string_or(json, "state", "");

	if (o->history.count == 0 ||
	    (r != -ENOENT &&
		strcmp(state, overseer_state_name(STATE_TERMINATED)) != 0))
		return;
	history_note(&o->history, &event);
	overseer_register(o);
}

/* The failure that it was dealing with; false = none. */
static bool
read_failure(struct overseer_failure *f, struct json_object *json)
{
	const char *state = json_string_or(json, "state", "");
	const char *class = json_string_or(json, "class", NULL);
	const char *words = json_string_or(json, "failure", NULL);
	cleanup_buf struct buf signature = BUF_INIT;

	if ((strcmp(state, overseer_state_name(STATE_ENDING_DAEMON)) != 0 &&
		strcmp(state, overseer_state_name(STATE_REMEDIATING)) != 0) ||
	    words == NULL ||
	    !read_verdict(json_string_or(json, "verdict", ""), &f->verdict))
		return false;
	f->words = xstrdup(words);
	f->class = class != NULL ? xstrdup(class) : NULL;
	f->cut_short =
	    strcmp(state, overseer_state_name(STATE_REMEDIATING)) == 0;
	f->abrupt = json_bool_or(json, "abrupt", false);
	f->at_ms = json_int_or(json, "failed_ms", 0);
	f->ran_ms = json_int_or(json, "ran_ms", 0);
	f->attempt = (int)json_int_or(json, "attempt", 0);
	health_signature(f->verdict, f->class, f->words, &signature);
	f->signature = xstrdup(signature.data);
	return true;
}

int
respond_begin(struct overseer *o, struct err *err)
{
	cleanup_free char *file = overseer_path(o, "overseer.json");
	cleanup_json struct json_object *json = NULL;
	struct json_object *daemon = NULL;
	bool failed = false;
	int r;

	/* The session of an abandoned repair. */
	repair_agent_sweep(o);
	r = json_load(file, REGISTRATION_MAX, &json, NULL);
	note_start(o, json, r);
	if (r == 0)
		failed = read_failure(&o->failure, json);
	if (json_get_object(json, "", "daemon", &daemon, NULL) == 0 &&
	    daemon_process_adopt(o, daemon)) {
		observe_begin(o);
		if (failed) {
			HAPPENS(o, WHEN_RESUMED);
		} else if (json_bool_or(daemon, "told_to_end", false)) {
			log_info("it was told to stop: another one follows");
			daemon_process_end(o, false);
		}
		return 0;
	}
	if (failed && !daemon_lock_is_held(o)) {
		HAPPENS(o, WHEN_RESUMED);
		return 0;
	}
	return take(o, err);
}
