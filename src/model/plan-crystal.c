/* SPDX-License-Identifier: ISC */

#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "buf.h"
#include "errtext.h"
#include "json.h"
#include "mem.h"
#include "plan-crystal.h"
#include "plan-node.h"
#include "record.h"

const char *const crystal_source_words[] = {
	[CRYSTAL_UPDATE] = "update",
	[CRYSTAL_LANDING] = "landing",
	[CRYSTAL_ROLLUP] = "rollup",
	[CRYSTAL_PERSON] = "person",
	[CRYSTAL_SOURCE_COUNT] = NULL,
};

#define MUST(key, member, ...)                         \
	RECORD_FIELD(struct plan_crystal, key, member, \
	    .flags = RECORD_REQUIRED, ##__VA_ARGS__)
#define MAY(key, member, ...)                          \
	RECORD_FIELD(struct plan_crystal, key, member, \
	    .flags = RECORD_OMIT_UNSET, ##__VA_ARGS__)
#define LIST(key, member) \
	MAY(key, member, .max = PLAN_LIST_MAX, .size = PLAN_LINE_MAX)

static const struct schema_field fields[] = {
	MUST("crystallizationId", id, .size = PLAN_ID_MAX),
	MUST("goalId", goal_id, .size = PLAN_ID_MAX),
	MAY("workNodeId", node_id, .size = PLAN_ID_MAX),
	MAY("assignmentId", assignment_id, .size = PLAN_ID_MAX),
	MAY("createdAt", created_ms),
	MAY("source", source, .words = crystal_source_words),
	MAY("summary", summary, .size = PLAN_SUMMARY_MAX),
	MAY("currentState", current_state, .size = PLAN_TEXT_MAX),
	LIST("nextActions", next_actions),
	LIST("openQuestions", open_questions),
	LIST("knownBlockers", known_blockers),
};

static const struct schema_field transcript_fields[] = {
	MAY("sessionKey", session_key, .size = PLAN_NAME_MAX),
	MAY("sessionId", session_id, .size = PLAN_NAME_MAX),
	MAY("messageId", message_id, .size = PLAN_NAME_MAX),
	MAY("runId", run_id, .size = PLAN_NAME_MAX),
};

static const struct schema_field choice_fields[] = {
	RECORD_FIELD(struct plan_choice, "decision", decision,
	    .flags = RECORD_REQUIRED, .size = PLAN_LINE_MAX),
	RECORD_FIELD(struct plan_choice, "rationale", rationale,
	    .flags = RECORD_OMIT_UNSET, .size = PLAN_LINE_MAX),
};

static const char *const others[] = { "decisions", "evidence", "transcript",
	NULL };

struct plan_crystal *
plan_crystal_new(const char *id, const char *goal_id, const char *node_id,
    enum crystal_source source, int64_t now_ms)
{
	struct plan_crystal *crystal = xcalloc(1, sizeof *crystal);

	crystal->id = xstrdup(id);
	crystal->goal_id = xstrdup(goal_id);
	xstrset(&crystal->node_id, node_id);
	crystal->source = source;
	crystal->created_ms = now_ms;
	return crystal;
}

void
plan_crystal_free(struct plan_crystal *crystal)
{
	if (crystal == NULL)
		return;
	record_release(fields, nitems(fields), crystal);
	record_release(transcript_fields, nitems(transcript_fields), crystal);
	plan_evidence_release(&crystal->evidence);
	for (size_t i = 0; i < crystal->decision_count; i++)
		record_release(choice_fields, nitems(choice_fields),
		    &crystal->decisions[i]);
	free(crystal->decisions);
	free(crystal);
}

static struct plan_choice *
add_choice(struct plan_crystal *crystal)
{
	struct plan_choice *choice;

	crystal->decisions = xreallocarray(crystal->decisions,
	    crystal->decision_count + 1, sizeof *crystal->decisions);
	choice = &crystal->decisions[crystal->decision_count++];
	*choice = (struct plan_choice){ 0 };
	return choice;
}

struct plan_crystal *
plan_crystal_copy(const struct plan_crystal *crystal)
{
	struct plan_crystal *copy = xcalloc(1, sizeof *copy);

	record_copy(fields, nitems(fields), crystal, copy);
	record_copy(
	    transcript_fields, nitems(transcript_fields), crystal, copy);
	plan_evidence_copy(&crystal->evidence, &copy->evidence);
	for (size_t i = 0; i < crystal->decision_count; i++)
		record_copy(choice_fields, nitems(choice_fields),
		    &crystal->decisions[i], add_choice(copy));
	return copy;
}

void
plan_crystal_summarize(struct plan_crystal *crystal, const char *summary)
{
	plan_cut(&crystal->summary, summary, PLAN_SUMMARY_MAX);
}

void
plan_crystal_decide(
    struct plan_crystal *crystal, const char *decision, const char *rationale)
{
	struct plan_choice *choice;

	if (crystal->decision_count == PLAN_DECISIONS_MAX)
		return;
	choice = add_choice(crystal);
	plan_cut(&choice->decision, decision, PLAN_LINE_MAX);
	plan_cut(&choice->rationale, rationale, PLAN_LINE_MAX);
}

/* --- JSON ------------------------------------------------------------ */

struct json_object *
plan_crystal_to_json(const struct plan_crystal *crystal)
{
	struct json_object *json = json_object_new_object();
	struct json_object *transcript = json_object_new_object(), *list;

	record_to_json(fields, nitems(fields), crystal, json);
	if (crystal->decision_count > 0) {
		list = json_object_new_array();
		for (size_t i = 0; i < crystal->decision_count; i++) {
			struct json_object *entry = json_object_new_object();

			record_to_json(choice_fields, nitems(choice_fields),
			    &crystal->decisions[i], entry);
			json_object_array_add(list, entry);
		}
		json_set(json, "decisions", list);
	}
	if (plan_evidence_any(&crystal->evidence))
		json_set(json, "evidence",
		    plan_evidence_to_json(&crystal->evidence));
	record_to_json(
	    transcript_fields, nitems(transcript_fields), crystal, transcript);
	if (json_object_object_length(transcript) > 0)
		json_set(json, "transcript", transcript);
	else
		json_object_put(transcript);
	return json;
}

static int
get_decisions(struct json_object *json, const char *at,
    struct plan_crystal *crystal, struct err *err)
{
	cleanup_buf struct buf path = BUF_INIT, item = BUF_INIT;
	struct json_object *list = NULL, *entry;
	struct err words = { 0 };
	int r;

	r = json_get_array(json, at, "decisions", &list, &words);
	if (r < 0)
		return r == -ENOENT ? 0 : err_set(err, r, "%s", words.msg);
	json_path_key(&path, at, "decisions");
	if (json_object_array_length(list) > PLAN_DECISIONS_MAX)
		return err_set(err, -EINVAL, "%s: more than %d entries",
		    path.data, PLAN_DECISIONS_MAX);
	for (size_t i = 0; r == 0 && i < json_object_array_length(list); i++) {
		buf_clear(&item);
		json_path_index(&item, path.data, i);
		entry = json_object_array_get_idx(list, i);
		r = record_known(choice_fields, nitems(choice_fields), NULL,
		    entry, item.data, err);
		if (r == 0)
			r = record_from_json(choice_fields,
			    nitems(choice_fields), entry, item.data,
			    add_choice(crystal), err);
	}
	return r;
}

static int
get_transcript(struct json_object *json, const char *at,
    struct plan_crystal *crystal, struct err *err)
{
	cleanup_buf struct buf path = BUF_INIT;
	struct json_object *member;
	int r;

	r = plan_member(json, at, "transcript", &member, &path, err);
	if (r < 0 || member == NULL)
		return r;
	r = record_known(transcript_fields, nitems(transcript_fields), NULL,
	    member, path.data, err);
	if (r == 0)
		r = record_from_json(transcript_fields,
		    nitems(transcript_fields), member, path.data, crystal, err);
	return r;
}

static int
get_all(struct json_object *json, const char *at, struct plan_crystal *crystal,
    struct err *err)
{
	cleanup_buf struct buf path = BUF_INIT;
	struct json_object *member;
	int r;

	r = record_known(fields, nitems(fields), others, json, at, err);
	if (r == 0)
		r = record_from_json(
		    fields, nitems(fields), json, at, crystal, err);
	if (r == 0 && !plan_id_valid(crystal->id))
		r = err_set(err, -EINVAL, "%s%scrystallizationId: not an id",
		    at, *at == '\0' ? "" : ".");
	if (r == 0)
		r = get_decisions(json, at, crystal, err);
	if (r == 0)
		r = plan_member(json, at, "evidence", &member, &path, err);
	if (r == 0 && member != NULL)
		r = plan_evidence_from_json(
		    member, path.data, &crystal->evidence, err);
	if (r == 0)
		r = get_transcript(json, at, crystal, err);
	return r;
}

int
plan_crystal_from_json(struct json_object *json, const char *at,
    struct plan_crystal **ret_crystal, struct err *err)
{
	struct plan_crystal *crystal = xcalloc(1, sizeof *crystal);

	if (get_all(json, at, crystal, err) < 0) {
		plan_crystal_free(crystal);
		return -EINVAL;
	}
	*ret_crystal = crystal;
	return 0;
}
