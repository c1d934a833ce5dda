/* SPDX-License-Identifier: ISC */

#include "base.h"

#include <math.h>

#include "progress-private.h"

#define SPOKEN_LEAST 2 /* own words of four letters or more */
#define WEIGHT_LEAST 0.2 /* of a word that every turn says, compared with 1 */
#define COMMON       0.4 /* of a word that belongs to any task */
#define MUCH         (1 / 3.0) /* of the objective, however often it is said */
#define WORD_MAX     48

/* One turn cannot say all of a long objective: from one to three words. */
#define EXPECTED_DIVISOR 8.0
#define EXPECTED_MOST    3.0

/* Not of the objective. */
#define IS_COMMON OBJECTIVE_WORDS_MAX
#define IS_FILLER (OBJECTIVE_WORDS_MAX + 1)

static const char *const fillers[] = { "a", "about", "after", "again", "all",
	"also", "an", "and", "any", "are", "as", "at", "be", "been", "before",
	"but", "by", "can", "could", "do", "does", "each", "for", "from", "had",
	"has", "have", "how", "if", "in", "into", "is", "it", "its", "make",
	"may", "more", "must", "new", "no", "not", "now", "of", "on", "only",
	"or", "other", "our", "out", "over", "please", "should", "so", "some",
	"such", "than", "that", "the", "their", "them", "then", "there",
	"these", "they", "this", "to", "too", "up", "use", "using", "want",
	"was", "we", "were", "what", "when", "where", "which", "while", "who",
	"will", "with", "would", "you", "your" };

/* Words that belong to any task: they hardly say what it is about. */
static const char *const commons[] = { "add", "bug", "build", "change", "check",
	"clean", "code", "commit", "complete", "continue", "create", "done",
	"error", "everything", "fail", "file", "find", "finish", "first", "fix",
	"good", "great", "implement", "improve", "issue", "item", "just",
	"last", "look", "made", "move", "next", "nothing", "part", "pass",
	"problem", "progress", "refactor", "remain", "remove", "repair", "rest",
	"start", "step", "still", "success", "successfully", "support", "task",
	"test", "thing", "turn", "update", "well", "work", "write", "wrote" };

/* A byte of a word in lower case; 0 = it is between words. */
static unsigned char
fold(unsigned char c)
{
	if (c >= 'A' && c <= 'Z')
		return (unsigned char)(c + 'a' - 'A');
	return (c >= 'a' && c <= 'z') || (c >= '0' && c <= '9') || c >= 0x80 ?
	    c :
	    0;
}

/* Endings that inflection adds: fix, fixes, fixed and fixing are one word. */
static size_t
stem(const char *word, size_t len)
{
	if (len > 5 && memcmp(word + len - 3, "ing", 3) == 0)
		len -= 3;
	else if (len > 4 && memcmp(word + len - 2, "ed", 2) == 0)
		len -= 2;
	else if (len > 4 && memcmp(word + len - 2, "es", 2) == 0)
		len -= 2;
	else if (len > 3 && word[len - 1] == 's' && word[len - 2] != 's')
		len--;
	if (len > 3 && word[len - 1] == 'e')
		len--;
	return len;
}

/* The next word of the text in lower case, cut at WORD_MAX; 0 = no more. */
static size_t
next_word(const char **text, char word[static WORD_MAX])
{
	const unsigned char *p = (const unsigned char *)*text;
	size_t len = 0;

	while (*p != '\0' && fold(*p) == 0)
		p++;
	for (unsigned char c; (c = fold(*p)) != 0; p++)
		if (len < WORD_MAX)
			word[len++] = (char)c;
	*text = (const char *)p;
	return len;
}

/* The slot of a word, or the free one where it belongs. */
static size_t
slot_of(const struct objective_words *words, uint64_t hash)
{
	size_t slot = hash % OBJECTIVE_WORDS_SLOTS;

	while (words->hash[slot] != 0 && words->hash[slot] != hash)
		slot = (slot + 1) % OBJECTIVE_WORDS_SLOTS;
	return slot;
}

/* The slot of the next word of a text; false = no more. */
static bool
next_slot(const struct objective_words *words, const char **text,
    size_t *ret_slot, size_t *ret_len, uint64_t *ret_hash)
{
	char word[WORD_MAX];

	*ret_len = next_word(text, word);
	*ret_hash = behaviour_hash(word, stem(word, *ret_len));
	*ret_slot = slot_of(words, *ret_hash);
	return *ret_len > 0;
}

static void
put_all(struct objective_words *words, const char *const *list, size_t count,
    uint8_t index)
{
	size_t slot, len;
	uint64_t hash;

	for (size_t i = 0; i < count; i++) {
		const char *text = list[i];

		next_slot(words, &text, &slot, &len, &hash);
		words->hash[slot] = hash;
		words->index[slot] = index;
	}
}

void
objective_words_init(struct objective_words *words, const char *objective)
{
	size_t slot, len;
	uint64_t hash;

	memset(words, 0, sizeof *words);
	put_all(words, commons, nitems(commons), IS_COMMON);
	put_all(words, fillers, nitems(fillers), IS_FILLER);
	while (words->count < OBJECTIVE_WORDS_MAX &&
	    next_slot(words, &objective, &slot, &len, &hash)) {
		bool common = words->index[slot] == IS_COMMON;

		if (len < 2 || (words->hash[slot] != 0 && !common))
			continue;
		words->hash[slot] = hash;
		words->index[slot] = (uint8_t)words->count;
		words->all += common ? COMMON : 1;
		words->common |= (uint64_t)common << words->count++;
	}
}

bool
objective_words_match(
    const struct objective_words *words, const char *text, uint64_t *ret_said)
{
	uint64_t said = 0, hash;
	size_t slot, len, spoken = 0;

	while (next_slot(words, &text, &slot, &len, &hash))
		if (words->hash[slot] == 0)
			spoken += len >= 4;
		else if (words->index[slot] < OBJECTIVE_WORDS_MAX)
			said |= (uint64_t)1 << words->index[slot];
	if (words->count == 0 ||
	    (spoken < SPOKEN_LEAST && (said & ~words->common) == 0))
		return false;
	*ret_said = said;
	return true;
}

/* --- weights --------------------------------------------------------- */

static double
weigh_plainly(const struct objective_words *words, uint64_t said)
{
	int common = __builtin_popcountll(said & words->common);

	return __builtin_popcountll(said) - common + COMMON * common;
}

/* All of it for a word that at most half of the turns said, less for one that
 * more said. A few turns show little: one more is added that did not say it. */
static double
weigh(const struct objective_words *words, uint64_t said)
{
	double sum = weigh_plainly(words, said);
	double turns = (double)words->turns + 1;

	for (; said != 0; said &= said - 1) {
		double with = words->said[__builtin_ctzll(said)];

		if (2 * with > turns)
			sum -=
			    ((said & -said & words->common) != 0 ? COMMON : 1) *
			    (1 - WEIGHT_LEAST) * (1 - log2(turns / with));
	}
	return sum;
}

void
objective_words_count(struct objective_words *words, uint64_t said)
{
	words->turns++;
	for (uint64_t rest = said; rest != 0; rest &= rest - 1)
		words->said[__builtin_ctzll(rest)]++;
	if (said != words->best &&
	    weigh(words, said) >= weigh(words, words->best))
		words->best = said;
}

/* What is said, by what is expected of a turn that can say `most`. */
static double
part(const struct objective_words *words, double got, double most)
{
	double expected = words->all / EXPECTED_DIVISOR;

	expected = expected < 1 ? 1 : expected;
	expected = expected > EXPECTED_MOST ? EXPECTED_MOST : expected;
	expected = expected > most ? most : expected;
	return got <= 0 ? 0 : got < expected ? got / expected : 1;
}

double
objective_words_plain(const struct objective_words *words, uint64_t said)
{
	return part(words, weigh_plainly(words, said), words->all);
}

double
objective_words_near(const struct objective_words *words, uint64_t said)
{
	double plain = objective_words_plain(words, said);
	double near;

	if (weigh_plainly(words, said) >= MUCH * words->all)
		return plain;
	near = part(words, weigh(words, said), weigh(words, words->best));
	return near < plain ? near : plain;
}
