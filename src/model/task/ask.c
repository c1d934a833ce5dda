/* SPDX-License-Identifier: ISC */

#include "base.h"

#include <strings.h>

#include "ask.h"
#include "excerpt.h"
#include "schema.h"
#include "task.h"
#include "worker.h"

#define HOUR_MS     (3600 * (int64_t)1000)
#define AGAIN_MS    (60 * 1000) /* what happens all the time is saved so often */
#define JOINED_MAX  (ASK_WORDS_MAX / 4) /* of what is asked as well */
#define OPTIONS_MAX 20
#define OPTION_SIZE 500
#define NAME_SIZE   300

const char *const ask_end_words[ASK_END_COUNT + 1] = {
	[ASK_OPEN] = "open",
	[ASK_ANSWERED] = "answered",
	[ASK_DISMISSED] = "dismissed",
	[ASK_RESOLVED] = "resolved",
};

#define FIELD(key, member, ...) \
	SCHEMA_FIELD(struct ask, key, member, ##__VA_ARGS__)

static const struct schema_field fields[] = {
	FIELD("id", id, .flags = SCHEMA_REQUIRED, .size = NAME_SIZE),
	FIELD("nr", nr, .flags = SCHEMA_REQUIRED),
	FIELD("kind", kind, .words = ask_kind_words,
	    .help = "what is wanted of a person"),
	FIELD("level", level, .words = escalation_level_words),
	FIELD("key", key, .flags = SCHEMA_REQUIRED, .size = NAME_SIZE,
	    .help = "what it is about: there is one open ask of it"),
	FIELD("title", title, .size = ASK_TITLE_MAX),
	FIELD("words", words, .size = ASK_WORDS_MAX, .help = "why"),
	FIELD("command", command, .help = "what helps; null: llmc answer does"),
	FIELD("worker", worker, .size = NAME_SIZE),
	FIELD("task", task, .size = NAME_SIZE),
	FIELD("goal", goal, .size = NAME_SIZE),
	FIELD("node", node, .size = NAME_SIZE),
	FIELD("question", question, .size = NAME_SIZE,
	    .help = "the id of the agent's question, or of all of them"),
	FIELD("options", options, .max = OPTIONS_MAX, .size = OPTION_SIZE,
	    .help = "that the answer can be chosen from"),
	FIELD("stays", stays,
	    .help = "only a person ends it, or another try at its task"),
	FIELD("count", count, .help = "how often it happened, or was said"),
	FIELD("created_ms", created_ms),
	FIELD("said_ms", said_ms),
	FIELD("told_ms", told_ms, .flags = SCHEMA_ZERO_IS_NULL,
	    .help = "when a channel took a message about it, or a person saw "
		    "it"),
	FIELD("told_by", told_by, .size = NAME_SIZE,
	    .help = "that channel, or seen"),
	FIELD("ended_ms", ended_ms, .flags = SCHEMA_ZERO_IS_NULL),
	FIELD("how", how, .words = ask_end_words, .help = "it ended"),
	FIELD("answer", answer, .size = ASK_WORDS_MAX),
	FIELD("by", by, .size = NAME_SIZE, .help = "who answered"),
};

const struct schema ask_schema = SCHEMA_OF(struct ask, fields);

/* Takes the new one. */
static bool
replace(char **member, char *text)
{
	bool other = !text_same(*member, text);

	free(*member);
	*member = text;
	return other;
}

static bool
set(char **member, const char *text)
{
	if (text_same(*member, text))
		return false;
	xstrset(member, text);
	return true;
}

static bool
set_options(struct ask *ask, const char *const *options)
{
	size_t count = 0;
	bool same = true;

	for (; options != NULL && options[count] != NULL; count++)
		same = same && count < strv_count(ask->options) &&
		    strcmp(ask->options[count], options[count]) == 0;
	if (same && count == strv_count(ask->options))
		return false;
	strv_clear(&ask->options);
	for (size_t i = 0; i < count && i < OPTIONS_MAX; i++)
		strv_take(
		    &ask->options, remedy_mask_copy(options[i], OPTION_SIZE));
	return true;
}

const char *
ask_choice(const char *const *options, const char *typed, struct err *err)
{
	size_t count = 0;
	int64_t number;

	for (; options != NULL && options[count] != NULL; count++)
		if (strcasecmp(options[count], typed) == 0)
			return options[count];
	if (count == 0 || !text_parse_int(typed, 0, INT64_MAX, &number))
		return typed;
	if (number >= 1 && number <= (int64_t)count)
		return options[number - 1];
	err_set(err, -EINVAL, "there is no option %s, only %zu", typed, count);
	return NULL;
}

static const char *const goes_on[] = { "continue", "abort", NULL };
static const char *const resumes[] = { "continue", NULL };
static const char *const retries[] = { "try again", "leave it", NULL };
static const char *const accepts[] = { "accept", "do it again", NULL };
static const char *const sees[] = { "seen", NULL };

enum ask_decision
ask_decision(const char *words)
{
	static const struct {
		const char *words;
		enum ask_decision decision;
	} rows[] = {
		{ "yes", ASK_SAYS_YES },
		{ "continue", ASK_SAYS_YES },
		{ "try again", ASK_SAYS_YES },
		{ "accept", ASK_SAYS_YES },
		{ "seen", ASK_SAYS_YES },
		{ "no", ASK_SAYS_NO },
		{ "abort", ASK_SAYS_NO },
		{ "leave it", ASK_SAYS_NO },
		{ "do it again", ASK_SAYS_NO },
	};

	for (size_t i = 0; i < nitems(rows); i++)
		if (strcasecmp(words, rows[i].words) == 0)
			return rows[i].decision;
	return ASK_SAYS;
}

/* What can be chosen by what it is about, as llmc answer carries it out; a
 * question has its own options, or none. */
static const char *const *
usual_options(const struct ask_draft *draft)
{
	static const char *const resumed[] = { ASKS_PAUSED, ASKS_ALIKE,
		ASKS_TRIAL, "push", NULL };

	if (draft->options != NULL || draft->kind == ASK_QUESTION)
		return draft->options;
	if (draft->kind == ASK_TOLD)
		return sees;
	if (strv_has(resumed, draft->key))
		return resumes;
	if (draft->command != NULL)
		return draft->stays ? sees : NULL;
	if (draft->kind == ASK_FAILURE && draft->stays && draft->task != NULL)
		return retries;
	if (draft->node != NULL && draft->stays)
		return retries;
	return draft->task != NULL ? goes_on : resumes;
}

bool
ask_update(struct ask *ask, const struct ask_draft *draft)
{
	bool is_new = ask->kind != draft->kind || ask->level != draft->level ||
	    ask->stays != draft->stays;

	ask->kind = draft->kind;
	ask->level = draft->level;
	ask->stays = draft->stays;
	is_new |=
	    replace(&ask->title, remedy_mask_copy(draft->title, ASK_TITLE_MAX));
	is_new |=
	    replace(&ask->words, remedy_mask_copy(draft->words, ASK_WORDS_MAX));
	is_new |= set(&ask->command, draft->command);
	is_new |= set(&ask->worker, draft->worker);
	is_new |= set(&ask->task, draft->task);
	is_new |= set(&ask->goal, draft->goal);
	is_new |= set(&ask->node, draft->node);
	is_new |= set(&ask->question, draft->question);
	is_new |= set_options(ask, usual_options(draft));
	return is_new;
}

struct ask *
ask_new(const struct ask_draft *draft, int64_t nr, int64_t now_ms)
{
	struct ask *ask = xcalloc(1, sizeof *ask);

	ask->id = xasprintf("a%" PRId64, nr);
	ask->nr = nr;
	ask->key = xstrdup(draft->key);
	ask->count = 1;
	ask->created_ms = ask->said_ms = now_ms;
	ask->changed = true;
	ask_update(ask, draft);
	return ask;
}

void
ask_free(struct ask *ask)
{
	schema_free(&ask_schema, ask);
}

void
ask_repeat(struct ask *ask, const struct ask_draft *draft, int64_t now_ms)
{
	bool is_new = ask_update(ask, draft);

	ask->count++;
	if (!is_new && now_ms - ask->said_ms < AGAIN_MS)
		return;
	ask->said_ms = now_ms;
	ask->changed = true;
}

void
ask_join(struct ask *ask, const struct ask *other)
{
	const char *more = other->words != NULL ? other->words : "";
	const char *old = ask->words != NULL ? ask->words : "";
	size_t more_len = text_cut(more, strlen(more), JOINED_MAX);
	size_t len = text_cut(old, strlen(old), ASK_WORDS_MAX - JOINED_MAX - 2);
	char *words =
	    xasprintf("%.*s\n\n%.*s", (int)len, old, (int)more_len, more);

	replace(&ask->words, words);
	strv_clear(&ask->options);
	if (ask->question == NULL && other->question != NULL)
		ask->question = xstrdup(other->question);
	else if (other->question != NULL &&
	    strlen(ask->question) + strlen(other->question) + 1 < NAME_SIZE)
		replace(&ask->question,
		    xasprintf("%s %s", ask->question, other->question));
	ask->changed = true;
}

void
ask_close(struct ask *ask, enum ask_end how, int64_t now_ms)
{
	ask->how = how;
	ask->ended_ms = now_ms;
	ask->changed = true;
}

void
ask_answer(struct ask *ask, const char *answer, const char *by, int64_t now_ms)
{
	ask_told(ask, ASK_SEEN, now_ms);
	xstrset(&ask->answer, answer);
	xstrset(&ask->by, by);
	ask->changed = true;
	if (ask->stays)
		ask_close(
		    ask, answer != NULL ? ASK_ANSWERED : ASK_DISMISSED, now_ms);
}

bool
ask_told(struct ask *ask, const char *by, int64_t now_ms)
{
	if (ask->told_ms > 0)
		return false;
	ask->told_ms = now_ms;
	xstrset(&ask->told_by, by);
	return true;
}

const char *
ask_subject(const struct ask *ask)
{
	bool waits = ask->kind == ASK_QUESTION ||
	    text_begins(ask->key, "worker/") ||
	    text_begins(ask->key, ASKS_REVIEW);
	const char *const subjects[] = { waits ? ask->worker : NULL, ask->task,
		ask->worker, ask->goal };

	for (size_t i = 0; i < nitems(subjects); i++)
		if (subjects[i] != NULL)
			return subjects[i];
	return ask->key;
}

void
ask_command(const struct ask *ask, struct buf *out)
{
	static const char *const words[ASK_KIND_COUNT] = {
		[ASK_NONE] = "--yes",
		[ASK_QUESTION] = "TEXT",
		[ASK_APPROVAL] = "--yes",
		[ASK_BLOCKED] = "TEXT",
		[ASK_FAILURE] = "TEXT",
		[ASK_BUDGET] = "--yes",
		[ASK_REVIEW] = "--yes",
		[ASK_TOLD] = "--yes",
	};

	if (ask->command != NULL)
		buf_adds(out, ask->command);
	else
		buf_addf(out, "llmc answer %s %s", ask->id,
		    ask->stays && ask->node == NULL ? "--yes" :
						      words[ask->kind]);
}

bool
ask_is_due(const struct ask *ask, int64_t now_ms)
{
	int64_t gap = ask->count <= 1 ? HOUR_MS :
	    ask->count == 2           ? 4 * HOUR_MS :
					24 * HOUR_MS;

	return ask->how == ASK_OPEN && ask->kind != ASK_TOLD &&
	    now_ms - ask->said_ms >= gap;
}

int
ask_named(const struct ask *ask, const char *typed)
{
	const char *const names[] = { ask->id, ask->task, ask->worker,
		ask->key };
	size_t len = strlen(typed);
	cleanup_free char *node = NULL;

	for (const char *q = ask->question; q != NULL; q = strchr(q, ' ')) {
		q += *q == ' ';
		if (len > 0 && strcspn(q, " ") == len &&
		    strncmp(q, typed, len) == 0)
			return ASK_NAMED_BEST;
	}
	for (size_t i = 0; i < nitems(names); i++)
		if (text_is(names[i], typed))
			return ASK_NAMED_BEST;
	if (ask->goal == NULL || ask->node == NULL)
		return 0;
	node = xasprintf("%s/%s", ask->goal, ask->node);
	return task_named(NULL, "plan", node, typed);
}

/* --- asks that follow from the state ------------------------------------- */

/* Of what a worker works on, in an ask about it. */
#define WORK_MAX 200

struct follow {
	const struct ask_facts *facts;
	struct ask **added;
	size_t count;
};

static struct ask *
find(const struct follow *f, const char *key)
{
	for (size_t i = 0; i < f->facts->ask_count; i++)
		if (strcmp(f->facts->asks[i]->key, key) == 0)
			return f->facts->asks[i];
	return NULL;
}

static void
want(struct follow *f, const struct ask_draft *draft)
{
	struct ask *ask = find(f, draft->key);

	if (ask == NULL) {
		ask = ask_new(draft, f->facts->ids + (int64_t)f->count + 1,
		    f->facts->now_ms);
		f->added =
		    xreallocarray(f->added, f->count + 1, sizeof(struct ask *));
		f->added[f->count++] = ask;
	} else if (ask_update(ask, draft)) {
		ask->changed = true;
	}
	ask->wanted = true;
}

#define REVIEW "work waits for a review"

/* The first row that fits counts. A worker that a person has paused waits for
 * nothing that this person does not know. */
static const struct {
	enum worker_status status;
	unsigned holds; /* 0 = any */
	bool by_hand; /* only of a worker that auto mode does not drive, or
		       * whose work only a person may accept */
	enum ask_kind kind;
	enum escalation_level level;
	const char *title;
	const char *command; /* the name follows */
	const char *const *options;
} waits[] = {
	{ WORKER_ERROR, 0, false, ASK_FAILURE, ESCALATION_CRITICAL,
	    "a worker has failed", "llmc log daemon --worker ", NULL },
	{ WORKER_PAUSED, WORKER_HOLD_TRUST, false, ASK_BLOCKED,
	    ESCALATION_CRITICAL, "a worker cannot start", NULL, resumes },
	{ WORKER_PAUSED, WORKER_HOLD_PERSON, false, ASK_NONE, ESCALATION_INFO,
	    NULL, NULL, NULL },
	{ WORKER_PAUSED, WORKER_HOLD_BUDGET, false, ASK_BUDGET,
	    ESCALATION_WARNING, "a budget is reached", NULL, resumes },
	{ WORKER_PAUSED, WORKER_HOLD_HOURS, false, ASK_NONE, ESCALATION_INFO,
	    NULL, NULL, NULL },
	{ WORKER_PAUSED, 0, false, ASK_BLOCKED, ESCALATION_WARNING,
	    "a worker waits for you", NULL, resumes },
	{ WORKER_NEEDS_REVIEW, 0, true, ASK_REVIEW, ESCALATION_INFO, REVIEW,
	    "llmc review ", accepts },
	{ WORKER_ACCEPTING, 0, true, ASK_REVIEW, ESCALATION_INFO, REVIEW,
	    "llmc review ", accepts }, /* it becomes free, and the work stays */
	{ WORKER_NO_CHANGES, 0, true, ASK_REVIEW, ESCALATION_INFO,
	    "a worker has changed nothing", "llmc message ", NULL },
};

/* What fails for one worker fails for all of them: that is one ask. */
static const struct {
	enum worker_status status;
	const char *words; /* in its reason */
	enum ask_kind kind;
	const char *key, *title, *command;
} common[] = {
	{ WORKER_ERROR, WORKER_SETUP_FAILED, ASK_FAILURE, "setup",
	    "worktrees cannot be set up", "llmc log daemon" },
	{ WORKER_PAUSED, WORKER_LOGIN_LOST, ASK_BLOCKED, ASKS_LOGIN,
	    "the agent is not logged in", "llmc resume" },
};

/* Which of them it is; their number = none. */
static size_t
common_of(const struct worker *w)
{
	size_t i = 0;

	while (i < nitems(common) &&
	    (w->status != common[i].status || w->reason == NULL ||
		strstr(w->reason, common[i].words) == NULL))
		i++;
	return i;
}

/* Each kind of agent has a login of its own: is it another one? */
static bool
is_other_login(const struct worker *a, const struct worker *b)
{
	const char *of = strstr(a->reason, WORKER_LOGIN_LOST);
	const char *than = strstr(b->reason, WORKER_LOGIN_LOST);
	size_t len = of != NULL ? strcspn(of, ",") : 0;

	return of != NULL && than != NULL &&
	    (strcspn(than, ",") != len || strncmp(of, than, len) != 0);
}

static void
want_common(struct follow *f, size_t which)
{
	const struct ask_facts *facts = f->facts;
	const struct worker *first = NULL, *other = NULL;
	cleanup_buf struct buf words = BUF_INIT;
	struct ask *open = find(f, common[which].key);
	bool login = strcmp(common[which].key, ASKS_LOGIN) == 0;
	size_t count = 0;

	/* The one that tries does not wait meanwhile. */
	if (login && open != NULL && facts->deaf_ms > 0)
		open->wanted = true;
	for (size_t i = 0; i < facts->worker_count; i++) {
		if (common_of(facts->workers[i]) != which ||
		    (login && worker_waits_for_login(facts->workers[i]) &&
			facts->deaf_ms < facts->deaf_most_ms))
			continue;
		if (first == NULL)
			first = facts->workers[i];
		else if (is_other_login(facts->workers[i], first))
			other = facts->workers[i];
		count++;
	}
	if (first == NULL)
		return;
	buf_adds(&words, first->name);
	if (count > 1)
		buf_addf(&words, " and %zu more", count - 1);
	buf_addf(&words, ": %s", first->reason);
	if (other != NULL)
		buf_addf(&words, "; %s: %s", other->name, other->reason);
	want(f,
	    &(struct ask_draft){ .kind = common[which].kind,
		.level = ESCALATION_CRITICAL,
		.key = common[which].key,
		.title = common[which].title,
		.words = words.data,
		.command = common[which].command });
}

/* Only a person may accept its work. */
static bool
is_for_person(const struct worker *w)
{
	return w->for_person &&
	    (w->task != NULL || w->status != WORKER_ACCEPTING);
}

/* Its row; their number = it waits for nobody. */
static size_t
waits_of(const struct worker *w)
{
	size_t i = 0;

	while (i < nitems(waits) &&
	    (w->status != waits[i].status ||
		(waits[i].holds != 0 &&
		    (worker_holds(w) & waits[i].holds) == 0) ||
		(waits[i].by_hand && !is_for_person(w) &&
		    (worker_is_auto(w->name) ||
			w->status == WORKER_ACCEPTING))))
		i++;
	return i < nitems(waits) && waits[i].kind == ASK_NONE ? nitems(waits) :
								i;
}

const char *const *
ask_worker_options(const struct worker *worker)
{
	size_t i = waits_of(worker);

	return i < nitems(waits) ? waits[i].options : NULL;
}

static char *
review_key(const char *task)
{
	return xasprintf(ASKS_REVIEW "%s", task);
}

/* Work that the landing queue keeps until a person has decided. */
static void
want_held(struct follow *f, const struct ask_held *held)
{
	cleanup_free char *key = review_key(held->task);
	cleanup_free char *command = xasprintf("llmc review %s", held->task);

	want(f,
	    &(struct ask_draft){ .kind = ASK_REVIEW,
		.level = ESCALATION_INFO,
		.key = key,
		.title = REVIEW,
		.words = held->words,
		.command = command,
		.options = accepts,
		.task = held->task });
}

static void
want_worker(struct follow *f, const struct worker *w)
{
	const char *work = w->prompt != NULL ? w->prompt : "";
	cleanup_free char *key = NULL, *command = NULL, *words = NULL;
	size_t i = waits_of(w);
	bool stays;

	if (i == nitems(waits) || common_of(w) < nitems(common))
		return;
	/* Work that waits for a person is the same ask without its worker. */
	stays = waits[i].kind == ASK_REVIEW && w->for_person && w->task != NULL;
	key = stays ? review_key(w->task) : xasprintf("worker/%s", w->name);
	if (waits[i].command != NULL)
		command = xasprintf(
		    "%s%s", waits[i].command, stays ? w->task : w->name);
	words = w->reason != NULL ?
	    xstrdup(w->reason) :
	    xasprintf("%s%s%.*s", waits[i].title, *work != '\0' ? ": " : "",
		(int)text_cut(work, strlen(work), WORK_MAX), work);
	want(f,
	    &(struct ask_draft){ .kind = waits[i].kind,
		.level = waits[i].level,
		.key = key,
		.title = waits[i].title,
		.words = words,
		.command = command,
		.options = waits[i].options,
		.worker = w->name,
		.task = w->task });
}

const char *const *
ask_task_options(const struct task *task)
{
	return task_asks(task) && task->ask != ASK_QUESTION ? goes_on : NULL;
}

static void
want_task(struct follow *f, const struct task *t)
{
	static const char *const titles[ASK_KIND_COUNT] = {
		[ASK_NONE] = "a task waits for you",
		[ASK_QUESTION] = "an agent asks a question",
		[ASK_APPROVAL] = "a task needs your consent",
		[ASK_BLOCKED] = "a task is blocked",
		[ASK_FAILURE] = "a task goes wrong",
		[ASK_BUDGET] = "a budget is reached",
		[ASK_REVIEW] = "work waits for a review",
		[ASK_TOLD] = "a task waits for you",
	};
	cleanup_free char *key = xasprintf("task/%s", t->id);
	const struct ask *old = find(f, key);
	enum ask_kind kind = t->ask != ASK_NONE ? t->ask : ASK_BLOCKED;
	/* Its words are those of the question, too. */
	bool asks = old != NULL && old->kind == kind && old->question != NULL;
	bool planned = t->source != NULL && t->key != NULL &&
	    strcmp(t->source, "plan") == 0 && strchr(t->key, '/') != NULL;
	cleanup_free char *goal =
	    planned ? xstrndup(t->key, strcspn(t->key, "/")) : NULL;
	cleanup_free char *question = asks ? xstrdup(old->question) : NULL;
	cleanup_free char *words = xstrdup(asks ? old->words :
		t->reason != NULL               ? t->reason :
						  titles[t->ask]);

	want(f,
	    &(struct ask_draft){ .kind = kind,
		.level = ESCALATION_WARNING,
		.key = key,
		.title = titles[t->ask],
		.words = words,
		.question = question,
		.options = asks ? strv_const(old->options) : NULL,
		.goal = goal,
		.node = planned ? strchr(t->key, '/') + 1 : NULL,
		.task = t->id });
}

/* Its pull request is for a person to merge: a need, and no alarm. */
static void
want_merge(struct follow *f, const struct task *t)
{
	cleanup_free char *key = xasprintf("pull/%s", t->id);
	cleanup_free char *words = t->pull_url == NULL ?
	    xstrdup(t->pull) :
	    xasprintf("review it, and merge or close it: %s (%s)", t->pull_url,
		t->pull);
	cleanup_free char *command = xasprintf("llmc task show %s", t->id);

	want(f,
	    &(struct ask_draft){ .kind = ASK_REVIEW,
		.level = ESCALATION_INFO,
		.key = key,
		.title = "a pull request waits for you",
		.words = words,
		.command = command,
		.task = t->id });
}

static bool
is_about(const struct ask *ask, const char *what)
{
	return text_begins(ask->key, what);
}

/* Nodes of the goal that have no ask of their own, and whose task is not
 * parked. */
static void
want_goal(struct follow *f, struct json_object *goal)
{
	const struct ask_facts *facts = f->facts;
	const char *id = json_string_or(goal, "goal", "?");
	int64_t blocked = json_int_or(goal, "blocked", 0);
	cleanup_free char *key = xasprintf("goal/%s", id);
	cleanup_free char *command =
	    xasprintf("llmc goal plan recommend %s", id);
	cleanup_free char *words = NULL;
	size_t len = strlen(id);

	for (size_t i = 0; i < facts->ask_count; i++)
		blocked -= is_about(facts->asks[i], "node/") &&
		    strcmp(facts->asks[i]->goal, id) == 0;
	for (size_t i = 0; i < facts->task_count; i++) {
		const struct task *t = facts->tasks[i];

		blocked -= t->step == TASK_PARKED && t->key != NULL &&
		    strncmp(t->key, id, len) == 0 && t->key[len] == '/';
	}
	if (blocked <= 0)
		return;
	words = xasprintf("%" PRId64 " node%s blocked", blocked,
	    blocked == 1 ? " is" : "s are");
	want(f,
	    &(struct ask_draft){ .kind = ASK_BLOCKED,
		.level = ESCALATION_WARNING,
		.key = key,
		.title = "a goal is blocked",
		.words = words,
		.command = command,
		.goal = id });
}

static void
want_rest(struct follow *f)
{
	const struct ask_facts *facts = f->facts;
	struct ask *alike = find(f, ASKS_ALIKE), *trial = find(f, ASKS_TRIAL);
	struct json_object *goals = NULL;
	const struct {
		enum ask_kind kind;
		enum escalation_level level;
		const char *key, *title, *command;
		const char *words; /* NULL = it is not so */
	} rest[] = {
		{ ASK_BLOCKED, ESCALATION_CRITICAL, ASKS_PAUSED,
		    "no task is given out", "llmc resume",
		    alike == NULL && trial == NULL ? facts->paused : NULL },
		{ ASK_FAILURE, ESCALATION_CRITICAL, "branch",
		    "the landing branch fails its check", "llmc landing",
		    facts->red && trial == NULL ?
			"the landing branch fails its own check" :
			NULL },
		{ ASK_TOLD, ESCALATION_WARNING, "check", "nothing is checked",
		    "llmc config set auto.check_command COMMAND",
		    facts->unchecked ? "auto.check_command is not set: work "
				       "lands without a test; without one on "
				       "purpose: set it to none" :
				       NULL },
		{ ASK_BLOCKED, ESCALATION_WARNING, "checkout",
		    "work cannot land", "llmc landing", facts->dirty },
		{ ASK_BLOCKED, ESCALATION_WARNING, "overtaken",
		    "checks are overtaken", "llmc landing", facts->overtaken },
		{ ASK_BLOCKED, ESCALATION_WARNING, "follow",
		    "the branch is not where origin is", "llmc landing",
		    facts->behind },
		{ ASK_FAILURE, ESCALATION_WARNING, "push", "a push failed",
		    "llmc resume", facts->unpushed },
		{ ASK_BLOCKED, ESCALATION_CRITICAL, "goals", "goals are off",
		    "llmc doctor", json_string_or(facts->goals, "off", NULL) },
	};

	for (size_t i = 0; i < nitems(rest); i++)
		if (rest[i].words != NULL)
			want(f,
			    &(struct ask_draft){ .kind = rest[i].kind,
				.level = rest[i].level,
				.key = rest[i].key,
				.title = rest[i].title,
				.words = rest[i].words,
				.command = rest[i].command });
	if (alike != NULL && facts->paused != NULL)
		alike->wanted = true;
	if (trial != NULL && facts->paused != NULL)
		trial->wanted = true;
	if (facts->goals != NULL)
		json_get_array(facts->goals, "", "goals", &goals, NULL);
	for (size_t i = 0; goals != NULL && i < json_object_array_length(goals);
	     i++)
		want_goal(f, json_object_array_get_idx(goals, i));
}

/* Its task is tried again, has ended, or asks for itself. */
static bool
is_over(const struct ask_facts *facts, const struct ask *ask)
{
	const struct task *t = NULL;

	for (size_t i = 0; ask->task != NULL && i < facts->task_count; i++)
		if (strcmp(facts->tasks[i]->id, ask->task) == 0)
			t = facts->tasks[i];
	if (ask->kind == ASK_TOLD)
		return is_about(ask, "oversight/") &&
		    (t == NULL || t->step == TASK_PARKED);
	if (is_about(ask, "node/"))
		return t != NULL && t->step == TASK_PARKED;
	return ask->kind == ASK_FAILURE && t != NULL &&
	    t->step != TASK_SETTLING;
}

/* An agent asks it, and is there: while goals are off, this alone ends it. */
static bool
is_asked(const struct ask_facts *facts, const struct ask *ask)
{
	bool worker = ask->worker == NULL, task = ask->task == NULL;

	for (size_t i = 0; !worker && i < facts->worker_count; i++)
		worker = strcmp(facts->workers[i]->name, ask->worker) == 0;
	for (size_t i = 0; !task && i < facts->task_count; i++)
		task = strcmp(facts->tasks[i]->id, ask->task) == 0;
	return is_about(ask, ASK_OF_AGENT) && worker && task;
}

struct ask **
ask_follow(const struct ask_facts *facts, size_t *ret_count)
{
	struct follow f = { .facts = facts };

	for (size_t i = 0; i < facts->ask_count; i++)
		facts->asks[i]->wanted = is_asked(facts, facts->asks[i]);
	for (size_t i = 0; i < facts->worker_count; i++)
		want_worker(&f, facts->workers[i]);
	for (size_t i = 0; i < facts->held_count; i++)
		want_held(&f, &facts->held[i]);
	for (size_t i = 0; i < nitems(common); i++)
		want_common(&f, i);
	for (size_t i = 0; i < facts->task_count; i++) {
		if (task_asks(facts->tasks[i]))
			want_task(&f, facts->tasks[i]);
		if (facts->tasks[i]->pull_asks)
			want_merge(&f, facts->tasks[i]);
	}
	want_rest(&f);
	for (size_t i = 0; i < facts->ask_count; i++) {
		struct ask *ask = facts->asks[i];

		if (!ask->wanted && (!ask->stays || is_over(facts, ask)))
			ask_close(ask,
			    ask->answer != NULL ? ASK_ANSWERED : ASK_RESOLVED,
			    facts->now_ms);
	}
	*ret_count = f.count;
	return f.added;
}
