/* SPDX-License-Identifier: ISC */

#include "base.h"
#include "ask-record.h"
#include "remedy-mask.h"
#include "schema.h"
#include "task.h"

#define HOUR_MS     (3600 * (int64_t)1000)
#define AGAIN_MS    (60 * 1000) /* what happens all the time is saved so often */
#define JOINED_MAX  (ASK_WORDS_MAX / 4) /* of what is asked as well */
#define OPTIONS_MAX 20
#define OPTION_SIZE 500
#define NAME_SIZE   300

const char *const ask_kind_words[ASK_KIND_COUNT + 1] = {
	[ASK_NONE] = "none",
	[ASK_QUESTION] = "question",
	[ASK_APPROVAL] = "approval",
	[ASK_BLOCKED] = "blocked",
	[ASK_FAILURE] = "failure",
	[ASK_BUDGET] = "budget",
	[ASK_REVIEW] = "review",
	[ASK_TOLD] = "told",
};

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
	is_new |= set_options(ask, draft->options);
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
	bool waits =
	    ask->kind == ASK_QUESTION || text_begins(ask->key, "worker/");
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
