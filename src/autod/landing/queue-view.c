/* SPDX-License-Identifier: ISC */

#include "base.h"
#include "agent.h"
#include "book-history.h"
#include "core.h"
#include "git-candidate.h"
#include "git-facts.h"
#include "git.h"
#include "landing-list.h"
#include "landing-private.h"
#include "landing-record.h"
#include "persist.h"
#include "rpc.h"
#include "serve.h"
#include "settings.h"
#include "task.h"
#include "workspace.h"

static void
add_entry(const struct queue *queue, struct queue_facts *facts,
    struct landing_item *item)
{
	const struct candidate *c = candidates_of(queue->candidates, item->id);
	struct landing_entry *entry = &facts->entries[facts->plan.entry_count];
	const struct landing_hosts *hosts = queue->landings->hosts;
	const char *wait = NULL;

	facts->items[facts->plan.entry_count++] = item;
	*entry = (struct landing_entry){
		.task = item->id,
		.priority = item->priority,
		.seq = item->seq,
		.landing = item->commit != NULL,
	};
	/* A pull request is built on the branch, and on nothing else. */
	if (landings_proposes(queue->landings, item, &wait))
		facts->plan.window = 1;
	entry->held = wait != NULL || item->overlaps ||
	    (item->kind == ITEM_SHARED &&
		(hosts == NULL || !hosts->lands(queue->landings->hosts_arg)));
	if (c == NULL)
		return;
	entry->held |= c->waits;
	entry->build = c->build;
	entry->parent = c->parent;
	entry->commit = c->commit;
	entry->tree = c->tree;
	if (!item->guarded &&
	    overtaken_mode_of(queue->core->settings) == OVERTAKEN_LAND)
		entry->stands = candidate_stands(c);
}

/* --- protected paths -------------------------------------------------- */

/* What replaces files in a check: those paths, as in that tree. */
static void
overlay_key(const struct queue *queue, char ret_key[CHECK_KEY_SIZE])
{
	const struct core *core = queue->core;
	cleanup_buf struct buf text = BUF_INIT;
	const char *const *paths;

	ret_key[0] = '\0';
	settings_list(core->settings, "repo.protected_paths", &paths);
	if (queue->base_tree == NULL || *paths == NULL)
		return;
	buf_adds(&text, queue->base_tree);
	for (; *paths != NULL; paths++)
		buf_addf(&text, "\n%s", *paths);
	check_book_key(text.data, ret_key);
}

/* Does the work, or work below it that has not landed yet, change protected
 * paths? */
static bool
is_overlaid(const struct queue_facts *facts, size_t entry, const char *base)
{
	const struct landing_entry *entries = facts->entries;
	size_t i;

	for (int depth = 0; depth <= LANDING_WINDOW_MAX; depth++) {
		if (facts->items[entry]->guarded)
			return true;
		if (text_is(base, entries[entry].parent))
			return false;
		for (i = 0; i < facts->plan.entry_count; i++)
			if (entries[i].build == LANDING_BUILT &&
			    strcmp(entries[i].commit, entries[entry].parent) ==
				0)
				break;
		if (i == facts->plan.entry_count)
			return false;
		entry = i;
	}
	return false;
}

static void
name_trees(const struct queue *queue, struct queue_facts *facts)
{
	char key[CHECK_KEY_SIZE];
	bool guarded = false;

	for (size_t i = 0; i < facts->plan.entry_count; i++)
		guarded |= facts->items[i]->guarded;
	if (!guarded)
		return;
	overlay_key(queue, key);
	for (size_t i = 0; i < facts->plan.entry_count && key[0] != '\0'; i++) {
		struct landing_entry *entry = &facts->entries[i];
		char *name;

		if (entry->build != LANDING_BUILT ||
		    !is_overlaid(facts, i, queue->base_commit))
			continue;
		name = check_book_tree(entry->tree, key);
		strv_take(&facts->trees, name);
		entry->tree = name;
		entry->stands = NULL;
	}
}

static void
add_runs(struct queue *queue, struct queue_facts *facts)
{
	static const char *const nobody[] = { NULL };

	for (int i = 0; i < LANDING_SLOTS_MAX; i++) {
		struct queue_slot *slot = &queue->slots[i];
		const char *tree = queue_slot_tree(slot);

		/* There were more slots once, and they are ending. */
		if (tree == NULL || i >= queue->slot_count)
			continue;
		facts->run_slots[facts->plan.run_count] = slot;
		facts->runs[facts->plan.run_count++] = (struct landing_run){
			.tree = tree,
			.tasks = slot->pinned != NULL ?
			    (const char *const *)slot->pinned :
			    nobody,
			.started_ms = check_slot_since_ms(slot->slot),
			.cancelled = slot->cancelled,
		};
	}
}

void
queue_facts_make(struct queue *queue, struct queue_facts *facts)
{
	const struct core *core = queue->core;
	const struct landing_record *record = &queue->core->state.landings;

	memset(facts, 0, sizeof *facts);
	facts->plan.window = record->window;
	facts->entries = xcalloc(record->count + 1, sizeof *facts->entries);
	facts->items =
	    xcalloc(record->count + 1, sizeof(struct landing_item *));
	for (size_t i = 0; i < record->count; i++)
		if (record->items[i]->step == ITEM_QUEUED)
			add_entry(queue, facts, record->items[i]);
	name_trees(queue, facts);
	add_runs(queue, facts);
	check_slot_key(core, facts->key);
	facts->plan.base_commit = queue->base_commit;
	facts->plan.base_tree = queue->base_tree;
	facts->plan.moving = record->to != NULL;
	facts->plan.hold = queue_move_waits(queue->move) ||
	    !landings_may_move(queue->landings);
	facts->plan.entries = facts->entries;
	facts->plan.runs = facts->runs;
	facts->plan.book = &record->checks;
	facts->plan.command = facts->key[0] != '\0' ? facts->key : NULL;
	facts->plan.mode =
	    strcmp(settings_string(core->settings, "auto.land_mode"), "each") ==
		0 ?
	    LANDING_EACH :
	    LANDING_TIP;
	facts->plan.slots = queue->slot_count;
	facts->plan.red_told = record->red_told;
	facts->plan.trial = queue->trial;
	facts->plan.unproven = queue->proving;
}

void
queue_facts_release(struct queue_facts *facts)
{
	free(facts->entries);
	free(facts->items);
	strv_clear(&facts->trees);
}

/* --- landing.list ------------------------------------------------------ */

/* Lives until git answers. */
struct asked {
	struct landings *landings;
	struct server_call *call;
};

static struct json_object *
view_json(struct queue *queue, const char *commit, const char *tree)
{
	const struct core *core = queue->core;
	struct landing_list list = {
		.record = &core->state.landings,
		.branch = core_branch(core),
		.check = settings_string(core->settings, "auto.check_command"),
		.hold = queue_move_reason(queue->move) != NULL ?
		    queue_move_reason(queue->move) :
		    upstream_reason(queue->upstream),
		.pushes = upstream_mode_of(core->settings) != UPSTREAM_OFF,
		.now_ms = clock_wall_ms(),
	};
	int slots[LANDING_SLOTS_MAX];
	cleanup_free const char **troubles = NULL;
	struct queue_facts facts;
	struct json_object *json;

	queue_facts_make(queue, &facts);
	facts.plan.base_commit = commit;
	facts.plan.base_tree = tree;
	troubles = xcalloc(facts.plan.entry_count + 1, sizeof *troubles);
	for (size_t i = 0; i < facts.plan.entry_count; i++) {
		const struct candidate *c =
		    candidates_of(queue->candidates, facts.items[i]->id);

		landings_proposes(
		    queue->landings, facts.items[i], &troubles[i]);
		if (troubles[i] == NULL && c != NULL && c->waits)
			troubles[i] = c->words;
		if (troubles[i] == NULL && facts.items[i]->overlaps)
			troubles[i] = queue_move_reason(queue->move);
	}
	for (size_t i = 0; i < facts.plan.run_count; i++)
		slots[i] = (int)(facts.run_slots[i] - queue->slots) + 1;
	list.facts = &facts.plan;
	list.items = facts.items;
	list.troubles = troubles;
	list.slots = slots;
	json = landing_list_json(&list);
	queue_facts_release(&facts);
	return json;
}

static void
on_tip(const struct git_answer *answer, void *arg)
{
	struct asked *asked = arg;
	struct landings *landings = asked->landings;
	cleanup_free char *commit =
	    xstrdup(answer->status == 0 ? answer->out : "");
	char *rest = commit;
	const char *tree;

	strsep(&rest, "\n");
	tree = rest != NULL ? rest : "";
	serve_reply(landings->core, asked->call,
	    view_json(landings->queue, commit, tree));
	free(asked);
}

static void
drop(void *arg)
{
	struct asked *asked = arg;

	serve_refuse(asked->call, API_FAILED, "the daemon is stopping");
	free(asked);
}

struct json_object *
queue_view(struct landings *landings)
{
	const struct queue *queue = landings->queue;
	bool known = queue->base_commit != NULL;

	return view_json(landings->queue, known ? queue->base_commit : "",
	    known ? queue->base_tree : "");
}

void
queue_view_answer(struct landings *landings, struct server_call *call)
{
	struct queue *queue = landings->queue;
	struct core *core = landings->core;
	const char *branch = core_branch(core);
	cleanup_free char *commit = xasprintf("refs/heads/%s^{commit}", branch);
	cleanup_free char *tree = xasprintf("refs/heads/%s^{tree}", branch);
	const char *const args[] = { "rev-parse", commit, tree, NULL };
	struct git_command ask = { .args = args, .drop = drop };
	struct asked *asked;

	if (queue->base_commit != NULL) {
		serve_reply(core, call,
		    view_json(queue, queue->base_commit, queue->base_tree));
		return;
	}
	asked = xcalloc(1, sizeof *asked);
	asked->landings = landings;
	asked->call = call;
	git_run(
	    git_queue(core->git, core->workspace->root), &ask, on_tip, asked);
}

/* --- review.get -------------------------------------------------------- */

/* What a worker has changed, as it would land, or, of a worker that has not
 * finished, as it is now; and of a task that has landed, what did. It changes
 * nothing. */

#define AT_ONCE_MAX   16 /* the others are told to ask again */
#define CONTEXT_USUAL 3

struct review_get {
	TAILQ_ENTRY(review_get) entry;
	struct landings *landings;
	struct server_call *call;
	struct json_object *answer;
	char *dir, *file;
	int context;
};

static void
get_free(struct review_get *get)
{
	TAILQ_REMOVE(&get->landings->reviews, get, entry);
	get->landings->review_count--;
	json_object_put(get->answer);
	free(get->dir);
	free(get->file);
	free(get);
}

static void
get_fail(struct review_get *get, const struct err *err)
{
	serve_refuse(get->call, API_FAILED, "%s", err->msg);
	get_free(get);
}

static void
on_diff(struct json_object *answer, const struct err *err, void *arg)
{
	struct review_get *get = arg;

	if (err == NULL) {
		json_object_object_foreach(answer, key, value)
		    json_set(get->answer, key, json_object_get(value));
		serve_show(get->call, take_ptr(&get->answer));
		get_free(get);
	} else {
		get_fail(get, err);
	}
}

static void
ask_diff(struct review_get *get, const char *onto, const char *commit,
    const char *tree)
{
	const struct git_diff what = { .onto = onto,
		.commit = commit,
		.tree = tree,
		.file = get->file,
		.context = get->context };

	json_set_string(get->answer, "commit", commit);
	git_diff_read(get->landings->core->git, get->dir, &what, on_diff, get);
}

/* snapshot: NULL for finished work, of which only the commit counts. */
static void
on_looked(const struct git_facts *facts, const struct git_snapshot *snapshot,
    const struct err *err, void *arg)
{
	struct review_get *get = arg;
	bool finished = json_bool_or(get->answer, "finished", false);

	if (err != NULL || facts == NULL) {
		get_fail(get, err);
		return;
	}
	json_set_int(get->answer, "uncommitted_files",
	    facts->changed + facts->untracked);
	ask_diff(get, core_branch(get->landings->core), facts->head,
	    finished || snapshot == NULL ? NULL : snapshot->tree);
}

static void
get_worker(struct review_get *get, const struct worker *w)
{
	struct core *core = get->landings->core;
	bool finished = w->status == WORKER_NEEDS_REVIEW;
	const struct task *task = state_task(&core->state, w->task);
	cleanup_buf struct buf title = BUF_INIT;

	if (task != NULL)
		buf_adds(&title, task->title);
	else if (w->prompt != NULL)
		text_add_words(&title, w->prompt,
		    text_cut(
			w->prompt, strcspn(w->prompt, "\n"), TASK_TITLE_MAX));
	json_set_string(get->answer, "worker", w->name);
	json_set_string(get->answer, "task", w->task);
	json_set_string(get->answer, "title", title.data);
	json_set_string(get->answer, "status", worker_status_name(w->status));
	json_set_bool(get->answer, "finished", finished);
	json_set_string(get->answer, "branch", w->branch);
	get->dir = xstrdup(w->worktree);
	git_snapshot(core->git, get->dir, core_branch(core),
	    finished ? NULL : "", on_looked, get);
}

static void
get_landed(struct review_get *get, const struct task *task)
{
	cleanup_free char *before = xasprintf("%s^", task->commit);

	json_set_string(get->answer, "worker", NULL);
	json_set_string(get->answer, "task", task->id);
	json_set_string(get->answer, "title", task->title);
	json_set_string(get->answer, "status", "landed");
	json_set_bool(get->answer, "finished", true);
	json_set_string(get->answer, "branch", NULL);
	json_set_int(get->answer, "uncommitted_files", 0);
	get->dir = xstrdup(get->landings->core->workspace->root);
	ask_diff(get, before, task->commit, NULL);
}

static void
get_held(struct review_get *get, const struct landing_item *item)
{
	json_set_string(get->answer, "worker", NULL);
	json_set_string(get->answer, "task", item->task);
	json_set_string(get->answer, "title", item->title);
	json_set_string(
	    get->answer, "status", worker_status_name(WORKER_NEEDS_REVIEW));
	json_set_bool(get->answer, "finished", true);
	json_set_string(get->answer, "branch", NULL);
	json_set_int(get->answer, "uncommitted_files", 0);
	get->dir = xstrdup(get->landings->core->workspace->root);
	ask_diff(get, core_branch(get->landings->core), item->head, NULL);
}

static void
on_get(void *arg, struct server_call *call, struct json_object *params)
{
	struct landings *landings = arg;
	struct core *core = landings->core;
	const char *worker = json_string_or(params, "worker", NULL);
	const char *name = json_string_or(params, "task", NULL);
	const struct task *task = NULL;
	const struct landing_item *held = NULL;
	struct task *filed = NULL;
	struct agent *agent;
	struct review_get *get;

	if (worker == NULL && name == NULL) {
		serve_refuse(
		    call, RPC_INVALID_PARAMS, "name a worker or a task");
		return;
	}
	if (worker != NULL)
		name = NULL;
	if (name != NULL)
		task = state_task(&core->state, name);
	if (name != NULL && task == NULL)
		task = filed = book_find_task(core->book, name);
	if (task != NULL)
		held = landing_record_held(&core->state.landings, task->id);
	if (task != NULL && task->commit == NULL && held == NULL)
		worker = task->worker;
	agent = fleet_find(landings->fleet, worker);
	if (name != NULL && task == NULL)
		serve_refuse(call, API_UNKNOWN,
		    "there is no task %s; see: llmc task list", name);
	else if (name == NULL && agent == NULL)
		fleet_refuse_unknown(landings->fleet, call, worker);
	else if (agent == NULL && task->commit == NULL && held == NULL)
		serve_refuse(call, API_STATUS,
		    "no worker has task %s, and it has not landed", task->id);
	else if (agent != NULL && agent->worker->worktree == NULL)
		serve_refuse(call, API_STATUS, "%s has no worktree", worker);
	else if (landings->review_count >= AT_ONCE_MAX)
		serve_refuse(call, API_BUSY,
		    "%d others look at changes just now; try again in a "
		    "moment",
		    AT_ONCE_MAX);
	else {
		get = xcalloc(1, sizeof *get);
		get->landings = landings;
		get->call = call;
		get->answer = json_object_new_object();
		xstrset(&get->file, json_string_or(params, "file", NULL));
		get->context =
		    (int)json_int_or(params, "context", CONTEXT_USUAL);
		json_set_string(
		    get->answer, "landing_branch", core_branch(core));
		TAILQ_INSERT_TAIL(&landings->reviews, get, entry);
		landings->review_count++;
		if (agent != NULL)
			get_worker(get, agent->worker);
		else if (held != NULL)
			get_held(get, held);
		else
			get_landed(get, task);
	}
	task_free(filed);
}

void
review_get_register(struct landings *landings)
{
	TAILQ_INIT(&landings->reviews);
	serve_handle(landings->core, "review.get", on_get, landings);
}

void
review_get_release(struct landings *landings)
{
	struct review_get *get;

	while ((get = TAILQ_FIRST(&landings->reviews)) != NULL) {
		serve_refuse(get->call, API_BUSY, "the daemon is stopping");
		get_free(get);
	}
}

/* --- landing.revert ---------------------------------------------------- */

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
revert_drop(void *arg)
{
	struct revert *r = arg;

	serve_refuse(r->call, API_FAILED, "the daemon is stopping");
	revert_free(r);
}

static void
ask(struct revert *r, const char *const *args, git_fn *fn)
{
	struct core *core = r->landings->core;
	struct git_command command = { .args = args, .drop = revert_drop };

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
