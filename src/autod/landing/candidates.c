/* SPDX-License-Identifier: ISC */

#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "buf.h"
#include "candidates.h"
#include "core.h"
#include "errtext.h"
#include "file.h"
#include "git-candidate.h"
#include "git.h"
#include "landing-item.h"
#include "mem.h"
#include "text.h"
#include "workspace.h"

#define PATHS_MAX 5 /* named in a sentence */

struct candidates {
	struct core *core;
	void (*changed)(void *arg);
	void *arg;
	/* A worktree without files: git takes attributes from the commits that
	 * it merges, not from what lies in a checkout. */
	char *dir;
	struct candidate **list;
	size_t count;
	struct build *build; /* running; NULL = none */
};

/* Lives until git answers. */
struct build {
	struct candidates *candidates;
	char *item, *parent; /* which candidate it is for */
	int64_t parent_date;
};

static void
candidate_clear(struct candidate *c)
{
	free(c->item);
	free(c->parent);
	free(c->commit);
	free(c->tree);
	free(c->words);
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
	free(b);
}

static char *
paths_words(const struct git_candidate_answer *answer)
{
	cleanup_buf struct buf text = BUF_INIT;

	for (size_t i = 0; i < answer->paths.count && i < PATHS_MAX; i++) {
		if (i > 0)
			buf_adds(&text, ", ");
		text_add_visible(&text, answer->paths.v[i],
		    strlen(answer->paths.v[i]), false);
	}
	if (answer->paths.count > PATHS_MAX)
		buf_addf(
		    &text, " and %zu more", answer->paths.count - PATHS_MAX);
	return buf_take(&text);
}

static void
take_answer(struct candidate *c, const struct git_candidate_answer *answer)
{
	cleanup_free char *paths = paths_words(answer);

	switch (answer->result) {
	case GIT_CANDIDATE_BUILT:
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
	}
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
			take_answer(c, answer);
		} else {
			c->build = LANDING_UNBUILT;
			c->broken = true;
			xstrset(&c->words, err->msg);
		}
	}
	build_free(b);
	candidates->changed(candidates->arg);
}

static void
build_now(struct build *b)
{
	const struct core *core = b->candidates->core;
	const struct landing_item *item =
	    landing_record_find(&core->state.landings, b->item);
	struct git_candidate what = { .parent = b->parent,
		.parent_date = b->parent_date };

	if (item == NULL) { /* it has left the queue */
		build_free(b);
		return;
	}
	what.head = item->head;
	what.base = item->base;
	what.head_tree = item->head_tree;
	what.base_tree = item->base_tree;
	what.revert = item->kind == ITEM_REVERT;
	what.message = item->message;
	what.author_name = item->author_name;
	what.author_email = item->author_email;
	what.author_date = item->author_date;
	what.committer_date = item->committer_date;
	git_candidate_build(core->git, b->candidates->dir, &what, on_built, b);
}

static void
on_place(const struct git_answer *answer, void *arg)
{
	struct build *b = arg;
	struct err err = { 0 };

	if (answer->status == 0) {
		build_now(b);
	} else {
		err_set(&err, -EIO, "%s", answer->complaint);
		on_built(NULL, &err, b);
	}
}

/* Once for a repository. */
static void
make_place(struct build *b)
{
	struct candidates *candidates = b->candidates;
	const char *const args[] = { "worktree", "add", "--force",
		"--no-checkout", "--detach", "--quiet", candidates->dir,
		b->parent, NULL };
	struct git_command add = { .args = args };

	git_run(
	    git_queue(candidates->core->git, candidates->core->workspace->root),
	    &add, on_place, b);
}

void
candidates_build(struct candidates *candidates, const struct landing_item *item,
    const char *parent, int64_t parent_date)
{
	struct candidate *c = find(candidates, item->id);
	cleanup_free char *git = file_join(candidates->dir, ".git");
	struct build *b;

	if (candidates->build != NULL)
		return; /* asked for again when it has ended */
	if (c == NULL) {
		c = xcalloc(1, sizeof *c);
		candidates->list = xreallocarray(candidates->list,
		    candidates->count + 1, sizeof(struct candidate *));
		candidates->list[candidates->count++] = c;
	}
	candidate_clear(c);
	xstrset(&c->item, item->id);
	xstrset(&c->parent, parent);
	c->build = LANDING_BUILDING;

	b = candidates->build = xcalloc(1, sizeof *b);
	b->candidates = candidates;
	b->item = xstrdup(item->id);
	b->parent = xstrdup(parent);
	b->parent_date = parent_date;
	if (file_exists(git))
		build_now(b);
	else
		make_place(b);
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
