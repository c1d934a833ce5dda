/* SPDX-License-Identifier: ISC */

#include "base.h"
#include "backoff.h"
#include "core.h"
#include "git-candidate.h"
#include "git.h"
#include "landing-private.h"
#include "landing-record.h"
#include "loop.h"
#include "overtaken.h"
#include "persist.h"
#include "place.h"
#include "settings.h"
#include "workspace.h"

#define PATHS_MAX 5 /* named in a sentence */

struct candidates {
	struct core *core;
	void (*changed)(void *arg);
	void *arg;
	char *dir;
	struct git_merge_place place;
	struct candidate **list;
	size_t count;
	struct build *build; /* running; NULL = none */
};

/* Lives until git answers. */
struct build {
	struct candidates *candidates;
	char *item, *parent; /* which candidate it is for */
	int64_t parent_date;
	char *since; /* what its check began on; NULL = nobody asks */
	bool on_branch; /* the parent is the tip */
};

void
freeze_rules_paths(struct freeze_rules *rules, const struct core *core)
{
	cleanup_free char *worktrees = workspace_inside(core->workspace,
	    settings_string(core->settings, "repo.worktree_dir"));

	*rules = (struct freeze_rules){
		.what = { .forbidden = rules->forbidden },
		.forbidden = { ".llmc",
		    worktrees != NULL ? rules->worktrees : NULL },
	};
	if (worktrees != NULL)
		strlcpy(rules->worktrees, worktrees, sizeof rules->worktrees);
	settings_list(core->settings, "repo.protected_paths",
	    &rules->what.protected_paths);
}

static void
forget_checked(struct candidate *c)
{
	xstrset(&c->checked.parent, NULL);
	xstrset(&c->checked.commit, NULL);
	xstrset(&c->checked.tree, NULL);
}

static void
candidate_clear(struct candidate *c)
{
	forget_checked(c);
	free(c->item);
	free(c->parent);
	free(c->commit);
	free(c->tree);
	free(c->words);
	loop_timer_free(c->again);
	memset(c, 0, sizeof *c);
}

static struct candidate *
find(const struct candidates *candidates, const char *item)
{
	for (size_t i = 0; i < candidates->count; i++)
		if (strcmp(candidates->list[i]->item, item) == 0)
			return candidates->list[i];
	return NULL;
}

const struct candidate *
candidates_of(const struct candidates *candidates, const char *item)
{
	return find(candidates, item);
}

bool
candidates_busy(const struct candidates *candidates)
{
	return candidates->build != NULL;
}

/* --- building -------------------------------------------------------- */

static void
build_free(struct build *b)
{
	b->candidates->build = NULL;
	free(b->item);
	free(b->parent);
	free(b->since);
	free(b);
}

static char *
paths_words(const struct git_list *paths)
{
	cleanup_buf struct buf text = BUF_INIT;

	text_add_names(&text, paths->v, paths->count, PATHS_MAX);
	return buf_take(&text);
}

/* Is it still a change that may land without a person? If one has accepted it,
 * it is checked with the protected files of the branch. Otherwise its worker
 * rebases it: then it is seen what it changes now. */
static bool
may_change(struct candidate *c, const struct git_candidate_answer *answer)
{
	struct core *core = c->owner->core;
	struct landing_item *item =
	    landing_record_find(&core->state.landings, c->item);
	cleanup_free char *paths = paths_words(&answer->protected_paths);

	if (answer->protected_paths.count == 0)
		return true;
	if (item != NULL && item->approved) {
		item->guarded = true;
		persist_changed(core);
		return true;
	}
	c->words = xasprintf("it would change protected paths: %s", paths);
	return false;
}

static void
take_answer(struct candidate *c, const struct git_candidate_answer *answer)
{
	cleanup_free char *paths = paths_words(&answer->paths);

	switch (answer->result) {
	case GIT_CANDIDATE_BUILT:
		if (!may_change(c, answer)) {
			c->build = LANDING_CONFLICT;
			break;
		}
		c->build = LANDING_BUILT;
		xstrset(&c->commit, answer->commit);
		xstrset(&c->tree, answer->tree);
		c->date = answer->date;
		break;
	case GIT_CANDIDATE_SAME:
		c->build = LANDING_SAME;
		break;
	case GIT_CANDIDATE_CONFLICT:
		c->build = LANDING_CONFLICT;
		xstrset(&c->words, paths);
		break;
	case GIT_CANDIDATE_REFUSED:
		c->build = LANDING_CONFLICT;
		c->words = xasprintf(
		    "the merge would change what this work did not: %s", paths);
		break;
	case GIT_CANDIDATE_LOST:
		c->build = LANDING_CONFLICT;
		c->words = xasprintf("%s has lost commits that it is built on",
		    core_branch(c->owner->core));
		break;
	}
}

/* The one that is built as this commit; NULL = none. */
static const struct candidate *
find_built(const struct candidates *candidates, const char *commit)
{
	for (size_t i = 0; i < candidates->count; i++)
		if (text_is(candidates->list[i]->commit, commit))
			return candidates->list[i];
	return NULL;
}

const char *
candidate_stands(const struct candidate *c)
{
	return text_is(c->checked.parent, c->parent) ? NULL : c->checked.tree;
}

/* It is built on something else than when its check began. Of the one below it,
 * if there is one, the result must stand too, and it must be the same one. */
static void
judge_overtaken(struct build *b, struct candidate *c,
    const struct git_candidate_answer *answer)
{
	const struct core *core = c->owner->core;
	const struct candidate *below =
	    b->on_branch ? NULL : find_built(c->owner, b->parent);
	char key[CHECK_KEY_SIZE];
	struct overtaken_facts facts = {
		.mode = overtaken_mode_of(core->settings),
		.merges = c->build == LANDING_BUILT,
		.forward = b->on_branch ?
		    answer->forward :
		    below != NULL && candidate_stands(below) != NULL &&
			text_is(b->since, below->checked.commit),
		.shared = answer->shared,
		.trees = answer->trees.v,
		.tree_count = b->on_branch ? answer->trees.count : 0,
		.book = &core->state.landings.checks,
		.command = key,
	};

	check_slot_key(core, key);
	if (overtaken_judge(&facts) != OVERTAKEN_STANDS)
		forget_checked(c);
}

static void
on_again(void *arg)
{
	struct candidate *c = arg;

	c->waits = c->broken = false;
	c->owner->changed(c->owner->arg);
}

/* A full disk, a lock, a command that took too long: it may work later. What
 * cannot ever work is tried again too, but a person hears of it at once. */
static void
take_error(struct candidate *c, const struct err *err)
{
	const struct candidates *candidates = c->owner;
	bool hopeless = err->code == -EINVAL || err->code == -ENOTSUP ||
	    err->code == -ENOENT || err->code == -ENOKEY;
	int64_t ms = backoff_git.max_ms;

	c->build = LANDING_UNBUILT;
	c->waits = true;
	c->broken = hopeless || !backoff_next(&backoff_git, c->tries++, &ms);
	xstrset(&c->words, err->msg);
	c->again = loop_after(candidates->core->loop, ms, on_again, c);
}

static void
on_built(
    const struct git_candidate_answer *answer, const struct err *err, void *arg)
{
	struct build *b = arg;
	struct candidates *candidates = b->candidates;
	struct candidate *c = find(candidates, b->item);

	if (c != NULL && c->build == LANDING_BUILDING &&
	    strcmp(c->parent, b->parent) == 0) {
		if (err == NULL) {
			c->tries = 0;
			take_answer(c, answer);
			if (b->since != NULL)
				judge_overtaken(b, c, answer);
		} else {
			take_error(c, err);
		}
	}
	build_free(b);
	candidates->changed(candidates->arg);
}

static void
describe(const struct build *b, const struct landing_item *item,
    struct git_candidate *what)
{
	*what = (struct git_candidate){
		.parent = b->parent,
		.parent_date = b->parent_date,
		.since = b->since,
		.head = item->head,
		.base = item->base,
		.head_tree = item->head_tree,
		.base_tree = item->base_tree,
		.revert = item->kind == ITEM_REVERT,
		.message = item->message,
		.author_name = item->author_name,
		.author_email = item->author_email,
		.author_date = item->author_date,
		.committer_date = item->committer_date,
	};
}

static void
on_place(const struct err *err, void *arg)
{
	struct build *b = arg;
	struct candidates *candidates = b->candidates;
	const struct core *core = candidates->core;
	const struct landing_item *item =
	    landing_record_find(&core->state.landings, b->item);
	cleanup_free char *ref = NULL;
	struct freeze_rules rules;
	struct git_candidate what;

	if (err != NULL) {
		on_built(NULL, err, b);
	} else if (item == NULL) { /* it has left the queue */
		build_free(b);
		candidates->changed(candidates->arg);
	} else {
		describe(b, item, &what);
		freeze_rules_paths(&rules, core);
		what.forbidden = rules.what.forbidden;
		what.protected_paths = rules.what.protected_paths;
		ref = queue_item_built_ref(item->id);
		what.ref = ref;
		git_candidate_build(
		    core->git, candidates->dir, &what, on_built, b);
	}
}

static struct candidate *
find_or_add(struct candidates *candidates, const char *item)
{
	struct candidate *c = find(candidates, item);

	if (c != NULL)
		return c;
	c = xcalloc(1, sizeof *c);
	candidates->list = xreallocarray(candidates->list,
	    candidates->count + 1, sizeof(struct candidate *));
	candidates->list[candidates->count++] = c;
	return c;
}

/* What lands for other hosts, or takes something back, is checked as it lands,
 * and so is what is judged by the files of the branch. */
static bool
may_stand(const struct candidates *candidates, const struct landing_item *item)
{
	return overtaken_mode_of(candidates->core->settings) ==
	    OVERTAKEN_LAND &&
	    (item->kind == ITEM_WORK || item->kind == ITEM_PICK) &&
	    !item->guarded;
}

void
candidates_checked(struct candidates *candidates, const char *item)
{
	struct candidate *c = find(candidates, item);

	if (c == NULL || c->build != LANDING_BUILT)
		return;
	xstrset(&c->checked.parent, c->parent);
	xstrset(&c->checked.commit, c->commit);
	xstrset(&c->checked.tree, c->tree);
}

void
candidates_build(struct candidates *candidates, const struct landing_item *item,
    const char *parent, int64_t parent_date, const char *base)
{
	struct git_candidate what;
	struct candidate *c, old;
	struct build *b;

	if (candidates->build != NULL)
		return; /* asked for again when it has ended */
	c = find_or_add(candidates, item->id);
	old = *c;
	memset(&c->checked, 0, sizeof c->checked);
	candidate_clear(c);
	c->owner = candidates;
	c->tries = old.tries;
	c->checked = old.checked;
	if (!may_stand(candidates, item))
		forget_checked(c);
	xstrset(&c->item, item->id);
	xstrset(&c->parent, parent);
	c->build = LANDING_BUILDING;

	b = candidates->build = xcalloc(1, sizeof *b);
	b->candidates = candidates;
	b->item = xstrdup(item->id);
	b->parent = xstrdup(parent);
	b->parent_date = parent_date;
	b->on_branch = strcmp(parent, base) == 0;
	if (!text_is(c->checked.parent, parent))
		xstrset(&b->since, c->checked.parent);
	describe(b, item, &what);
	git_merge_place_prepare(candidates->core->git, &candidates->place, base,
	    git_candidate_merges(&what), on_place, b);
}

void
candidates_forget(struct candidates *candidates, const char *item)
{
	for (size_t i = 0; i < candidates->count; i++) {
		if (strcmp(candidates->list[i]->item, item) != 0)
			continue;
		candidate_clear(candidates->list[i]);
		free(candidates->list[i]);
		candidates->list[i] = candidates->list[--candidates->count];
		return;
	}
}

struct candidates *
candidates_new(struct core *core, void (*changed)(void *arg), void *arg)
{
	struct candidates *candidates = xcalloc(1, sizeof *candidates);

	candidates->core = core;
	candidates->changed = changed;
	candidates->arg = arg;
	candidates->dir = workspace_path(core->workspace, "checks/merge");
	candidates->place.dir = candidates->dir;
	return candidates;
}

/* Git is freed next: the build that is running will not be answered. */
void
candidates_free(struct candidates *candidates)
{
	if (candidates == NULL)
		return;
	if (candidates->build != NULL)
		build_free(candidates->build);
	for (size_t i = 0; i < candidates->count; i++) {
		candidate_clear(candidates->list[i]);
		free(candidates->list[i]);
	}
	free(candidates->list);
	free(candidates->dir);
	free(candidates);
}

void
candidates_trim_book(const struct candidates *candidates, const char *base_tree)
{
	static const char *const nothing[] = { NULL };
	struct landing_record *record = &candidates->core->state.landings;
	cleanup_strv char **keep = NULL;

	if (base_tree != NULL)
		strv_add(&keep, base_tree);
	for (size_t i = 0; i < record->count; i++) {
		const struct candidate *c =
		    candidates_of(candidates, record->items[i]->id);

		if (c != NULL && c->tree != NULL)
			strv_add(&keep, c->tree);
		if (c != NULL && c->checked.tree != NULL)
			strv_add(&keep, c->checked.tree);
	}
	check_book_trim(
	    &record->checks, keep != NULL ? strv_const(keep) : nothing);
	check_output_trim(candidates->core);
}
