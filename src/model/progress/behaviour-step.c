/* SPDX-License-Identifier: ISC */

#include "base.h"

#include <math.h>

#include "error-signature.h"
#include "progress-private.h"
#include "scope-path.h"

/* --- preparing ------------------------------------------------------- */

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

/* --- the last ones --------------------------------------------------- */

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

double
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
