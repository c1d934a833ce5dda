/* SPDX-License-Identifier: ISC */

#include "base.h"

#include <math.h>

#include "behaviour.h"
#include "book-history.h"
#include "watched.h"

#define TASKS_MAX   200 /* whose turns are kept */
#define TURNS_MAX   1000 /* records of a task */
#define TOUCHED_MAX 20000 /* files of a task that are remembered */
#define REPLAY_MAX  100 /* records; a carry stands for those before */

/* --- records --------------------------------------------------------- */

static void
put(struct watched *w, const char *worker, int64_t seq,
    struct json_object *record)
{
	json_set_int(record, "at_ms", clock_wall_ms());
	if (worker != NULL)
		json_set_string(record, "worker", worker);
	book_put_turn(w->book, w->task, seq, record);
	json_object_put(record);
}

static void
append(struct watched *w, const char *worker, struct json_object *record)
{
	put(w, worker, ++w->seq, record);
	if (w->seq % 100 == 0 && w->seq > TURNS_MAX)
		book_delete_turns(w->book, w->task, w->seq - TURNS_MAX);
}

/* An iteration that is open has one record, as long as it is. */
static void
drop_open(struct watched *w)
{
	if (w->open_seq > 0)
		book_delete_turn(w->book, w->task, w->open_seq);
	w->open_seq = 0;
}

static struct json_object *
mark_to_json(const struct watched_mark *mark)
{
	struct json_object *json = json_object_new_object();
	struct json_object *tokens = json_object_new_array();

	json_set_int(json, "cost", mark->cost);
	for (int i = 0; i < ITERATION_TOKEN_KINDS; i++)
		json_object_array_add(
		    tokens, json_object_new_int64(mark->tokens[i]));
	json_set(json, "tokens", tokens);
	json_set_int(json, "errors", mark->errors);
	json_set_int(json, "tools", mark->tools);
	json_set_int(json, "attempt", mark->attempt);
	json_set_string(json, "transcript", mark->transcript);
	return json;
}

static struct json_object *
due_to_json(const struct watched *w)
{
	struct json_object *json = json_object_new_object();

	for (int i = 0; i < DETECTION_TYPES; i++)
		if (w->due[i] != STEP_NONE)
			json_set_string(json, detection_type_words[i],
			    progress_step_words[w->due[i]]);
	return json;
}

/* --- what came before ------------------------------------------------- */

/* As one iteration, in which nothing was said or changed. */
static struct json_object *
carry_to_json(const struct watched_carry *carry)
{
	cleanup_iteration struct iteration *it = iteration_new(carry->number);

	it->cost = carry->cost;
	it->duration_ms = carry->duration_ms > 0 ? carry->duration_ms : -1;
	it->completion = carry->completion;
	it->coverage = carry->coverage;
	if (carry->passed)
		it->tests = 1;
	return iteration_to_json(it);
}

/* --- what follows from an iteration ---------------------------------- */

bool
watched_touched(const struct watched *w, const char *path)
{
	return strmap_get(&w->touched, path) != NULL;
}

static void
tell_outcome(struct watched *w, const struct watched_trial *t)
{
	enum progress_outcome outcome =
	    progress_judge(t->prior, t->before, t->after, t->count);
	struct json_object *record = json_object_new_object();
	struct json_object *json = json_object_new_object();

	json_set_string(json, "type", detection_type_words[t->type]);
	json_set_string(json, "level", progress_step_words[t->level]);
	json_set_int(json, "iteration", t->iteration);
	json_set_string(json, "outcome", progress_outcome_words[outcome]);
	json_set(record, "outcome", json);
	append(w, NULL, record);
}

static void
take(struct watched *w, const struct iteration *iteration, bool tell)
{
	struct watched_carry *carry;
	size_t kept = 0;

	for (int i = 0; i < DETECTION_TYPES; i++)
		w->prior[i] =
		    behaviour_severity(w->behaviour, (enum detection_type)i);
	behaviour_add(w->behaviour, iteration);
	carry = &w->carry;
	carry->number = iteration->number;
	if (!isnan(iteration->cost))
		carry->cost = isnan(carry->cost) ?
		    iteration->cost :
		    carry->cost + iteration->cost;
	if (iteration->duration_ms > 0)
		carry->duration_ms += iteration->duration_ms;
	if (iteration->completion > carry->completion ||
	    isnan(carry->completion))
		carry->completion = iteration->completion;
	if (iteration->coverage > carry->coverage || isnan(carry->coverage))
		carry->coverage = iteration->coverage;
	carry->passed = carry->passed || iteration->tests == 1;
	w->count = iteration->number;
	if (iteration->tree != NULL)
		xstrset(&w->tree, iteration->tree);
	xstrset(&w->objective, iteration->objective);
	if (iteration->failure != NULL)
		xstrset(&w->failure, iteration->failure);
	for (size_t i = 0; i < strv_count(iteration->files); i++) {
		const char *path = iteration->files[i];
		char *name;

		if (w->touched.count >= TOUCHED_MAX ||
		    strmap_get(&w->touched, path) != NULL)
			continue;
		name = xstrdup(path);
		strmap_add(&w->touched, name, name);
	}
	/* After behaviour_add(). tell: it is not recorded yet. */
	for (size_t i = 0; i < w->trial_count; i++) {
		struct watched_trial *t = &w->trials[i];

		t->after[t->count++] =
		    behaviour_severity(w->behaviour, t->type);
		if (t->count < PROGRESS_PATIENCE)
			w->trials[kept++] = *t;
		else if (tell)
			tell_outcome(w, t);
	}
	w->trial_count = kept;
}

static void
add_trial(struct watched *w, const struct watched_trial *trial, bool observed)
{
	if (trial->level <= STEP_LOG || observed)
		return;
	w->trials =
	    xreallocarray(w->trials, w->trial_count + 1, sizeof *w->trials);
	w->trials[w->trial_count++] = *trial;
}

/* --- replay ---------------------------------------------------------- */

static void
replay_intervention(struct watched *w, struct json_object *json)
{
	unsigned type, level, severity;
	const char *by = json_string_or(json, "by", "");

	if (word_get(json, "", "type", detection_type_words, &type, NULL) < 0 ||
	    word_get(json, "", "level", progress_step_words, &level, NULL) <
		0 ||
	    word_get(json, "", "severity", severity_words, &severity, NULL) < 0)
		return;
	w->due[type] = STEP_NONE;
	add_trial(w,
	    &(struct watched_trial){ .type = (enum detection_type)type,
		.level = (enum progress_step)level,
		.prior = w->prior[type],
		.before = (enum severity)severity,
		.iteration = json_int_or(json, "iteration", 0),
		.context = strcmp(by, "context") == 0 },
	    strcmp(by, "observe") == 0);
}

static bool
on_record(const char *task, int64_t seq, struct json_object *record, void *arg)
{
	struct watched *w = arg;
	struct json_object *json = NULL;
	struct iteration *iteration = NULL;

	(void)task;
	w->seq = seq;
	if (w->count == 0 &&
	    json_object_object_get_ex(record, "carry", &json) &&
	    iteration_from_json(json, "", 1, &iteration, NULL) == 0) {
		take(w, iteration, false);
		iteration_unref(iteration);
	}
	if (json_object_object_get_ex(record, "mark", &json)) {
		struct watched_mark *mark = &w->mark;
		struct json_object *tokens = NULL;

		mark->cost = json_int_or(json, "cost", 0);
		json_object_object_get_ex(json, "tokens", &tokens);
		for (size_t i = 0; i < ITERATION_TOKEN_KINDS &&
		     json_object_is_type(tokens, json_type_array) &&
		     i < json_object_array_length(tokens);
		     i++)
			mark->tokens[i] = json_object_get_int64(
			    json_object_array_get_idx(tokens, i));
		mark->errors = json_int_or(json, "errors", 0);
		mark->tools = json_int_or(json, "tools", 0);
		mark->attempt = (int)json_int_or(json, "attempt", 0);
		xstrset(&mark->transcript,
		    json_string_or(json, "transcript", NULL));
	}
	if (json_object_object_get_ex(record, "intervene", &json))
		progress_from_json(&w->progress, json);
	if (json_object_object_get_ex(record, "due", &json)) {
		for (int i = 0; i < DETECTION_TYPES; i++) {
			unsigned level = STEP_NONE;

			word_find(progress_step_words,
			    json_string_or(json, detection_type_words[i], ""),
			    &level);
			w->due[i] = (enum progress_step)level;
		}
	}
	if (json_object_object_get_ex(record, "intervention", &json))
		replay_intervention(w, json);
	if (json_object_object_get_ex(record, "open", &json) &&
	    iteration_from_json(json, "", w->count + 1, &iteration, NULL) ==
		0) {
		iteration_unref(w->open);
		w->open = iteration;
		w->open_seq = seq;
	}
	if (json_object_object_get_ex(record, "iteration", &json) &&
	    iteration_from_json(json, "", w->count + 1, &iteration, NULL) ==
		0) {
		iteration_unref(take_ptr(&w->open));
		w->open_seq = 0;
		take(w, iteration, false);
		iteration_unref(iteration);
	}
	return true;
}

static void
init(struct watched *w, const struct thresholds *thresholds)
{
	w->tree = xstrdup("");
	w->behaviour = behaviour_new(thresholds);
	w->carry.cost = w->carry.completion = w->carry.coverage = NAN;
}

struct watched *
watched_new(
    struct book *book, const char *task, const struct thresholds *thresholds)
{
	struct watched *w = xcalloc(1, sizeof *w);

	w->task = xstrdup(task);
	w->book = book;
	init(w, thresholds);
	book_read_turns(book, task, REPLAY_MAX, on_record, w, NULL);
	return w;
}

/* All but its name. */
static void
release(struct watched *w)
{
	iteration_unref(w->open);
	behaviour_free(w->behaviour);
	for (size_t i = 0; i < w->touched.size; i++)
		if (w->touched.slots[i].key != NULL)
			free(w->touched.slots[i].value);
	strmap_release(&w->touched);
	free(w->mark.transcript);
	free(w->objective);
	free(w->failure);
	free(w->trials);
	free(w->tree);
}

void
watched_free(struct watched *w)
{
	if (w == NULL)
		return;
	release(w);
	free(w->task);
	free(w);
}

void
watched_restart(struct watched *w, const struct thresholds *thresholds)
{
	struct watched fresh = { .entry = w->entry,
		.task = w->task,
		.book = w->book,
		.mark = w->mark };

	w->mark.transcript = NULL; /* taken over */
	release(w);
	*w = fresh;
	init(w, thresholds);
	book_delete_turns(w->book, w->task, INT64_MAX);
}

/* --- the next one ---------------------------------------------------- */

void
watched_changed(struct watched *w, const char *worker)
{
	struct json_object *record = json_object_new_object();

	json_set(record, "open", iteration_to_json(w->open));
	json_set(record, "mark", mark_to_json(&w->mark));
	if (w->open_seq == 0)
		w->open_seq = ++w->seq;
	put(w, worker, w->open_seq, record);
}

void
watched_begin(
    struct watched *w, const char *worker, struct iteration *iteration)
{
	drop_open(w);
	iteration_unref(w->open);
	w->open = iteration;
	xstrset(&w->objective, iteration->objective);
	watched_changed(w, worker);
}

static struct json_object *
check_to_json(struct watched *w, enum severity worst)
{
	struct json_object *check = json_object_new_object();
	struct behaviour_metrics metrics;

	behaviour_measure(w->behaviour, &metrics);
	w->status = oversight_status(worst, watched_waits(w) && !w->observed);
	/* What is critical is not healthy, also where it is only noted. */
	for (int i = 0; i < DETECTION_TYPES; i++)
		if (w->status == OVERSIGHT_HEALTHY &&
		    behaviour_severity(w->behaviour, (enum detection_type)i) ==
			SEVERITY_CRITICAL)
			w->status = OVERSIGHT_WARNING;
	json_set_string(check, "status", oversight_status_words[w->status]);
	json_set(check, "metrics", behaviour_metrics_to_json(&metrics));
	json_set(check, "detections", behaviour_to_json(w->behaviour));
	return check;
}

void
watched_judge(
    struct watched *w, const char *worker, const struct progress_policy *policy)
{
	struct iteration *iteration = take_ptr(&w->open);
	struct json_object *record, *carry;
	enum severity severity[DETECTION_TYPES];
	enum progress_step steps[DETECTION_TYPES];

	if (iteration == NULL)
		return;
	carry = w->count > 0 ? carry_to_json(&w->carry) : NULL;
	take(w, iteration, true);
	for (int i = 0; i < DETECTION_TYPES; i++) {
		severity[i] =
		    behaviour_severity(w->behaviour, (enum detection_type)i);
		steps[i] = behaviour_step(w->behaviour, (enum detection_type)i);
	}
	progress_next(&w->progress, steps, policy, w->due);
	record = json_object_new_object();
	if (carry != NULL)
		json_set(record, "carry", carry);
	json_set(record, "iteration", iteration_to_json(iteration));
	json_set(record, "mark", mark_to_json(&w->mark));
	json_set(record, "check",
	    check_to_json(w, progress_worst(&w->progress, severity, steps)));
	json_set(record, "due", due_to_json(w));
	json_set(record, "intervene", progress_to_json(&w->progress));
	drop_open(w);
	append(w, worker, record);
	iteration_unref(iteration);
}

bool
watched_waits(const struct watched *w)
{
	for (int i = 0; i < DETECTION_TYPES; i++)
		if (w->due[i] == STEP_PAUSE)
			return true;
	return false;
}

void
watched_delivered(struct watched *w, const char *worker,
    const struct detection *detection, bool observed)
{
	struct watched_trial trial = { .type = detection->type,
		.level = w->due[detection->type],
		.prior = w->prior[detection->type],
		.before = detection->severity,
		.iteration = w->count,
		.context = w->giving[detection->type].context };
	struct json_object *record = json_object_new_object();
	struct json_object *json = json_object_new_object();

	progress_delivered(&w->progress, detection->type, trial.level);
	if (trial.level == STEP_PAUSE && !observed)
		progress_silence(&w->progress, detection->type);
	w->due[detection->type] = STEP_NONE;
	w->giving[detection->type] = (struct watched_giving){ 0 };
	add_trial(w, &trial, observed);
	json_set_string(json, "type", detection_type_words[trial.type]);
	json_set_string(json, "level", progress_step_words[trial.level]);
	json_set_string(json, "severity", severity_words[trial.before]);
	json_set_int(json, "iteration", trial.iteration);
	json_set_string(json, "message", detection->message);
	if (trial.context)
		json_set_string(json, "by", "context");
	else if (observed)
		json_set_string(json, "by", "observe");
	json_set(record, "intervention", json);
	json_set(record, "intervene", progress_to_json(&w->progress));
	append(w, worker, record);
}

void
watched_end(struct watched *w, bool landed)
{
	for (size_t i = 0; i < w->trial_count; i++) {
		struct watched_trial *t = &w->trials[i];
		enum severity last =
		    t->count > 0 ? t->after[t->count - 1] : t->before;

		while (t->count < PROGRESS_PATIENCE)
			t->after[t->count++] = landed ? SEVERITY_NONE : last;
		tell_outcome(w, t);
	}
	w->trial_count = 0;
}

bool
watched_is_vain(const struct watched *w, enum detection_type type)
{
	for (size_t i = 0; i < w->trial_count; i++) {
		const struct watched_trial *t = &w->trials[i];

		if (t->type == type && t->context && t->count == 1 &&
		    progress_tell_again(t->level, t->before, t->after[0]))
			return true;
	}
	return false;
}

bool
watched_worst(const struct watched *w, struct detection *ret_detection)
{
	enum detection_type worst = DETECTION_STUCK;

	for (int i = 0; i < DETECTION_TYPES; i++)
		if (behaviour_severity(w->behaviour, (enum detection_type)i) >
		    behaviour_severity(w->behaviour, worst))
			worst = (enum detection_type)i;
	if (behaviour_severity(w->behaviour, worst) == SEVERITY_NONE)
		return false;
	behaviour_describe(w->behaviour, worst, ret_detection);
	return true;
}

enum progress_step
watched_due(const struct watched *w, enum detection_type *ret_type)
{
	enum progress_step most = STEP_NONE;

	for (int i = 0; i < DETECTION_TYPES; i++)
		if (w->due[i] > most && w->giving[i].level != w->due[i]) {
			most = w->due[i];
			*ret_type = (enum detection_type)i;
		}
	return most;
}

/* --- old ones ---------------------------------------------------------- */

struct pruning {
	struct book *book;
	watched_keeps_fn *keeps;
	const void *arg;
	int count;
};

static bool
on_task(const char *task, void *arg)
{
	struct pruning *p = arg;

	if (p->count++ >= TASKS_MAX && !p->keeps(p->arg, task))
		book_delete_turns(p->book, task, INT64_MAX);
	return true;
}

void
watched_prune(struct book *book, watched_keeps_fn *keeps, const void *arg)
{
	book_turn_tasks(book, on_task,
	    &(struct pruning){ .book = book, .keeps = keeps, .arg = arg },
	    NULL);
}
