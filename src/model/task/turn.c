/* SPDX-License-Identifier: ISC */

#include "base.h"

#include <math.h>

#include "agent-report.h"
#include "excerpt.h"
#include "hook-event.h"
#include "task.h"
#include "turn.h"

/* --- what an agent says -------------------------------------------------- */

const char *const said_names[SAID_COUNT + 1] = {
	[SAID_NOTHING] = "nothing",
	[SAID_WORKING] = "working",
	[SAID_DONE] = "done",
	[SAID_NO_CHANGE] = "done_without_change",
	[SAID_BLOCKED] = "blocked",
	[SAID_FAILED] = "failed",
	[SAID_QUESTION] = "question",
};

#define WORDS_MAX    1000 /* bytes that are quoted to a person */
#define CHECK_FAILED "The check of your work failed: "

/* The text is simplified first: lower case, without code, quotations, headings
 * and marks; blocks end with BLOCK, items begin with ITEM. */
#define BLOCK     '\f'
#define ITEM      '\v'
#define THING     " x " /* replaces code and quotations */
#define THING_MAX 1000 /* maximum bytes of one */

/* All phrases that count. Why these, and what they may do: see the header. */
static const char *const asks[] = { "i need your", "let me know how",
	"let me know which", "please confirm", "waiting for your", NULL };
static const char *const addressed[] = { "i", "proceed", "should", "you",
	NULL };
/* An offer is a question only if it is one of the work itself. */
static const char *const offers[] = { "also", "anything else", "let me know if",
	"want me", "would you like", NULL };
static const char *const of_the_work[] = { "continue", "proceed", NULL };
/* Refusals, if one of these verbs follows. */
static const char *const denials[] = { "i am unable to", "i can't", "i cannot",
	"i'm unable to", NULL };
static const char *const denied[] = { "complete", "continue", "do", "finish",
	"help", "implement", NULL };
/* The task needs no change; of the second kind, only where nothing fails. */
static const char *const no_change[] = { "no change is", "no changes are",
	NULL };
static const char *const present[] = { "already", "as it is", NULL };

static bool
is_letter(char c)
{
	return (c >= 'a' && c <= 'z') || (c >= '0' && c <= '9') ||
	    (unsigned char)c >= 0x80;
}

/* Does s begin with the phrase, as whole words? */
static bool
begins_with(const char *s, const char *phrase)
{
	size_t len = strlen(phrase);

	return strncmp(s, phrase, len) == 0 && !is_letter(s[len]);
}

/* The first occurrence of the phrase as whole words, or NULL. */
static const char *
find_phrase(const char *s, const char *phrase)
{
	for (const char *at = s; (at = strstr(at, phrase)) != NULL; at++)
		if ((at == s || (!is_letter(at[-1]) && at[-1] != '\'')) &&
		    begins_with(at, phrase))
			return at;
	return NULL;
}

static bool
has_any(const char *s, const char *const *phrases)
{
	for (; *phrases != NULL; phrases++)
		if (find_phrase(s, *phrases) != NULL)
			return true;
	return false;
}

/* --- the plain form -------------------------------------------------- */

/* Characters that are replaced. For an opening one, everything up to the
 * closing one on the same line becomes a THING. */
static const struct {
	const char *from, *closing, *to;
} characters[] = {
	{ "`", "`", NULL }, { "\"", "\"", NULL },
	{ "\xe2\x80\x9c", "\xe2\x80\x9d", NULL }, /* 66 99 */
	{ "\xe2\x80\x9e", "\xe2\x80\x9c", NULL }, /* low 99 66 */
	{ "\xc2\xab", "\xc2\xbb", NULL }, /* << >> */
	{ "\xe3\x80\x8c", "\xe3\x80\x8d", NULL }, /* corner brackets */
	{ "](", ")", NULL }, /* the address of a link */
	{ "*", NULL, "" }, { "_", NULL, "" }, { "\xe2\x80\x99", NULL, "'" },
	{ "\xe2\x80\xa6", NULL, ". " }, /* ellipsis */
	{ "\xe3\x80\x82", NULL, ". " }, /* CJK full stop */
	{ "\xef\xbc\x81", NULL, "! " }, /* full width ! */
	{ "\xef\xbc\x9f", NULL, "? " }, /* full width ? */
	{ "\xd8\x9f", NULL, "? " }, /* Arabic */
	{ "\xe1\x8d\xa7", NULL, "? " }, /* Ethiopic */
};

/* Append the meaning of the next characters; returns how many bytes were
 * read. */
static size_t
add_character(const char *s, struct buf *out)
{
	const char *end;
	size_t len;

	for (size_t i = 0; i < nitems(characters); i++) {
		len = strlen(characters[i].from);
		if (strncmp(s, characters[i].from, len) != 0)
			continue;
		if (characters[i].to != NULL) {
			buf_adds(out, characters[i].to);
			return len;
		}
		end = memmem(s + len, strnlen(s + len, THING_MAX),
		    characters[i].closing, strlen(characters[i].closing));
		if (end == NULL)
			break;
		buf_adds(out, THING);
		return (size_t)(end - s) + strlen(characters[i].closing);
	}
	if ((unsigned char)*s < ' ')
		buf_addc(out, ' ');
	else
		buf_addc(out, (char)(*s >= 'A' && *s <= 'Z' ? *s + 32 : *s));
	return 1;
}

/* Length of a list mark, 0 = none: "- ", "2. ", "b) ". */
static size_t
item_len(const char *s)
{
	size_t len = strspn(s, "0123456789");

	if (len == 0 && *s != '\0' && strchr("-*+", *s) != NULL)
		return s[1] == ' ' || s[1] == '\t' ? 2 : 0;
	if (len == 0 && s[0] != '\0' && s[1] == ')')
		len = 1;
	if (len == 0 || (s[len] != '.' && s[len] != ')'))
		return 0;
	return s[len + 1] == ' ' || s[len + 1] == '\t' ? len + 2 : 0;
}

static void
end_block(struct buf *out)
{
	if (out->len > 0 && out->data[out->len - 1] != BLOCK)
		buf_addc(out, BLOCK);
}

static bool
says_something(const char *s)
{
	for (; *s != '\0'; s++) {
		if (strncmp(s, "\xf0\x9f", 2) == 0 && s[2] != '\0' &&
		    s[3] != '\0')
			s += 3; /* a picture */
		else if (is_letter(*s) || (*s >= 'A' && *s <= 'Z'))
			return true;
	}
	return false;
}

/* Lines that are not the agent's prose: quotations, headings, tables, rules,
 * and empty ones. */
static bool
is_prose(const char *line)
{
	if (*line == '>' || *line == '|')
		return false;
	if (*line == '#' && line[strspn(line, "#")] == ' ')
		return false;
	return says_something(line);
}

static void
add_line(const char *line, struct buf *out)
{
	size_t mark;

	line += strspn(line, " \t");
	if (!is_prose(line)) {
		end_block(out);
		return;
	}
	mark = item_len(line);
	buf_addc(out, mark > 0 ? ITEM : ' ');
	for (line += mark; *line != '\0';)
		line += add_character(line, out);
}

static void
add_plain(const char *words, struct buf *out)
{
	bool code = false;
	size_t len;

	for (; *words != '\0'; words += len) {
		cleanup_free char *line = NULL;
		const char *text;

		len = strcspn(words, "\n");
		line = xstrndup(words, len);
		text = line + strspn(line, " \t");
		if (text_begins(text, "```") || text_begins(text, "~~~")) {
			code = !code;
			end_block(out);
		} else if (!code) {
			add_line(line, out);
		}
		len += words[len] == '\n' ? 1 : 0;
	}
	end_block(out);
}

/* --- plain words ------------------------------------------------------- */

static enum said_what
read_sentence(const char *s, bool question, bool *ret_offer)
{
	*ret_offer = false;
	if (has_any(s, asks))
		return SAID_QUESTION;
	if (has_any(s, offers)) {
		*ret_offer = !has_any(s, of_the_work);
		return *ret_offer ? SAID_NOTHING : SAID_QUESTION;
	}
	if (question)
		return has_any(s, addressed) ? SAID_QUESTION : SAID_NOTHING;
	for (size_t i = 0; denials[i] != NULL; i++) {
		const char *verb = find_phrase(s, denials[i]);

		/* "If I can't do it, ..." */
		if (verb == NULL || find_phrase(s, "if") != NULL)
			continue;
		verb += strlen(denials[i]);
		verb += strspn(verb, " ,");
		for (size_t k = 0; denied[k] != NULL; k++)
			if (begins_with(verb, denied[k]))
				return SAID_FAILED;
	}
	return SAID_NOTHING;
}

/* Length of the sentence at s, including punctuation, within len bytes. */
static size_t
sentence_len(const char *s, size_t len, bool *ret_question)
{
	size_t marks;

	*ret_question = false;
	for (size_t i = 0; i < len; i += marks + (marks == 0 ? 1 : 0)) {
		if (i > 0 && s[i] == ITEM)
			return i;
		marks = strspn(s + i, ".!?");
		if (marks == 0)
			continue;
		marks += strspn(s + i + marks, ".!?)]'");
		if (i + marks < len && strchr(" \v", s[i + marks]) == NULL)
			continue; /* inside a word or number */
		*ret_question = memchr(s + i, '?', marks) != NULL;
		return i + marks;
	}
	return len;
}

/* Backwards from the last block, over lists and offers, to the text that they
 * belong to; the worst sentence of a block counts. */
static enum said_what
read_words(const struct buf *plain)
{
	const char *text = plain->data;
	enum said_what said = SAID_NOTHING;
	bool above_list = false, more = true;
	size_t end, start, n;

	for (end = plain->len; end > 0 && more && said == SAID_NOTHING;
	     end = start) {
		bool question = false, offers_only = true, said_any = false;

		for (start = --end; start > 0 && text[start - 1] != BLOCK;)
			start--;
		for (size_t at = start; at < end; at += n) {
			cleanup_free char *s = NULL;
			bool offer, asks_one;
			enum said_what one;

			n = sentence_len(text + at, end - at, &asks_one);
			s = xstrndup(text + at, n);
			if (!says_something(s))
				continue;
			one = read_sentence(s, asks_one, &offer);
			said = one > said ? one : said;
			offers_only &= offer;
			said_any = true;
			question = asks_one && one == SAID_NOTHING && !offer;
		}
		/* A question that addresses nobody is a title if it is above a
		 * list. */
		if (question && !above_list)
			said = SAID_QUESTION;
		above_list = text[start] == ITEM;
		more = above_list || (offers_only && said_any);
	}
	if (said == SAID_NOTHING &&
	    (has_any(text, no_change) ||
		(has_any(text, present) && strstr(text, "fail") == NULL &&
		    strstr(text, "error") == NULL)))
		return SAID_NO_CHANGE;
	return said;
}

/* --- all sources ------------------------------------------------------- */

/* The last paragraph, from a whole character on. */
static char *
last_paragraph(const char *text)
{
	const char *last = text, *next;
	size_t len, skip = 0;

	while ((next = strstr(last, "\n\n")) != NULL &&
	    next[2 + strspn(next + 2, " \t\n")] != '\0')
		last = next + 2 + strspn(next + 2, " \t\n");
	len = strlen(last);
	while (len > 0 && strchr(" \t\n", last[len - 1]) != NULL)
		len--;
	if (len > WORDS_MAX)
		for (skip = len - WORDS_MAX;
		     ((unsigned char)last[skip] & 0xc0) == 0x80;)
			skip++;
	return len > 0 ? xasprintf("%s%.*s", skip > 0 ? "... " : "",
			     (int)(len - skip), last + skip) :
			 NULL;
}

static void
set_words(struct said *said, const char *summary)
{
	cleanup_buf struct buf all = BUF_INIT;

	for (size_t i = 0; i < strv_count(said->blockers); i++)
		buf_addf(&all, "%s%s", i > 0 ? "; " : "", said->blockers[i]);
	if (said->what == SAID_BLOCKED && all.len > 0)
		xstrset(&said->words, all.data);
	else if (summary != NULL && *summary != '\0')
		xstrset(&said->words, summary);
}

/* Some end their message with the update, but without the lines around it that
 * make it a block. NULL = no update is there. */
static char *
bare_update(const char *text)
{
	const char *at = NULL, *next = text;

	while ((next = strstr(next, "\"" UPDATE_KEY "\"")) != NULL)
		at = next++;
	while (at != NULL && at > text && strchr(" \t\n", at[-1]) != NULL)
		at--;
	return at != NULL && at > text && at[-1] == '{' ?
	    xasprintf("```json\n%s\n```\n", at - 1) :
	    NULL;
}

static bool
read_update(const struct said_sources *from, struct said *said)
{
	static const enum said_what meaning[UPDATE_STATUS_COUNT] = {
		[UPDATE_IN_PROGRESS] = SAID_WORKING,
		[UPDATE_BLOCKED] = SAID_BLOCKED,
		[UPDATE_DONE] = SAID_DONE,
	};
	int r = update_find(
	    from->text, strlen(from->text), &said->update, &said->fault);
	cleanup_free char *bare = r == -ENOENT ? bare_update(from->text) : NULL;

	if (bare != NULL) {
		said->fault = (struct err){ 0 };
		r = update_find(
		    bare, strlen(bare), &said->update, &said->fault);
	}
	if (r == 0 && from->node_id != NULL)
		r = update_bind(
		    said->update, from->goal_id, from->node_id, &said->fault);
	if (r < 0) {
		update_free(take_ptr(&said->update));
		if (r == -ENOENT)
			said->fault = (struct err){ 0 };
		return false;
	}
	said->what = meaning[said->update->status];
	said->by = SAID_BY_UPDATE;
	strv_add_all(&said->blockers, strv_const(said->update->blockers));
	set_words(said, said->update->summary);
	return said->what != SAID_NOTHING;
}

/* A report without a status is one of finished work, if the tool made it. */
static bool
read_report(struct json_object *report, bool by_tool, struct said *said)
{
	const char *status = json_string_or(report, "status", "");
	struct json_object *blockers = json_member(report, "blockers");

	if (report == NULL || (!by_tool && *status == '\0'))
		return false;
	strv_clear(&said->blockers);
	said->blockers = strv_from_json(blockers);
	if (*status == '\0' || strcmp(status, "complete") == 0)
		said->what = SAID_DONE;
	else if (strv_count(said->blockers) > 0)
		said->what = SAID_BLOCKED;
	else
		said->what =
		    strcmp(status, "failed") == 0 ? SAID_FAILED : SAID_WORKING;
	said->by = SAID_BY_REPORT;
	set_words(said, json_string_or(report, "summary", NULL));
	return true;
}

void
said_read(const struct said_sources *from, struct said *ret_said)
{
	cleanup_buf struct buf plain = BUF_INIT;
	struct said *said = ret_said;
	enum said_what words = SAID_NOTHING;

	*said = (struct said){
		.percent = progress_report_percent(from->progress),
	};
	if (from->text != NULL) {
		add_plain(from->text, &plain);
		words = read_words(&plain);
		said->report =
		    completion_report_from_text(from->text, strlen(from->text));
	}
	if ((from->text == NULL || !read_update(from, said)) &&
	    !read_report(from->report, true, said) &&
	    !read_report(said->report, false, said)) {
		said->what = words;
		said->by = SAID_BY_WORDS;
	} else if (said->what == SAID_DONE && words == SAID_NO_CHANGE) {
		said->what = SAID_NO_CHANGE;
	}
	if (said->what == SAID_NOTHING && said->percent < 100)
		said->what = SAID_WORKING;
	if (said->words == NULL && from->text != NULL)
		said->words = last_paragraph(from->text);
}

void
said_of_task(const struct task *task, struct said *ret_said)
{
	const struct task_attempt *attempt = &task->attempt;
	const char *slash = strchr(task->key != NULL ? task->key : "", '/');
	bool planned = task->source != NULL && slash != NULL &&
	    strcmp(task->source, "plan") == 0;
	cleanup_free char *goal =
	    planned ? xstrndup(task->key, (size_t)(slash - task->key)) : NULL;
	/* Another tool after it: it has gone on since. */
	bool reported = attempt->report_by_tool &&
	    text_is(attempt->last_tool, COMPLETION_TOOL);

	said_read(&(struct said_sources){ .text = task->last_words,
		      .report = reported ? attempt->report : NULL,
		      .progress = attempt->progress,
		      .goal_id = goal,
		      .node_id = planned ? slash + 1 : NULL },
	    ret_said);
}

void
said_release(struct said *said)
{
	free(said->words);
	strv_clear(&said->blockers);
	update_free(said->update);
	json_object_put(said->report);
	*said = (struct said){ 0 };
}

enum trouble {
	TROUBLE_NONE,
	TROUBLE_BLOCKED,
	TROUBLE_REBASE,
	TROUBLE_UNCOMMITTED,
	TROUBLE_QUESTION,
	TROUBLE_REFUSAL,
	TROUBLE_NO_COMMIT,
	TROUBLE_NO_RESULT,
	TROUBLE_COUNT
};

static const struct {
	const char *message; /* to the worker */
	const char *reason; /* for a person, or of a failed attempt */
	enum ask_kind ask; /* NONE: the attempt fails with its last turn */
	int nudges; /* how often it is sent on before that */
	enum turn_action at_last; /* driven by hand, after it was sent back
				   * often enough */
	const char *to_person; /* the reason for that */
} troubles[] = {
	[TROUBLE_BLOCKED] = { .ask = ASK_BLOCKED, .reason = TURN_BLOCKED },
	[TROUBLE_REBASE] = { .message =
				 "The rebase is not finished. Resolve the conflicts, git add "
				 "the files and run git rebase --continue, until git status "
				 "says that no rebase is in progress.",
	    .reason = "it left a rebase unfinished",
	    .at_last = TURN_PAUSE,
	    .to_person = "the agent could not finish its rebase; resolve it "
			 "in the worktree, or run: llmc reset" },
	[TROUBLE_UNCOMMITTED] = { .message =
				      "Commit what belongs to the task (amend your commit if "
				      "there is one) and remove or restore the rest, until git "
				      "status shows a clean worktree.",
	    .reason = "it left changes that are not committed",
	    .at_last = TURN_COMMIT,
	    .to_person = "" },
	[TROUBLE_QUESTION] = { .ask = ASK_QUESTION,
	    .nudges = TURN_NUDGES_MAX,
	    .message =
		"Nobody can answer you. Decide yourself what serves the task "
		"best, continue without asking, finish the task and commit. If "
		"it is finished, say so in a plain sentence, without a "
		"question or an offer.",
	    .reason = "it asks" },
	[TROUBLE_REFUSAL] = { .ask = ASK_FAILURE,
	    .nudges = TURN_NUDGES_MAX,
	    .message =
		"You said that you cannot or will not continue. Look for "
		"another way to do the task, or do the part of it that is "
		"possible, and commit. If it is finished, say so in a plain "
		"sentence.",
	    .reason = "it says that it cannot go on" },
	[TROUBLE_NO_COMMIT] = { .ask = ASK_FAILURE,
	    .nudges = 1,
	    .message =
		"There is no commit on your branch, and the task is not done "
		"without one. Do what the task asks for and commit it.",
	    .reason = "it made no commit" },
	[TROUBLE_NO_RESULT] = { .ask = ASK_FAILURE,
	    .nudges = 1,
	    .message =
		"There is no commit on your branch. If the task is not done, "
		"do what it asks for and commit it. If it needs no change, say "
		"so in one sentence that begins with \"No change is needed "
		"because\". If it asks only for an answer, give the answer as "
		"the summary of report_completion, with \"result\": "
		"\"report\". If something is missing that you cannot get, end "
		"your turn with it in this form:\n\n"
		"```json\n{\"overseerUpdate\": {\"status\": \"blocked\", "
		"\"blockers\": [\"what is missing\"]}}\n```\n",
	    .reason = "it ended without a change" },
};

_Static_assert(
    nitems(troubles) == TROUBLE_COUNT, "words for every kind of trouble");

static bool
out_of_turns(const struct turn_facts *facts)
{
	return facts->turns_max > 0 && facts->turns >= facts->turns_max;
}

static enum trouble
find_trouble(const struct turn_facts *facts)
{
	bool alone = facts->ahead <= 0 && !facts->resolving;

	/* What it leaves over is kept with its task. */
	if (facts->driven && !facts->waits && facts->said->what == SAID_BLOCKED)
		return TROUBLE_BLOCKED;
	if (facts->rebasing)
		return TROUBLE_REBASE;
	if (facts->uncommitted > 0)
		return TROUBLE_UNCOMMITTED;
	if (!facts->driven || facts->waits)
		return TROUBLE_NONE;
	if (facts->said->what == SAID_QUESTION)
		return TROUBLE_QUESTION;
	if (facts->said->what == SAID_FAILED)
		return TROUBLE_REFUSAL;
	if (alone && facts->commit_wanted)
		return TROUBLE_NO_COMMIT;
	return alone && facts->result_wanted ? TROUBLE_NO_RESULT : TROUBLE_NONE;
}

static void
add_words(
    const struct turn_facts *facts, enum trouble trouble, struct buf *words)
{
	if (trouble == TROUBLE_QUESTION && facts->answers != NULL)
		buf_addf(words,
		    "Do not end your turn with a question. If you cannot "
		    "decide it yourself, ask %s with the tool "
		    "request_orchestrator, which waits for the answer. "
		    "Otherwise continue without asking, finish the task and "
		    "commit. If it is finished, say so in a plain sentence, "
		    "without a question or an offer.",
		    facts->answers);
	else
		buf_adds(words, troubles[trouble].message);
}

static void
add_message(
    const struct turn_facts *facts, enum trouble trouble, struct buf *words)
{
	/* How many files are affected. */
	if (trouble == TROUBLE_REBASE && facts->conflicts > 0)
		buf_addf(words, "%d file%s still in conflict. ",
		    facts->conflicts, facts->conflicts == 1 ? " is" : "s are");
	if (trouble == TROUBLE_UNCOMMITTED)
		buf_addf(words, "%d file%s changed or untracked. ",
		    facts->uncommitted,
		    facts->uncommitted == 1 ? " is" : "s are");
	add_words(facts, trouble, words);
	/* An unanswered question would only be asked again. */
	if (facts->driven && troubles[trouble].ask == ASK_NONE &&
	    facts->said->what == SAID_QUESTION && !facts->asks_person) {
		buf_addc(words, ' ');
		add_words(facts, TROUBLE_QUESTION, words);
	}
}

static enum turn_action
judge_untroubled(const struct turn_facts *facts)
{
	bool needs_no_commit = facts->reviewing || facts->resolving;

	if (facts->ahead <= 0 && (facts->driven || !needs_no_commit))
		return TURN_NO_CHANGES;
	return facts->driven && facts->check_wanted ? TURN_CHECK :
						      TURN_FINISHED;
}

enum turn_action
turn_judge(
    const struct turn_facts *facts, struct buf *words, enum ask_kind *ret_ask)
{
	enum trouble trouble = find_trouble(facts);

	if (trouble == TROUBLE_NONE)
		return facts->driven && facts->waits ? TURN_WAIT :
						       judge_untroubled(facts);
	if (!facts->driven) {
		/* A person drives the worker and will see what is left over. */
		if (facts->sent_back < TURN_SENT_BACK_MAX) {
			add_message(facts, trouble, words);
			return TURN_BACK;
		}
		buf_adds(words, troubles[trouble].to_person);
		return troubles[trouble].at_last;
	}
	if (facts->wraps_up && trouble != TROUBLE_BLOCKED &&
	    (trouble != TROUBLE_QUESTION || !facts->asks_person)) {
		buf_adds(words,
		    "A usage limit of the account may be near. It is waited "
		    "for, and nothing has to be wrapped up for it: continue "
		    "the task. ");
		add_message(facts, trouble, words);
		return TURN_EXCUSE;
	}
	if (trouble == TROUBLE_UNCOMMITTED && facts->idle)
		return TURN_COMMIT;
	if (troubles[trouble].ask != ASK_NONE) {
		bool at_once =
		    trouble == TROUBLE_QUESTION && facts->asks_person;

		/* What it said comes first: that is what a person can
		 * answer. */
		if (!at_once && !out_of_turns(facts) &&
		    facts->nudges < troubles[trouble].nudges) {
			add_message(facts, trouble, words);
			return TURN_NUDGE;
		}
		buf_adds(words, troubles[trouble].reason);
		if (facts->said->words != NULL)
			buf_addf(words, ": %s", facts->said->words);
		*ret_ask = troubles[trouble].ask;
		return *ret_ask == ASK_FAILURE && facts->has_parent ?
		    TURN_FAIL :
		    TURN_ASK;
	}
	if (out_of_turns(facts)) {
		buf_addf(words, "%s after %d turn%s", troubles[trouble].reason,
		    facts->turns, facts->turns == 1 ? "" : "s");
		return TURN_FAIL;
	}
	add_message(facts, trouble, words);
	return TURN_BACK;
}

void
turn_check_output(const char *words, struct buf *out)
{
	const char *fence = strstr(words, "\n```"), *end;
	cleanup_free char *last = NULL;

	if (!text_begins(words, CHECK_FAILED)) {
		buf_adds(out, words);
		return;
	}
	if (fence == NULL)
		return;
	last = xstrndup(fence, 1 + strspn(fence + 1, "`"));
	fence += strlen(last);
	end = strstr(fence, last);
	if (*fence == '\n' && end != NULL && end > fence)
		buf_add(out, fence + 1, (size_t)(end - fence));
}

void
turn_check_words(
    const char *command, const char *how, const char *output, struct buf *out)
{
	buf_addf(out, CHECK_FAILED "%s %s.\n", command, how);
	excerpt_add(output, out);
	buf_adds(out,
	    "Find the cause, fix it and commit (amend your commit). Do not "
	    "make the check less strict.\n");
}
