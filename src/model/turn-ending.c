/* SPDX-License-Identifier: ISC */

/*
 * How the agent's last message ends. Natural language does not fit into a
 * table, so this errs on one side: taking a finished worker for one that asks
 * wastes a turn; the opposite mistake would land half of the work.
 *
 * The text is simplified first: lower case, without code, quotations, headings
 * and marks; blocks end with BLOCK, items begin with ITEM.
 */

#include <stdbool.h>
#include <string.h>

#include "buf.h"
#include "mem.h"
#include "turn-ending.h"

#define BLOCK     '\f'
#define ITEM      '\v'
#define THING     " x " /* replaces code and quotations */
#define THING_MAX 1000 /* maximum bytes of one */

#define REPORT_REACH 24 /* bytes before a word that may negate it */

/* Words that report finished work. */
static const char *const reports[] = { "added", "all green", "bumped",
	"changed", "cleaned up", "committed", "complete", "completed",
	"configured", "converted", "corrected", "created", "deleted",
	"documented", "done", "extracted", "finished", "fixed", "implemented",
	"installed", "introduced", "landed", "merged", "migrated", "moved",
	"pass", "passes", "passing", "rebased", "refactored", "removed",
	"renamed", "replaced", "resolved", "reverted", "rewrote", "rewritten",
	"updated", "upgraded", "written", "wrote", NULL };

/* Before one of those words: the work was not done, or not yet. */
static const char *const reversals[] = { "be", "before", "can", "cannot",
	"didn't", "doesn't", "hasn't", "haven't", "if", "isn't", "no", "never",
	"not", "nothing", "once", "until", "wasn't", "weren't", "when", NULL };

/* These ask for an answer, with or without a question mark. */
static const char *const asks[] = { "await your", "awaiting your",
	"before continuing", "before i begin", "before i can",
	"before i continue", "before i go ahead", "before i make",
	"before i proceed", "before i start", "before proceeding",
	"i need clarification", "i need more", "i need some", "i need to know",
	"i need you to", "i need your", "i would need", "i'd need", "i'll need",
	"i'll wait", "if you approve", "if you confirm", "let me know how",
	"let me know when", "let me know whether", "let me know which",
	"let me know what you want", "let me know what you would",
	"let me know what you'd", "let me know your",
	"more information is needed", "need clarification", "need more details",
	"need more information", "need permission", "need your",
	"once you answer", "once you approve", "once you choose",
	"once you confirm", "once you decide", "once you have decided",
	"once you let me know", "once you provide", "once you reply",
	"once you tell me", "please advise", "please answer", "please approve",
	"please choose", "please clarify", "please confirm", "please decide",
	"please give me", "please grant", "please indicate", "please pick",
	"please provide", "please reply", "please respond", "please select",
	"please share", "please specify", "please tell me", "tell me how",
	"tell me what", "tell me whether", "tell me which", "wait for your",
	"waiting for your", "waiting on you", "waiting on your",
	"your approval", "your call", "your confirmation", "your decision",
	"your go-ahead", "your guidance", "your input", "your permission",
	NULL };

/* A question with one of these needs an answer, wherever it appears. */
static const char *const directed[] = { "continue", "go ahead", "i", "i'm",
	"me", "my", "ok to", "okay to", "proceed", "should", "we", "which",
	"you", "you'd", "your", NULL };

/* Offers; whether of more work is checked separately. */
static const char *const offers[] = { "anything else", "do you want",
	"if you want", "if you would like", "if you'd like", "let me know if",
	"let me know what you think", "shall i also", "should i also",
	"want me to", "would it be helpful", "would it be useful",
	"would it help", "would you like", NULL };
static const char *const courtesies[] = { "feel free to", "glad to", "happy to",
	NULL };

static const char *const of_more[] = { "additional", "additionally", "adjust",
	"also", "another", "any", "anything", "as well", "else", "follow-up",
	"further", "in addition", "more", "other", "separately", "too", "tweak",
	NULL };

/* Offers to do what was the task anyway: those of the second list only if they
 * are not about more work. */
static const char *const of_the_same[] = { "carry on", "continue",
	"get started", "go ahead", "i should", "move forward", "move on",
	"proceed", NULL };
static const char *const perhaps_the_same[] = { "apply it", "apply that",
	"apply the", "apply these", "apply this", "begin", "commit it",
	"commit the", "commit these", "commit this", "fix it", "fix that",
	"fix the", "fix these", "fix this", "implement it", "implement one",
	"implement that", "implement the", "implement these", "implement this",
	"make that", "make the", "make these", "make this", "or", "start",
	NULL };

static const char *const refusals[] = { "against my guidelines", "i decline",
	"i don't feel comfortable", "i have to decline", "i must decline",
	"i refuse", "i'd rather not", "i'll have to decline",
	"i'm not comfortable", "i am not comfortable", "this can't be done",
	"this cannot be done", "this task can't be", "this task cannot be",
	NULL };
/* Ignored if the message also reports work. */
static const char *const obstacles[] = { "i am blocked", "i do not have access",
	"i do not have permission", "i don't have access",
	"i don't have permission", "i'm blocked", NULL };

/* Followed by a verb, which decides. */
static const char *const denials[] = { "i am not able to", "i am not going to",
	"i am unable to", "i can not", "i can't", "i cannot", "i could not",
	"i couldn't", "i was not able to", "i was unable to",
	"i wasn't able to", "i will not", "i'm not able to", "i'm not going to",
	"i'm unable to", "i won't", NULL };
static const char *const fillers[] = { "actually", "be able to", "currently",
	"directly", "ethically", "fully", "in good conscience", "just",
	"really", "safely", "simply", NULL };
/* Verbs that make it a refusal, even if the message reports work. */
static const char *const denied_work[] = { "accomplish", "assist", "commit",
	"complete", "comply", "continue", "create", "do", "engage", "finish",
	"fix", "fulfil", "fulfill", "generate", "help", "implement", "perform",
	"proceed", "produce", "provide", "resolve", "solve", "write", NULL };
/* Verbs that never make it a refusal. */
static const char *const denied_nothing[] = { "emphasize", "find any",
	"guarantee", "help but", "imagine", "recommend", "see any", "stress",
	"think", "wait to", NULL };
/* "If I can't find it, ..." */
static const char *const conditions[] = { "if", "otherwise", "unless", "what",
	"when", "where", "which", NULL };

/* These say that the task needs no change; of the second list, only where
 * nothing went wrong. */
static const char *const no_change[] = { "no change is", "no change needed",
	"no change was", "no changes are", "no changes needed",
	"no changes were", "no code change", "no code changes",
	"no commit is needed", "nothing has to be changed",
	"nothing needs to be changed", "nothing to change", NULL };
static const char *const as_it_is[] = { "already", "as it is", "as it should",
	NULL };
static const char *const wrongs[] = { "error", "errors", "fail", "failed",
	"failing", "fails", "gave up", "give up", "stuck", NULL };
#define EXPLAINS_WORDS 4 /* fewer are no reason */

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

static bool
begins_with_any(const char *s, const char *const *phrases)
{
	for (; *phrases != NULL; phrases++)
		if (begins_with(s, *phrases))
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
		if (strncmp(text, "```", 3) == 0 ||
		    strncmp(text, "~~~", 3) == 0) {
			code = !code;
			end_block(out);
		} else if (!code) {
			add_line(line, out);
		}
		len += words[len] == '\n' ? 1 : 0;
	}
	end_block(out);
}

/* --- sentences -------------------------------------------------------- */

enum sentence {
	SENTENCE_PLAIN,
	SENTENCE_OFFER,
	SENTENCE_ASKS,
	SENTENCE_WONDERS, /* a question that addresses nobody */
	SENTENCE_REFUSES,
};

struct reader {
	const char *text; /* the simplified text */
	size_t report; /* where it first reports finished work, or SIZE_MAX */
};

static bool
is_reversed(const char *text, const char *at)
{
	const char *from = at - text > REPORT_REACH ? at - REPORT_REACH : text;
	cleanup_free char *before = NULL;

	for (const char *s = from; s < at; s++)
		if (strchr(".!?;\f\v", *s) != NULL)
			from = s + 1;
	/* Do not start in the middle of a word. */
	while (from > text && from < at && is_letter(from[-1]))
		from++;
	before = xstrndup(from, (size_t)(at - from));
	return has_any(before, reversals);
}

static size_t
find_report(const char *text)
{
	size_t first = SIZE_MAX;

	for (size_t i = 0; reports[i] != NULL; i++) {
		const char *at = find_phrase(text, reports[i]);

		while (at != NULL && is_reversed(text, at))
			at = find_phrase(at + 1, reports[i]);
		if (at != NULL && (size_t)(at - text) < first)
			first = (size_t)(at - text);
	}
	return first;
}

static bool
is_condition(const char *s, const char *at)
{
	const char *start;
	cleanup_free char *word = NULL;

	while (at > s && at[-1] == ' ')
		at--;
	for (start = at; start > s && is_letter(start[-1]);)
		start--;
	word = xstrndup(start, (size_t)(at - start));
	return *word != '\0' && begins_with_any(word, conditions);
}

static const char *
skip_fillers(const char *s)
{
	s += strspn(s, " ,");
	for (size_t i = 0; fillers[i] != NULL; i++)
		if (begins_with(s, fillers[i]))
			return skip_fillers(s + strlen(fillers[i]));
	return s;
}

static bool
is_refusal(const char *s, bool reported)
{
	if (has_any(s, refusals) || (!reported && has_any(s, obstacles)))
		return true;
	for (size_t i = 0; denials[i] != NULL; i++) {
		const char *at = find_phrase(s, denials[i]), *verb;

		if (at == NULL || is_condition(s, at))
			continue;
		verb = skip_fillers(at + strlen(denials[i]));
		if (begins_with_any(verb, denied_nothing))
			continue;
		if (!reported || begins_with_any(verb, denied_work))
			return true;
	}
	return false;
}

static enum sentence
read_offer(const char *s, bool reported)
{
	bool more = has_any(s, of_more);

	if (has_any(s, of_the_same))
		return SENTENCE_ASKS;
	if (!more && (!reported || has_any(s, perhaps_the_same)))
		return SENTENCE_ASKS;
	return SENTENCE_OFFER;
}

/* at: offset of the sentence in the text. */
static enum sentence
read_sentence(
    const struct reader *reader, const char *s, size_t at, bool question)
{
	if (has_any(s, asks))
		return SENTENCE_ASKS;
	if (has_any(s, offers))
		return read_offer(s, reader->report < at);
	if (question)
		return has_any(s, directed) ? SENTENCE_ASKS : SENTENCE_WONDERS;
	if (is_refusal(s, reader->report != SIZE_MAX))
		return SENTENCE_REFUSES;
	return has_any(s, courtesies) ? SENTENCE_OFFER : SENTENCE_PLAIN;
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

struct block {
	enum turn_ending ending;
	bool list, offers; /* contains nothing else */
};

/* Read the block of len bytes at `at`. A question that addresses nobody is a
 * title if it is above a list. */
static struct block
read_block(const struct reader *reader, size_t at, size_t len, bool above_list)
{
	struct block block = { ENDING_PLAIN, reader->text[at] == ITEM, true };
	bool asks_one = false, refuses = false, question = false;
	enum sentence last = SENTENCE_PLAIN;
	size_t n;

	for (size_t end = at + len; at < end; at += n) {
		cleanup_free char *s = NULL;

		n = sentence_len(reader->text + at, end - at, &question);
		s = xstrndup(reader->text + at, n);
		if (!says_something(s))
			continue;
		last = read_sentence(reader, s, at, question);
		asks_one |= last == SENTENCE_ASKS;
		refuses |= last == SENTENCE_REFUSES;
		block.offers &= last == SENTENCE_OFFER;
	}
	if (asks_one || (last == SENTENCE_WONDERS && !above_list))
		block.ending = ENDING_QUESTION;
	else if (refuses)
		block.ending = ENDING_REFUSAL;
	return block;
}

enum turn_ending
turn_ending_read(const char *last_words)
{
	cleanup_buf struct buf plain = BUF_INIT;
	struct reader reader;
	struct block block = { 0 };
	size_t end, start;

	if (last_words == NULL)
		return ENDING_PLAIN;
	add_plain(last_words, &plain);
	reader = (struct reader){ plain.data, find_report(plain.data) };
	/* Backwards from the last block, over lists and offers, to the text
	 * that they belong to. */
	for (end = plain.len; end > 0; end = start) {
		for (start = --end;
		     start > 0 && plain.data[start - 1] != BLOCK;)
			start--;
		block = read_block(&reader, start, end - start, block.list);
		if (block.ending != ENDING_PLAIN ||
		    (!block.list && !block.offers))
			return block.ending;
	}
	return ENDING_PLAIN;
}

static int
count_words(const char *s)
{
	int count = 0;

	for (; *s != '\0'; s++)
		count += is_letter(*s) && !is_letter(s[1]) && s[1] != '\'';
	return count;
}

bool
turn_ending_explains(const char *last_words)
{
	cleanup_buf struct buf plain = BUF_INIT;

	if (last_words == NULL || turn_ending_read(last_words) != ENDING_PLAIN)
		return false;
	add_plain(last_words, &plain);
	return count_words(plain.data) >= EXPLAINS_WORDS &&
	    (has_any(plain.data, no_change) ||
		(has_any(plain.data, as_it_is) &&
		    !has_any(plain.data, wrongs) &&
		    !has_any(plain.data, denials)));
}
