/* SPDX-License-Identifier: ISC */

#include "base.h"
#include "core.h"
#include "git.h"
#include "landing-private.h"
#include "landing-record.h"
#include "persist.h"
#include "serve.h"
#include "workspace.h"

#define DIGITS_MIN 7

/* Lives until the item is in the queue, or the call refused. */
struct revert {
	struct landings *landings;
	struct server_call *call;
	char *typed; /* the commit as asked for */
	char *commit, *subject;
};

static void
revert_free(struct revert *r)
{
	free(r->typed);
	free(r->commit);
	free(r->subject);
	free(r);
}

/* The git is gone before it has answered. */
static void
drop(void *arg)
{
	struct revert *r = arg;

	serve_refuse(r->call, API_FAILED, "the daemon is stopping");
	revert_free(r);
}

static void
ask(struct revert *r, const char *const *args, git_fn *fn)
{
	struct core *core = r->landings->core;
	struct git_command command = { .args = args, .drop = drop };

	git_run(git_queue(core->git, core->workspace->root), &command, fn, r);
}

static struct landing_item *
new_item(struct landings *landings, const struct revert_order *order)
{
	struct landing_item *item =
	    landing_record_new_item(&landings->core->state.landings);
	int64_t now = clock_wall_ms();

	item->kind = ITEM_REVERT;
	item->approved = true;
	xstrset(&item->head, order->commit);
	xstrset(&item->base, order->restored);
	item->undoes = order->undoes;
	xstrset(&item->title, order->title);
	xstrset(&item->message, order->message);
	xstrset(&item->why, order->why);
	item->author_date = xasprintf("%" PRId64 " +0000", now / 1000);
	xstrset(&item->committer_date, item->author_date);
	item->queued_ms = now;
	return item;
}

void
revert_enqueue(struct landings *landings, const struct revert_order *order)
{
	struct landing_item *item = new_item(landings, order);

	item->priority = PRIORITY_URGENT; /* work on top of it would be lost */
	queue_add(landings->queue, item);
}

bool
revert_is_queued(const struct landings *landings, const char *commit)
{
	const struct landing_record *record = &landings->core->state.landings;

	for (size_t i = 0; i < record->count; i++) {
		const struct landing_item *item = record->items[i];

		if (item->kind == ITEM_REVERT && item->why != NULL &&
		    item->step != ITEM_LANDED &&
		    strcmp(item->head, commit) == 0)
			return true;
	}
	return false;
}

static void
enqueue(struct revert *r)
{
	struct landings *landings = r->landings;
	cleanup_free char *title = xasprintf("Revert \"%s\"", r->subject);
	cleanup_free char *message =
	    xasprintf("%s\n\nThis reverts commit %s.\n", title, r->commit);
	struct landing_item *item = new_item(landings,
	    &(struct revert_order){
		.commit = r->commit, .title = title, .message = message });

	/* A person waits: do not keep them, or tell them at once why. */
	queue_move_retry(landings->queue->move);
	landings_add_call(landings, item->id, r->call);
	queue_add(landings->queue, item);
}

static void
on_ancestor(const struct git_answer *answer, void *arg)
{
	struct revert *r = arg;
	const char *branch = core_branch(r->landings->core);

	if (answer->status == 0)
		enqueue(r);
	else if (answer->status == 1)
		serve_refuse(r->call, API_FAILED,
		    "%.12s cannot be taken back: it is not on %s", r->commit,
		    branch);
	else
		serve_refuse(r->call, API_FAILED, "%s", answer->complaint);
	revert_free(r);
}

/* Its id, its parents, its subject. */
static void
on_commit(const struct git_answer *answer, void *arg)
{
	struct revert *r = arg;
	cleanup_free char *branch =
	    xasprintf("refs/heads/%s", core_branch(r->landings->core));
	cleanup_free char *text = xstrdup(answer->out);
	char *rest = text;
	const char *commit = strsep(&rest, "\n");
	const char *parents = rest != NULL ? strsep(&rest, "\n") : "";

	if (answer->status != 0) {
		serve_refuse(
		    r->call, API_UNKNOWN, "there is no commit %s", r->typed);
		revert_free(r);
		return;
	}
	if (parents[0] == '\0') {
		serve_refuse(r->call, API_FAILED,
		    "%.12s has no parent: there is nothing to go back to",
		    commit);
		revert_free(r);
		return;
	}
	xstrset(&r->commit, commit);
	xstrset(&r->subject, rest != NULL ? rest : "");
	ask(r,
	    (const char *[]){
		"merge-base", "--is-ancestor", r->commit, branch, NULL },
	    on_ancestor);
}

void
revert_begin(
    struct landings *landings, const char *commit, struct server_call *call)
{
	cleanup_free char *name = xasprintf("%s^{commit}", commit);
	struct revert *r;

	if (strlen(commit) < DIGITS_MIN ||
	    commit[strspn(commit, "0123456789abcdef")] != '\0') {
		serve_refuse(
		    call, API_UNKNOWN, "%s is not a commit id", commit);
		return;
	}
	if (lands_by_pull(landings->core->settings)) {
		serve_refuse(call, API_FAILED,
		    "auto.land is pull-request: %s only follows origin; revert "
		    "%.12s there, by a pull request (git revert on a branch of "
		    "yours)",
		    core_branch(landings->core), commit);
		return;
	}
	r = xcalloc(1, sizeof *r);
	r->landings = landings;
	r->call = call;
	r->typed = xstrdup(commit);
	ask(r,
	    (const char *[]){ "log", "--max-count=1", "--no-show-signature",
		"--format=%H%n%P%n%s", name, "--", NULL },
	    on_commit);
}

/* --- the branch fails its own check ------------------------------------- */

bool
red_revert_begin(struct landings *landings, const char *why)
{
	struct core *core = landings->core;
	struct landing_record *record = &core->state.landings;
	const struct red_run *own = &record->own;
	const char *tip = landings->queue->base_commit;
	const struct red_commit *first;
	cleanup_buf struct buf message = BUF_INIT;
	cleanup_free char *title = NULL;
	char key[CHECK_KEY_SIZE];
	size_t count;

	if (lands_by_pull(core->settings))
		return false;
	check_slot_key(core, key);
	count = red_run_length(own, tip, &record->checks, key);
	if (count == 0)
		return false;
	first = &own->list[own->count - count];
	title = count == 1 ? xasprintf("Revert %.12s (%s): %s fails its check",
				 tip, first->task, core_branch(core)) :
			     xasprintf("Revert %zu commits: %s fails its check",
				 count, core_branch(core));
	/* The newest one first, as in the log. */
	buf_addf(&message, "%s\n\n", title);
	for (size_t i = own->count; i-- > own->count - count;)
		buf_addf(&message, "This reverts commit %s (%s).\n",
		    own->list[i].commit, own->list[i].task);
	buf_addf(&message, "The branch is as it was at %s.\n",
	    own->list[own->count - count].parent);
	check_book_forget(&record->checks, first->parent_tree, key);
	revert_enqueue(landings,
	    &(struct revert_order){ .commit = tip,
		.restored = first->parent,
		.undoes = (int)count,
		.title = title,
		.message = message.data,
		.why = why });
	return true;
}

/* True = it has left the queue, or will next. */
static bool
review(struct queue *queue, struct landing_item *item, bool red,
    enum landing_place place, const char *tree)
{
	struct landing_record *record = &queue->core->state.landings;

	if (red && strcmp(item->head, queue->base_commit) == 0) {
		if (place != LANDING_OUT_RED)
			return false;
		settle_check_words(queue->core, tree, item);
		item->step = ITEM_EJECTED;
	} else {
		xstrset(&item->why, NULL); /* that it ends is no failure */
		settle_withdraw(queue->landings, item);
		xstrset(&record->red_told, NULL);
	}
	persist_changed(queue->core);
	return true;
}

bool
red_revert_review(struct queue *queue, const struct queue_facts *facts,
    const struct landing_plan *plan)
{
	if (facts->plan.moving)
		return false;
	for (size_t i = 0; i < facts->plan.entry_count; i++) {
		struct landing_item *item = facts->items[i];

		if (item->kind == ITEM_REVERT && item->undoes > 0 &&
		    review(queue, item, plan->red, plan->places[i],
			facts->entries[i].tree))
			return true;
	}
	return false;
}
