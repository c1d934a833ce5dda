/* SPDX-License-Identifier: ISC */

#include "base.h"

#include <pwd.h>

#include "attempt.h"
#include "emit.h"
#include "failure.h"
#include "hosts-floor.h"
#include "hosts-private.h"
#include "landing.h"
#include "life.h"
#include "outcome.h"
#include "loop.h"
#include "persist.h"
#include "settings.h"
#include "task.h"
#include "version.h"
#include "workspace.h"

#define OVERLAP_MS ((int64_t)30 * 1000) /* transactions of others overlap */
#define BARRED_MS  ((int64_t)60 * 1000)
#define QUOTA_MS   ((int64_t)10 * 1000) /* a file does not say what is new */
#define FOLLOW_MS  200 /* between two looks whether the branch has followed */

/* --- the lease ---------------------------------------------------- */

static void
on_hello(const struct shared_answer *answer, void *arg)
{
	struct hosts_floor *floor = arg;
	const struct shared_rows *hello = &answer->of[2];

	if (!hosts_answered(floor, answer)) {
		hosts_done(floor);
		return;
	}
	if (hello->count == 0) {
		cleanup_free char *words = xasprintf(
		    "another daemon is the host %s, or it has not joined: give "
		    "this one another name with llmc config set fleet.host "
		    "NAME, or type: llmc fleet join",
		    floor->host);

		hosts_tell_away(floor, EVENT_HOSTS_REFUSED, words);
		floor->rest_ms = clock_boot_ms() + BARRED_MS;
		hosts_done(floor);
		return;
	}
	hosts_boot_told(floor);
	floor->up = true;
	floor->unsure = true;
	floor->quota = true;
	floor->asked_ms = floor->sent_ms;
	floor->book_ms = shared_int(hello, 0, "lease_until") - HOSTS_LEASE_MS;
	floor->drains = shared_int(hello, 0, "draining") != 0;
	trust_heard(floor, shared_int(hello, 0, "doubt") != 0);
	/* This host has doubted it today: what it knows is compared alone. */
	if (floor->seen && !floor->doubt)
		trust_compare_all(floor);
	floor->seen = false;
	EMIT(floor->core, EVENT_HOST_UP, .text = floor->host);
	hosts_done(floor);
}

/* How people reach this host: as fleet.ssh says, else USER@MACHINE. */
static char *
ssh_of(const struct settings *settings)
{
	const char *set = settings_string(settings, "fleet.ssh");
	const struct passwd *user = getpwuid(getuid());
	char machine[256] = "";

	if (set[0] != '\0')
		return xstrdup(set);
	gethostname(machine, sizeof machine - 1);
	return xasprintf("%s%s%s", user != NULL ? user->pw_name : "",
	    user != NULL ? "@" : "", machine);
}

static void
say_hello(struct hosts_floor *floor)
{
	const struct settings *settings = floor->core->settings;
	cleanup_free char *ssh = ssh_of(settings);
	const char *old =
	    floor->self.boot != NULL ? floor->self.boot : floor->self.next;
	const char *boot = floor->self.next;
	const char *branch = core_branch(floor->core);
	size_t words = strv_count(floor->can), n = 0;
	struct shared_call calls[SHARED_CALLS_MAX];
	struct book_value can[SHARED_CALLS_MAX];

	calls[n++] =
	    SHARED_CALL(SHARED_DOUBT, BOOK_I(floor->seen), BOOK_T(branch));
	calls[n++] = SHARED_CALL0(SHARED_KNOW_SERVER);
	calls[n++] = SHARED_CALL(SHARED_HELLO, BOOK_T(boot), BOOK_T(old),
	    BOOK_T(LLMC_VERSION), BOOK_I(floor->mode->workers), BOOK_T(ssh),
	    BOOK_T(branch));
	calls[n++] = SHARED_CALL(SHARED_ADOPT, BOOK_T(boot), BOOK_T(old));
	calls[n++] = SHARED_CALL0(SHARED_CAN_CLEAR);
	for (size_t i = 0; i < words && n < SHARED_CALLS_MAX; i++) {
		can[i] = BOOK_T(floor->can[i]);
		calls[n++] = (struct shared_call){ SHARED_CAN_SET, &can[i], 1 };
	}
	floor->sent_ms = clock_boot_ms();
	hosts_ask(floor, calls, n, on_hello);
}

/* What is ours may begin again, and comes before what else could be claimed:
 * how many workers are left then is told. */
static void
begin_again(struct hosts_floor *floor)
{
	floor->room = 0;
	auto_plan_changed(floor->mode);
}

static void
on_beat(const struct shared_answer *answer, void *arg)
{
	struct hosts_floor *floor = arg;

	if (hosts_answered(floor, answer)) {
		if (answer->of[0].count > 0) {
			if (!hosts_sure(floor))
				begin_again(floor);
			floor->asked_ms = floor->sent_ms;
			floor->book_ms =
			    shared_int(&answer->of[0], 0, "lease_until") -
			    HOSTS_LEASE_MS;
			floor->drains =
			    shared_int(&answer->of[0], 0, "draining") != 0;
			trust_heard(
			    floor, shared_int(&answer->of[0], 0, "doubt") != 0);
		} else {
			/* The others have given us up: come back as somebody
			 * else, and see what is still ours. */
			floor->up = false;
			floor->unsure = true;
			hosts_renew_boot(floor);
		}
	}
	hosts_done(floor);
}

/* --- news --------------------------------------------------------- */

/* Look for lost hosts more often than a lease lasts, and seldom enough for an
 * idle host to cost nothing. */
#define STEAL_MS (HOSTS_LEASE_MS * 2 / 5)

static void
on_poll(const struct shared_answer *answer, void *arg)
{
	struct hosts_floor *floor = arg;
	const struct shared_rows *changes, *counts;
	int64_t open = 0;

	if (!hosts_answered(floor, answer)) {
		hosts_done(floor);
		return;
	}
	changes = &answer->of[0];
	for (size_t i = 0; i < changes->count; i++)
		share_news(floor, changes, i);
	if (answer->calls > 1)
		shares_held(floor, &answer->of[1]);
	if (changes->count > 0)
		floor->since_ms =
		    shared_int(changes, changes->count - 1, "changed_at") -
		    (changes->count < SHARED_ROWS_MAX ? OVERLAP_MS : 0);
	if (changes->count < SHARED_ROWS_MAX)
		floor->read_to = floor->polled_ms - OVERLAP_MS;
	else
		floor->poll = true;
	if (floor->follow_ms != 0 && floor->read_to > floor->follow_ms)
		floor->read_to = floor->follow_ms;
	if (answer->calls > 2) {
		counts = &answer->of[2];
		for (size_t i = 0; i < counts->count; i++)
			open += shared_int(counts, i, "count");
		if (!floor->counted || (open == 0) != (floor->open == 0))
			auto_plan_changed(floor->mode);
		floor->open = open;
		floor->counted = true;
	}
	if (!hosts_sure(floor))
		begin_again(floor);
	floor->unsure = false;
	floor->claim = true;
	hosts_done(floor);
}

/* A host that holds nothing asks only whether there is anything to ask for; now
 * and then it looks in any case, as transactions overlap. */
#define WHOLE_MS (8 * HOSTS_POLL_MS)

static void
on_glance(const struct shared_answer *answer, void *arg)
{
	struct hosts_floor *floor = arg;

	if (hosts_answered(floor, answer)) {
		const struct shared_rows *rows = &answer->of[0];

		floor->poll |= shared_int(rows, 0, "changes") > 0;
		floor->letters |= shared_int(rows, 0, "letters") > 0;
		floor->claim |= shared_int(rows, 0, "queued") > 0;
		if (shared_int(rows, 0, "stale") > 0)
			floor->steal_ms = 0;
	}
	hosts_done(floor);
}

/* What has changed, and what we hold. */
static bool
poll(struct hosts_floor *floor)
{
	const struct shared_call calls[] = {
		SHARED_CALL(SHARED_CHANGES, BOOK_I(floor->since_ms)),
		SHARED_CALL(SHARED_HOLD, BOOK_T(floor->boot)),
		SHARED_CALL0(SHARED_TASK_COUNTS),
	};
	int64_t now = clock_boot_ms();
	bool all = floor->mode->until_empty;

	if (!floor->unsure && !floor->poll &&
	    now - floor->poll_ms < HOSTS_POLL_MS)
		return false;
	floor->poll_ms = now;
	if (floor->share_count == 0 && !all && !floor->unsure && !floor->poll &&
	    !floor->doubt && now - floor->whole_ms < WHOLE_MS) {
		hosts_ask(floor,
		    &SHARED_CALL(
			SHARED_GLANCE, BOOK_I(floor->since_ms + OVERLAP_MS)),
		    1, on_glance);
		return true;
	}
	floor->poll = false;
	floor->compares |= floor->doubt;
	letters_hint(floor);
	floor->whole_ms = now;
	floor->polled_ms = floor->book_ms;
	/* A host that holds nothing asks as little as it can. */
	hosts_ask(floor, calls,
	    all                                         ? 3 :
		floor->unsure || floor->share_count > 0 ? 2 :
							  1,
	    on_poll);
	return true;
}

static void
on_steal(const struct shared_answer *answer, void *arg)
{
	struct hosts_floor *floor = arg;

	if (hosts_answered(floor, answer)) {
		for (size_t i = 0; i < answer->of[0].count; i++)
			EMIT(floor->core, EVENT_HOST_LOST,
			    .text = shared_text(&answer->of[0], i, "host"));
		floor->poll |= answer->of[1].count > 0;
	}
	hosts_done(floor);
}

static bool
steal(struct hosts_floor *floor)
{
	const struct shared_call calls[] = {
		SHARED_CALL0(SHARED_STEAL_HOSTS),
		SHARED_CALL0(SHARED_STEAL_TASKS),
		SHARED_CALL0(SHARED_ATTEMPTS_CLOSE),
	};
	int64_t now = clock_boot_ms();

	if (floor->steal_ms != 0 &&
	    ((floor->share_count == 0 && !floor->mode->until_empty) ||
		now - floor->steal_ms < STEAL_MS))
		return false;
	floor->steal_ms = now;
	hosts_ask(floor, calls, nitems(calls), on_steal);
	return true;
}

/* One whose label nobody uses comes first. */
static void
on_claim(const struct shared_answer *answer, void *arg)
{
	struct hosts_floor *floor = arg;

	if (hosts_answered(floor, answer)) {
		bool claimed = answer->of[0].count > 0;

		if (claimed)
			share_begin(floor, &answer->of[0], 0);
		if (claimed && floor->room > 0)
			floor->room--;
		floor->claim = claimed || !floor->any;
		floor->any = !claimed && !floor->any;
	}
	hosts_done(floor);
}

static bool
claim(struct hosts_floor *floor)
{
	const struct shared_call calls[] = {
		SHARED_CALL(floor->any ? SHARED_CLAIM_ANY : SHARED_CLAIM,
		    BOOK_T(floor->boot), BOOK_T(core_branch(floor->core))),
		SHARED_CALL(SHARED_ATTEMPTS_BEGIN, BOOK_T(floor->boot)),
	};

	if (!floor->claim || floor->room == 0 || floor->drains ||
	    floor->doubt || !hosts_sure(floor))
		return false;
	hosts_ask(floor, calls, nitems(calls), on_claim);
	return true;
}

/* --- what is next ------------------------------------------------- */

/* In turn: hints may come faster than the book answers, and none of these may
 * keep the others from their turn. */
static bool (*const acts[])(struct hosts_floor *) = { poll, hosts_deny_act,
	shares_adopt, asks_held, family_read, shares_act, letters_act,
	money_act, keep_send, steal, asks_nobody, claim, keep_prune };

/* False: nothing is left to ask. */
static bool
act(struct hosts_floor *floor)
{
	if (!floor->up) {
		say_hello(floor);
		return true;
	}
	if (hosts_beat_wait_ms(floor->asked_ms, clock_boot_ms()) == 0) {
		const struct shared_call beat = SHARED_CALL(SHARED_BEAT,
		    BOOK_T(floor->boot), BOOK_I(floor->read_to),
		    BOOK_T(core_branch(floor->core)));

		floor->sent_ms = clock_boot_ms();
		hosts_ask(floor, &beat, 1, on_beat);
		return true;
	}
	if (trust_compare(floor) || (floor->unsure && poll(floor)))
		return true;
	for (size_t i = 0; i < nitems(acts); i++) {
		size_t n = (floor->turn + i) % nitems(acts);

		if (acts[n](floor)) {
			floor->turn = n + 1;
			return true;
		}
	}
	floor->turn = 0;
	return false;
}

static void
look_soon(void *arg)
{
	struct hosts_floor *floor = arg;

	loop_timer_free(take_ptr(&floor->timer));
	hosts_look(floor);
}

static void
look(void *arg)
{
	struct hosts_floor *floor = arg;
	int64_t now = clock_boot_ms(), wait, due;

	if (!floor->begun || floor->core->stopping)
		return;
	hosts_land_look(floor);
	shares_compare(floor);
	shares_stop(floor);
	if (floor->busy)
		return;
	loop_timer_free(take_ptr(&floor->timer));
	if (floor->follow_ms != 0 && !hosts_seen_waits(floor) &&
	    landings_fresh(floor->land->landings)) {
		if (floor->since_ms > floor->follow_ms)
			floor->since_ms = floor->follow_ms;
		floor->follow_ms = 0;
		floor->poll = true;
	}
	wait = floor->rest_ms - now;
	if (wait <= 0 && shared_state(floor->shared) != SHARED_UP)
		wait = HOSTS_POLL_MS; /* it says so when it is */
	if (wait <= 0) {
		if (act(floor))
			return;
		wait = hosts_beat_wait_ms(floor->asked_ms, now);
		for (size_t i = 0; i < floor->share_count; i++) {
			due = kin_due_ms(floor, floor->shares[i]);
			wait = due < wait ? due : wait;
		}
		due = floor->poll_ms + HOSTS_POLL_MS - now;
		wait = due < wait ? due : wait;
		due = keep_wait_ms(floor, now);
		wait = due < wait ? due : wait;
		if (floor->follow_ms != 0 && wait > FOLLOW_MS)
			wait = FOLLOW_MS;
	}
	floor->timer = loop_after(
	    floor->core->loop, wait < 1 ? 1 : wait, look_soon, floor);
}

static void
on_state(enum shared_state state, const char *words, void *arg)
{
	struct hosts_floor *floor = arg;

	if (state == SHARED_UP) {
		floor->rest_ms = 0;
		if (floor->land != NULL)
			floor->land->rest_ms = 0;
		floor->unsure = true;
		trust_connected(floor);
	} else if (words != NULL && *words != '\0') {
		hosts_tell_away(floor,
		    state == SHARED_BARRED ? EVENT_HOSTS_REFUSED :
					     EVENT_HOSTS_AWAY,
		    words);
	}
	hosts_look(floor);
}

static void
on_notified(const char *word, void *arg)
{
	struct hosts_floor *floor = arg;
	bool all = strcmp(word, "all") == 0;

	if (all || strcmp(word, "queue") == 0)
		floor->claim = true;
	if (all || strcmp(word, "letter") == 0)
		letters_hint(floor);
	if (all || strcmp(word, "ready") == 0)
		hosts_land_hint(floor, false);
	if (strcmp(word, "lander") == 0 || strcmp(word, "hosts") == 0)
		hosts_land_hint(floor, true);
	if (strcmp(word, "quota") == 0 ||
	    (all && clock_boot_ms() - floor->money_ms >= QUOTA_MS))
		floor->quota = true;
	if (floor->doubt) {
		floor->compares = true;
		floor->land->ready = true;
	}
	if (all || strcmp(word, "change") == 0 || strcmp(word, "queue") == 0)
		floor->poll = true;
	hosts_look(floor);
}

static void
on_event(const struct event *event, void *arg)
{
	struct hosts_floor *floor = arg;

	keep_event(floor, event);
	if (event->kind == EVENT_TASK_FINISHED && event->task != NULL)
		shares_ended(floor, event);
	if (event->task != NULL)
		hosts_look(floor);
}

/* --- what auto mode asks ------------------------------------------ */

/* An agent that another one waits for goes on whatever the database does: it is
 * claimed as soon as that is possible. If this host is busy, the others may
 * have it. */
static bool
may_begin(void *arg, const struct task *task)
{
	const struct hosts_floor *floor = arg;
	const struct share *share = share_of_task(floor, task->id);

	if (share == NULL || share->step == SHARE_NEW)
		/* Not while it is on its way to the others. */
		return task_is_for_team(task) &&
		    (share == NULL || floor->share != share ||
			floor->claim_at > 0) &&
		    (!hosts_sure(floor) || family_at_home(floor, task));
	return share->step == SHARE_HELD && share->from_ref == NULL &&
	    ((task_is_for_team(task) && !share->family) ||
		(hosts_sure(floor) && !share->family));
}

static void
on_room(void *arg, size_t workers)
{
	struct hosts_floor *floor = arg;

	/* One that goes on from other work begins when that is here. */
	for (size_t i = 0; i < floor->share_count && workers > 0; i++)
		workers -= floor->shares[i]->step == SHARE_HELD &&
		    floor->shares[i]->from_ref != NULL;
	if (workers > floor->room)
		floor->claim = true;
	floor->room = workers;
	hosts_look(floor);
}

static size_t
ahead(void *arg)
{
	const struct hosts_floor *floor = arg;

	return floor->up && !floor->drains ? HOSTS_AHEAD_MAX : 0;
}

/* A run that ends when nothing is left ends when nobody has anything left. */
static bool
expects(void *arg)
{
	const struct hosts_floor *floor = arg;

	return !floor->counted || floor->open > 0 || shares_wait(floor);
}

static bool
releases(void *arg, const struct task *task)
{
	return share_of_task(arg, task->id) == NULL;
}

static bool
settles(void *arg, const struct task *task)
{
	const struct hosts_floor *floor = arg;
	const struct share *share = share_of_task(floor, task->id);

	return floor->loaded && (share == NULL || share->step != SHARE_FINISH);
}

/* Who has given it to this host. */
static const char *
owner(void *arg, const struct task *task)
{
	const struct hosts_floor *floor = arg;
	const struct share *share = share_of_task(floor, task->id);

	return share != NULL && strcmp(share->owner, floor->host) != 0 ?
	    share->owner :
	    NULL;
}

static const struct auto_hosts hosts = {
	.may_begin = may_begin,
	.room = on_room,
	.ahead = ahead,
	.expects = expects,
	.releases = releases,
	.owner = owner,
	.mail = letters_mail,
	.recall = letters_recall,
	.settles = settles,
};

/* --- the floor ---------------------------------------------------- */

static void
floor_begin(void *self)
{
	struct hosts_floor *floor = self;
	const struct settings *settings = floor->core->settings;
	const char *passfile = settings_string(settings, "fleet.passfile");
	cleanup_free char *file = *passfile == '\0' ?
	    workspace_path(floor->core->workspace, "fleet.pass") :
	    workspace_resolve(floor->core->workspace, passfile);
	cleanup_free char *repository =
	    shared_repository(floor->core->workspace);
	struct shared_options options = {
		.loop = floor->core->loop,
		.database = settings_string(settings, "fleet.database"),
		.passfile = file,
		.repository = repository,
		.host = floor->host,
		.state = on_state,
		.notified = on_notified,
		.arg = floor,
	};
	struct err err = { 0 };

	if (hosts_self_load(floor, &err) < 0 || shares_load(floor, &err) < 0 ||
	    letters_load(floor, &err) < 0 || keep_load(floor, &err) < 0 ||
	    shared_new(&options, &floor->shared, &err) < 0) {
		RAISE(floor->core, "task_source", .reason = err.msg);
		life_floor_begun(floor->core);
		return;
	}
	floor->loaded = true;
	kin_check(floor, NULL);
	outcome_settle_due(floor->mode);
	hosts_find_words(floor);
	if (floor->self.next == NULL)
		hosts_renew_boot(floor);
	floor->begun = true;
	life_floor_begun(floor->core);
	hosts_look(floor);
}

static void
floor_patrol(void *self, bool all)
{
	(void)all;
	hosts_look(self);
}

/* What is under way may be ended at any time: it is asked again. */
static void
floor_stop(void *self)
{
	struct hosts_floor *floor = self;

	loop_timer_free(take_ptr(&floor->timer));
	persist_forget(floor->core, floor);
	letters_stop(floor);
	keep_stop(floor);
	if (floor->shared != NULL)
		shared_forget(floor->shared, floor);
	floor->begun = false;
	if (!hosts_land_stop(floor)) /* it gives up its lease first */
		shared_free(take_ptr(&floor->shared));
}

static bool
floor_is_quiet(const void *self)
{
	return !hosts_land_leaves(self);
}

struct hosts_floor *
hosts_floor_new(struct auto_mode *mode)
{
	struct core *core = mode->core;
	cleanup_buf struct buf name = BUF_INIT;
	struct hosts_floor *floor;

	if (*settings_string(core->settings, "fleet.database") == '\0' ||
	    core->options->oneshot) {
		keep_register(core, NULL);
		return NULL;
	}
	shared_host_name(settings_string(core->settings, "fleet.host"), &name);
	floor = xcalloc(1, sizeof *floor);
	floor->core = core;
	floor->mode = mode;
	floor->host = xstrdup(name.data);
	floor->floor = (struct core_floor){
		.self = floor,
		.begin = floor_begin,
		.patrol = floor_patrol,
		.stop = floor_stop,
		.is_quiet = floor_is_quiet,
	};
	core->state.host = floor->host;
	floor->land = hosts_land_new(floor);
	floor->seen_branch = hosts_seen_new(floor);
	floor->look = loop_call_new(core->loop, look, floor);
	core_add_floor(core, &floor->floor);
	auto_set_hosts(mode, &hosts, floor);
	letters_new(floor);
	keep_register(core, floor);
	emit_subscribe(core, on_event, floor);
	return floor;
}

void
hosts_floor_free(struct hosts_floor *floor)
{
	if (floor == NULL)
		return;
	emit_unsubscribe(floor->core, on_event, floor);
	auto_set_hosts(floor->mode, NULL, NULL);
	floor->core->state.host = NULL;
	hosts_land_free(take_ptr(&floor->land));
	hosts_seen_free(take_ptr(&floor->seen_branch));
	floor_stop(floor);
	loop_call_free(floor->look);
	shares_free(floor);
	keep_free(floor);
	money_free(floor);
	hosts_self_release(floor);
	strv_free(floor->can);
	strv_free(floor->adopt);
	free(floor->post);
	strv_free(floor->compared);
	strv_free(floor->held);
	strv_free(floor->denied);
	free(floor->words);
	free(floor->host);
	free(floor);
}

struct shared *
hosts_floor_shared(struct hosts_floor *floor)
{
	return floor == NULL ? NULL : floor->shared;
}

const char *
hosts_floor_name(const struct hosts_floor *floor)
{
	return floor == NULL ? NULL : floor->host;
}

const char *
hosts_floor_boot(const struct hosts_floor *floor)
{
	return floor == NULL || !floor->up ? NULL : floor->boot;
}

const char *
hosts_floor_words(const struct hosts_floor *floor)
{
	return floor == NULL                     ? NULL :
	    floor->words == NULL && floor->doubt ? TRUST_WORDS :
						   floor->words;
}
