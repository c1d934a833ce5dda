/* SPDX-License-Identifier: ISC */

#include "base.h"
#include "histories.h"

#include "behaviour.h"
#include "json-short.h"
#include "table.h"
#include "thresholds.h"

static void
must(int r, const char *what, const struct err *err)
{
	if (r == 0)
		return;
	fprintf(stderr, "%s: %s\n", what, err->msg);
	abort();
}

static void
note(struct history *h, enum detection_type type, enum progress_step step,
    int64_t at)
{
	int64_t *moments[STEP_COUNT] = { [STEP_REDIRECT] = &h->redirected,
		[STEP_RESTART] = &h->restarted,
		[STEP_RETRY] = &h->retried,
		[STEP_PAUSE] = &h->asked };

	if (step > h->highest)
		h->highest = step;
	if (step > STEP_LOG && h->seen[type] == 0)
		h->seen[type] = at;
	if (moments[step] != NULL && *moments[step] == 0)
		*moments[step] = at;
}

static void
live(struct history *h, struct json_object *list)
{
	cleanup_json struct json_object *replays = NULL;
	struct thresholds thresholds;
	struct err err = { 0 };

	thresholds_init(&thresholds, PROFILE_DEFAULT);
	h->length = (int64_t)json_object_array_length(list);
	must(
	    behaviour_replay(&thresholds, list, &replays, &err), h->name, &err);
	JSON_EACH (
	    step, json_member(json_object_array_get_idx(replays, 0), "steps")) {
		unsigned type = 0, level = 0;

		word_find(detection_type_words,
		    json_string_or(step, "type", ""), &type);
		word_find(progress_step_words, json_string_or(step, "step", ""),
		    &level);
		note(h, (enum detection_type)type, (enum progress_step)level,
		    json_int_or(step, "iteration", 0));
	}
}

void
histories_live(const char *healthy, const char *sick, history_fn *fn, void *arg)
{
	const char *const files[] = { healthy, sick };

	for (size_t f = 0; f < nitems(files); f++) {
		cleanup_json struct json_object *corpus = NULL;
		struct err err = { 0 };

		must(json_load(files[f], 1 << 20, &corpus, &err), files[f],
		    &err);
		for (size_t i = 0; i < json_object_array_length(corpus); i++) {
			struct json_object *entry =
			    json_object_array_get_idx(corpus, i);
			struct history h = { .sick = f == 1,
				.name = json_string_or(entry, "name", "?"),
				.within = json_int_or(entry, "within", 0) };
			unsigned type = DETECTION_TYPES;

			word_find(detection_type_words,
			    json_string_or(entry, "expect", ""), &type);
			h.expected = (enum detection_type)type;
			live(&h, json_object_object_get(entry, "history"));
			fn(&h, arg);
		}
	}
}

struct counts {
	int expected[DETECTION_TYPES], found[DETECTION_TYPES];
	int right[DETECTION_TYPES], wrong[DETECTION_TYPES];
};

static void
count(const struct history *h, void *arg)
{
	struct counts *c = arg;

	for (int i = 0; i < DETECTION_TYPES; i++) {
		bool expected = h->sick && (int)h->expected == i;

		c->expected[i] += expected;
		c->found[i] += expected && h->seen[i] > 0;
		c->right[i] += h->sick && h->seen[i] > 0;
		c->wrong[i] += !h->sick && h->seen[i] > 0;
	}
}

static char *
percent(int part, int whole)
{
	return whole == 0 ?
	    xstrdup("-") :
	    xasprintf("%d%% (%d of %d)", part * 100 / whole, part, whole);
}

void
histories_table(const char *healthy, const char *sick, struct buf *out)
{
	const struct table_column columns[] = { { .title = "DETECTOR" },
		{ .title = "PRECISION", .right = true },
		{ .title = "RECALL", .right = true } };
	struct table *table = table_new(columns, nitems(columns));
	struct counts c = { 0 };

	histories_live(healthy, sick, count, &c);
	for (int i = 0; i < DETECTION_TYPES; i++) {
		cleanup_free char *precision =
		    percent(c.right[i], c.right[i] + c.wrong[i]);
		cleanup_free char *recall = percent(c.found[i], c.expected[i]);

		table_row(table,
		    (const char *[]){
			detection_type_words[i], precision, recall });
	}
	table_print(table, 0, false, out);
	table_free(table);
}
