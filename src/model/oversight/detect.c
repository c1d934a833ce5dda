/* SPDX-License-Identifier: ISC */

#include "base.h"

#include <math.h>

#include "error-signature.h"
#include "iteration.h"
#include "progress-private.h"
#include "thresholds.h"
#include "work-record.h"

/* --- the words of an objective ------------------------------------------ */

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

/* The slot of the next word of a text; false = no more. */
static bool
next_slot(const struct objective_words *words, const char **text,
    size_t *ret_slot, size_t *ret_len, uint64_t *ret_hash)
{
	char word[WORD_MAX];
	size_t slot;
	uint64_t hash;

	*ret_len = next_word(text, word);
	*ret_hash = behaviour_hash(word, stem(word, *ret_len));
	/* The slot of a word, or the free one where it belongs. */
	hash = *ret_hash;
	slot = hash % OBJECTIVE_WORDS_SLOTS;
	while (words->hash[slot] != 0 && words->hash[slot] != hash)
		slot = (slot + 1) % OBJECTIVE_WORDS_SLOTS;
	*ret_slot = slot;
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

static bool
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

static double
objective_words_plain(const struct objective_words *words, uint64_t said)
{
	return part(words, weigh_plainly(words, said), words->all);
}

static double
objective_words_near(const struct objective_words *words, uint64_t said)
{
	double plain = objective_words_plain(words, said);
	double near;

	if (weigh_plainly(words, said) >= MUCH * words->all)
		return plain;
	near = part(words, weigh(words, said), weigh(words, words->best));
	return near < plain ? near : plain;
}

/* --- steps -------------------------------------------------------------- */

/* Insert by path; of too many, the largest is dropped. A path that is there
 * already gets the content. */
static void
add_file(struct behaviour_step *step, const char *path, uint64_t content,
    bool outside)
{
	uint64_t hash = behaviour_hash(path, strlen(path));
	size_t at = step->file_count;

	step->paths |= UINT64_C(1) << (hash % 64);
	while (at > 0 && step->files[at - 1].path >= hash)
		at--;
	if (at < step->file_count && step->files[at].path == hash) {
		if (content != 0)
			step->files[at].content = content;
		return;
	}
	if (at == STEP_FILES)
		return;
	if (step->file_count < STEP_FILES)
		step->file_count++;
	memmove(&step->files[at + 1], &step->files[at],
	    (step->file_count - at - 1) * sizeof step->files[0]);
	step->files[at] = (struct behaviour_file){ hash, content, outside };
}

static bool
in_scope(char *const *scope, const char *file)
{
	cleanup_free char *path = scope_path_normal(file);

	return path != NULL && scope_path_in(scope, path);
}

/* A file of which it matters whether it is in the scope. */
static void
add_changed(struct behaviour_step *step, const char *path, uint64_t content)
{
	bool outside =
	    step->scope_known && !in_scope(step->source->scope, path);

	add_file(step, path, content, outside);
	if (outside)
		step->outside++;
	else
		step->inside += step->scope_known;
}

void
behaviour_step_prepare(struct behaviour_step *step, const struct iteration *it,
    const struct objective_words *words)
{
	memset(step, 0, offsetof(struct behaviour_step, errors));
	step->source = it;
	step->number = it->number;
	step->duration_ms = it->duration_ms;
	step->completion = it->completion;
	step->coverage = it->coverage;
	step->cost = it->cost;
	step->max_iterations = it->max_iterations;
	step->estimated_cost = it->estimated_cost;
	step->tests = it->tests;
	step->part = it->part;
	step->waits = it->waits;
	step->best = NAN;
	if (it->tree != NULL && it->tree[0] != '\0')
		step->tree = behaviour_hash(it->tree, strlen(it->tree));
	step->errors_known = it->errors_known;
	/* Those that say something. */
	for (char **e = it->errors;
	     e != NULL && *e != NULL && step->error_count < ITERATION_ERRORS;
	     e++) {
		uint64_t hash = error_signature_hash(*e, strlen(*e));

		if (hash != 0)
			step->errors[step->error_count++] = hash;
	}
	if (it->failure != NULL)
		step->failure =
		    failure_signature(it->failure, strlen(it->failure));
	step->scope_known = it->scope != NULL && it->scope[0] != NULL &&
	    (it->files_known || it->blob_count > 0);
	for (char **file = it->files; file != NULL && *file != NULL; file++)
		add_changed(step, *file, 0);
	for (size_t i = 0; i < it->blob_count; i++) {
		const struct iteration_blob *blob = &it->blobs[i];
		uint64_t content =
		    behaviour_hash(blob->hash, strlen(blob->hash));

		if (it->files_known)
			add_file(step, blob->path, content, false);
		else
			add_changed(step, blob->path, content);
	}
	if (words != NULL && it->learnings != NULL)
		step->spoke =
		    objective_words_match(words, it->learnings, &step->said);
}

const struct behaviour_file *
behaviour_step_file(const struct behaviour_step *step, uint64_t path)
{
	if ((step->paths & UINT64_C(1) << (path % 64)) == 0)
		return NULL;
	for (size_t i = 0; i < step->file_count; i++)
		if (step->files[i].path >= path)
			return step->files[i].path == path ? &step->files[i] :
							     NULL;
	return NULL;
}

size_t
step_history_kept(const struct step_history *history, size_t window)
{
	if (window > THRESHOLDS_WINDOW_MAX)
		window = THRESHOLDS_WINDOW_MAX;
	return history->count < window ? (size_t)history->count : window;
}

const struct behaviour_step *
step_history_at(const struct step_history *history, size_t back)
{
	return &history->steps[(history->count - 1 - back) %
	    THRESHOLDS_WINDOW_MAX];
}

#define PROGRESS_LEAST (2.0 - THRESHOLDS_ROUNDING) /* less is none */

/* Percent per iteration that the best completion gained in the window, up to
 * the last one that is known of; NAN = not known. */
static double
step_history_progress(const struct step_history *history, size_t window)
{
	size_t kept = step_history_kept(history, window), last = 0;
	double now;

	while (last < kept && isnan(step_history_at(history, last)->completion))
		last++;
	if (last == kept)
		return NAN;
	now = step_history_at(history, last)->best;
	for (size_t back = kept - 1; back > last; back--) {
		double then = step_history_at(history, back)->best;

		if (!isnan(then))
			return (now - then) / (double)(back - last);
	}
	return NAN;
}

bool
step_history_moves_on(
    const struct step_history *history, const struct thresholds *t)
{
	return step_history_progress(history,
		   (size_t)t->no_progress_iterations) >= PROGRESS_LEAST;
}

struct behaviour_step *
step_history_next(struct step_history *history)
{
	struct behaviour_step *step =
	    &history->steps[history->count % THRESHOLDS_WINDOW_MAX];

	if (history->count >= THRESHOLDS_WINDOW_MAX)
		iteration_unref((struct iteration *)(uintptr_t)step->source);
	step->source = NULL;
	history->count++;
	return step;
}

void
step_history_release(struct step_history *history)
{
	size_t kept = step_history_kept(history, THRESHOLDS_WINDOW_MAX);

	for (size_t i = 0; i < kept; i++)
		iteration_unref(
		    (struct iteration *)(uintptr_t)step_history_at(history, i)
			->source);
	history->count = 0;
}

/* --- stuck -------------------------------------------------------------- */

#define WINDOW         5 /* at least */
#define CRITICAL       5 /* occurrences */
#define BLOCKERS_SHOWN 5

static const char *const recommendations[] = {
	"Change approach or strategy",
	"Break task into smaller sub-tasks",
	"Request human intervention",
	"Review and address root cause",
	NULL,
};

static bool
has_error(const struct behaviour_step *step, uint64_t error)
{
	for (unsigned i = 0; i < step->error_count; i++)
		if (step->errors[i] == error)
			return true;
	return false;
}

/* Has anything changed for the better, or at all? */
static bool
moves_on(const struct step_history *history, size_t window, double rate)
{
	size_t kept = step_history_kept(history, window);
	uint64_t tree = 0;

	if (!isnan(rate) && rate >= PROGRESS_LEAST)
		return true;
	for (size_t back = 0; back < kept; back++) {
		const struct behaviour_step *step =
		    step_history_at(history, back);

		if ((isnan(rate) && step->tests > 0) ||
		    (tree != 0 && step->tree != 0 && step->tree != tree))
			return true;
		if (step->tree != 0)
			tree = step->tree;
	}
	return false;
}

/* The step whose errors are the latest that are known. */
static const struct behaviour_step *
latest(const struct step_history *history, size_t kept, unsigned *ret_back)
{
	for (size_t back = 0; back < kept; back++) {
		const struct behaviour_step *step =
		    step_history_at(history, back);

		if (!step->errors_known)
			continue;
		*ret_back = (unsigned)back;
		return step;
	}
	return NULL;
}

/* How far back errors are counted. */
static size_t
error_window(const struct thresholds *t)
{
	int window = WINDOW;

	if (window < t->no_progress_iterations)
		window = t->no_progress_iterations;
	if (window < t->same_error_count)
		window = t->same_error_count;
	return (size_t)window;
}

static struct stuck_finding
find_errors(const struct step_history *history, const struct thresholds *t)
{
	struct stuck_finding found = { .rate = NAN };
	size_t kept = step_history_kept(history, error_window(t));
	const struct behaviour_step *last = latest(history, kept, &found.back);

	if (last != NULL) {
		for (unsigned i = 0; i < last->error_count; i++) {
			int count = 0;

			for (size_t back = 0; back < kept; back++)
				count +=
				    has_error(step_history_at(history, back),
					last->errors[i]);
			if (count > found.occurrences) {
				found.occurrences = count;
				found.error = last->errors[i];
			}
		}
	}
	return found;
}

void
stuck_checks_release(struct stuck_checks *checks)
{
	iteration_unref(checks->latest);
	*checks =
	    (struct stuck_checks){ .idle = checks->idle, .tree = checks->tree };
}

static void
count_check(struct stuck_checks *checks, const struct behaviour_step *step)
{
	const struct failure_signature *f = &step->failure;
	struct failure_signature *seen = NULL;

	for (size_t i = 0; seen == NULL && i < checks->seen_count; i++)
		if (checks->seen[i].hash == f->hash)
			seen = &checks->seen[i];
	if (f->hash == 0) {
		if (step->tests > 0)
			stuck_checks_release(checks);
		return;
	}
	/* Fewer lines or a lower number: that is a better tree. */
	if (seen != NULL && f->lines >= seen->lines &&
	    f->stated >= seen->stated) {
		checks->count = checks->hash == f->hash ? checks->count + 1 : 1;
		checks->known++;
	} else {
		checks->count = 1;
		checks->known = 0;
	}
	if (seen == NULL) {
		if (checks->seen_count == STUCK_SEEN)
			memmove(&checks->seen[0], &checks->seen[1],
			    --checks->seen_count * sizeof checks->seen[0]);
		checks->seen[checks->seen_count++] = *f;
	} else {
		seen->lines = f->lines < seen->lines ? f->lines : seen->lines;
		if (f->stated < seen->stated)
			seen->stated = f->stated;
	}
	checks->hash = f->hash;
	iteration_unref(checks->latest);
	checks->latest = iteration_ref(step->source);
}

void
stuck_measure(const struct step_history *history,
    const struct stuck_checks *checks, const struct thresholds *t,
    struct stuck_finding *ret_finding)
{
	*ret_finding = find_errors(history, t);
	if (checks->count > ret_finding->occurrences)
		ret_finding->occurrences = checks->count;
	ret_finding->rate =
	    step_history_progress(history, (size_t)t->no_progress_iterations);
}

enum severity
detect_stuck(const struct step_history *history, struct stuck_checks *checks,
    const struct thresholds *t, struct stuck_finding *ret_finding)
{
	struct stuck_finding found = find_errors(history, t);
	const struct behaviour_step *step;
	bool same;

	count_check(checks, step_history_at(history, 0));
	step = step_history_at(history, 0);
	same = step->tree != 0 && step->tree == checks->tree;
	if (step->tree != 0)
		checks->tree = step->tree;
	if (step->file_count > 0 || (step->tree != 0 && !same))
		checks->idle = 0;
	else if (same && !step->part && !step->waits)
		checks->idle++;
	found.rate =
	    step_history_progress(history, (size_t)t->no_progress_iterations);
	if (found.occurrences < t->same_error_count ||
	    moves_on(history, error_window(t), found.rate))
		found.occurrences = 0;
	if (checks->count >= t->same_error_count &&
	    checks->count >= found.occurrences) {
		found.occurrences = checks->count;
		found.kind = STUCK_CHECK;
	}
	/* More of them than the last one since it was new. */
	if (checks->known >= t->same_error_count &&
	    checks->known >= checks->count && !(found.rate >= PROGRESS_LEAST)) {
		found.occurrences = checks->known;
		found.kind = STUCK_IN_TURN;
	}
	if (found.occurrences == 0 && checks->idle >= STUCK_IDLE_TURNS) {
		found.occurrences = checks->idle;
		found.kind = STUCK_IDLE;
	}
	if (found.occurrences == 0)
		return SEVERITY_NONE;
	*ret_finding = found;
	return found.kind != STUCK_IDLE && found.occurrences >= CRITICAL ?
	    SEVERITY_CRITICAL :
	    SEVERITY_HIGH;
}

int64_t
stuck_cause(
    const struct stuck_checks *checks, const struct stuck_finding *finding)
{
	switch (finding->kind) {
	case STUCK_CHECK:
		return (int64_t)(checks->hash >> 1);
	case STUCK_IN_TURN:
		return (int64_t)(checks->seen[0].hash >> 1);
	case STUCK_IDLE:
		return 1;
	case STUCK_ERROR:
		break;
	}
	return (int64_t)(finding->error >> 1);
}

/* The error with this signature, which the iteration has. */
static const char *
error_of(const struct iteration *it, uint64_t error)
{
	for (char **e = it->errors; e != NULL && *e != NULL; e++)
		if (error_signature_hash(*e, strlen(*e)) == error)
			return *e;
	return "";
}

void
detect_stuck_describe(const struct step_history *history,
    const struct stuck_checks *checks, const struct stuck_finding *finding,
    struct detection *detection)
{
	struct json_object *blockers = json_object_new_array();
	size_t kept = step_history_kept(history, BLOCKERS_SHOWN);

	detection->recommendations = recommendations;
	if (finding->kind == STUCK_IDLE) {
		detection->message =
		    xasprintf("Stuck: Nothing has changed in %d turns",
			finding->occurrences);
	} else if (finding->kind != STUCK_ERROR) {
		cleanup_buf struct buf line = BUF_INIT;

		failure_first_line(checks->latest->failure, &line);
		detection->message = finding->kind == STUCK_CHECK ?
		    xasprintf(
			"Stuck: The check failed %d times in the same way: %.200s",
			finding->occurrences, line.data) :
		    xasprintf(
			"Stuck: The last %d failures of the check were there "
			"before, in turn; now: %.200s",
			finding->occurrences, line.data);
		json_set_string(
		    detection->evidence, "repeatedError", line.data);
	} else {
		const struct iteration *source =
		    step_history_at(history, finding->back)->source;

		detection->message = xasprintf(
		    "Stuck: Same error repeated %d times with minimal progress",
		    finding->occurrences);
		json_set_string(detection->evidence, "repeatedError",
		    error_of(source, finding->error));
	}
	json_set_int(detection->evidence, "occurrences", finding->occurrences);
	json_set(detection->evidence, "avgProgressRate",
	    isnan(finding->rate) ? NULL :
				   json_object_new_double(finding->rate / 100));
	for (size_t back = kept; back-- > 0;) {
		const struct iteration *source =
		    step_history_at(history, back)->source;

		for (char **b = source->blockers; b != NULL && *b != NULL; b++)
			json_object_array_add(
			    blockers, json_object_new_string(*b));
	}
	json_set(detection->evidence, "recentBlockers", blockers);
}

/* --- deviation ---------------------------------------------------------- */

#define LEAST        2 /* turns below the threshold */
#define SCOPE_WINDOW 5 /* iterations with changes */

static const char *const deviation_recommendations[] = {
	"Review original objective and criteria",
	"Realign current work with stated goals",
	"Confirm scope with human if uncertain",
	"Document any necessary scope changes",
	NULL,
};

void
deviation_release(struct deviation *deviation)
{
	free(deviation->objective);
	deviation->objective = NULL;
	for (size_t i = 0; i < deviation->turn_count; i++)
		iteration_unref(deviation->turns[i].source);
	deviation->turn_count = 0;
}

void
deviation_learn(struct deviation *deviation, const struct iteration *it)
{
	size_t slot;
	size_t len;
	uint64_t hash;
	const char *objective;

	if (deviation->objective != NULL || it->objective == NULL ||
	    it->objective[0] == '\0')
		return;
	deviation->objective = xstrdup(it->objective);
	objective = it->objective;
	memset(&deviation->words, 0, sizeof *&deviation->words);
	put_all(&deviation->words, commons, nitems(commons), IS_COMMON);
	put_all(&deviation->words, fillers, nitems(fillers), IS_FILLER);
	while (deviation->words.count < OBJECTIVE_WORDS_MAX &&
	    next_slot(&deviation->words, &objective, &slot, &len, &hash)) {
		bool common = deviation->words.index[slot] == IS_COMMON;

		if (len < 2 || (deviation->words.hash[slot] != 0 && !common))
			continue;
		deviation->words.hash[slot] = hash;
		deviation->words.index[slot] = (uint8_t)deviation->words.count;
		deviation->words.all += common ? COMMON : 1;
		deviation->words.common |= (uint64_t)common
		    << deviation->words.count++;
	}
}

static void
push(struct deviation *deviation, const struct behaviour_step *step)
{
	uint64_t said;

	if (deviation->turn_count == DEVIATION_TURNS)
		iteration_unref(
		    deviation->turns[--deviation->turn_count].source);
	memmove(&deviation->turns[1], &deviation->turns[0],
	    deviation->turn_count * sizeof deviation->turns[0]);
	deviation->turns[0] = (struct deviation_turn){ .number = step->number,
		.said = step->said,
		.source = iteration_ref(step->source) };
	deviation->turn_count++;
	said = step->said;
	deviation->words.turns++;
	for (uint64_t rest = said; rest != 0; rest &= rest - 1)
		deviation->words.said[__builtin_ctzll(rest)]++;
	if (said != deviation->words.best &&
	    weigh(&deviation->words, said) >=
		weigh(&deviation->words, deviation->words.best))
		deviation->words.best = said;
}

/* Are the latest turn and another one below the threshold? */
static bool
are_far(struct deviation *deviation, double threshold,
    double (*judge)(const struct objective_words *words, uint64_t said))
{
	int below = 0;

	for (size_t i = 0; i < deviation->turn_count; i++) {
		struct deviation_turn *turn = &deviation->turns[i];

		turn->similarity = judge(&deviation->words, turn->said);
		below += turn->similarity < threshold;
		if (below == 0)
			return false;
	}
	return below >= LEAST;
}

/* Has a later step changed the file too? */
static bool
is_later(const struct step_history *history, size_t back, uint64_t path)
{
	while (back-- > 0)
		if (behaviour_step_file(step_history_at(history, back), path) !=
		    NULL)
			return true;
	return false;
}

/* Count the files of a step that no later one has changed; all of them where
 * not all are kept. */
static void
count_files(struct deviation *deviation, const struct step_history *history,
    size_t back)
{
	const struct behaviour_step *step = step_history_at(history, back);

	if (step->inside + step->outside != step->file_count) {
		deviation->inside += step->inside;
		deviation->outside += step->outside;
		return;
	}
	for (size_t i = 0; i < step->file_count; i++) {
		if (is_later(history, back, step->files[i].path))
			continue;
		if (step->files[i].outside)
			deviation->outside++;
		else
			deviation->inside++;
	}
}

static bool
has_crept(struct deviation *deviation, const struct step_history *history,
    double ratio)
{
	size_t kept = step_history_kept(history, THRESHOLDS_WINDOW_MAX);
	int looked = 0, left = 0;

	deviation->inside = deviation->outside = 0;
	for (size_t back = 0; back < kept && looked < SCOPE_WINDOW; back++) {
		const struct behaviour_step *step =
		    step_history_at(history, back);

		if (!step->scope_known || step->inside + step->outside == 0)
			continue;
		if (looked++ == 0 && step->outside == 0)
			return false;
		left += step->outside > 0;
		count_files(deviation, history, back);
	}
	return left >= LEAST &&
	    (double)deviation->outside >
	    ratio * (double)deviation->inside + THRESHOLDS_ROUNDING;
}

enum severity
detect_deviation(struct deviation *deviation,
    const struct step_history *history, const struct thresholds *t)
{
	const struct behaviour_step *now = step_history_at(history, 0);
	double threshold;

	if (now->spoke)
		push(deviation, now);
	threshold = t->objective_similarity;
	deviation->drifted =
	    are_far(deviation, threshold, objective_words_near) &&
	    (!step_history_moves_on(history, t) ||
		are_far(deviation, threshold, objective_words_plain));
	deviation->crept = has_crept(deviation, history, t->scope_creep_ratio);
	return deviation->drifted || deviation->crept ? SEVERITY_MEDIUM :
							SEVERITY_NONE;
}

/* The turns below the threshold, the oldest first. */
static void
describe_drift(const struct deviation *deviation, double threshold,
    struct json_object *evidence)
{
	struct json_object *examples = json_object_new_array();
	double sum = 0;

	for (size_t i = deviation->turn_count; i-- > 0;) {
		const struct deviation_turn *turn = &deviation->turns[i];
		struct json_object *json;

		if (turn->similarity >= threshold)
			continue;
		sum += turn->similarity;
		json = json_object_new_object();
		json_set_int(json, "iteration", turn->number);
		json_set(json, "similarity",
		    json_object_new_double(turn->similarity));
		json_set(json, "artifacts", strv_to_json(turn->source->files));
		json_object_array_add(examples, json);
	}
	json_set_string(evidence, "originalObjective", deviation->objective);
	json_set(evidence, "deviationExamples", examples);
	json_set(evidence, "averageSimilarity",
	    json_object_new_double(
		sum / (double)json_object_array_length(examples)));
}

void
detect_deviation_describe(const struct deviation *deviation,
    const struct thresholds *t, struct detection *detection)
{
	cleanup_buf struct buf message = BUF_INIT;

	buf_adds(&message, "Deviation: ");
	if (deviation->drifted) {
		buf_adds(&message,
		    "Recent work may have drifted from the original objective");
		describe_drift(
		    deviation, t->objective_similarity, detection->evidence);
	}
	if (deviation->crept) {
		buf_addf(&message,
		    "%s%u changed files are outside the scope, %u inside",
		    deviation->drifted ? "; " : "", deviation->outside,
		    deviation->inside);
		json_set_int(
		    detection->evidence, "filesOutside", deviation->outside);
		json_set_int(
		    detection->evidence, "filesInside", deviation->inside);
	}
	detection->recommendations = deviation_recommendations;
	detection->message = buf_take(&message);
}
