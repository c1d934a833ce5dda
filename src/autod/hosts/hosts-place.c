/* SPDX-License-Identifier: ISC */

/*
 * Where a task begins. Agents that were spawned: which begin at home, and those
 * that an attempt on another host has asked for. What this host has for tasks,
 * and what a person is asked about its own: hosts were lost with one, or none
 * can take it.
 */

#include "base.h"
#include "agent-card.h"
#include "agent-kind.h"
#include "asks.h"
#include "attempt.h"
#include "box-plan.h"
#include "emit.h"
#include "hosts-private.h"
#include "persist.h"
#include "settings.h"
#include "task.h"
#include "worker.h"

/* One that was spawned here begins here while this host is not busy: that is
 * where its parent is. */
bool
family_at_home(const struct hosts_floor *floor, const struct task *t)
{
	const struct state *state = &floor->core->state;
	size_t busy = 0;

	for (size_t i = 0; i < state->count; i++)
		busy += state->workers[i]->task != NULL &&
		    state->workers[i]->status != WORKER_WAITING;
	return task_is_for_team(t) &&
	    (share_stays(t) || busy < (size_t)floor->mode->workers);
}

int64_t
kin_due_ms(const struct hosts_floor *floor, const struct share *share)
{
	const struct task *t =
	    share->step == SHARE_OUT ? share_task(floor, share) : NULL;

	return t != NULL && t->step == TASK_WAITING && task_is_for_team(t) &&
		!share->withheld && !floor->doubt && hosts_sure(floor) ?
	    share->out_ms + HOSTS_HOME_MS - clock_boot_ms() :
	    INT64_MAX;
}

/* --- agents that an earlier attempt has asked for ----------------- */

/* The row is ours now: its result is for this attempt, and it ends with it. One
 * that another host works on stays there. */
static void
take_over(struct hosts_floor *floor, struct task *parent,
    const struct shared_rows *rows, size_t n)
{
	const char *id = shared_text(rows, n, "task");
	struct share *share = share_of_id(floor, id);
	struct task *t = share != NULL ? share_task(floor, share) :
					 share_add_task(floor, id, floor->host,
					     shared_text(rows, n, "body"));
	cleanup_free char *actor = task_actor(parent);

	if (t == NULL)
		return;
	if (share == NULL) {
		share = share_add(floor, id, id, floor->host, SHARE_OUT);
		share->out_ms = clock_boot_ms();
		share->prio = task_rank(t);
		share->fence = shared_int(rows, n, "fence");
	}
	xstrset(&share->owner, floor->host);
	share_save(floor, share);
	xstrset(&t->source, HOSTS_CHILD_SOURCE);
	xstrset(&t->launch.parent, parent->id);
	xstrset(&t->launch.parent_actor, actor);
	parent->attempt.has_spawned = true;
	floor->since_ms = 0; /* who has it is read */
	floor->poll = true;
}

static void
on_family(const struct shared_answer *answer, void *arg)
{
	struct hosts_floor *floor = arg;
	struct share *share = floor->share;
	struct task *t = share != NULL ? share_task(floor, share) : NULL;
	const struct shared_rows *rows;

	floor->share = NULL;
	if (!hosts_answered(floor, answer) || share == NULL) {
		hosts_done(floor);
		return;
	}
	share->family = false;
	rows = &answer->of[1];
	if (t != NULL)
		strv_clear(&t->attempt.elsewhere);
	for (size_t i = 0; t != NULL && i < rows->count; i++) {
		const char *title = shared_text(rows, i, "title");
		const char *host = shared_text(rows, i, "host");
		const char *owner = shared_text(rows, i, "owner");
		unsigned state = ROW_STATE_COUNT;

		word_find(
		    row_state_words, shared_text(rows, i, "state"), &state);
		if (strcmp(owner, floor->host) == 0) {
			if (state < ROW_LANDED || state == ROW_HELD)
				take_over(floor, t, rows, i);
			continue;
		}
		strv_take(&t->attempt.elsewhere,
		    xasprintf("%s (%s, of host %s): %s%s%s",
			shared_text(rows, i, "task"),
			title != NULL ? title : "", owner,
			shared_text(rows, i, "state"),
			host != NULL ? " on host " : "",
			host != NULL ? host : ""));
	}
	persist_changed(floor->core);
	auto_plan_changed(floor->mode);
	hosts_done(floor);
}

bool
family_read(struct hosts_floor *floor)
{
	for (size_t i = 0; i < floor->share_count; i++) {
		struct share *share = floor->shares[i];

		if (share->step != SHARE_HELD || !share->family)
			continue;
		floor->share = share;
		hosts_ask(floor,
		    (const struct shared_call[]){
			SHARED_CALL(SHARED_INHERIT, BOOK_T(share->id),
			    BOOK_T(floor->boot)),
			SHARED_CALL(SHARED_CHILDREN, BOOK_T(share->id)) },
		    2, on_family);
		return true;
	}
	return false;
}

void
kin_check(struct hosts_floor *floor, const char *parent)
{
	for (size_t i = 0; i < floor->share_count; i++) {
		const struct share *share = floor->shares[i];
		const struct task *t = share_task(floor, share);

		if (share_is_own(floor, share) && t != NULL &&
		    task_is_child(t) &&
		    (parent == NULL || strcmp(t->launch.parent, parent) == 0) &&
		    !strv_has(strv_const(floor->adopt), share->id))
			strv_add(&floor->adopt, share->id);
	}
}

/* --- what this host has ------------------------------------------- */

static const char *const tools[] = { "ant", "bazel", "bun", "cargo", "clang",
	"cmake", "composer", "deno", "docker", "dotnet", "flutter", "g++",
	"gcc", "gh", "go", "gradle", "java", "make", "meson", "mvn", "mysql",
	"ninja", "nix", "node", "npm", "php", "pnpm", "podman", "psql",
	"python3", "ruby", "rustc", "sqlite3", "swift", "terraform", "uv",
	"xcodebuild", "yarn", "zig", NULL };

static void
on_can(const struct shared_answer *answer, void *arg)
{
	struct hosts_floor *floor = arg;

	(void)answer; /* hello says it again */
	floor->claim = true;
	hosts_look(floor);
}

static bool
is_on_path(const char *name)
{
	const char *path = getenv("PATH");

	while (path != NULL && *path != '\0') {
		size_t len = strcspn(path, ":");
		cleanup_free char *file =
		    xasprintf("%.*s/%s", (int)len, path, name);

		if (len > 0 && access(file, X_OK) == 0)
			return true;
		path += len + (path[len] == ':');
	}
	return false;
}

/* A program that nobody has thought of is found when a task wants it. */
static bool
hosts_can(struct hosts_floor *floor, const char *word)
{
	const struct shared_call call =
	    SHARED_CALL(SHARED_CAN_SET, BOOK_T(word));

	if (strv_has(strv_const(floor->can), word))
		return true;
	if (strchr(word, ':') != NULL || !is_on_path(word))
		return false;
	strv_add(&floor->can, word);
	shared_ask(floor->shared, &call, 1, HOSTS_ANSWER_MS, on_can, floor);
	return true;
}

/* What this host has: found, and as the settings say. */
void
hosts_find_words(struct hosts_floor *floor)
{
	const struct settings *settings = floor->core->settings;
	const char *boxes[BOX_MODE_COUNT + 1] = { 0 };
	enum box_mode mode = box_mode_of(settings, "auto-1");
	cleanup_agent_cards struct agent_cards cards = { 0 };
	cleanup_strv char **more = NULL, **agents = NULL;
	const char *const *list;

	/* Kinds of agents whose program is here, and the user's own cards. */
	for (size_t i = 0; agent_kinds[i] != NULL; i++) {
		cleanup_free char *key =
		    xasprintf("defaults.%s", agent_kinds[i]->command);
		const char *program = settings_string(settings, key);
		cleanup_free char *word =
		    xstrndup(program, strcspn(program, " "));

		if (strchr(word, '/') != NULL ? access(word, X_OK) == 0 :
						is_on_path(word))
			strv_add(&agents, agent_kinds[i]->name);
	}
	agent_cards_load(settings, &cards);
	for (size_t i = 0; i < cards.count; i++)
		strv_add(&agents, cards.list[i]->name);

	for (int i = 0; i <= (int)mode && i < BOX_MODE_COUNT; i++)
		boxes[i] = box_mode_name((enum box_mode)i);
	settings_list(settings, "fleet.capabilities", &list);
	strv_add_all(&more, list);
	if (settings_bool(settings, "plan.enabled") &&
	    settings_bool(settings, "team.enabled"))
		strv_add(&more, HOSTS_TEAM);
	for (size_t i = 0; tools[i] != NULL; i++)
		if (is_on_path(tools[i]))
			strv_add(&more, tools[i]);
	strv_free(floor->can);
	floor->can = hosts_words(&(struct hosts_facts){ .host = floor->host,
	    .agents = agents,
	    .boxes = boxes,
	    .memory = (int64_t)sysconf(_SC_PHYS_PAGES) * sysconf(_SC_PAGESIZE),
	    .more = strv_const(more) });
}

/* --- hosts were lost with it -------------------------------------- */

static void
on_held(const struct shared_answer *answer, void *arg)
{
	struct hosts_floor *floor = arg;
	cleanup_free char *id = NULL, *why = NULL;
	cleanup_buf struct buf hosts = BUF_INIT;
	const struct shared_rows *row, *attempts;
	struct share *share;
	struct task *t;

	if (!hosts_answered(floor, answer)) {
		hosts_done(floor);
		return;
	}
	id = xstrdup(floor->held[0]);
	strv_remove(floor->held, id);
	row = &answer->of[0];
	attempts = &answer->of[1];
	share = share_of_id(floor, id);
	t = share != NULL ? share_task(floor, share) : NULL;
	if (t != NULL && row->count > 0 &&
	    strcmp(shared_text(row, 0, "state"), "held") == 0) {
		for (size_t i = 0; i < attempts->count; i++)
			buf_addf(&hosts, "%s%s", i > 0 ? ", " : "",
			    shared_text(attempts, i, "host"));
		why = xasprintf("%d hosts were lost while they had it; it was "
				"on: %s",
		    HOSTS_LOST_MAX, hosts.data);
		if (t->step != TASK_PARKED &&
		    task_park(t, ASK_FAILURE, NULL, why, clock_wall_ms()) == 0)
			EMIT(floor->core, EVENT_TASK_PARKED, .task = t->id,
			    .worker = t->worker, .reason = why);
		share->step = SHARE_NEW; /* once it waits again */
		share->fence = shared_int(row, 0, "fence");
		xstrset(&share->state, "held");
		share_save(floor, share);
		persist_changed(floor->core);
	}
	hosts_done(floor);
}

/* A person says whether it is tried again, and should know where it was. */
bool
asks_held(struct hosts_floor *floor)
{
	if (floor->held == NULL || floor->held[0] == NULL)
		return false;
	hosts_ask(floor,
	    (const struct shared_call[]){
		SHARED_CALL(SHARED_TASK_READ, BOOK_T(floor->held[0])),
		SHARED_CALL(SHARED_ATTEMPTS, BOOK_T(floor->held[0])) },
	    2, on_held);
	return true;
}

/* --- what no host can take ---------------------------------------- */

static bool
shares_want(const struct hosts_floor *floor)
{
	for (size_t i = 0; i < floor->share_count; i++) {
		const struct share *share = floor->shares[i];
		const struct task *t = share_task(floor, share);
		cleanup_strv char **wants = NULL;

		if (share->asks)
			return true;
		if (share->step == SHARE_OUT && t != NULL)
			wants = share_wants(t);
		if (wants != NULL)
			return true;
	}
	return false;
}

static bool
is_listed(const struct shared_rows *rows, const char *id)
{
	for (size_t i = 0; i < rows->count; i++)
		if (strcmp(shared_text(rows, i, "task"), id) == 0)
			return true;
	return false;
}

/* Those are asked about, the others not any more. */
static void
on_nobody(const struct shared_answer *answer, void *arg)
{
	struct hosts_floor *floor = arg;
	const struct shared_rows *rows = &answer->of[0];

	if (!hosts_answered(floor, answer)) {
		hosts_done(floor);
		return;
	}
	for (size_t i = 0; i < floor->share_count; i++) {
		struct share *share = floor->shares[i];
		struct task *t = share_task(floor, share);
		cleanup_free char *key = xasprintf("host/%s", share->id);
		cleanup_buf struct buf words = BUF_INIT;
		cleanup_strv char **wants = t != NULL ? share_wants(t) : NULL;
		bool here = wants != NULL;

		if (!is_listed(rows, share->id) || t == NULL) {
			if (share->asks)
				asks_resolve(floor->core, key);
			share->asks = false;
			continue;
		}
		buf_adds(&words, "no host that is up has all that it wants:");
		for (size_t k = 0; wants != NULL && wants[k] != NULL; k++) {
			here &= hosts_can(floor, wants[k]);
			buf_addf(&words, " %s", wants[k]);
		}
		if (here || share->asks)
			continue;
		buf_adds(&words,
		    "; start a host that has it, or add the word to "
		    "fleet.capabilities of one that does");
		share->asks = true;
		share_save(floor, share);
		asks_open(floor->core,
		    &(struct ask_draft){ .kind = ASK_BLOCKED,
			.level = ESCALATION_WARNING,
			.key = key,
			.title = "no host can take a task",
			.words = words.data,
			.command = "llmc fleet hosts",
			.task = t->id,
			.stays = true });
	}
	persist_changed(floor->core);
	hosts_done(floor);
}

bool
asks_nobody(struct hosts_floor *floor)
{
	int64_t now = clock_boot_ms();

	if (now - floor->nobody_ms < HOSTS_POLL_MS || !shares_want(floor))
		return false;
	floor->nobody_ms = now;
	hosts_ask(floor, &SHARED_CALL0(SHARED_NOBODY_CAN), 1, on_nobody);
	return true;
}
