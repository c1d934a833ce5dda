/* SPDX-License-Identifier: ISC */

#include <errno.h>
#include <string.h>

#include "api.h"
#include "buf.h"
#include "errtext.h"
#include "json.h"
#include "mem.h"
#include "plan-evidence.h"
#include "record.h"
#include "strv.h"
#include "text.h"

#define LIST(key, member)                                     \
	RECORD_FIELD(struct plan_evidence, key, member,       \
	    .flags = RECORD_OMIT_UNSET, .max = PLAN_LIST_MAX, \
	    .size = PLAN_LINE_MAX)

static const struct schema_field fields[] = {
	LIST("filesTouched", files_touched),
	LIST("commandsRun", commands_run),
	LIST("testsRun", tests_run),
	LIST("commits", commits),
	LIST("prs", prs),
	LIST("issues", issues),
	LIST("externalRefs", external_refs),
};

static const struct schema_field override_fields[] = {
	RECORD_FIELD(struct plan_override, "actor", actor,
	    .flags = RECORD_REQUIRED, .size = PLAN_NAME_MAX),
	RECORD_FIELD(struct plan_override, "reason", reason,
	    .flags = RECORD_REQUIRED, .size = PLAN_TEXT_MAX),
	RECORD_FIELD(struct plan_override, "at", at_ms),
};

static char ***
list_of(struct plan_evidence *evidence, size_t i)
{
	void *at = (char *)evidence + fields[i].offset;

	return at;
}

bool
plan_evidence_any(const struct plan_evidence *evidence)
{
	return evidence != NULL &&
	    (strv_count(evidence->files_touched) > 0 ||
		strv_count(evidence->commands_run) > 0 ||
		strv_count(evidence->tests_run) > 0 ||
		strv_count(evidence->commits) > 0 ||
		strv_count(evidence->prs) > 0 ||
		strv_count(evidence->issues) > 0 ||
		strv_count(evidence->external_refs) > 0);
}

void
plan_evidence_merge(
    struct plan_evidence *evidence, const struct plan_evidence *more)
{
	struct plan_evidence from = *more;

	for (size_t i = 0; i < nitems(fields); i++) {
		char ***to = list_of(evidence, i);

		for (char **s = *list_of(&from, i); s != NULL && *s != NULL;
		     s++)
			if (!plan_has(*to, *s) &&
			    strv_count(*to) < PLAN_LIST_MAX)
				strv_take(to,
				    xstrndup(*s,
					text_cut(
					    *s, strlen(*s), PLAN_LINE_MAX)));
	}
}

struct json_object *
plan_evidence_to_json(const struct plan_evidence *evidence)
{
	struct json_object *json = json_object_new_object();

	record_to_json(fields, nitems(fields), evidence, json);
	return json;
}

int
plan_evidence_from_json(struct json_object *json, const char *at,
    struct plan_evidence *ret, struct err *err)
{
	struct plan_evidence evidence = { 0 };
	int r;

	r = record_known(fields, nitems(fields), NULL, json, at, err);
	if (r == 0)
		r = record_from_json(
		    fields, nitems(fields), json, at, &evidence, err);
	if (r < 0) {
		plan_evidence_release(&evidence);
		return -EINVAL;
	}
	plan_evidence_release(ret);
	*ret = evidence;
	return 0;
}

void
plan_evidence_copy(
    const struct plan_evidence *evidence, struct plan_evidence *copy)
{
	record_copy(fields, nitems(fields), evidence, copy);
}

void
plan_evidence_release(struct plan_evidence *evidence)
{
	record_release(fields, nitems(fields), evidence);
}

int
plan_override_set(struct plan_override *override, const char *actor,
    const char *reason, int64_t now_ms, struct err *err)
{
	if (plan_blank(actor) || plan_blank(reason))
		return err_set(err, API_E_REASON,
		    "an override needs an actor and a reason");
	plan_cut(&override->actor, actor, PLAN_NAME_MAX);
	plan_cut(&override->reason, reason, PLAN_TEXT_MAX);
	override->at_ms = now_ms;
	return 0;
}

struct json_object *
plan_override_to_json(const struct plan_override *override)
{
	struct json_object *json = json_object_new_object();

	record_to_json(
	    override_fields, nitems(override_fields), override, json);
	return json;
}

int
plan_override_from_json(struct json_object *json, const char *at,
    struct plan_override *ret, struct err *err)
{
	struct plan_override override = { 0 };
	int r;

	r = record_known(
	    override_fields, nitems(override_fields), NULL, json, at, err);
	if (r == 0)
		r = record_from_json(override_fields, nitems(override_fields),
		    json, at, &override, err);
	if (r < 0) {
		plan_override_release(&override);
		return -EINVAL;
	}
	plan_override_release(ret);
	*ret = override;
	return 0;
}

void
plan_override_copy(
    const struct plan_override *override, struct plan_override *copy)
{
	record_copy(override_fields, nitems(override_fields), override, copy);
}

void
plan_override_release(struct plan_override *override)
{
	record_release(override_fields, nitems(override_fields), override);
	override->at_ms = 0;
}
