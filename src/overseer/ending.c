/* SPDX-License-Identifier: ISC */

#include <stdlib.h>
#include <unistd.h>

#include "clock.h"
#include "console.h"
#include "ending.h"
#include "lock.h"
#include "loop.h"
#include "mem.h"
#include "notify.h"
#include "overseer.h"
#include "people.h"
#include "repair.h"
#include "respond.h"
#include "session-sweep.h"
#include "writer.h"

static void
tell_person(struct overseer *o, int status, const char *why)
{
	overseer_tell(o,
	    &(struct notice){
		.class = why != NULL ? NOTICE_FAILURE : NOTICE_END,
		.what = "llmc overseer has stopped",
		.why = why,
		.signature = why != NULL ? o->signature : NULL,
		.exit_status = status,
		.failure = why != NULL ? o->words : NULL,
		.evidence = why != NULL ? o->evidence.dir : NULL });
}

static void
remember_end(struct overseer *o, const char *why)
{
	struct spiral_event event = {
		.kind = SPIRAL_GAVE_UP,
		.at_ms = clock_wall_ms(),
		.words = xstrdup(why),
		.signature =
		    o->signature != NULL ? xstrdup(o->signature) : NULL,
	};

	history_note(&o->history, &event);
}

static void
finish(struct overseer *o)
{
	if (o->exit_status == OVERSEER_STOPPED ||
	    o->exit_status == OVERSEER_FORCED)
		console_say(o, CONSOLE_PLAIN, "Stopped.");
	overseer_register(o);
	overseer_write(o);
	o->over = true;
	loop_stop(o->loop, o->exit_status);
}

static void
on_swept(int ended, void *arg)
{
	struct overseer *o = arg;

	o->sweep = NULL;
	if (ended > 0)
		console_say(o, CONSOLE_PLAIN,
		    "Ended %d session%s that the daemon had left; the work is "
		    "kept.",
		    ended, ended == 1 ? "" : "s");
	finish(o);
}

/* Nobody watches what the workers do from now on. Whose daemon lives (it was
 * refused) are not ours. */
static void
end_sessions(struct overseer *o)
{
	cleanup_free char *file = overseer_path(o, "state.lock");

	if (!writer_is_stuck(o) && overseer_owns_root(o))
		o->sweep_lock = lock_try(file, NULL);
	if (o->sweep_lock < 0) {
		finish(o);
		return;
	}
	o->sweep =
	    session_sweep_new(o->loop, o->tmux, &o->workspace, on_swept, o);
	if (o->forced)
		session_sweep_hurry(o->sweep);
}

void
ending_begin(struct overseer *o, int status, const char *why)
{
	if (o->state == STATE_TERMINATED)
		return;
	o->exit_status = status;
	o->state = STATE_TERMINATED;
	notify_service("STOPPING=1");
	if (status == OVERSEER_SPIRAL)
		remember_end(o, why);
	overseer_write(o); /* what is told names the evidence */
	if (why != NULL)
		console_say(o, CONSOLE_RED, "%s", why);
	tell_person(o, status, why);
	overseer_register(o);
	overseer_write(o);
	end_sessions(o);
}

static void
force(struct overseer *o)
{
	o->forced = true;
	if (o->exit_status == OVERSEER_STOPPED)
		o->exit_status = OVERSEER_FORCED;
	if (o->sweep != NULL)
		session_sweep_hurry(o->sweep);
	if (o->state != STATE_TERMINATED && o->daemon.alive)
		daemon_process_end(o, true);
	console_say(o, CONSOLE_YELLOW, "Stopping at once.");
	if (o->state == STATE_TERMINATED)
		return;
	repair_stop(o, true);
	if (!o->daemon.alive)
		respond_ended(o);
}

void
ending_on_signal(int signo, void *arg)
{
	struct overseer *o = arg;

	(void)signo;
	if (o->stopping || o->state == STATE_TERMINATED) {
		force(o);
		return;
	}
	o->stopping = true;
	if (o->repair == NULL && o->daemon.alive)
		daemon_process_end(o, false);
	if (o->state == STATE_TERMINATED)
		return; /* a daemon that nothing ends was left */
	console_say(o, CONSOLE_PLAIN,
	    "Stopping the daemon. Press Ctrl-C again to stop at once.");
	loop_timer_free(take_ptr(&o->delay));
	if (o->repair != NULL)
		repair_stop(o, false);
	else if (!o->daemon.alive)
		respond_ended(o);
}
