/* SPDX-License-Identifier: ISC */

#include "base.h"

#include <math.h>
#include <strings.h>

#include "thresholds.h"

enum kind {
	KIND_INT,
	KIND_NUMBER,
	KIND_BOOL
};

struct row {
	const char *group, *key;
	enum kind kind;
	size_t offset;
	double min, max;
	double value[PROFILE_COUNT]; /* by profile */
};

#define MEMBER(name) offsetof(struct thresholds, name)
#define SAME(v)            \
	{                  \
		v, v, v, v \
	}

static const struct row rows[] = {
	/* default, strict, exploratory, ci */
	{ "stuck", "sameErrorCount", KIND_INT, MEMBER(same_error_count), 1,
	    THRESHOLDS_WINDOW_MAX, { 3, 2, 5, 3 } },
	{ "stuck", "noProgressIterations", KIND_INT,
	    MEMBER(no_progress_iterations), 2, THRESHOLDS_WINDOW_MAX,
	    { 5, 3, 8, 3 } },
	{ "oscillation", "undoRedoCycles", KIND_INT, MEMBER(undo_redo_cycles),
	    1, 16, SAME(2) },
	{ "oscillation", "fileChurnThreshold", KIND_NUMBER, MEMBER(file_churn),
	    0, 1, SAME(0.8) },
	{ "deviation", "objectiveSimilarity", KIND_NUMBER,
	    MEMBER(objective_similarity), 0, 1, { 0.5, 0.5, 0.3, 0.5 } },
	{ "deviation", "scopeCreepRatio", KIND_NUMBER,
	    MEMBER(scope_creep_ratio), 0, 1000000, SAME(1.5) },
	{ "resource", "costMultiplier", KIND_NUMBER, MEMBER(cost_multiplier), 0,
	    1000000, { 2, 1.5, 3, 2 } },
	{ "resource", "iterationMultiplier", KIND_NUMBER,
	    MEMBER(iteration_multiplier), 0, 1000000, { 2, 1.5, 3, 2 } },
	{ "regression", "testPassToFail", KIND_BOOL, MEMBER(test_pass_to_fail),
	    0, 1, SAME(1) },
	{ "regression", "coverageDropPercent", KIND_NUMBER,
	    MEMBER(coverage_drop), 0, 100, { 10, 5, 10, 1 } },
};

const char *const thresholds_profile_words[] = {
	[PROFILE_DEFAULT] = "default",
	[PROFILE_STRICT] = "strict",
	[PROFILE_EXPLORATORY] = "exploratory",
	[PROFILE_CI] = "ci",
	[PROFILE_COUNT] = NULL,
};

static void
put(struct thresholds *thresholds, const struct row *row, double value)
{
	char *member = (char *)thresholds + row->offset;

	switch (row->kind) {
	case KIND_INT:
		*(int *)(void *)member = (int)value;
		break;
	case KIND_NUMBER:
		*(double *)(void *)member = value;
		break;
	case KIND_BOOL:
		*(bool *)(void *)member = value > 0;
		break;
	}
}

void
thresholds_init(struct thresholds *thresholds, enum thresholds_profile profile)
{
	for (size_t i = 0; i < nitems(rows); i++)
		put(thresholds, &rows[i], rows[i].value[profile]);
}

static int
take(struct thresholds *thresholds, const struct row *row, const char *path,
    struct json_object *value, struct err *err)
{
	double number = json_object_get_double(value);

	if (row->kind == KIND_BOOL) {
		if (!json_object_is_type(value, json_type_boolean))
			return err_set(err, -EINVAL,
			    "%s: expected true or false, found %s", path,
			    json_type_words(value));
		put(thresholds, row, json_object_get_boolean(value));
		return 0;
	}
	if (!json_object_is_type(value, json_type_int) &&
	    (!json_object_is_type(value, json_type_double) ||
		(row->kind == KIND_INT && number != floor(number))))
		return err_set(err, -EINVAL, "%s: expected %s, found %s", path,
		    row->kind == KIND_INT ? "an integer" : "a number",
		    json_type_words(value));
	if (!(number >= row->min && number <= row->max))
		return err_set(err, -EINVAL, "%s: must be from %g to %g", path,
		    row->min, row->max);
	put(thresholds, row, number);
	return 0;
}

/* Without a key, any row of the group. NULL = there is none. */
static const struct row *
find(const char *group, const char *key)
{
	for (size_t i = 0; i < nitems(rows); i++)
		if (strcmp(rows[i].group, group) == 0 &&
		    (key == NULL || strcmp(rows[i].key, key) == 0))
			return &rows[i];
	return NULL;
}

/* -EINVAL with the nearest key, or the nearest group where that is unknown. */
static int
no_such(const char *group, const char *key, const char *path, struct err *err)
{
	const char *names[nitems(rows) + 1] = { NULL }, *near;
	bool known = find(group, NULL) != NULL;
	size_t count = 0;

	for (size_t i = 0; i < nitems(rows); i++)
		if (!known)
			names[count++] = rows[i].group;
		else if (strcmp(rows[i].group, group) == 0)
			names[count++] = rows[i].key;
	near = text_nearest(known ? key : group, names);
	return err_set(err, -EINVAL,
	    "%s: no such threshold; did you mean \"%s\"?", path,
	    near != NULL ? near : names[0]);
}

static int
merge_group(struct thresholds *next, const char *group,
    struct json_object *json, const char *at, struct err *err)
{
	json_object_object_foreach(json, key, value)
	{
		const struct row *row = find(group, key);
		cleanup_buf struct buf path = BUF_INIT;
		int r = 0;

		json_path_key(&path, at, key);
		if (row == NULL)
			return no_such(group, key, path.data, err);
		if (value != NULL)
			r = take(next, row, path.data, value, err);
		if (r < 0)
			return r;
	}
	return 0;
}

static int
merge_groups(struct thresholds *next, struct json_object *json, const char *at,
    struct err *err)
{
	int r;

	json_object_object_foreach(json, group, value)
	{
		cleanup_buf struct buf path = BUF_INIT;

		json_path_key(&path, at, group);
		if (find(group, NULL) == NULL)
			return no_such(group, NULL, path.data, err);
		if (value == NULL)
			continue;
		if (!json_object_is_type(value, json_type_object))
			return err_set(err, -EINVAL,
			    "%s: expected an object, found %s", path.data,
			    json_type_words(value));
		r = merge_group(next, group, value, path.data, err);
		if (r < 0)
			return r;
	}
	return 0;
}

int
thresholds_merge(struct thresholds *thresholds, struct json_object *json,
    const char *at, struct err *err)
{
	struct thresholds next = *thresholds;
	int r;

	if (json == NULL)
		return 0;
	if (!json_object_is_type(json, json_type_object))
		return err_set(err, -EINVAL, "%s: expected an object, found %s",
		    at, json_type_words(json));
	r = merge_groups(&next, json, at, err);
	if (r == 0)
		*thresholds = next;
	return r;
}

int
thresholds_set(struct thresholds *thresholds, const char *text, struct err *err)
{
	const char *dot = strchr(text, '.'), *sign = strchr(text, '=');
	cleanup_free char *group = NULL, *key = NULL;
	cleanup_json struct json_object *value = NULL;
	const struct row *row;
	const char *word;

	if (dot == NULL || sign == NULL || sign < dot)
		return err_set(err, -EINVAL,
		    "%s: expected a threshold such as "
		    "\"stuck.sameErrorCount=3\"",
		    text);
	group = xstrndup(text, (size_t)(dot - text));
	key = xstrndup(dot + 1, (size_t)(sign - dot - 1));
	word = sign + 1;
	row = find(group, key);
	if (row == NULL)
		return no_such(group, key, text, err);
	if (json_parse(word, strlen(word), 64, &value, NULL) < 0)
		return err_set(
		    err, -EINVAL, "%s: \"%s\" is not a number", text, word);
	return take(thresholds, row, text, value, err);
}

/* --- oversight config --------------------------------------------------- */

const char *const oversight_mode_words[] = {
	[OVERSIGHT_OFF] = "off",
	[OVERSIGHT_OBSERVE] = "observe",
	[OVERSIGHT_ACT] = "act",
	NULL,
};

/* --- coverage ------------------------------------------------------------ */

/* Strict decimal, whatever the locale: "81", "81.25". */
static double
percent(const char *text, size_t len)
{
	double value = 0, unit = 1;
	size_t i = 0, digits = 0;
	bool point = false;

	for (; i < len; i++) {
		if (text[i] == '.' && !point) {
			point = true;
			continue;
		}
		if (text[i] < '0' || text[i] > '9' || ++digits > 9)
			return NAN;
		value = value * 10 + (text[i] - '0');
		unit *= point ? 10 : 1;
	}
	value /= unit;
	return digits > 0 && value <= 100 ? value : NAN;
}

/* Of one line; NAN = it says nothing of it. */
static double
line_coverage(const char *line, size_t len)
{
	static const char *const words[] = { "total", "coverage" };
	size_t from = strspn(line, " \t|#*>-"), end = len, digits;
	bool named = false;

	for (size_t i = 0; from < len && i < nitems(words); i++)
		named = named ||
		    strncasecmp(line + from, words[i], strlen(words[i])) == 0;
	while (end > from && strchr(" \t\r|", line[end - 1]) != NULL)
		end--;
	if (!named || end <= from || line[--end] != '%')
		return NAN;
	for (digits = end; digits > from &&
	     (line[digits - 1] == '.' ||
		 (line[digits - 1] >= '0' && line[digits - 1] <= '9'));)
		digits--;
	return percent(line + digits, end - digits);
}

double
coverage_find(const char *output)
{
	double found = NAN;

	while (*output != '\0') {
		size_t len = strcspn(output, "\n");
		double value = line_coverage(output, len);

		if (!isnan(value))
			found = value;
		output += len + (output[len] == '\n');
	}
	return found;
}

int64_t
silence_longest_ms(int64_t overseer_ms)
{
	return overseer_ms - overseer_ms / 4;
}
