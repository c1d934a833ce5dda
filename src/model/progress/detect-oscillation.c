/* SPDX-License-Identifier: ISC */

#include "detect-oscillation.h"

#include <stdbool.h>
#include <string.h>

#include "behaviour-hash.h"
#include "behaviour-step.h"
#include "json.h"
#include "mem.h"
#include "thresholds.h"

#define CHANGES_SHOWN 6
#define FILES_SHOWN   10
#define RETURNS_SHOWN 10

static const char *const recommendations[] = {
	"Commit to one approach instead of alternating",
	"Review feedback quality - may be conflicting",
	"Pause and assess which approach is better",
	"Request human decision on direction",
	NULL,
};

/* More than the threshold, or all of them. */
static bool
nearly_all(unsigned part, unsigned whole, double threshold)
{
	return part == whole ||
	    (double)part > threshold * (double)whole + THRESHOLDS_ROUNDING;
}

/* Has the file had this content before, and another one since? */
static bool
returns(const struct step_history *history, size_t kept,
    const struct behaviour_file *file)
{
	bool changed = false;

	for (size_t back = 1; back < kept; back++) {
		const struct behaviour_file *then = behaviour_step_file(
		    step_history_at(history, back), file->path);

		if (then == NULL || then->content == 0)
			continue;
		if (then->content != file->content)
			changed = true;
		else
			return changed;
	}
	return false;
}

/* How many files of `a` are in `b`. */
static unsigned
common(const struct behaviour_step *a, const struct behaviour_step *b)
{
	unsigned count = 0;

	for (size_t i = 0, j = 0; i < a->file_count && j < b->file_count;) {
		if (a->files[i].path == b->files[j].path) {
			count++;
			i++;
			j++;
		} else if (a->files[i].path < b->files[j].path) {
			i++;
		} else {
			j++;
		}
	}
	return count;
}

static bool
names_return(const struct step_history *history, size_t kept, double threshold)
{
	const struct behaviour_step *now = step_history_at(history, 0);
	const struct behaviour_step *before[2] = { NULL, NULL };
	size_t found = 0;

	for (size_t back = 1; back < kept && found < 2; back++)
		if (step_history_at(history, back)->file_count > 0)
			before[found++] = step_history_at(history, back);
	return found == 2 &&
	    nearly_all(
		common(before[1], now), before[1]->file_count, threshold) &&
	    !nearly_all(
		common(before[0], now), before[0]->file_count, threshold);
}

static bool
is_cycle(
    const struct step_history *history, size_t kept, const struct thresholds *t)
{
	const struct behaviour_step *now = step_history_at(history, 0);
	unsigned known = 0, back = 0;

	for (size_t i = 0; i < now->file_count; i++) {
		if (now->files[i].content == 0)
			continue;
		known++;
		back += returns(history, kept, &now->files[i]);
	}
	return known > 0 ? nearly_all(back, known, t->file_churn) :
			   names_return(history, kept, t->file_churn) &&
		!step_history_moves_on(history, t);
}

enum severity
detect_oscillation(struct step_history *history, const struct thresholds *t,
    struct oscillation_finding *ret_finding)
{
	size_t kept = step_history_kept(history, THRESHOLDS_WINDOW_MAX);
	size_t window = 2 * (size_t)t->undo_redo_cycles + 2, changes = 0;
	struct behaviour_step *now =
	    &history->steps[(history->count - 1) % THRESHOLDS_WINDOW_MAX];
	int cycles = 0;

	if (now->file_count > 0)
		now->cycle = is_cycle(history, kept, t);
	for (size_t back = 0; back < kept && changes < window; back++) {
		const struct behaviour_step *step =
		    step_history_at(history, back);

		if (step->file_count == 0)
			continue;
		if (changes++ == 0 && !step->cycle)
			return SEVERITY_NONE;
		cycles += step->cycle;
	}
	if (cycles < t->undo_redo_cycles)
		return SEVERITY_NONE;
	ret_finding->cycles = cycles;
	return SEVERITY_HIGH;
}

static struct json_object *
files_json(const struct iteration *it)
{
	struct json_object *list = json_object_new_array();
	size_t shown = 0;

	for (char **f = it->files; f != NULL && *f != NULL; f++)
		if (shown++ < FILES_SHOWN)
			json_object_array_add(list, json_object_new_string(*f));
	for (size_t i = 0; !it->files_known && i < it->blob_count; i++)
		if (shown++ < FILES_SHOWN)
			json_object_array_add(
			    list, json_object_new_string(it->blobs[i].path));
	return list;
}

/* The files of the latest change that returned, with their blobs. */
static struct json_object *
returned_json(const struct step_history *history, size_t kept)
{
	struct json_object *json = json_object_new_object();
	const struct iteration *it = step_history_at(history, 0)->source;
	int shown = 0;

	for (size_t i = 0; i < it->blob_count; i++) {
		const char *path = it->blobs[i].path;
		const struct behaviour_file *file =
		    behaviour_step_file(step_history_at(history, 0),
			behaviour_hash(path, strlen(path)));

		if (file != NULL && file->content != 0 &&
		    returns(history, kept, file) && shown++ < RETURNS_SHOWN)
			json_set_string(json, path, it->blobs[i].hash);
	}
	return json;
}

void
detect_oscillation_describe(const struct step_history *history,
    const struct oscillation_finding *finding, struct detection *detection)
{
	size_t kept = step_history_kept(history, THRESHOLDS_WINDOW_MAX);
	struct json_object *changes = json_object_new_array(), *returned;
	size_t first = kept, shown = 0;

	for (size_t back = 0; back < kept && shown < CHANGES_SHOWN; back++)
		if (step_history_at(history, back)->file_count > 0) {
			first = back + 1;
			shown++;
		}
	for (size_t back = first; back-- > 0;)
		if (step_history_at(history, back)->file_count > 0)
			json_object_array_add(changes,
			    files_json(step_history_at(history, back)->source));
	detection->recommendations = recommendations;
	detection->message =
	    xasprintf("Oscillation: %d undo/redo cycles in recent iterations",
		finding->cycles);
	json_set_int(detection->evidence, "undoRedoCycles", finding->cycles);
	json_set(detection->evidence, "recentFileChanges", changes);
	returned = returned_json(history, kept);
	if (json_object_object_length(returned) > 0)
		json_set(detection->evidence, "returnedBlobs", returned);
	else
		json_object_put(returned);
}
