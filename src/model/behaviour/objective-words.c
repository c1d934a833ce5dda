/* SPDX-License-Identifier: ISC */

#include "objective-words.h"

#include <math.h>
#include <string.h>

#include "behaviour-hash.h"
#include "mem.h"

#define SPOKEN_LEAST 3 /* words of four letters or more */
#define WEIGHT_LEAST 0.4 /* of a word that every turn says */
#define WORD_MAX     48

/* One turn cannot say all of a long objective. */
#define EXPECTED_DIVISOR 8.0

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

static bool
is_filler(const char *word, size_t len)
{
	for (size_t i = 0; i < nitems(fillers); i++)
		if (strlen(fillers[i]) == len &&
		    memcmp(fillers[i], word, len) == 0)
			return true;
	return false;
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

void
objective_words_init(struct objective_words *words, const char *objective)
{
	char word[WORD_MAX];
	size_t len;

	memset(words, 0, sizeof *words);
	while (words->count < OBJECTIVE_WORDS_MAX &&
	    (len = next_word(&objective, word)) > 0) {
		uint64_t hash = behaviour_hash(word, stem(word, len));
		size_t slot = slot_of(words, hash);

		if (len < 2 || words->hash[slot] != 0 || is_filler(word, len))
			continue;
		words->hash[slot] = hash;
		words->index[slot] = (uint8_t)words->count++;
	}
}

bool
objective_words_match(
    const struct objective_words *words, const char *text, uint64_t *ret_said)
{
	char word[WORD_MAX];
	uint64_t said = 0;
	size_t len, spoken = 0;

	while ((len = next_word(&text, word)) > 0) {
		uint64_t hash = behaviour_hash(word, stem(word, len));
		size_t slot = slot_of(words, hash);

		spoken += len >= 4;
		if (words->hash[slot] != 0)
			said |= (uint64_t)1 << words->index[slot];
	}
	if (words->count == 0 || (spoken < SPOKEN_LEAST && said == 0))
		return false;
	*ret_said = said;
	return true;
}

/* 1 for a word that at most half of the turns said, less for one that more
 * said. A few turns show little: one more is added that did not say it. */
static double
weigh(const struct objective_words *words, uint64_t said)
{
	double sum = 0, turns = (double)words->turns + 1;

	for (; said != 0; said &= said - 1) {
		double with = words->said[__builtin_ctzll(said)];

		sum += 2 * with <= turns ?
		    1 :
		    WEIGHT_LEAST + (1 - WEIGHT_LEAST) * log2(turns / with);
	}
	return sum;
}

double
objective_words_judge(struct objective_words *words, uint64_t said)
{
	double got, expected = (double)words->count / EXPECTED_DIVISOR, best;

	words->turns++;
	for (uint64_t rest = said; rest != 0; rest &= rest - 1)
		words->said[__builtin_ctzll(rest)]++;
	got = weigh(words, said);
	best = words->best == said ? got : weigh(words, words->best);
	if (got >= best) {
		best = got;
		words->best = said;
	}
	if (best <= 0)
		return 0;
	expected = expected < 1 ? 1 : expected;
	expected = best < expected ? best : expected;
	return got < expected ? got / expected : 1;
}
