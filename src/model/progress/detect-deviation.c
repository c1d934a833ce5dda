/* SPDX-License-Identifier: ISC */

#include "base.h"
#include "iteration.h"
#include "progress-private.h"
#include "thresholds.h"

#define LEAST        2 /* turns below the threshold */
#define SCOPE_WINDOW 5 /* iterations with changes */

static const char *const recommendations[] = {
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
	if (deviation->objective != NULL || it->objective == NULL ||
	    it->objective[0] == '\0')
		return;
	deviation->objective = xstrdup(it->objective);
	objective_words_init(&deviation->words, it->objective);
}

static void
push(struct deviation *deviation, const struct behaviour_step *step)
{
	if (deviation->turn_count == DEVIATION_TURNS)
		iteration_unref(
		    deviation->turns[--deviation->turn_count].source);
	memmove(&deviation->turns[1], &deviation->turns[0],
	    deviation->turn_count * sizeof deviation->turns[0]);
	deviation->turns[0] = (struct deviation_turn){ .number = step->number,
		.said = step->said,
		.source = iteration_ref(step->source) };
	deviation->turn_count++;
	objective_words_count(&deviation->words, step->said);
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

static bool
has_drifted(struct deviation *deviation, const struct step_history *history,
    const struct thresholds *t)
{
	double threshold = t->objective_similarity;

	return are_far(deviation, threshold, objective_words_near) &&
	    (!step_history_moves_on(history, t) ||
		are_far(deviation, threshold, objective_words_plain));
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

	if (now->spoke)
		push(deviation, now);
	deviation->drifted = has_drifted(deviation, history, t);
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
	detection->recommendations = recommendations;
	detection->message = buf_take(&message);
}
