/* SPDX-License-Identifier: ISC */

#include "base.h"
#include "asks.h"
#include "core.h"
#include "git-facts.h"
#include "git-freeze.h"
#include "git-landed.h"
#include "git.h"
#include "landing-private.h"
#include "landing-record.h"
#include "persist.h"
#include "person.h"
#include "prompt.h"
#include "state.h"
#include "workspace.h"

#define DAY_MS    (24 * 3600 * INT64_C(1000))
#define KEEP_DAYS 30
#define NAMED_MAX 50 /* commits; the rest is named when these are back */

struct landed_watch {
	struct core *core;
	/* Its own: no other command waits for a look at a long history. */
	struct git *git;
	bool looking;
	char *seen; /* the tip that was looked at, and what has landed on it;
		     * NULL = none was */
	int64_t looked_ms;
};

static struct landing_record *
landed_watch_record(const struct landed_watch *watch)
{
	return &watch->core->state.landings;
}

/* --- what is lost ------------------------------------------------------- */

static void
landed_watch_ask(struct core *core, const struct git_landed *landed, bool more)
{
	cleanup_buf struct buf words = BUF_INIT, command = BUF_INIT;
	size_t count = landed->lost_count;
	struct escalation what = { .level = ESCALATION_CRITICAL,
		.asked = true,
		.title = "landed work is gone from the branch",
		.signature = ASKS_LOST,
		.class = notice_name(NOTICE_BRANCH) };

	buf_addf(&words,
	    "%zu commit%s that had landed %s no longer on %s, since somebody "
	    "else has moved it:",
	    count, count == 1 ? "" : "s", count == 1 ? "is" : "are",
	    core_branch(core));
	buf_adds(&command, "git cherry-pick");
	for (size_t i = 0; i < count && i < NAMED_MAX; i++) {
		const struct git_lost *lost = &landed->lost[i];

		buf_addf(&words, "%s " GIT_LANDED_REFS "%s (%s)",
		    i > 0 ? "," : "", lost->id, lost->title);
		buf_addf(&command, " " GIT_LANDED_REFS "%s", lost->id);
	}
	if (count > NAMED_MAX)
		buf_addf(&words, " and %zu more, which come next",
		    count - NAMED_MAX);
	buf_addf(&words,
	    "; with %s checked out, the command lands them again; if they "
	    "are to stay away, answer it with --yes",
	    core_branch(core));
	what.text = words.data;
	asks_open(core,
	    &(struct ask_draft){ .kind = ASK_FAILURE,
		.level = what.level,
		.key = ASKS_LOST,
		.title = what.title,
		.words = words.data,
		.command = command.data,
		.stays = true });
	if (more)
		person_escalate(core, &what);
}

static void
note_lost(struct landed_watch *watch, const struct git_landed *landed)
{
	struct landing_record *record = landed_watch_record(watch);
	size_t known = strv_count(record->lost);
	bool more = false;

	for (size_t i = 0; i < landed->lost_count; i++)
		more |=
		    !strv_has(strv_const(record->lost), landed->lost[i].commit);
	if (!more && landed->lost_count == known)
		return;
	strv_clear(&record->lost);
	for (size_t i = 0; i < landed->lost_count; i++)
		strv_add(&record->lost, landed->lost[i].commit);
	if (landed->lost_count > 0)
		landed_watch_ask(watch->core, landed, more);
	else
		asks_resolve(watch->core, ASKS_LOST);
	persist_changed(watch->core);
}

/* Forget those that are back, or whose refs are gone. */
static void
note_let_go(struct landed_watch *watch, const char *const *still)
{
	struct landing_record *record = landed_watch_record(watch);
	size_t count = 0;

	while (still != NULL && still[count] != NULL)
		count++;
	if (count == strv_count(record->let_go))
		return;
	strv_clear(&record->let_go);
	for (size_t i = 0; i < count; i++)
		strv_add(&record->let_go, still[i]);
	persist_changed(watch->core);
}

static void
landed_watch_looked(
    const struct git_landed *landed, const struct err *err, void *arg)
{
	struct landed_watch *watch = arg;
	const struct core *core = watch->core;
	char tip[GIT_ID_SIZE];

	watch->looking = false;
	if (err != NULL) {
		log_debug("what has landed is looked for again: %s", err->msg);
		return;
	}
	/* What landed meanwhile is on another tip. */
	if (git_refs_tip(core->git, core_branch(core), tip) == 0 &&
	    strcmp(tip, landed->tip) != 0) {
		landed_watch_patrol(watch);
		return;
	}
	xstrset(&watch->seen, landed->tip);
	watch->looked_ms = clock_mono_ms();
	note_lost(watch, landed);
	note_let_go(watch, landed->let_go);
}

/* --- when --------------------------------------------------------------- */

/* What landed on another branch is not missed on this one. */
static void
watch_branch(struct landed_watch *watch)
{
	struct landing_record *record = landed_watch_record(watch);
	const char *branch = core_branch(watch->core);

	if (text_is(record->watched, branch))
		return;
	if (record->watched != NULL)
		record->watched_ms = clock_wall_ms();
	xstrset(&record->watched, branch);
	persist_changed(watch->core);
}

static void
landed_watch_look(struct landed_watch *watch)
{
	const struct landing_record *record = landed_watch_record(watch);
	const struct core *core = watch->core;

	watch_branch(watch);
	watch->looking = true;
	git_landed_look(watch->git,
	    &(struct git_landed_spec){ .branch = core_branch(core),
		.trailer = PROMPT_TASK_TRAILER,
		.since_s = record->watched_ms / 1000,
		.old_s = (clock_wall_ms() - KEEP_DAYS * DAY_MS) / 1000,
		.let_go = strv_const(record->let_go) },
	    landed_watch_looked, watch);
}

/* A person has answered what was asked about them. */
static bool
landed_watch_answered(const struct landed_watch *watch)
{
	return landed_watch_record(watch)->lost != NULL &&
	    state_ask(&watch->core->state, ASKS_LOST) == NULL;
}

void
landed_watch_patrol(struct landed_watch *watch)
{
	struct landing_record *record = landed_watch_record(watch);
	const struct core *core = watch->core;
	char tip[GIT_ID_SIZE];

	if (watch->looking || record->to != NULL || core->book == NULL)
		return;
	if (landed_watch_answered(watch)) {
		strv_add_all(&record->let_go, strv_const(record->lost));
		strv_clear(&record->lost);
		persist_changed(watch->core);
	} else if (git_refs_tip(core->git, core_branch(core), tip) == 0 &&
	    text_is(watch->seen, tip) &&
	    text_is(record->watched, core_branch(core)) &&
	    clock_mono_ms() - watch->looked_ms < DAY_MS) {
		return;
	}
	landed_watch_look(watch);
}

void
landed_watch_moved(struct landed_watch *watch, const char *from, const char *to)
{
	if (text_is(watch->seen, from))
		xstrset(&watch->seen, to);
}

void
landed_watch_begin(struct landed_watch *watch)
{
	git_freeze_unlock(watch->core->git, GIT_LANDED_REFS);
	landed_watch_patrol(watch);
}

struct landed_watch *
landed_watch_new(struct core *core)
{
	struct landed_watch *watch = xcalloc(1, sizeof *watch);
	struct git_options options = { .root = core->workspace->root };

	watch->core = core;
	watch->git = git_new(core->loop, &options);
	return watch;
}

void
landed_watch_free(struct landed_watch *watch)
{
	if (watch == NULL)
		return;
	git_free(watch->git);
	free(watch->seen);
	free(watch);
}
