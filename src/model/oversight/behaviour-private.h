/* SPDX-License-Identifier: ISC */

/* What the rules and the detectors share. */
#ifndef BEHAVIOUR_PRIVATE_H
#define BEHAVIOUR_PRIVATE_H

#include "behaviour.h"
#include "failure-text.h"
#include "iteration.h"
#include "ladder.h"
#include "thresholds.h"

/* --- hashes ------------------------------------------------------------- */

/* Names, words and texts as numbers that are compared instead of them. Never 0,
 * which means "not known". Not for storage. */

#define BEHAVIOUR_HASH_INIT 0xcbf29ce484222325u

static inline uint64_t
behaviour_hash_byte(uint64_t hash, unsigned char byte)
{
	return (hash ^ byte) * 0x100000001b3u;
}

static inline uint64_t
behaviour_hash_end(uint64_t hash)
{
	hash ^= hash >> 32;
	hash *= 0xd6e8feb86659fd93u;
	hash ^= hash >> 32;
	return hash == 0 ? 1 : hash;
}

static inline uint64_t
behaviour_hash(const char *text, size_t len)
{
	uint64_t hash = BEHAVIOUR_HASH_INIT;

	for (size_t i = 0; i < len; i++)
		hash = behaviour_hash_byte(hash, (unsigned char)text[i]);
	return behaviour_hash_end(hash);
}

/* --- stuck ---------------------------------------------------------------- */

/*
 * The rules whose findings are called stuck. docs/oversight.md has each with
 * its evidence.
 *
 * - The same failure: the end of a turn was refused in the same way, and no
 *   refusal since was of a better tree.
 * - The same error: a tool fails with it in one iteration after another, while
 *   the tree stays as it is.
 * - No news: 30 calls in a turn that left the tree as it was, and of whose
 *   answers at most 8 were new.
 * - The same call on the same tree with the same answer, five times in a turn.
 * - Idle: ten turns with words only.
 */
enum stuck_rule {
	STUCK_FAILURE,
	STUCK_ERROR,
	STUCK_NO_NEWS,
	STUCK_CALL,
	STUCK_IDLE,
	STUCK_RULES
};

#define PROGRESS_LEAST \
	(2.0 - THRESHOLDS_ROUNDING) /* percent per iteration; less is none */

#define STUCK_SEEN     16 /* different failures that are compared */
#define STUCK_KEPT     64 /* refusals that are counted */
#define STUCK_FIRM     3 /* moves one way, after which a number is believed */
#define STUCK_CRITICAL 5 /* times */
#define STUCK_IDLE_AT  10 /* turns */

#define CALLS_SLICE 30
#define CALLS_NEWS  8
#define CALLS_SAME  5

/* One way to fail. */
struct stuck_way {
	uint64_t key; /* 0 = free */
	int count; /* of an error, on the tree as it is */
	int64_t last; /* the iteration */
	int64_t stated, lines; /* the least of it so far */
	struct stuck_number {
		double value;
		int way; /* 1 up, -1 down, 0 not moved, 2 both */
		int moves; /* one way */
		int64_t moved; /* the iteration of the last of them */
	} numbers[FAILURE_NUMBERS];
	size_t number_count;
};

struct stuck_calls; /* see stuck.c */

struct stuck {
	struct stuck_way failures[STUCK_SEEN], errors[STUCK_SEEN];
	struct stuck_refusal {
		uint64_t key;
		int64_t at; /* the iteration */
	} refusals[STUCK_KEPT]; /* since something was better, but for numbers
				 * that move */
	size_t refusal_count;
	int moving; /* refusals in the same way but for numbers that move, if
		     * they are many; else 0 */
	int64_t fewest_names, most_ok; /* -1 = not known */
	double best_coverage, completion; /* the highest; NAN = none */
	int64_t completion_at; /* the iteration */
	double rate; /* percent per iteration lately */
	int64_t attempt;
	int64_t count; /* iterations */
	uint64_t tree; /* the last that is known */
	int idle; /* turns with words only */
	bool refused; /* the end of the last one was */
	struct iteration *latest; /* whose failure or error it is, */
	struct iteration *last; /* and the last one: references */
	struct stuck_calls *calls; /* NULL = none were seen */
	int found[STUCK_RULES]; /* times, after the last iteration */
	size_t error; /* of the latest, which is counted */
};

void stuck_init(struct stuck *stuck);
void stuck_release(struct stuck *stuck);
void stuck_add(struct stuck *stuck, const struct iteration *iteration,
    const struct thresholds *thresholds);
/* The finding that needs the highest step; the severity of none is NONE. */
enum severity
stuck_judge(const struct stuck *stuck, const struct thresholds *thresholds,
    enum stuck_rule *ret_rule, enum progress_step *ret_step);
void stuck_describe(const struct stuck *stuck, enum stuck_rule rule,
    struct detection *detection);

/* --- detectors that only note -----------------------------------------------
 */

#define DETECT_FILES  128 /* that are remembered */
#define DETECT_BLOBS  12 /* contents of one */
#define DETECT_RETURN 7 /* times that a file goes back */
#define DETECT_TURNS  3
#define DETECT_WORDS  64
#define DETECT_KEPT   8 /* changes, the latest first */
#define DETECT_NAMES  32 /* of one change */

struct oscillation {
	struct oscillation_file {
		uint64_t path, blobs[DETECT_BLOBS]; /* a ring */
		size_t count; /* contents ever */
		int returns;
	} files[DETECT_FILES];
	size_t next; /* of these is overwritten next */
	struct oscillation_change {
		struct iteration *source; /* a reference */
		uint64_t paths[DETECT_NAMES];
		size_t count;
		bool cycle; /* it changed what the one before the last did */
	} changes[DETECT_KEPT];
	int cycles; /* by names, where no content is known */
	int returns; /* of the file of the last change that went back most */
	char *file; /* which one that is */
};

/* moves: the completion grows, so that names alone say nothing. */
enum severity oscillation_add(struct oscillation *oscillation,
    const struct iteration *iteration, const struct thresholds *thresholds,
    bool moves);
void oscillation_describe(
    const struct oscillation *oscillation, struct detection *detection);
void oscillation_release(struct oscillation *oscillation);

struct deviation {
	char *objective; /* the first that is known */
	uint64_t words[DETECT_WORDS]; /* of it */
	size_t word_count;
	struct deviation_turn {
		struct iteration *source;
		double similarity;
	} turns[DETECT_TURNS]; /* that said something, the latest first */
	struct {
		unsigned inside, outside;
	} changes[DETECT_KEPT]; /* the latest first */
	bool drifted, crept;
};

enum severity deviation_add(struct deviation *deviation,
    const struct iteration *iteration, const struct thresholds *thresholds);
void deviation_describe(const struct deviation *deviation,
    const struct thresholds *thresholds, struct detection *detection);
void deviation_release(struct deviation *deviation);

struct regression {
	bool passed; /* the tests have passed before */
	int failing; /* results since then that were failures */
	int64_t failed_at, sank_at; /* iterations */
	double best, coverage; /* NAN = not known */
	bool tests_fell, coverage_fell; /* as judged last */
	bool own; /* the tests are those of oversight.test_command */
};

enum severity regression_add(struct regression *regression,
    const struct iteration *iteration, const struct thresholds *thresholds);
void regression_describe(
    const struct regression *regression, struct detection *detection);

struct burn {
	int64_t iterations, expected; /* 0 = not known */
	int64_t calls, expected_calls;
	double cost, estimate; /* estimate 0 = not known */
	double completion; /* the last that is known; NAN = none */
};

enum severity burn_add(struct burn *burn, const struct iteration *iteration,
    const struct thresholds *thresholds);
void burn_describe(const struct burn *burn, struct detection *detection);

#endif
