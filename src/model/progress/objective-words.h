/* SPDX-License-Identifier: ISC */

/*
 * The words that matter in a task's objective, each with its weight: the fewer
 * turns said it, the more it says about a turn (idf over the task's own
 * history). Words that belong to any task ("fix", "test") weigh less from the
 * beginning.
 *
 * Words are compared without case and endings. Of an objective, the first
 * OBJECTIVE_WORDS_MAX words count; fillers such as "the" do not.
 */
#ifndef OBJECTIVE_WORDS_H
#define OBJECTIVE_WORDS_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#define OBJECTIVE_WORDS_MAX   64
#define OBJECTIVE_WORDS_SLOTS 512

struct objective_words {
	size_t count;
	double all; /* the weights of all words, before any turn */
	uint64_t common; /* the words that belong to any task, as bits */
	uint64_t hash[OBJECTIVE_WORDS_SLOTS]; /* 0 = free */
	uint8_t index[OBJECTIVE_WORDS_SLOTS];
	uint32_t said[OBJECTIVE_WORDS_MAX]; /* in how many turns */
	uint32_t turns; /* in which something was said */
	uint64_t best; /* the turn that said most of it */
};

void objective_words_init(struct objective_words *words, const char *objective);

/* Which of them a text has, as bits. False: the text says too little to be
 * judged ("Finished the next part of the work"). */
bool objective_words_match(
    const struct objective_words *words, const char *text, uint64_t *ret_said);

/* Count a turn that said these. */
void objective_words_count(struct objective_words *words, uint64_t said);

/* How near a turn that was counted is to the objective, 0 to 1: its words by
 * their weights, compared with what may be expected of a turn. */
double
objective_words_plain(const struct objective_words *words, uint64_t said);

/* The same with idf, compared with the best turn so far too. */
double objective_words_near(const struct objective_words *words, uint64_t said);

#endif
