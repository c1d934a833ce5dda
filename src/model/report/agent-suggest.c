/* SPDX-License-Identifier: ISC */

#include "base.h"
#include "agent-suggest.h"
#include "word.h"

#define ASKED_SCORE 10 /* a tag that was asked for */
#define TAG_SCORE   5 /* a tag that is in the task */
#define WORD_SCORE  1

/* They are in every description. */
static const char *const filler[] = { "and", "are", "but", "can", "for", "from",
	"has", "have", "into", "its", "not", "that", "the", "this", "use",
	"was", "will", "with", "you", "your", NULL };

static bool
in_word(char c)
{
	return (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') ||
	    (c >= '0' && c <= '9') || (unsigned char)c >= 0x80;
}

/* The words in lower case, with one blank before and after each. */
static void
add_words(struct buf *out, const char *text)
{
	buf_addc(out, ' ');
	while (*text != '\0') {
		while (*text != '\0' && !in_word(*text))
			text++;
		if (*text == '\0')
			break;
		for (; in_word(*text); text++)
			buf_addc(out,
			    *text >= 'A' && *text <= 'Z' ?
				(char)(*text - 'A' + 'a') :
				*text);
		buf_addc(out, ' ');
	}
}

static int
by_text(const void *a, const void *b)
{
	return strcmp(*(char *const *)a, *(char *const *)b);
}

static bool
was_asked(const struct agent_hint *hint, const char *words)
{
	for (const char *const *t = hint->tags; t != NULL && *t != NULL; t++) {
		cleanup_buf struct buf asked = BUF_INIT;

		add_words(&asked, *t);
		if (strcmp(asked.data, words) == 0)
			return true;
	}
	return false;
}

static void
match_tags(
    struct agent_suggestion *s, const struct agent_hint *hint, const char *task)
{
	for (char **t = s->card->tags; t != NULL && *t != NULL; t++) {
		cleanup_buf struct buf words = BUF_INIT;
		bool asked;

		add_words(&words, *t);
		asked = was_asked(hint, words.data);
		if (!asked &&
		    (words.len == 1 || strstr(task, words.data) == NULL))
			continue;
		s->score += asked ? ASKED_SCORE : TAG_SCORE;
		strv_add(&s->tags, *t);
	}
	if (s->tags != NULL)
		qsort(s->tags, strv_count(s->tags), sizeof(char *), by_text);
}

/* Every word of the description that is in the task too, once. */
static void
match_words(struct agent_suggestion *s, const char *task, struct buf *matched)
{
	cleanup_buf struct buf words = BUF_INIT, seen = BUF_INIT;
	char *rest, *word;

	add_words(&words, s->card->description);
	buf_addc(&seen, ' ');
	rest = words.data + 1;
	while ((word = strsep(&rest, " ")) != NULL) {
		cleanup_free char *whole = xasprintf(" %s ", word);
		unsigned ignored;

		if (strlen(word) < AGENT_TERM_MIN ||
		    word_find(filler, word, &ignored) ||
		    strstr(task, whole) == NULL ||
		    strstr(seen.data, whole) != NULL)
			continue;
		buf_addf(&seen, "%s ", word);
		buf_addf(matched, "%s%s", matched->len > 0 ? ", " : "", word);
		s->score += WORD_SCORE;
	}
}

static void
add_reasons(struct agent_suggestion *s, const char *words)
{
	cleanup_buf struct buf tags = BUF_INIT;

	for (char **t = s->tags; t != NULL && *t != NULL; t++)
		buf_addf(&tags, "%s%s", tags.len > 0 ? ", " : "", *t);
	if (tags.len > 0)
		strv_take(&s->reasons, xasprintf("tags: %s", tags.data));
	if (words[0] != '\0')
		strv_take(&s->reasons, xasprintf("description: %s", words));
	if (s->score == 0)
		strv_add(&s->reasons, "nothing in its card matches");
	if (s->card->cost != COST_TIER_UNKNOWN)
		strv_take(&s->reasons,
		    xasprintf("cost: %s", cost_tier_words[s->card->cost]));
}

static int
by_fit(const void *a, const void *b)
{
	const struct agent_suggestion *x = a, *y = b;

	if (x->score != y->score)
		return x->score > y->score ? -1 : 1;
	if (x->card->cost != y->card->cost)
		return x->card->cost < y->card->cost ? -1 : 1;
	return strcmp(x->card->name, y->card->name);
}

void
agent_suggest(const struct agent_cards *cards, const struct agent_hint *hint,
    struct agent_suggestions *ret_suggestions)
{
	cleanup_buf struct buf task = BUF_INIT;
	struct agent_suggestions all = { 0 };

	add_words(&task, hint->task != NULL ? hint->task : "");
	all.list = xcalloc(cards->count + 1, sizeof *all.list);
	for (size_t i = 0; i < cards->count; i++) {
		struct agent_suggestion *s = &all.list[all.count];
		cleanup_buf struct buf words = BUF_INIT;

		if (hint->max_cost != COST_TIER_UNKNOWN &&
		    cards->list[i]->cost > hint->max_cost)
			continue;
		s->card = cards->list[i];
		match_tags(s, hint, task.data);
		match_words(s, task.data, &words);
		add_reasons(s, words.len > 0 ? words.data : "");
		all.count++;
	}
	qsort(all.list, all.count, sizeof *all.list, by_fit);
	*ret_suggestions = all;
}

void
agent_suggestions_release(struct agent_suggestions *suggestions)
{
	for (size_t i = 0; i < suggestions->count; i++) {
		strv_free(suggestions->list[i].tags);
		strv_free(suggestions->list[i].reasons);
	}
	free(suggestions->list);
	*suggestions = (struct agent_suggestions){ 0 };
}
