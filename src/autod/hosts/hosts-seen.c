/* SPDX-License-Identifier: ISC */

/*
 * What another host calls landed counts once this one has seen it: the commit
 * is on the branch at origin, with the trailer of the task, or it is the merge
 * of such a commit. One look is under way at a time; a fetch serves all that
 * were asked for before it began. While origin is away, what waits goes on
 * waiting.
 */

#include "base.h"
#include "asks.h"
#include "git-upstream.h"
#include "hosts-private.h"
#include "loop.h"
#include "prompt.h"
#include "workspace.h"

#define SEEN_REF   "refs/llmc/seen" /* the branch, as it is at origin */
#define SEEN_MAX   256 /* the oldest is forgotten, and looked at again */
#define BRINGS_MAX "--max-count=1000" /* commits that a merge brings */

struct seen {
	char *task, *commit;
	enum seen_answer answer;
	bool fetched; /* the branch was, since it was asked for */
};

struct hosts_seen {
	struct hosts_floor *floor;
	struct git *git; /* its own: no other command waits for origin */
	struct loop_timer *timer;
	struct seen list[SEEN_MAX];
	size_t count;
	char *task, *commit; /* that is looked at */
	bool busy;
	int tries;
};

static void seen_look(struct hosts_seen *seen);
static void seen_again(struct hosts_seen *seen, int64_t ms);

static struct seen *
seen_find(struct hosts_seen *seen, const char *task, const char *commit)
{
	for (size_t i = 0; i < seen->count; i++)
		if (strcmp(seen->list[i].task, task) == 0 &&
		    strcmp(seen->list[i].commit, commit) == 0)
			return &seen->list[i];
	return NULL;
}

static void
seen_drop(struct hosts_seen *seen, size_t n)
{
	free(seen->list[n].task);
	free(seen->list[n].commit);
	seen->count--;
	memmove(seen->list + n, seen->list + n + 1,
	    (seen->count - n) * sizeof *seen->list);
}

static void
seen_done(struct hosts_seen *seen, enum seen_answer answer)
{
	struct seen *one = seen_find(seen, seen->task, seen->commit);

	if (one != NULL)
		one->answer = answer;
	seen->busy = false;
	hosts_look(seen->floor);
	seen_look(seen);
}

/* One line for each commit that it is or brings: the task in its trailer. */
static void
on_task_trailers(const struct git_answer *answer, void *arg)
{
	struct hosts_seen *seen = arg;
	cleanup_free char *text = xstrdup(answer->out);
	char *rest = text, *line;
	bool there = false;

	while (answer->status == 0 && (line = strsep(&rest, "\n")) != NULL)
		there |= strcmp(line, seen->task) == 0;
	seen_done(seen, there ? SEEN_THERE : SEEN_NOT);
}

/* Nothing: the branch has it. */
static void
on_missing(const struct git_answer *answer, void *arg)
{
	struct hosts_seen *seen = arg;
	cleanup_free char *but = xasprintf("%s^1", seen->commit);
	const char *trailers = "--format=%(trailers:key=" PROMPT_TASK_TRAILER
			       ",valueonly,separator=%x2C)";
	const char *const args[] = { "log", "--no-show-signature", BRINGS_MAX,
		trailers, seen->commit, "--not", but, "--", NULL };

	if (answer->status != 0 || answer->out[0] != '\0')
		seen_done(seen, SEEN_NOT);
	else
		git_run(git_queue(seen->git, git_root(seen->git)),
		    &(struct git_command){ .args = args }, on_task_trailers,
		    seen);
}

static void
on_fetched(const struct git_fetched *fetched, const char *words, void *arg)
{
	struct hosts_seen *seen = arg;

	(void)words;
	seen->busy = false;
	if (fetched->result == PUSH_OK) {
		seen->tries = 0;
		if (fetched->remote[0] == '\0') /* there is no such branch */
			for (size_t i = 0; i < seen->count; i++)
				if (seen->list[i].fetched &&
				    seen->list[i].answer == SEEN_WAITS)
					seen->list[i].answer = SEEN_NOT;
		hosts_look(seen->floor);
		seen_look(seen);
		return;
	}
	for (size_t i = 0; i < seen->count; i++)
		if (seen->list[i].answer == SEEN_WAITS)
			seen->list[i].fetched = false;
	seen->busy = true; /* until then */
	seen_again(seen, hosts_away_ms(seen->tries++, arc4random()));
}

static void
seen_fetch(struct hosts_seen *seen)
{
	cleanup_free char *ref =
	    xasprintf("refs/heads/%s", core_branch(seen->floor->core));

	for (size_t i = 0; i < seen->count; i++)
		seen->list[i].fetched = true;
	git_upstream_fetch(seen->git,
	    &(struct git_fetch_spec){ .remote = LAND_REMOTE,
		.ref = ref,
		.keep = SEEN_REF,
		.deadline_ms = LAND_PUSH_MS },
	    on_fetched, seen);
}

static void
seen_look(struct hosts_seen *seen)
{
	const struct seen *next = NULL;

	for (size_t i = 0; i < seen->count && next == NULL; i++)
		if (seen->list[i].answer == SEEN_WAITS)
			next = &seen->list[i];
	if (seen->busy || next == NULL)
		return;
	seen->busy = true;
	if (!next->fetched) {
		seen_fetch(seen);
		return;
	}
	xstrset(&seen->task, next->task);
	xstrset(&seen->commit, next->commit);
	git_run(git_queue(seen->git, git_root(seen->git)),
	    &(struct git_command){
		.args = (const char *const[]){ "rev-list", "--max-count=1",
		    seen->commit, "--not", SEEN_REF, "--", NULL } },
	    on_missing, seen);
}

static void
on_again(void *arg)
{
	struct hosts_seen *seen = arg;

	loop_timer_free(take_ptr(&seen->timer));
	seen->busy = false;
	seen_look(seen);
}

static void
seen_again(struct hosts_seen *seen, int64_t ms)
{
	loop_timer_set(
	    &seen->timer, seen->floor->core->loop, ms, on_again, seen);
}

enum seen_answer
hosts_seen(struct hosts_floor *floor, const char *task, const char *commit)
{
	struct hosts_seen *seen = floor->seen_branch;
	const struct seen *one;

	if (commit == NULL || !hosts_commit_is(commit))
		return SEEN_NOT;
	one = seen_find(seen, task, commit);
	if (one == NULL) {
		if (seen->count == SEEN_MAX)
			seen_drop(seen, 0);
		seen->list[seen->count++] =
		    (struct seen){ .task = xstrdup(task),
			    .commit = xstrdup(commit) };
		seen_look(seen);
		return SEEN_WAITS;
	}
	if (one->answer == SEEN_NOT) { /* it may be there another time */
		seen_drop(seen, (size_t)(one - seen->list));
		return SEEN_NOT;
	}
	return one->answer;
}

bool
hosts_seen_waits(const struct hosts_floor *floor)
{
	const struct hosts_seen *seen = floor->seen_branch;

	for (size_t i = 0; i < seen->count; i++)
		if (seen->list[i].answer == SEEN_WAITS)
			return true;
	return false;
}

/* --- what is not there ---------------------------------------------------- */

static void
on_denied(const struct shared_answer *answer, void *arg)
{
	struct hosts_floor *floor = arg;

	if (hosts_answered(floor, answer)) {
		free(floor->denied[0]);
		memmove(floor->denied, floor->denied + 1,
		    (strv_count(floor->denied + 1) + 1) * sizeof(char *));
		floor->poll = true;
	}
	hosts_done(floor);
}

void
hosts_deny(struct hosts_floor *floor, const char *task, int64_t fence,
    const char *commit)
{
	cleanup_free char *row = xasprintf("%s %" PRId64, task, fence);
	cleanup_free char *words = xasprintf(
	    "the host that lands said that %s has landed as %.40s, which is "
	    "not on %s at origin with the trailer of that task: the task waits "
	    "as before. If you do not trust a host, lock its role: see "
	    "docs/fleet.md",
	    task, commit != NULL ? commit : "nothing",
	    core_branch(floor->core));

	if (strv_has(strv_const(floor->denied), row))
		return;
	strv_add(&floor->denied, row);
	asks_open(floor->core,
	    &(struct ask_draft){ .kind = ASK_BLOCKED,
		.level = ESCALATION_WARNING,
		.key = "denied",
		.title = "a host calls landed what is not",
		.words = words,
		.stays = true });
	hosts_look(floor);
}

bool
hosts_deny_act(struct hosts_floor *floor)
{
	cleanup_free char *task = NULL;
	const char *space;

	if (floor->denied == NULL || floor->denied[0] == NULL)
		return false;
	space = strchr(floor->denied[0], ' ');
	task = xstrndup(floor->denied[0], (size_t)(space - floor->denied[0]));
	hosts_ask(floor,
	    &SHARED_CALL(
		SHARED_DENY, BOOK_T(task), BOOK_I(strtoll(space, NULL, 10))),
	    1, on_denied);
	return true;
}

/* --- life ----------------------------------------------------------------- */

struct hosts_seen *
hosts_seen_new(struct hosts_floor *floor)
{
	struct hosts_seen *seen = xcalloc(1, sizeof *seen);
	struct core *core = floor->core;

	seen->floor = floor;
	seen->git = git_new(
	    core->loop, &(struct git_options){ .root = core->workspace->root });
	return seen;
}

void
hosts_seen_free(struct hosts_seen *seen)
{
	if (seen == NULL)
		return;
	git_free(seen->git);
	loop_timer_free(seen->timer);
	while (seen->count > 0)
		seen_drop(seen, 0);
	free(seen->task);
	free(seen->commit);
	free(seen);
}
