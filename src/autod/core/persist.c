/* SPDX-License-Identifier: ISC */

#include "base.h"

#include <sys/queue.h>
#include <sys/stat.h>

#include "asks.h"
#include "book-history.h"
#include "book.h"
#include "core.h"
#include "emit.h"
#include "identity.h"
#include "failure.h"
#include "heartbeat.h"
#include "loop.h"
#include "obstacle.h"
#include "persist.h"
#include "state-book.h"
#include "worker.h"
#include "workspace.h"

#define RETRY_MS 1000 /* a full disk may have space again by then */
/* Another program of ours writes, an import: that is no outage. */
#define BUSY_MS      100
#define BUSY_LONG_MS 30000
#define GONE_MS      500
#define KEPT_MAX     10000 /* events, until then */

struct effect {
	TAILQ_ENTRY(effect) entry;
	void *owner; /* NULL: an answer, which is never dropped */
	persist_fn *fn;
	void *arg;
};

TAILQ_HEAD(effects, effect);

struct persist {
	struct core *core;
	dev_t dev; /* of the book's file */
	ino_t ino; /* 0 = not known */
	bool dirty; /* there are changes that are not saved */
	bool running; /* effects are running */
	bool named; /* root_id was written */
	struct buf panes; /* the text of panes.json */
	struct effects waiting; /* effects for the next commit */
	struct effects covered; /* effects of the last one */
	struct loop_call *call;
	struct loop_timer *retry, *gone;
	char *lost; /* what another program did to the book */
	/* While the book cannot be written. */
	bool outage;
	struct err why;
	int64_t since_ms; /* monotonic */
	int64_t busy_ms; /* since when; 0 = no other writer */
	size_t kept, dropped; /* events: see persist_keeps() */
	void (*before_fn)(void *arg);
	void *before_arg;
	bool requested; /* that has something to write */
	void (*changed_fn)(void *arg);
	void *changed_arg;
	persist_gate_fn *gate_fn;
	void *gate_arg;
};

static void
commit_soon(void *arg)
{
	struct persist *p = arg;

	loop_call_request(p->call);
}

/* Effects that these request wait for the next commit. */
static void
run_effects(struct persist *p)
{
	struct effect *effect;

	p->running = true;
	while ((effect = TAILQ_FIRST(&p->covered)) != NULL) {
		TAILQ_REMOVE(&p->covered, effect, entry);
		effect->fn(effect->arg);
		free(effect);
	}
	p->running = false;
}

/* Keep the effects: nothing may be done that is not saved. */
static void
commit_failed(struct persist *p, const struct err *err)
{
	p->dirty = true;
	loop_timer_free(take_ptr(&p->retry));
	if (err->code == -EAGAIN && p->busy_ms == 0)
		p->busy_ms = clock_mono_ms();
	if (err->code == -EAGAIN && !p->outage &&
	    clock_mono_ms() - p->busy_ms < BUSY_LONG_MS) {
		p->retry = loop_after(p->core->loop, BUSY_MS, commit_soon, p);
		return;
	}
	p->why = *err;
	if (!p->outage) {
		p->outage = true;
		p->since_ms = clock_mono_ms();
		EMIT(p->core, EVENT_STORE_UNWRITTEN, .reason = err->msg);
	}
	EMIT(p->core, EVENT_STATE_UNWRITTEN, .reason = err->msg);
	p->retry = loop_after(p->core->loop, RETRY_MS, commit_soon, p);
}

static void
commit_works(struct persist *p)
{
	const struct event again = { .kind = EVENT_STORE_WRITTEN,
		.duration_ms = clock_mono_ms() - p->since_ms,
		.count = (int64_t)p->dropped };

	p->busy_ms = 0;
	if (!p->outage)
		return;
	p->outage = false;
	p->kept = p->dropped = 0;
	emit(p->core, &again);
}

static void
on_book_gone(void *arg)
{
	struct persist *p = arg;
	struct core *core = p->core;

	if (!root_guard_holds(core))
		return;
	core->book_lost = true;
	RAISE(core, "state_overwritten", .reason = p->lost);
}

/* Is the book still the file that was opened, and what was written to it?
 * SQLite goes on writing to one that has no name any more, and to the log of
 * one that was overwritten, so nothing is lost until we end. If all of .llmc
 * is being removed, the lock may not be gone yet. */
static void
check_book(struct persist *p)
{
	static const char who[] =
	    "a test that uses LLMC_ROOT of this repository does that";
	cleanup_free char *file = NULL;
	struct err err = { 0 };
	struct stat st;

	if (p->gone != NULL || p->ino == 0 || p->core->options->oneshot)
		return;
	file = workspace_path(p->core->workspace, WORKSPACE_BOOK);
	if (stat(file, &st) == 0 ? st.st_dev != p->dev || st.st_ino != p->ino :
				   errno == ENOENT)
		p->lost = xasprintf("%s was removed or replaced by another "
				    "program; %s. What the daemon has saved is "
				    "put back",
		    file, who);
	else if (book_check_file(p->core->book, &err) < 0)
		p->lost = xasprintf("%s; %s. What of it is in the memory and "
				    "the log of the daemon is put back",
		    err.msg, who);
	if (p->lost != NULL)
		p->gone = loop_after(p->core->loop, GONE_MS, on_book_gone, p);
}

/* For programs that cannot read the book. Not synced: no session outlives the
 * machine. */
static int
save_panes(struct persist *p, struct err *err)
{
	cleanup_buf struct buf text = BUF_INIT;
	cleanup_free char *file = NULL;
	int r;

	identity_panes_text(&p->core->state, &text);
	if (p->panes.len == text.len &&
	    memcmp(p->panes.data, text.data, text.len) == 0)
		return 0;
	file = workspace_path(p->core->workspace, IDENTITY_PANES);
	r = file_replace_soon(file, text.data, text.len, 0600, err);
	if (r < 0)
		return r;
	buf_clear(&p->panes);
	buf_add(&p->panes, text.data, text.len);
	return 0;
}

static int
gate(struct persist *p, bool after, struct err *err)
{
	return p->gate_fn != NULL ? p->gate_fn(after, err, p->gate_arg) : 0;
}

/* A state that has lost its workers shows where that was. */
static void
log_counts(const struct state *state)
{
	size_t automatic = 0, busy = 0;

	for (size_t i = 0; i < state->count; i++) {
		automatic += worker_is_auto(state->workers[i]->name);
		busy += worker_in_turn(state->workers[i]->status);
	}
	log_debug("saved: %zu workers, %zu of them auto, %zu in a turn; %zu "
		  "tasks",
	    state->count, automatic, busy, state->task_count);
}

static int
save(struct persist *p, struct err *err)
{
	struct core *core = p->core;
	int r = gate(p, false, err);

	if (r < 0)
		return r;
	if (!core->options->oneshot && obstacle_clear(core))
		buf_clear(&p->panes);
	if (p->dirty)
		asks_look(core);
	state_book_put(core->rows, &core->state);
	if (!core->options->oneshot)
		book_note_alive(core->book, clock_wall_ms());
	r = save_panes(p, err);
	if (r == 0)
		r = book_commit(core->book, err);
	/* Last: a root_id without a state means that the state was lost. */
	if (r == 0 && !p->named)
		r = root_id_keep(core->workspace, core->state.root_id, err);
	if (r < 0)
		return r;
	p->named = true;
	log_counts(&core->state);
	heartbeat_saved(core->heartbeat);
	return gate(p, true, err);
}

static bool
has_changes(const struct persist *p)
{
	return p->dirty ||
	    (p->core->book != NULL && !book_is_clean(p->core->book));
}

/* Runs at the end of a pass of the loop. */
static void
on_pass_end(void *arg)
{
	struct persist *p = arg;

	if (p->running || (p->retry != NULL && loop_timer_pending(p->retry)))
		return;
	p->requested = false;
	if (p->before_fn != NULL)
		p->before_fn(p->before_arg);
	if (has_changes(p)) {
		struct err err = { 0 };
		int r;

		if (!root_guard_holds(p->core)) {
			/* Nothing can be saved any more. What waits for that is
			 * run when all is being stopped, to end with it. */
			if (!p->core->stopping)
				return;
		} else {
			check_book(p);
			r = save(p, &err);
			if (r < 0 && r != -EINPROGRESS)
				commit_failed(p, &err);
			if (r < 0)
				return;
		}
		p->dirty = false;
		commit_works(p);
		TAILQ_CONCAT(&p->covered, &p->waiting, entry);
		run_effects(p);
		if (p->dirty || !TAILQ_EMPTY(&p->waiting))
			loop_call_request(p->call);
		return;
	}
	TAILQ_CONCAT(&p->covered, &p->waiting, entry);
	run_effects(p);
}

struct persist *
persist_new(struct core *core)
{
	struct persist *p = xcalloc(1, sizeof *p);

	p->core = core;
	buf_init(&p->panes);
	TAILQ_INIT(&p->waiting);
	TAILQ_INIT(&p->covered);
	p->call = loop_call_new(core->loop, on_pass_end, p);
	return p;
}

void
persist_begin(struct core *core)
{
	cleanup_free char *file =
	    workspace_path(core->workspace, WORKSPACE_BOOK);
	cleanup_free char *panes =
	    workspace_path(core->workspace, IDENTITY_PANES);
	struct persist *p = core->persist;
	struct stat st;

	file_replace_tidy(panes);
	if (stat(file, &st) == 0) {
		p->dev = st.st_dev;
		p->ino = st.st_ino;
	}
	book_on_dirty(core->book, commit_soon, p);
}

void
persist_panes_again(struct core *core)
{
	buf_clear(&core->persist->panes);
	persist_changed(core);
}

static void
release(struct effects *effects)
{
	struct effect *effect;

	while ((effect = TAILQ_FIRST(effects)) != NULL) {
		TAILQ_REMOVE(effects, effect, entry);
		if (effect->owner == NULL)
			effect->fn(effect->arg);
		free(effect);
	}
}

void
persist_answer(struct core *core)
{
	release(&core->persist->covered);
	release(&core->persist->waiting);
}

void
persist_free(struct persist *p)
{
	if (p == NULL)
		return;
	release(&p->covered);
	release(&p->waiting);
	if (p->core->book != NULL)
		book_on_dirty(p->core->book, NULL, NULL);
	loop_call_free(p->call);
	loop_timer_free(p->retry);
	loop_timer_free(p->gone);
	buf_release(&p->panes);
	free(p->lost);
	free(p);
}

void
persist_note(struct core *core)
{
	struct persist *p = core->persist;

	p->dirty = true;
	if (p->changed_fn != NULL)
		p->changed_fn(p->changed_arg);
}

void
persist_changed(struct core *core)
{
	persist_note(core);
	loop_call_request(core->persist->call);
}

void
persist_request(struct core *core)
{
	core->persist->requested = true;
	loop_call_request(core->persist->call);
}

void
persist_before(struct core *core, void (*fn)(void *arg), void *arg)
{
	core->persist->before_fn = fn;
	core->persist->before_arg = arg;
}

int
persist_ready(struct core *core, struct err *err)
{
	struct persist *p = core->persist;

	if (!p->outage)
		return 0;
	loop_timer_free(take_ptr(&p->retry));
	loop_call_request(p->call);
	return err_set(err, -EAGAIN, "%s", p->why.msg);
}

bool
persist_keeps(struct core *core)
{
	struct persist *p = core->persist;

	if (!p->outage || p->kept++ < KEPT_MAX)
		return true;
	p->dropped++;
	return false;
}

void
persist_on_changed(struct core *core, void (*fn)(void *arg), void *arg)
{
	core->persist->changed_fn = fn;
	core->persist->changed_arg = arg;
}

void
persist_then(struct core *core, void *owner, persist_fn *fn, void *arg)
{
	struct effect *effect = xcalloc(1, sizeof *effect);

	effect->owner = owner;
	effect->fn = fn;
	effect->arg = arg;
	TAILQ_INSERT_TAIL(&core->persist->waiting, effect, entry);
	loop_call_request(core->persist->call);
}

static void
forget(struct effects *effects, const void *owner)
{
	struct effect *effect, *next;

	for (effect = TAILQ_FIRST(effects); effect != NULL; effect = next) {
		next = TAILQ_NEXT(effect, entry);
		if (effect->owner != owner)
			continue;
		TAILQ_REMOVE(effects, effect, entry);
		free(effect);
	}
}

void
persist_forget(struct core *core, const void *owner)
{
	forget(&core->persist->waiting, owner);
	forget(&core->persist->covered, owner);
}

bool
persist_is_idle(const struct core *core)
{
	const struct persist *p = core->persist;

	return !has_changes(p) && !p->requested && TAILQ_EMPTY(&p->waiting) &&
	    TAILQ_EMPTY(&p->covered);
}

int
persist_flush(struct core *core, struct err *err)
{
	struct persist *p = core->persist;
	int r;

	if (!root_guard_holds(core))
		return 0;
	if (p->before_fn != NULL)
		p->before_fn(p->before_arg);
	r = save(p, err);
	if (r == 0)
		p->dirty = false;
	return r;
}

void
persist_set_gate(struct core *core, persist_gate_fn *fn, void *arg)
{
	core->persist->gate_fn = fn;
	core->persist->gate_arg = arg;
}

void
persist_check_book(struct core *core)
{
	if (root_guard_holds(core))
		check_book(core->persist);
}
