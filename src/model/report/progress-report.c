/* SPDX-License-Identifier: ISC */

#include "base.h"

#include <math.h>

#include "completion-report.h"
#include "progress-report.h"

const char *const progress_level_words[] = { "L0_operational", "L1_plan_update",
	"L2_detail", NULL };

static int
take_level(
    struct json_object *args, struct json_object *report, struct err *err)
{
	const char *text = "", *word;
	cleanup_free char *clean = NULL;
	int r = json_get_string(args, "", "level", &text, err);

	if (r < 0 && r != -ENOENT)
		return r;
	clean = report_text(text, strlen(text), PROGRESS_NAME_MAX, false);
	word = *clean == '\0' ? progress_level_words[0] :
				report_word(progress_level_words, clean);
	if (word == NULL)
		return err_set(err, -EINVAL, "level: expected %s, %s or %s",
		    progress_level_words[0], progress_level_words[1],
		    progress_level_words[2]);
	json_set_string(report, "level", word);
	return 0;
}

static int
take_percent(
    struct json_object *args, struct json_object *report, struct err *err)
{
	double percent = NAN;
	int r = json_get_double(args, "", "percentComplete", &percent, err);

	if (r == -ENOENT)
		return 0;
	if (r < 0)
		return r;
	if (!(percent >= 0 && percent <= 100))
		return err_set(err, -EINVAL,
		    "percentComplete: expected a number from 0 to 100");
	json_set(report, "percentComplete", json_object_new_double(percent));
	return 0;
}

static int
keep_metric(struct json_object *kept, const char *key,
    struct json_object *value, struct err *err)
{
	cleanup_free char *name =
	    report_text(key, strlen(key), PROGRESS_NAME_MAX, false);
	cleanup_free char *text = NULL;

	if (json_object_object_length(kept) >= PROGRESS_METRICS_MAX)
		return 0;
	if (json_object_is_type(value, json_type_string)) {
		text = report_text(json_object_get_string(value),
		    (size_t)json_object_get_string_len(value),
		    PROGRESS_VALUE_MAX, false);
		json_set_string(kept, name, text);
		return 0;
	}
	if (!json_object_is_type(value, json_type_int) &&
	    !json_object_is_type(value, json_type_double))
		return err_set(err, -EINVAL,
		    "metrics.%s: expected a string or a number, found %s", name,
		    json_type_words(value));
	json_set(kept, name, json_object_get(value));
	return 0;
}

static int
keep_metrics(struct json_object *kept, struct json_object *all, struct err *err)
{
	int r = 0;

	json_object_object_foreach(all, key, value)
	{
		if (r == 0)
			r = keep_metric(kept, key, value, err);
	}
	return r;
}

static int
take_metrics(
    struct json_object *args, struct json_object *report, struct err *err)
{
	struct json_object *all = NULL;
	cleanup_json struct json_object *kept = json_object_new_object();
	int r = json_get_object(args, "", "metrics", &all, err);

	if (r == -ENOENT)
		return 0;
	if (r == 0)
		r = keep_metrics(kept, all, err);
	if (r == 0)
		json_set(report, "metrics", take_ptr(&kept));
	return r;
}

int
progress_report_from_args(
    struct json_object *args, struct json_object **ret_report, struct err *err)
{
	cleanup_json struct json_object *report = json_object_new_object();
	cleanup_free char *phase = NULL;
	const char *text = "";
	int r = json_get_string(args, "", "phase", &text, err);

	if (r < 0 && r != -ENOENT)
		return r;
	phase = report_text(text, strlen(text), PROGRESS_PHASE_MAX, false);
	if (*phase == '\0')
		return err_set(err, -EINVAL,
		    "phase required: say which phase or step you are in");
	json_set_string(report, "phase", phase);
	if ((r = take_percent(args, report, err)) < 0 ||
	    (r = take_level(args, report, err)) < 0 ||
	    (r = take_metrics(args, report, err)) < 0)
		return r;
	*ret_report = take_ptr(&report);
	return 0;
}

struct json_object *
progress_report_latest(struct json_object *report, int64_t now_ms)
{
	static const char *const members[] = { "phase", "percentComplete",
		"level" };
	struct json_object *latest = json_object_new_object(), *value = NULL;

	for (size_t i = 0; i < nitems(members); i++)
		if (json_object_object_get_ex(report, members[i], &value))
			json_set(latest, members[i], json_object_get(value));
	json_set_int(latest, "updatedAt", now_ms);
	return latest;
}

double
progress_report_percent(struct json_object *latest)
{
	double percent = NAN;

	if (latest != NULL)
		json_get_double(latest, "", "percentComplete", &percent, NULL);
	return percent >= 0 && percent <= 100 ? percent : NAN;
}

enum progress_rate
progress_report_rate(
    int count, int64_t last_ms, int64_t now_ms, int64_t *ret_wait_ms)
{
	int64_t since = now_ms - last_ms;

	if (count >= PROGRESS_COUNT_MAX)
		return PROGRESS_USED_UP;
	if (count == 0 || since < 0 || since >= PROGRESS_EVERY_MS)
		return PROGRESS_ACCEPTED;
	*ret_wait_ms = PROGRESS_EVERY_MS - since;
	return PROGRESS_TOO_SOON;
}
