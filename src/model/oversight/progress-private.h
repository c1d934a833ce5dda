/* SPDX-License-Identifier: ISC */

/* What the detectors share. */
#ifndef PROGRESS_PRIVATE_H
#define PROGRESS_PRIVATE_H

#include "behaviour.h"
#include "error-signature.h"
#include "iteration.h"
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

/* --- the words of an objective ------------------------------------------- */

/*
 * The words that matter in a task's objective, each with its weight: the fewer
 * turns said it, the more it says about a turn (idf over the task's own
 * history). Words that belong to any task ("fix", "test") weigh less from the
 * beginning.
 *
 * Words are compared without case and endings. Of an objective, the first
 * OBJECTIVE_WORDS_MAX words count; fillers such as "the" do not.
 */

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

/* --- steps --------------------------------------------------------------- */

/*
 * What the detectors compare: an iteration prepared as numbers, and the last
 * ones of them. Memory and time are bounded, however long the history is.
 */

/* Of more files, those with the smallest hashes are taken: the same ones each
 * time. */
#define STEP_FILES 32

struct behaviour_file {
	uint64_t path;
	uint64_t content; /* 0 = not known */
	bool outside; /* the task's scope */
};

struct behaviour_step {
	const struct iteration *source; /* for words in the evidence */
	int64_t number;
	int64_t duration_ms; /* -1 = not known */
	double completion, coverage, cost; /* NAN = not known */
	int64_t max_iterations; /* -1 = not known */
	double estimated_cost;
	uint64_t tree; /* 0 = not known */
	uint64_t paths; /* a bit for each file, to find quickly what is not
			 * among them */
	uint64_t said; /* the words of the objective, see above */
	int tests; /* -1 = not known */
	bool part, waits; /* as of its iteration */
	bool spoke; /* enough was said to be judged */
	bool errors_known;
	bool scope_known; /* and files are */
	bool cycle; /* it undid earlier work: set by the oscillation detector */
	unsigned error_count, file_count;
	unsigned inside, outside; /* files in the task's scope, and others */
	struct failure_signature failure; /* of the check; hash 0 = none */
	double best; /* the highest completion so far: set by behaviour */
	uint64_t errors[ITERATION_ERRORS];
	struct behaviour_file files[STEP_FILES]; /* by path */
};

/* The step borrows the iteration. Words may be NULL: nothing was said then. */
void behaviour_step_prepare(struct behaviour_step *step,
    const struct iteration *iteration, const struct objective_words *words);

/* The file of this path, or NULL. */
const struct behaviour_file *
behaviour_step_file(const struct behaviour_step *step, uint64_t path);

struct step_history {
	struct behaviour_step steps[THRESHOLDS_WINDOW_MAX];
	uint64_t count; /* of all steps ever */
};

/* How many are kept, at most `window`. */
size_t step_history_kept(const struct step_history *history, size_t window);

/* The step this many before the last one; it must be kept. */
const struct behaviour_step *
step_history_at(const struct step_history *history, size_t back);

/* Does the completion grow enough? False where it is not known. Weak evidence
 * does not count then. */
bool step_history_moves_on(
    const struct step_history *history, const struct thresholds *thresholds);

/* Room for the next step, with a reference to the oldest one's iteration given
 * back. The caller fills it. */
struct behaviour_step *step_history_next(struct step_history *history);

void step_history_release(struct step_history *history);

/* --- stuck --------------------------------------------------------------- */

/*
 * Stuck: the same error again and again, and no progress. Three rules:
 *
 * - The check of the work, or its tests, fail in the same way several times,
 * and no tree in between was better: it did not pass, the failure was no other
 *   one, and there was no less of it (failure_signature()). Parts of a turn
 *   that nobody checks do not count.
 * - They fail in a few ways in turn: as often, each failure was met before, and
 *   there is no less of it than then.
 * - A tool fails with the same error in several of the last iterations, the
 *   latest that is known of among them, and nothing moves: the tree is the
 * same, and the highest completion so far gains too little or, where that is
 * not known, no test passes.
 */

#define STUCK_SEEN 8 /* failures; a longer circle is not found */

/* The checks that failed since one that passed, and the turns since one that
 * changed a file. */
struct stuck_checks {
	struct failure_signature seen[STUCK_SEEN]; /* the oldest first; of each
						    * the least there was */
	size_t seen_count;
	uint64_t hash; /* of the last one; 0 = none */
	int count; /* of it in a row */
	int known; /* in a row, each of them met before and no less */
	struct iteration *latest; /* a reference */
	int idle; /* turns */
	uint64_t tree; /* the last that is known, 0 = none */
};

#define STUCK_IDLE_TURNS 10

enum stuck_kind {
	STUCK_ERROR, /* the same error of a tool */
	STUCK_CHECK, /* the same failure of the check */
	STUCK_IN_TURN, /* some failures of it in turn */
	STUCK_IDLE /* nothing has changed */
};

struct stuck_finding {
	enum stuck_kind kind;
	int occurrences;
	uint64_t error; /* its signature */
	unsigned back; /* the step that had it last */
	double rate; /* progress in percent per iteration; NAN = not known */
};

void stuck_checks_release(struct stuck_checks *checks);

/* Which failure the finding is about, for as long as it is the same one. */
int64_t stuck_cause(
    const struct stuck_checks *checks, const struct stuck_finding *finding);

/* The most frequent of the latest errors, and the progress. */
void stuck_measure(const struct step_history *history,
    const struct stuck_checks *checks, const struct thresholds *thresholds,
    struct stuck_finding *ret_finding);

/* Counts the last step's check, too. */
enum severity
detect_stuck(const struct step_history *history, struct stuck_checks *checks,
    const struct thresholds *thresholds, struct stuck_finding *ret_finding);

void detect_stuck_describe(const struct step_history *history,
    const struct stuck_checks *checks, const struct stuck_finding *finding,
    struct detection *detection);

/* --- deviation ----------------------------------------------------------- */

/*
 * Deviation: the work drifts away from the objective. Two rules:
 *
 * - What a turn says is compared with the objective (above). Two of
 *   the last three turns that said something, the latest among them, must be
 *   below the threshold. A turn that said nothing is not looked at. While the
 *   task progresses, a word that all turns say counts as much as others.
 * - The files outside the task's scope are compared with those inside, over the
 *   last iterations that changed files. At least two must have left the scope,
 *   the latest among them.
 *
 * The first objective that is known counts.
 */

#define DEVIATION_TURNS 3

struct deviation_turn {
	int64_t number;
	uint64_t said; /* see above */
	double similarity; /* as judged last */
	struct iteration *source; /* a reference */
};

struct deviation {
	char *objective; /* NULL = not known yet */
	struct objective_words words;
	struct deviation_turn turns[DEVIATION_TURNS]; /* the latest first */
	size_t turn_count;
	/* Of the last judgement. */
	unsigned inside, outside;
	bool drifted, crept;
};

void deviation_release(struct deviation *deviation);

/* Take the objective of an iteration, where none is known yet. */
void
deviation_learn(struct deviation *deviation, const struct iteration *iteration);

enum severity detect_deviation(struct deviation *deviation,
    const struct step_history *history, const struct thresholds *thresholds);

void detect_deviation_describe(const struct deviation *deviation,
    const struct thresholds *thresholds, struct detection *detection);

#endif
