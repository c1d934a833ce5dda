/* SPDX-License-Identifier: ISC */

/*
 * A server that has lost its last commits: a standby that took over before it
 * had them, or an older copy. It is known by its identity, or because a host
 * knows a later state of a task. Then no host submits or lands anything, or
 * claims anything but what its own agents have spawned, until the lander has
 * compared it with the branch: what has landed, by its trailers, is landed
 * there, too, even if the task is not known any more. Meanwhile each host that
 * has said hello compares its own book with it: what is gone is published
 * again, claims of work that goes on are restored, and what has ended here ends
 * there. Both may be done again at any time.
 *
 * An old lander may still push while its lease runs; so the branch is read, and
 * the doubt ends, when every host has said hello, or after the time of a lease.
 * A host that comes later to a server it does not know compares its book then.
 *
 * The doubt is one for the server, and ends for each branch by itself, as that
 * is what was compared: its hosts go on, while those of a branch whose lander
 * has not looked yet wait. What a host owns or holds is for its own branch.
 */

#include "base.h"
#include "asks.h"
#include "book-history.h"
#include "emit.h"
#include "git-upstream.h"
#include "git.h"
#include "hosts-private.h"
#include "landing.h"
#include "loop.h"
#include "persist.h"
#include "prompt.h"
#include "task.h"

#define READ_MAX    (SHARED_CALLS_MAX - 2) /* shares of one ask */
#define TRUST_REF   "refs/llmc/trust" /* the branch, as it is at origin */
#define COMMITS_MAX "--max-count=20000" /* that are looked at */

/* --- the doubt ----------------------------------------------------------- */

static void
say_hello_again(struct hosts_floor *floor)
{
	if (floor->self.next == NULL)
		xstrset(&floor->self.next, floor->self.boot);
	floor->up = false;
	hosts_look(floor);
}

/* From the first share on. */
static void
compare_all(struct hosts_floor *floor)
{
	floor->repairs = false;
	for (size_t i = 0; i < floor->share_count; i++)
		floor->shares[i]->compared = false;
}

void
trust_compare_all(struct hosts_floor *floor)
{
	floor->compares = true;
	floor->restored = false;
	compare_all(floor);
}

/* words: what was found, if it is over. */
static void
set_doubt(struct hosts_floor *floor, bool doubt, const char *words)
{
	const char *identity = shared_identity(floor->shared);

	if (floor->self.identity == NULL)
		hosts_know_server(floor);
	if (doubt != floor->doubt ||
	    strcmp(floor->self.identity, identity) != 0)
		trust_compare_all(floor);
	if (doubt == floor->doubt)
		return;
	floor->doubt = doubt;
	if (doubt) {
		EMIT(floor->core, EVENT_HOSTS_DOUBT, .reason = TRUST_WORDS);
		land_lose_lease(floor->land);
		floor->land->ready = true;
	} else {
		EMIT(floor->core, EVENT_HOSTS_TRUSTED, .text = words);
		floor->poll = floor->claim = true;
		landings_kick(floor->land->landings);
	}
	hosts_land_look(floor);
}

void
trust_heard(struct hosts_floor *floor, bool doubt)
{
	set_doubt(floor, doubt, "it was compared with the branch");
}

void
trust_lost(struct hosts_floor *floor)
{
	if (floor->doubt || floor->seen)
		return;
	floor->seen = true;
	say_hello_again(floor);
}

void
trust_connected(struct hosts_floor *floor)
{
	if (floor->up && floor->self.identity != NULL &&
	    strcmp(floor->self.identity, shared_identity(floor->shared)) != 0) {
		land_lose_lease(floor->land);
		say_hello_again(floor);
	}
}

/* --- what this host knows ------------------------------------------------- */

/* It has ended here, and the server has lost that. NULL = it has not. */
static struct task *
find_ended(const struct hosts_floor *floor, const char *id)
{
	struct task *t = book_find_task(floor->core->book, id);
	cleanup_free char *own = xasprintf("-%s", floor->host);
	size_t len = strlen(id), tail = strlen(own);

	/* From before this host was in a fleet. */
	if (t == NULL && len > tail && strcmp(id + len - tail, own) == 0) {
		cleanup_free char *old = xstrndup(id, len - tail);

		t = book_find_task(floor->core->book, old);
	}
	if (t != NULL && t->outcome != OUTCOME_NONE)
		return t;
	task_free(t);
	return NULL;
}

static void
on_repaired(const struct shared_answer *answer, void *arg)
{
	struct hosts_floor *floor = arg;
	bool more = false;

	if (!hosts_answered(floor, answer)) {
		compare_all(floor);
		hosts_done(floor);
		return;
	}
	for (size_t i = 0; i < answer->calls; i++)
		more |= answer->of[i].count > 0;
	for (size_t i = 0; i < floor->share_count; i++)
		more |= !floor->shares[i]->compared;
	if (!more) { /* what is left cannot be repaired */
		floor->restored = true;
		compare_all(floor);
	}
	hosts_done(floor);
}

/* Its row is gone: it is published again, and what runs here is claimed as it
 * was. */
static void
publish_again(struct hosts_floor *floor, struct share *share)
{
	struct task *t = share_task(floor, share);

	if (share->step == SHARE_OUT || share->step == SHARE_AWAY)
		share->fence = 0;
	if (t != NULL && t->step == TASK_ELSEWHERE)
		task_returned(t, "the server has lost it", clock_wall_ms());
	share->step = SHARE_NEW;
	xstrset(&share->state, NULL);
	xstrset(&share->host, NULL);
	share_save(floor, share);
	persist_changed(floor->core);
}

/* What this host does about a share, given the answer about its row. True: a
 * call is to be made, which was added. */
static bool
repair(struct hosts_floor *floor, struct share *share,
    const struct shared_rows *rows, struct shared_call *call,
    struct book_value *values)
{
	struct share_row row = { 0 };
	unsigned state = ROW_STATE_COUNT;

	if (rows->count > 0) {
		row.host = shared_text(rows, 0, "host");
		row.boot = shared_text(rows, 0, "boot");
		row.fence = shared_int(rows, 0, "fence");
		word_find(
		    row_state_words, shared_text(rows, 0, "state"), &state);
		row.state = (enum row_state)state;
	}
	switch (share_compare(
	    share, rows->count > 0 ? &row : NULL, floor->host, floor->boot)) {
	case SHARE_FITS:
		break;
	case SHARE_REPUBLISH:
		publish_again(floor, share);
		break;
	case SHARE_RESTORE:
		if (!floor->restored) {
			values[0] = BOOK_T(share->id);
			values[1] = BOOK_I(share->fence);
			values[2] = BOOK_T(floor->boot);
			*call =
			    (struct shared_call){ SHARED_RESTORE, values, 3 };
			return true;
		}
		if (!floor->doubt) {
			share->step = SHARE_LOST;
			xstrset(&share->words,
			    "the server of the fleet has lost that it was");
			share_save(floor, share);
		}
		break;
	case SHARE_RESUBMIT:
		share->step = SHARE_HELD;
		xstrset(&share->state, NULL);
		share_save(floor, share);
		break;
	case SHARE_FORGET:
		share_remove(floor, share);
		break;
	}
	return false;
}

/* The same for a row that has ended here, and has no share any more. *ret: what
 * the caller frees after it has asked. */
static bool
repair_ended(struct hosts_floor *floor, const struct shared_rows *rows,
    size_t n, struct shared_call *call, struct book_value *values, char **ret)
{
	const char *id = shared_text(rows, n, "task");
	const char *boot = shared_text(rows, n, "boot");
	bool own = strcmp(shared_text(rows, n, "owner"), floor->host) == 0;
	struct task *t;
	bool done = false;

	if (share_of_id(floor, id) != NULL ||
	    state_task(&floor->core->state, id) != NULL)
		return false;
	t = find_ended(floor, id);
	values[0] = BOOK_T(id);
	if (t != NULL && own) {
		/* If it has landed, the branch says so, and the row will. */
		values[1] =
		    BOOK_T("it has ended, and the server had lost that");
		*call = (struct shared_call){ SHARED_DROP, values, 2 };
		done = true;
	} else if (t != NULL && t->outcome != OUTCOME_LANDED &&
	    strcmp(shared_text(rows, n, "state"), "claimed") == 0 &&
	    boot != NULL && strcmp(boot, floor->boot) == 0) {
		*ret = share_result(t);
		values[1] = BOOK_I(shared_int(rows, n, "fence"));
		values[2] = BOOK_T(floor->boot);
		values[3] = BOOK_T(
		    t->outcome == OUTCOME_NO_CHANGES ? "done" : "failed");
		values[4] = BOOK_T(*ret);
		values[5] = BOOK_T(NULL);
		*call = (struct shared_call){ SHARED_FINISH, values, 6 };
		done = true;
	}
	task_free(t);
	return done;
}

static void
on_compared(const struct shared_answer *answer, void *arg)
{
	struct hosts_floor *floor = arg;
	cleanup_strv char **asked = take_ptr(&floor->compared);
	struct shared_call calls[SHARED_CALLS_MAX];
	struct book_value values[SHARED_CALLS_MAX][6];
	char *texts[SHARED_CALLS_MAX] = { NULL };
	bool left = false;
	size_t n = 0;

	if (!hosts_answered(floor, answer)) {
		hosts_done(floor);
		return;
	}
	if ((answer->of[0].count > 0) != floor->doubt) {
		trust_heard(floor, !floor->doubt);
		hosts_done(floor);
		return;
	}
	for (size_t i = 2; i < answer->calls && asked[i - 2] != NULL; i++) {
		struct share *share = share_of_id(floor, asked[i - 2]);

		if (share == NULL)
			continue;
		share->compared = true;
		if (repair(floor, share, &answer->of[i], &calls[n], values[n]))
			n++;
	}
	for (size_t i = 0; !floor->restored && i < answer->of[1].count &&
	     n + 1 < SHARED_CALLS_MAX;
	     i++)
		if (repair_ended(floor, &answer->of[1], i, &calls[n], values[n],
			&texts[n]))
			n++;
	if (n > 0) {
		floor->repairs = true;
		calls[n++] =
		    SHARED_CALL(SHARED_ATTEMPTS_BEGIN, BOOK_T(floor->boot));
		hosts_ask(floor, calls, n, on_repaired);
		for (size_t i = 0; i < n; i++)
			free(texts[i]);
		return;
	}
	for (size_t i = 0; i < floor->share_count; i++)
		left |= !floor->shares[i]->compared;
	if (!left && floor->repairs && !floor->restored) {
		floor->restored = true; /* as far as that was possible */
		compare_all(floor);
	} else if (!left) {
		floor->compares = floor->restored = false;
		compare_all(floor);
		floor->since_ms = 0;
		floor->poll = true;
		floor->told = (struct hosts_told){ 0 };
		if (!floor->doubt)
			hosts_know_server(floor);
	}
	auto_plan_changed(floor->mode);
	hosts_done(floor);
}

bool
trust_compare(struct hosts_floor *floor)
{
	struct shared_call calls[SHARED_CALLS_MAX] = {
		SHARED_CALL(SHARED_DOUBTED, BOOK_T(core_branch(floor->core))),
		SHARED_CALL0(SHARED_OPEN)
	};
	struct book_value ids[READ_MAX];
	size_t n = 0;

	if (!floor->compares)
		return false;
	strv_clear(&floor->compared);
	for (size_t i = 0; i < floor->share_count && n < READ_MAX; i++) {
		if (floor->shares[i]->compared)
			continue;
		strv_add(&floor->compared, floor->shares[i]->id);
		ids[n] = BOOK_T(floor->shares[i]->id);
		calls[n + 2] =
		    (struct shared_call){ SHARED_TASK_READ, &ids[n], 1 };
		n++;
	}
	hosts_ask(floor, calls, n + 2, on_compared);
	return true;
}

/* --- what the branch has ------------------------------------------ */

static void tell_found(struct hosts_land *land);

static void
on_found(const struct shared_answer *answer, void *arg)
{
	struct hosts_land *land = arg;
	size_t told = answer->calls, left;
	bool trusted = false;

	if (!land_answered(land, answer)) {
		land->ready = true;
		return;
	}
	left = strv_count(land->found);
	if (told > left) { /* the last one ends it */
		told = left;
		trusted = answer->of[told].count > 0;
	}
	for (size_t i = 0; i < told; i++) {
		land->found_count += answer->of[i].count;
		free(land->found[i]);
	}
	if (told > 0)
		memmove(land->found, land->found + told,
		    (left - told + 1) * sizeof(char *));
	if (left > told) {
		tell_found(land);
		return;
	}
	if (trusted) {
		cleanup_free char *words = xasprintf(
		    "it was compared with %s, which has %zu landed task%s that "
		    "it did not know",
		    core_branch(land->core), land->found_count,
		    land->found_count == 1 ? "" : "s");

		set_doubt(land->floor, false, words);
	}
	land_done(land);
}

/* Some of it; with the rest of it, the doubt ends. */
static void
tell_found(struct hosts_land *land)
{
	const char *branch = core_branch(land->core), *boot = land->floor->boot;
	size_t count = strv_count(land->found), n = 0;
	struct shared_call calls[SHARED_CALLS_MAX];
	struct book_value values[SHARED_CALLS_MAX][9];
	const struct shared_call trust =
	    SHARED_CALL(SHARED_TRUST, BOOK_T(land->since), BOOK_T(branch),
		BOOK_I(land->fence), BOOK_T(boot));
	cleanup_strv char **words = NULL; /* of them */

	for (; n < count && n + 1 < SHARED_CALLS_MAX; n++) {
		/* "TASK COMMIT FENCE/HOST/BOOT" */
		char *rest = xstrdup(land->found[n]);
		char *task, *commit, *fence, *host;

		strv_take(&words, rest);
		task = strsep(&rest, " ");
		commit = strsep(&rest, " ");
		fence = strsep(&rest, "/");
		host = strsep(&rest, "/");
		values[n][0] = BOOK_T(task);
		values[n][1] = BOOK_T(commit);
		values[n][2] = BOOK_T(branch);
		values[n][3] = BOOK_I(land->fence);
		values[n][4] = BOOK_T(boot);
		values[n][5] = BOOK_T(strchr(task, '-') + 1);
		values[n][6] = BOOK_T(host);
		values[n][7] = BOOK_T(rest);
		values[n][8] = BOOK_I(strtoll(fence, NULL, 10));
		calls[n] = (struct shared_call){ SHARED_FOUND, values[n], 9 };
	}
	if (n == count)
		calls[n++] = trust;
	land_ask(land, calls, n, on_found);
}

/* Both sides have landed it: only a person can say which one stays. */
static void
ask_twice(struct hosts_land *land, const char *task, const char *commit,
    const char *other)
{
	cleanup_free char *key = xasprintf("twice/%s", task);
	cleanup_free char *undo = xasprintf("llmc landing revert %.12s", other);
	cleanup_free char *words = xasprintf(
	    "%s has landed twice, as %.12s and as %.12s, while the server of "
	    "the fleet was replaced: look at both, and take one back if it "
	    "does harm",
	    task, commit, other);

	asks_open(land->core,
	    &(struct ask_draft){ .kind = ASK_BLOCKED,
		.level = ESCALATION_WARNING,
		.key = key,
		.title = "a task has landed twice",
		.words = words,
		.command = undo,
		.stays = true });
}

static void read_branch(struct hosts_land *land);

/* A line for each commit, the newest first: its id, task and attempt. */
static void
on_log(const struct git_answer *answer, void *arg)
{
	struct hosts_land *land = arg;
	cleanup_free char *text = xstrdup(answer->out);
	char *rest = text, *line;
	size_t count;

	if (answer->status != 0 && land->tip != NULL) {
		xstrset(&land->tip, NULL); /* the branch was rewritten */
		read_branch(land);
		return;
	}
	if (answer->status != 0) {
		land->ready = true;
		land_failed(land, answer->complaint);
		return;
	}
	strv_clear(&land->found);
	land->found_count = 0;
	count = 0;
	while ((line = strsep(&rest, "\n")) != NULL) {
		const char *commit = strsep(&line, "\t");
		const char *task = strsep(&line, "\t");
		cleanup_free char *found = NULL;
		size_t i = 0, len;

		const char *slash = line != NULL ? strchr(line, '/') : NULL;

		if (slash == NULL || strchr(slash + 1, '/') == NULL ||
		    strpbrk(line, " ,") != NULL || *task == '\0' ||
		    strlen(task) > 100 || strpbrk(task, " ,") != NULL ||
		    strchr(task, '-') == NULL)
			continue; /* no task of a fleet */
		found = xasprintf("%s %s %s", task, commit, line);
		len = strlen(task) + 1;
		while (i < count && strncmp(land->found[i], found, len) != 0)
			i++;
		if (i < count) {
			ask_twice(land, task, commit, land->found[i] + len);
			continue;
		}
		strv_add(&land->found, found);
		count++;
	}
	tell_found(land);
}

static void
read_branch(struct hosts_land *land)
{
	static const char format[] =
	    "--format=%H%x09%(trailers:key=" PROMPT_TASK_TRAILER
	    ",valueonly,separator=%x2C)%x09%(trailers:"
	    "key=" PROMPT_ATTEMPT_TRAILER ",valueonly,separator=%x2C)";
	cleanup_free char *range = land->tip != NULL ?
	    xasprintf("%s.." TRUST_REF, land->tip) :
	    xstrdup(TRUST_REF);
	const char *const args[] = { "log", "--no-show-signature", COMMITS_MAX,
		format, range, "--", NULL };

	git_run(git_queue(land->git, git_root(land->git)),
	    &(struct git_command){ .args = args }, on_log, land);
}

static void
on_branch(const struct git_fetched *fetched, const char *words, void *arg)
{
	struct hosts_land *land = arg;

	if (fetched->result != PUSH_OK) {
		land->ready = true;
		land_failed(land, words);
	} else if (fetched->remote[0] == '\0') { /* it has no such branch */
		strv_clear(&land->found);
		land->found_count = 0;
		tell_found(land);
	} else {
		read_branch(land);
	}
}

static void
on_doubted(const struct shared_answer *answer, void *arg)
{
	struct hosts_land *land = arg;
	const struct shared_rows *lease, *rows;
	cleanup_free char *ref = NULL;
	int64_t age;

	if (!land_answered(land, answer))
		return;
	lease = &answer->of[0];
	rows = &answer->of[1];
	land->busy = false;
	land->tries = 0;
	if (rows->count == 0)
		trust_heard(land->floor, false);
	/* Another host's, or not of this server. */
	if (lease->count == 0 || rows->count == 0 || !land->floor->up) {
		land_lose_lease(land);
		hosts_land_look(land->floor);
		return;
	}
	if (land->fence == 0) {
		land->fence = shared_int(lease, 0, "fence");
		xstrset(&land->tip, shared_text(lease, 0, "tip"));
		if (land->tip != NULL && !hosts_commit_is(land->tip))
			xstrset(&land->tip, NULL);
	}
	land->asked_ms = land->sent_ms;
	age = shared_int(rows, 0, "age");
	if (shared_int(rows, 0, "missing") > 0 && age < HOSTS_LEASE_MS) {
		land_arm(land,
		    HOSTS_LEASE_MS - age < HOSTS_POLL_MS ?
			HOSTS_LEASE_MS - age :
			HOSTS_POLL_MS);
		return;
	}
	xstrset(&land->since, shared_text(rows, 0, "since"));
	ref = xasprintf("refs/heads/%s", core_branch(land->core));
	land->busy = true;
	git_upstream_fetch(land->git,
	    &(struct git_fetch_spec){ .remote = LAND_REMOTE,
		.ref = ref,
		.keep = TRUST_REF,
		.deadline_ms = LAND_PUSH_MS },
	    on_branch, land);
}

void
trust_land(struct hosts_land *land)
{
	const char *branch = core_branch(land->core), *boot = land->floor->boot;
	int64_t now = clock_boot_ms();
	int64_t wait = land->poll_ms + HOSTS_POLL_MS - now;

	if (!land->ready && wait > 0) {
		if (land->timer == NULL || !loop_timer_pending(land->timer))
			land_arm(land, wait);
		return;
	}
	land->ready = false;
	land->poll_ms = land->sent_ms = now;
	land_ask(land,
	    (const struct shared_call[]){ land->fence == 0 ?
		    SHARED_CALL(
			SHARED_LANDER_TAKE, BOOK_T(branch), BOOK_T(boot)) :
		    SHARED_CALL(SHARED_LANDER_RENEW, BOOK_T(branch),
			BOOK_I(land->fence), BOOK_T(boot), BOOK_T(NULL)),
		SHARED_CALL(SHARED_DOUBTED, BOOK_T(branch)) },
	    2, on_doubted);
}
