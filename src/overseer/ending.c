/* SPDX-License-Identifier: ISC */

#include "base.h"
#include "loop.h"
#include "overseer-private.h"
#include "people.h"
#include "session-sweep.h"

static void
finish(struct overseer *o)
{
	if (o->run.exit_status == OVERSEER_STOPPED ||
	    o->run.exit_status == OVERSEER_FORCED)
		console_say(o, CONSOLE_PLAIN, "Stopped.");
	overseer_register(o);
	writer_finish(o);
	o->run.over = true;
	loop_stop(o->loop, o->run.exit_status);
}

static void
on_swept(int ended, void *arg)
{
	struct overseer *o = arg;

	o->run.sweep = NULL;
	if (ended > 0)
		console_say(o, CONSOLE_PLAIN,
		    "Ended %d session%s that the daemon had left; the work is "
		    "kept.",
		    ended, ended == 1 ? "" : "s");
	finish(o);
}

void
ending_begin(struct overseer *o, int status, const char *why)
{
	cleanup_free char *file = NULL;
	cleanup_buf struct buf text = BUF_INIT;

	o->run.exit_status = status;
	notify_service("STOPPING=1");
	if (status == OVERSEER_SPIRAL) {
		struct spiral_event event = {
			.kind = SPIRAL_GAVE_UP,
			.at_ms = clock_wall_ms(),
			.words = xstrdup(why),
			.signature = o->failure.signature != NULL ?
			    xstrdup(o->failure.signature) :
			    NULL,
		};

		history_note(&o->history, &event);
	}
	writer_finish(o); /* the report names the evidence */
	if (why != NULL)
		console_say(o, CONSOLE_RED, "%s", why);
	if (why != NULL)
		buf_addf(&text, "%s\nexit status: %d", why, status);
	if (why != NULL && o->failure.words != NULL)
		buf_addf(&text, "\nfailure: %s", o->failure.words);
	if (why != NULL && o->failure.evidence.dir != NULL)
		buf_addf(&text, "\nevidence: %s", o->failure.evidence.dir);
	overseer_tell(o,
	    &(struct notice){
		.class = why != NULL ? NOTICE_FAILURE : NOTICE_END,
		.what = "llmc overseer has stopped",
		.why = why != NULL ? text.data : NULL,
		.signature = why != NULL ? o->failure.signature : NULL });
	overseer_register(o);
	writer_finish(o);
	/* The workers are not watched from now on. Those of a daemon that lives
	 * (it was refused) are not ours. */
	file = overseer_path(o, "state.lock");
	if (!writer_is_stuck(o) && overseer_owns_root(o))
		o->run.sweep_lock = lock_try(file, NULL);
	if (o->run.sweep_lock < 0) {
		finish(o);
		return;
	}
	o->run.sweep =
	    session_sweep_new(o->loop, o->tmux, &o->workspace, on_swept, o);
	if (o->run.forced)
		session_sweep_hurry(o->run.sweep);
}
