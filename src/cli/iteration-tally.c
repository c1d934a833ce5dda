/* SPDX-License-Identifier: ISC */

#include <dirent.h>
#include <stdlib.h>
#include <string.h>

#include "iteration-tally.h"
#include "json.h"
#include "jsonl.h"
#include "mem.h"
#include "oversight-report.h"
#include "strv.h"
#include "word.h"
#include "workspace.h"

#define SUFFIX ".jsonl"

struct counter {
	struct oversight_tally *tally;
	bool stopped; /* the task was paused or aborted */
	enum severity burn, regression; /* of the iteration before */
	bool regressed_once; /* ... and not before that */
};

static struct json_object *
member(struct json_object *object, const char *key)
{
	struct json_object *value = NULL;

	if (json_object_is_type(object, json_type_object))
		json_object_object_get_ex(object, key, &value);
	return value;
}

/* --- one task -------------------------------------------------------- */

static void
count_check(struct counter *c, struct json_object *check)
{
	struct json_object *list = member(check, "detections");
	enum severity now[DETECTION_TYPES] = { SEVERITY_NONE };
	enum severity regression;
	size_t count = json_object_is_type(list, json_type_array) ?
	    json_object_array_length(list) :
	    0;

	c->tally->iterations++;
	for (size_t i = 0; i < count; i++) {
		struct json_object *d = json_object_array_get_idx(list, i);
		unsigned type, severity;

		if (word_get(d, "", "type", detection_type_words, &type, NULL) <
			0 ||
		    word_get(
			d, "", "severity", severity_words, &severity, NULL) < 0)
			continue;
		c->tally->detections[type][severity]++;
		now[type] = (enum severity)severity;
	}
	regression = now[DETECTION_REGRESSION];
	if (c->burn == SEVERITY_NONE &&
	    now[DETECTION_RESOURCE_BURN] == SEVERITY_CRITICAL)
		c->tally->burns_late++;
	if (regression == SEVERITY_NONE && c->regressed_once)
		c->tally->regressions_brief++;
	c->regressed_once =
	    regression != SEVERITY_NONE && c->regression == SEVERITY_NONE;
	c->burn = now[DETECTION_RESOURCE_BURN];
	c->regression = regression;
}

static bool
on_record(struct json_object *record, void *arg)
{
	struct counter *c = arg;
	struct json_object *act = member(record, "intervention");
	struct json_object *outcome = member(record, "outcome");
	unsigned level, type, how;

	if (member(record, "iteration") != NULL)
		count_check(c, member(record, "check"));
	if (act != NULL &&
	    word_get(act, "", "level", intervention_words, &level, NULL) == 0) {
		c->tally->interventions[level]++;
		c->stopped = c->stopped || level >= INTERVENTION_PAUSE;
	}
	if (outcome != NULL &&
	    word_get(outcome, "", "type", detection_type_words, &type, NULL) ==
		0 &&
	    word_get(outcome, "", "outcome", intervene_outcome_words, &how,
		NULL) == 0)
		oversight_tally_outcome(c->tally, (enum detection_type)type,
		    (enum intervene_outcome)how);
	return true;
}

static bool
on_iteration(struct json_object *record, void *arg)
{
	struct json_object *it = member(record, "iteration");

	if (it != NULL)
		json_object_array_add(arg, json_object_get(it));
	return true;
}

static char *
file_of(const struct workspace *workspace, const char *task)
{
	cleanup_free char *name = xasprintf("iterations/%s" SUFFIX, task);

	return workspace_path(workspace, name);
}

struct json_object *
iteration_tally_history(const struct workspace *workspace, const char *task)
{
	cleanup_free char *file = file_of(workspace, task);
	struct json_object *list = json_object_new_array();

	jsonl_last(file, 0, on_iteration, list, NULL);
	return list;
}

/* --- all of them ----------------------------------------------------- */

/* The tasks that were stopped, and how many of them landed after all. */
struct stopped {
	char **tasks;
	int landed;
};

static bool
on_filed(struct json_object *record, void *arg)
{
	struct stopped *stopped = arg;
	const char *id = json_string_or(record, "id", "");

	if (strcmp(json_string_or(record, "outcome", ""), "landed") != 0)
		return true;
	for (char **task = stopped->tasks; task != NULL && *task != NULL;
	     task++)
		stopped->landed += strcmp(*task, id) == 0;
	return true;
}

static void
count_task(const struct workspace *workspace, const char *task,
    struct oversight_tally *tally, char ***stopped)
{
	cleanup_free char *file = file_of(workspace, task);
	struct counter c = { .tally = tally };

	jsonl_last(file, 0, on_record, &c, NULL);
	if (c.stopped)
		strv_add(stopped, task);
}

void
iteration_tally(
    const struct workspace *workspace, struct oversight_tally *ret_tally)
{
	cleanup_free char *dir = workspace_path(workspace, "iterations");
	cleanup_free char *tasks = workspace_path(workspace, "tasks.jsonl");
	struct stopped stopped = { NULL, 0 };
	struct dirent **list = NULL;
	int count = scandir(dir, &list, NULL, alphasort);

	*ret_tally = (struct oversight_tally){ 0 };
	for (int i = 0; i < count; i++) {
		char *name = list[i]->d_name;
		size_t len = strlen(name), end = strlen(SUFFIX);

		if (len > end && strcmp(name + len - end, SUFFIX) == 0) {
			name[len - end] = '\0';
			count_task(workspace, name, ret_tally, &stopped.tasks);
		}
		free(list[i]);
	}
	free(list);
	if (stopped.tasks != NULL)
		jsonl_last(tasks, 0, on_filed, &stopped, NULL);
	ret_tally->tasks_stopped = (int)strv_count(stopped.tasks);
	ret_tally->tasks_stopped_landed = stopped.landed;
	strv_free(stopped.tasks);
}
