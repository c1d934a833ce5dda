/* SPDX-License-Identifier: ISC */

#include "base.h"
#include "core.h"
#include "emit.h"
#include "git.h"
#include "landing-private.h"
#include "landing-record.h"
#include "loop.h"
#include "persist.h"
#include "settings.h"
#include "workspace.h"

#define DEADLINE_MS (10 * 60 * 1000)
#define STOP_MS     3000

struct push {
	struct core *core;
	/* Its own, so that no other command waits for the remote, and neither
	 * does the end of the daemon. */
	struct git *git;
	char *commit; /* that landed and is being pushed, NULL = none */
	char *tip; /* of the branch, which is what is pushed */
	struct loop_timer *timer; /* for the next try, or the end */
	bool stopping;
};

static void try_now(struct push *push);

static struct push_record *
record_of(const struct push *push)
{
	return &push->core->state.landings.push;
}

/* Now, or when its time has come. */
static void
on_time(void *arg)
{
	struct push *push = arg;

	loop_timer_free(take_ptr(&push->timer));
	try_now(push);
}

static void
look(struct push *push)
{
	int64_t ms = push_record_wait_ms(record_of(push), clock_wall_ms());

	if (ms < 0 || push->stopping || push->commit != NULL ||
	    push->timer != NULL)
		return;
	if (ms > 0)
		push->timer = loop_after(push->core->loop, ms, on_time, push);
	else
		try_now(push);
}

static void
failed(struct push *push, const char *commit, const struct git_answer *answer)
{
	struct push_record *record = record_of(push);
	cleanup_free char *reason = NULL;
	char *text;

	if (answer->err != NULL)
		reason = xstrdup(answer->err->msg);
	else if (answer->complaint[0] != '\0')
		reason = xstrdup(answer->complaint);
	else
		reason =
		    xasprintf("git push ended with status %d", answer->status);
	/* What git says has several. */
	text = reason;
	for (; (text = strchr(text, '\n')) != NULL; text++)
		*text = ' ';
	push_record_failed(record, reason, clock_wall_ms());
	if (record->tries == 1)
		emit(push->core,
		    &(struct event){ .kind = EVENT_PUSH_FAILED,
			.branch = core_branch(push->core),
			.commit = commit,
			.reason = reason });
}

static void
on_pushed(const struct git_answer *answer, void *arg)
{
	struct push *push = arg;
	cleanup_free char *commit = take_ptr(&push->commit);
	cleanup_free char *tip = take_ptr(&push->tip);

	if (answer->status == 0) {
		push_record_done(record_of(push), commit, tip);
		emit(push->core,
		    &(struct event){ .kind = EVENT_PUSHED,
			.branch = core_branch(push->core),
			.commit = tip });
	} else {
		failed(push, commit, answer);
	}
	persist_changed(push->core);
	look(push);
}

/* The commit by its name: what origin has then is known, also if the branch
 * moves meanwhile, or has lost what landed. */
static void
on_tip(const struct git_answer *answer, void *arg)
{
	struct push *push = arg;
	const char *branch = core_branch(push->core);
	cleanup_free char *refs = NULL;
	const char *args[] = { "push", "--quiet", "origin", NULL, NULL };
	struct git_command command = { .args = args,
		.deadline_ms = DEADLINE_MS };

	if (answer->status != 0) {
		on_pushed(answer, push);
		return;
	}
	push->tip = xstrndup(answer->out, strcspn(answer->out, "\n"));
	refs = xasprintf("%s:refs/heads/%s", push->tip, branch);
	args[3] = refs;
	git_run(git_queue(push->git, git_root(push->git)), &command, on_pushed,
	    push);
}

/* With its full name: there may be a tag of the same name. */
static void
try_now(struct push *push)
{
	cleanup_free char *ref =
	    xasprintf("refs/heads/%s^{commit}", core_branch(push->core));
	const char *const args[] = { "rev-parse", "--verify", ref, NULL };
	struct git_command command = { .args = args };

	if (!settings_bool(push->core->settings, "repo.push"))
		return; /* not wanted any more */
	push->commit = xstrdup(record_of(push)->unpushed);
	git_run(
	    git_queue(push->git, git_root(push->git)), &command, on_tip, push);
}

void
push_begin(struct push *push)
{
	look(push);
}

void
push_landed(struct push *push, const char *commit)
{
	if (!settings_bool(push->core->settings, "repo.push"))
		return;
	xstrset(&record_of(push)->unpushed, commit);
	look(push);
}

bool
push_retry(struct push *push)
{
	if (push->timer == NULL || push->stopping)
		return false;
	on_time(push);
	return true;
}

static void
give_up(void *arg)
{
	struct push *push = arg;

	git_free(take_ptr(&push->git));
	xstrset(&push->commit, NULL);
	xstrset(&push->tip, NULL);
}

void
push_stop(struct push *push)
{
	push->stopping = true;
	loop_timer_free(take_ptr(&push->timer));
	if (push->commit != NULL)
		push->timer =
		    loop_after(push->core->loop, STOP_MS, give_up, push);
}

bool
push_is_quiet(const struct push *push)
{
	return push->commit == NULL;
}

struct push *
push_new(struct core *core)
{
	struct push *push = xcalloc(1, sizeof *push);
	struct git_options options = {
		.root = core->workspace->root,
		.run_hooks = git_runs_hooks(core->git),
	};

	push->core = core;
	push->git = git_new(core->loop, &options);
	return push;
}

void
push_free(struct push *push)
{
	if (push == NULL)
		return;
	git_free(push->git);
	loop_timer_free(push->timer);
	free(push->commit);
	free(push->tip);
	free(push);
}
