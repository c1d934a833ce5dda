/* SPDX-License-Identifier: ISC */

/* The detectors that only note, and what a task burns. */

#include "base.h"

#include <ctype.h>
#include <math.h>

#include "behaviour-private.h"
#include "work-record.h"

#define FILES_SHOWN 10

/* --- oscillation ---------------------------------------------------------- */

static const char *const oscillation_recommendations[] = {
	"Commit to one approach instead of alternating",
	"Review feedback quality - may be conflicting",
	"Pause and assess which approach is better",
	"Request human decision on direction",
	NULL,
};

static struct oscillation_file *
oscillation_file(struct oscillation *o, uint64_t path)
{
	struct oscillation_file *file;

	for (size_t i = 0; i < DETECT_FILES; i++)
		if (o->files[i].path == path)
			return &o->files[i];
	file = &o->files[o->next++ % DETECT_FILES];
	*file = (struct oscillation_file){ .path = path };
	return file;
}

/* How often has it gone back to a content that it had, with another one
 * since? */
static int
file_changes(struct oscillation_file *file, uint64_t blob)
{
	size_t kept = file->count < DETECT_BLOBS ? file->count : DETECT_BLOBS;
	bool met = false;

	if (kept > 0 && file->blobs[(file->count - 1) % DETECT_BLOBS] == blob)
		return file->returns;
	for (size_t i = 0; i < kept; i++)
		met = met || file->blobs[i] == blob;
	file->returns += met;
	file->blobs[file->count++ % DETECT_BLOBS] = blob;
	return file->returns;
}

/* More than the threshold of a's files, or all of them, are in b. */
static bool
is_among(const struct oscillation_change *a, const struct oscillation_change *b,
    double threshold)
{
	size_t both = 0;

	for (size_t i = 0; i < a->count; i++)
		for (size_t k = 0; k < b->count; k++)
			both += a->paths[i] == b->paths[k];
	return a->count > 0 &&
	    (both == a->count ||
		(double)both >
		    threshold * (double)a->count + THRESHOLDS_ROUNDING);
}

static void
take_change(struct oscillation *o, const struct iteration *it,
    const struct thresholds *t, bool moves)
{
	struct oscillation_change *c = o->changes;
	size_t window = 2 * (size_t)t->undo_redo_cycles + 2;

	iteration_unref(c[DETECT_KEPT - 1].source);
	memmove(&c[1], &c[0], (DETECT_KEPT - 1) * sizeof c[0]);
	c[0] = (struct oscillation_change){ .source = iteration_ref(it) };
	for (char **f = it->files;
	     f != NULL && *f != NULL && c[0].count < DETECT_NAMES; f++)
		c[0].paths[c[0].count++] = behaviour_hash(*f, strlen(*f));
	c[0].cycle = !moves && it->blob_count == 0 && c[2].source != NULL &&
	    is_among(&c[2], &c[0], t->file_churn) &&
	    !is_among(&c[1], &c[0], t->file_churn);
	o->cycles = 0;
	for (size_t i = 0; c[0].cycle && i < window && i < DETECT_KEPT; i++)
		o->cycles += c[i].cycle;
}

enum severity
oscillation_add(struct oscillation *o, const struct iteration *it,
    const struct thresholds *t, bool moves)
{
	o->returns = 0;
	for (size_t i = 0; i < it->blob_count; i++) {
		const struct iteration_blob *blob = &it->blobs[i];
		int returns = file_changes(
		    oscillation_file(
			o, behaviour_hash(blob->path, strlen(blob->path))),
		    behaviour_hash(blob->hash, strlen(blob->hash)));

		if (returns <= o->returns)
			continue;
		o->returns = returns;
		if (returns >= DETECT_RETURN)
			xstrset(&o->file, blob->path);
	}
	if (strv_count(it->files) > 0 || it->blob_count > 0)
		take_change(o, it, t, moves);
	return o->returns >= DETECT_RETURN || o->cycles >= t->undo_redo_cycles ?
	    SEVERITY_HIGH :
	    SEVERITY_NONE;
}

static struct json_object *
files_json(const struct iteration *it)
{
	struct json_object *list = json_object_new_array();

	for (size_t i = 0; i < strv_count(it->files) && i < FILES_SHOWN; i++)
		json_object_array_add(
		    list, json_object_new_string(it->files[i]));
	for (size_t i = 0;
	     it->files == NULL && i < it->blob_count && i < FILES_SHOWN; i++)
		json_object_array_add(
		    list, json_object_new_string(it->blobs[i].path));
	return list;
}

void
oscillation_describe(const struct oscillation *o, struct detection *d)
{
	struct json_object *changes = json_object_new_array();
	bool by_file = o->returns >= DETECT_RETURN;

	for (size_t i = DETECT_KEPT; i-- > 0;)
		if (o->changes[i].source != NULL)
			json_object_array_add(
			    changes, files_json(o->changes[i].source));
	d->recommendations = oscillation_recommendations;
	d->message = by_file ?
	    xasprintf("Oscillation: %s went back to an earlier content %d "
		      "times",
		o->file, o->returns) :
	    xasprintf("Oscillation: %d undo/redo cycles in recent iterations",
		o->cycles);
	json_set_int(
	    d->evidence, "undoRedoCycles", by_file ? o->returns : o->cycles);
	json_set(d->evidence, "recentFileChanges", changes);
}

void
oscillation_release(struct oscillation *o)
{
	for (size_t i = 0; i < DETECT_KEPT; i++)
		iteration_unref(o->changes[i].source);
	free(o->file);
}

/* --- deviation --------------------------------------------------------------
 */

#define WORD_MAX     48
#define HOLLOW_SLOTS 512
#define SPOKEN_LEAST 2 /* words of four letters or more */
/* One turn cannot say all of a long objective. */
#define EXPECTED_DIVISOR 8.0
#define EXPECTED_MOST    3.0

static const char *const deviation_recommendations[] = {
	"Review original objective and criteria",
	"Realign current work with stated goals",
	"Confirm scope with human if uncertain",
	"Document any necessary scope changes",
	NULL,
};

/* They say nothing about a task, or belong to any. */
static const char *const hollow[] = { "about", "after", "again", "also", "been",
	"before", "build", "change", "check", "clean", "code", "commit",
	"complete", "continue", "could", "create", "done", "each", "error",
	"every", "everything", "fail", "fix", "fixed", "fixes", "fixing",
	"good", "great", "file", "find", "finish", "first", "from", "have",
	"implement", "improve", "into", "issue", "just", "last", "look", "made",
	"make", "more", "must", "next", "nothing", "only", "other", "over",
	"part", "pass", "please", "problem", "progress", "refactor", "remain",
	"remove", "repair", "rest", "should", "some", "start", "step", "still",
	"success", "successfully", "such", "support", "task", "test", "than",
	"that", "their", "them", "then", "there", "these", "they", "thing",
	"this", "turn", "update", "using", "well", "were", "what", "when",
	"where", "which", "while", "will", "with", "work", "would", "write",
	"wrote", "your", NULL };

/* Without the ending of an inflection: fixes, fixed and fixing are one word. */
static size_t
stem(const char *word, size_t len)
{
	static const char *const endings[] = { "ing", "ed", "es", "s", "e" };

	for (size_t i = 0; i < nitems(endings); i++) {
		size_t n = strlen(endings[i]);

		if (len > n + 3 && memcmp(word + len - n, endings[i], n) == 0)
			return len - n;
	}
	return len;
}

/* The hash of a word is that of its stem. */
static bool
is_hollow(uint64_t hash)
{
	static uint64_t table[HOLLOW_SLOTS];
	static bool made;
	size_t slot;

	for (size_t i = 0; !made && hollow[i] != NULL; i++) {
		uint64_t h = behaviour_hash(
		    hollow[i], stem(hollow[i], strlen(hollow[i])));

		for (slot = h % HOLLOW_SLOTS; table[slot] != 0;)
			slot = (slot + 1) % HOLLOW_SLOTS;
		table[slot] = h;
	}
	made = true;
	for (slot = hash % HOLLOW_SLOTS; table[slot] != 0;
	     slot = (slot + 1) % HOLLOW_SLOTS)
		if (table[slot] == hash)
			return true;
	return false;
}

/* The words of four letters or more that say something. */
static size_t
words_of(const char *text, uint64_t words[DETECT_WORDS])
{
	size_t count = 0;

	while (*text != '\0' && count < DETECT_WORDS) {
		char word[WORD_MAX];
		size_t len = 0;
		uint64_t hash;
		bool known = false;

		for (; isalnum((unsigned char)*text) || (*text & 0x80) != 0;
		     text++)
			if (len < WORD_MAX)
				word[len++] =
				    (char)tolower((unsigned char)*text);
		if (len == 0)
			text++;
		if (len < 4)
			continue;
		hash = behaviour_hash(word, stem(word, len));
		if (is_hollow(hash))
			continue;
		for (size_t i = 0; i < count; i++)
			known = known || words[i] == hash;
		if (!known)
			words[count++] = hash;
	}
	return count;
}

/* How much of the objective a turn said; NAN = it said too little. */
static double
similarity(const struct deviation *d, const char *said)
{
	uint64_t words[DETECT_WORDS];
	size_t count = words_of(said, words), both = 0;
	double expected = (double)d->word_count / EXPECTED_DIVISOR;

	for (size_t i = 0; i < count; i++)
		for (size_t k = 0; k < d->word_count; k++)
			both += words[i] == d->words[k];
	if (d->word_count == 0 || (count < SPOKEN_LEAST && both == 0))
		return NAN;
	expected = expected < 1 ? 1 : expected;
	expected = expected > EXPECTED_MOST ? EXPECTED_MOST : expected;
	return (double)both < expected ? (double)both / expected : 1;
}

static void
take_words(
    struct deviation *d, const struct iteration *it, const struct thresholds *t)
{
	double near;
	int below = 0;

	if (d->objective == NULL && it->objective != NULL) {
		d->objective = xstrdup(it->objective);
		d->word_count = words_of(d->objective, d->words);
	}
	if (it->learnings == NULL || t->objective_similarity <= 0)
		return;
	near = similarity(d, it->learnings);
	if (isnan(near))
		return;
	iteration_unref(d->turns[DETECT_TURNS - 1].source);
	memmove(&d->turns[1], &d->turns[0],
	    (DETECT_TURNS - 1) * sizeof d->turns[0]);
	d->turns[0] = (struct deviation_turn){ iteration_ref(it), near };
	for (size_t i = 0; i < DETECT_TURNS; i++)
		below += d->turns[i].source != NULL &&
		    d->turns[i].similarity <
			t->objective_similarity - THRESHOLDS_ROUNDING;
	d->drifted =
	    below >= 2 && near < t->objective_similarity - THRESHOLDS_ROUNDING;
}

static bool
in_scope(char *const *scope, const char *file)
{
	cleanup_free char *path = scope_path_normal(file);

	return path != NULL && scope_path_in(scope, path);
}

static void
take_scope(
    struct deviation *d, const struct iteration *it, const struct thresholds *t)
{
	unsigned inside = 0, outside = 0;
	int left = 0;

	if (strv_count(it->scope) == 0 || strv_count(it->files) == 0)
		return;
	memmove(&d->changes[1], &d->changes[0],
	    (DETECT_KEPT - 1) * sizeof d->changes[0]);
	d->changes[0].inside = d->changes[0].outside = 0;
	for (char **f = it->files; *f != NULL; f++)
		if (in_scope(it->scope, *f))
			d->changes[0].inside++;
		else
			d->changes[0].outside++;
	for (size_t i = 0; i < DETECT_KEPT; i++) {
		inside += d->changes[i].inside;
		outside += d->changes[i].outside;
		left += d->changes[i].outside > 0;
	}
	d->crept = left >= 2 && d->changes[0].outside > 0 &&
	    (double)outside >
		t->scope_creep_ratio * (double)inside + THRESHOLDS_ROUNDING;
}

enum severity
deviation_add(
    struct deviation *d, const struct iteration *it, const struct thresholds *t)
{
	take_words(d, it, t);
	take_scope(d, it, t);
	return d->drifted || d->crept ? SEVERITY_MEDIUM : SEVERITY_NONE;
}

static void
describe_drift(
    const struct deviation *d, double threshold, struct json_object *evidence)
{
	struct json_object *list = json_object_new_array();
	double sum = 0;
	size_t count = 0;

	for (size_t i = DETECT_TURNS; i-- > 0;) {
		const struct deviation_turn *turn = &d->turns[i];
		struct json_object *row;

		if (turn->source == NULL || turn->similarity >= threshold)
			continue;
		row = json_object_new_object();
		json_set_int(row, "iteration", turn->source->number);
		json_set(row, "similarity",
		    json_object_new_double(turn->similarity));
		json_set(row, "artifacts", files_json(turn->source));
		json_object_array_add(list, row);
		sum += turn->similarity;
		count++;
	}
	json_set_string(evidence, "originalObjective", d->objective);
	json_set(evidence, "deviationExamples", list);
	json_set(evidence, "averageSimilarity",
	    json_object_new_double(count > 0 ? sum / (double)count : 0));
}

void
deviation_describe(const struct deviation *dev, const struct thresholds *t,
    struct detection *d)
{
	cleanup_buf struct buf message = BUF_INIT;
	int64_t inside = 0, outside = 0;

	buf_adds(&message, "Deviation: ");
	if (dev->drifted) {
		buf_adds(&message,
		    "Recent work may have drifted from the original objective");
		describe_drift(dev, t->objective_similarity, d->evidence);
	}
	for (size_t i = 0; i < DETECT_KEPT; i++) {
		inside += dev->changes[i].inside;
		outside += dev->changes[i].outside;
	}
	if (dev->crept) {
		buf_addf(&message,
		    "%s%lld changed files are outside the scope, %lld inside",
		    dev->drifted ? "; " : "", (long long)outside,
		    (long long)inside);
		json_set_int(d->evidence, "filesOutside", outside);
		json_set_int(d->evidence, "filesInside", inside);
	}
	d->recommendations = deviation_recommendations;
	d->message = buf_take(&message);
}

void
deviation_release(struct deviation *d)
{
	free(d->objective);
	for (size_t i = 0; i < DETECT_TURNS; i++)
		iteration_unref(d->turns[i].source);
}

/* --- regression
 * --------------------------------------------------------------- */

static const char *const regression_recommendations[] = {
	"Stop making changes that break tests",
	"Fix tests instead of deleting or disabling them",
	"Review anti-laziness rules: weaken nothing to make it pass",
	"Restore previous working state if needed",
	NULL,
};

enum severity
regression_add(struct regression *r, const struct iteration *it,
    const struct thresholds *t)
{
	r->own = r->own || it->own_tests;
	if (it->tests > 0) {
		r->passed = true;
		r->failing = 0;
	} else if (it->tests == 0 && r->passed && r->failing++ == 0) {
		r->failed_at = it->number;
	}
	if (!isnan(it->coverage)) {
		r->coverage = it->coverage;
		r->sank_at = it->number;
		if (!(r->best >= it->coverage))
			r->best = it->coverage;
	}
	r->tests_fell = t->test_pass_to_fail && r->failing > 0;
	r->coverage_fell =
	    r->best - r->coverage > t->coverage_drop + THRESHOLDS_ROUNDING;
	if (!r->tests_fell && !r->coverage_fell)
		return SEVERITY_NONE;
	return r->tests_fell && (r->coverage_fell || r->failing > 1) ?
	    SEVERITY_CRITICAL :
	    SEVERITY_HIGH;
}

static void
add_entry(struct json_object *list, int64_t iteration, const char *message,
    double from, double to)
{
	struct json_object *json = json_object_new_object();

	json_set_int(json, "iteration", iteration);
	json_set_string(json, "message", message);
	if (!isnan(from)) {
		json_set(json, "from", json_object_new_double(from));
		json_set(json, "to", json_object_new_double(to));
	}
	json_object_array_add(list, json);
}

void
regression_describe(const struct regression *r, struct detection *d)
{
	static const char *const fell = "Tests went from passing to failing";
	struct json_object *list = json_object_new_array();
	cleanup_free char *dropped =
	    xasprintf("Coverage dropped %.1f%%", r->best - r->coverage);
	bool tests = r->tests_fell, coverage = r->coverage_fell;

	if (tests)
		add_entry(list, r->failed_at, fell, NAN, NAN);
	if (coverage)
		add_entry(list, r->sank_at, dropped, r->best, r->coverage);
	json_set(d->evidence, "regressions", list);
	d->recommendations = regression_recommendations;
	d->message = xasprintf("Regression: %s%s%s", tests ? fell : "",
	    tests && coverage ? "; " : "", coverage ? dropped : "");
}

/* --- resource burn
 * --------------------------------------------------------------- */

#define CRITICAL    2.5 /* times the estimate */
#define NEARLY_DONE 90.0 /* percent */
#define HALF_DONE   50.0

#define SHARED                                         \
	"Analyze why estimates were incorrect",        \
	    "Break remaining work into smaller tasks", \
	    "Request human decision on continuation"

static const char *const stop_rather[] = {
	"Consider aborting if little progress made",
	SHARED,
	NULL,
};

static const char *const go_on_rather[] = {
	"Increase iteration budget if task is viable",
	SHARED,
	NULL,
};

double
cost_estimate(double own, const double *landed, size_t count)
{
	double most = NAN;

	if (own > 0)
		return own;
	if (count < COST_ESTIMATE_LEAST)
		return NAN;
	for (size_t i = 0; i < count; i++)
		if (!(most >= landed[i]))
			most = landed[i];
	return most;
}

static double
ratio(double actual, double estimate)
{
	return estimate > 0 ? actual / estimate : 0;
}

static enum severity
burn_judge(double times, double multiplier)
{
	if (times <= multiplier + THRESHOLDS_ROUNDING)
		return SEVERITY_NONE;
	return times >= CRITICAL - THRESHOLDS_ROUNDING ? SEVERITY_CRITICAL :
							 SEVERITY_HIGH;
}

enum severity
burn_add(struct burn *b, const struct iteration *it, const struct thresholds *t)
{
	enum severity severity, others;
	double much;

	b->iterations++;
	if (it->number > b->iterations)
		b->iterations = it->number;
	if (it->max_iterations > 0)
		b->expected = it->max_iterations;
	b->calls += (int64_t)it->call_count;
	if (it->estimated_calls > 0)
		b->expected_calls = it->estimated_calls;
	if (!isnan(it->cost))
		b->cost += it->cost;
	if (it->estimated_cost > 0)
		b->estimate = it->estimated_cost;
	if (!isnan(it->completion))
		b->completion = it->completion;
	if (it->waits || b->completion >= 100)
		return SEVERITY_NONE;
	severity = burn_judge(ratio((double)b->iterations, (double)b->expected),
	    t->iteration_multiplier);
	much = fmax(ratio(b->cost, b->estimate),
	    ratio((double)b->calls, (double)b->expected_calls));
	others = burn_judge(much, t->cost_multiplier);
	if (others > SEVERITY_HIGH)
		others = SEVERITY_HIGH; /* what others took is no budget */
	severity = severity > others ? severity : others;
	if (severity == SEVERITY_CRITICAL && b->completion >= NEARLY_DONE)
		return SEVERITY_HIGH;
	return severity;
}

void
burn_describe(const struct burn *b, struct detection *d)
{
	struct json_object *evidence = d->evidence;
	cleanup_buf struct buf message = BUF_INIT;
	double times = ratio((double)b->iterations, (double)b->expected);

	buf_addf(
	    &message, "Resource burn: Used %lld", (long long)b->iterations);
	if (b->expected > 0) {
		buf_addf(&message, "/%lld iterations (%.0f%% of budget)",
		    (long long)b->expected, times * 100);
		json_set_int(evidence, "estimatedIterations", b->expected);
		json_set_int(evidence, "actualIterations", b->iterations);
		json_set(
		    evidence, "iterationRatio", json_object_new_double(times));
	} else {
		buf_adds(&message, " iterations");
	}
	if (b->estimate > 0) {
		buf_addf(&message, "; %.2f of %.2f US dollars", b->cost,
		    b->estimate);
		json_set(evidence, "estimatedCost",
		    json_object_new_double(b->estimate));
		json_set(
		    evidence, "actualCost", json_object_new_double(b->cost));
		json_set(evidence, "costRatio",
		    json_object_new_double(ratio(b->cost, b->estimate)));
	}
	if (b->expected_calls > 0) {
		buf_addf(&message,
		    "; %lld calls, the longest landed task of "
		    "its kind took %lld",
		    (long long)b->calls, (long long)b->expected_calls);
		json_set_int(evidence, "estimatedCalls", b->expected_calls);
		json_set_int(evidence, "actualCalls", b->calls);
	}
	if (!isnan(b->completion)) {
		buf_addf(&message, "; %g%% done", b->completion);
		json_set(evidence, "completionPercent",
		    json_object_new_double(b->completion));
		json_set(evidence, "efficiency",
		    json_object_new_double(
			b->completion / 100 / (double)b->iterations));
	}
	d->recommendations =
	    b->completion > HALF_DONE ? go_on_rather : stop_rather;
	d->message = buf_take(&message);
}
