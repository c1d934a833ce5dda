/* SPDX-License-Identifier: ISC */

#include "detect-deviation.h"

#include <stdlib.h>
#include <string.h>

#include "behaviour-step.h"
#include "buf.h"
#include "iteration.h"
#include "json.h"
#include "mem.h"
#include "strv.h"
#include "thresholds.h"

#define LEAST        2 /* turns below the threshold */
#define SCOPE_WINDOW 5 /* iterations with changes */

static const char *const recommendations[] = {
	"Read the objective and its criteria again",
	"Return to the work that it asks for",
	"Ask a person if the scope is not clear",
	"Write down why the scope has to change, if it has to",
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
	deviation->turns[0] = (struct deviation_turn){ step->number,
		objective_words_judge(&deviation->words, step->said),
		iteration_ref(step->source) };
	deviation->turn_count++;
}

static bool
has_drifted(const struct deviation *deviation, double threshold)
{
	int below = 0;

	if (deviation->turn_count == 0 ||
	    deviation->turns[0].similarity >= threshold)
		return false;
	for (size_t i = 0; i < deviation->turn_count; i++)
		below += deviation->turns[i].similarity < threshold;
	return below >= LEAST;
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
		deviation->inside += step->inside;
		deviation->outside += step->outside;
	}
	return left >= LEAST &&
	    (double)deviation->outside > ratio * (double)deviation->inside;
}

enum severity
detect_deviation(struct deviation *deviation,
    const struct step_history *history, const struct thresholds *t)
{
	const struct behaviour_step *now = step_history_at(history, 0);

	if (now->spoke)
		push(deviation, now);
	deviation->drifted = has_drifted(deviation, t->objective_similarity);
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

		sum += turn->similarity;
		if (turn->similarity >= threshold)
			continue;
		json = json_object_new_object();
		json_set_int(json, "iteration", turn->number);
		json_set(json, "similarity",
		    json_object_new_double(turn->similarity));
		json_set(json, "artifacts",
		    strv_to_json(
			turn->source == NULL ? NULL : turn->source->files));
		json_object_array_add(examples, json);
	}
	json_set_string(evidence, "originalObjective", deviation->objective);
	json_set(evidence, "deviationExamples", examples);
	json_set(evidence, "averageSimilarity",
	    json_object_new_double(sum / (double)deviation->turn_count));
}

void
detect_deviation_describe(const struct deviation *deviation,
    const struct thresholds *t, struct detection *detection)
{
	cleanup_buf struct buf message = BUF_INIT;

	buf_adds(&message, "Deviation: ");
	if (deviation->drifted) {
		buf_adds(&message,
		    "the last iterations say little about the objective");
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
