/* SPDX-License-Identifier: ISC */

#include "base.h"
#include "api-error.h"
#include "plan-text.h"
#include "schema.h"

/* --- bounds ---------------------------------------------------------- */

bool
plan_blank(const char *s)
{
	return s == NULL || s[strspn(s, " \t\r\n")] == '\0';
}

void
plan_cut(char **to, const char *text, size_t max)
{
	char *copy = text == NULL ?
	    NULL :
	    xstrndup(text, text_cut(text, strlen(text), max));

	free(*to);
	*to = copy;
}

bool
plan_has(char *const *list, const char *s)
{
	for (; list != NULL && *list != NULL; list++)
		if (strcmp(*list, s) == 0)
			return true;
	return false;
}

void
plan_set_list(char ***to, char *const *from)
{
	strv_clear(to);
	if (strv_count(from) > 0)
		*to = strv_copy(strv_const(from));
}

/* --- evidence -------------------------------------------------------- */

#define LIST(key, member) PLAN_LIST(struct plan_evidence, key, member)

static const struct schema_field fields[] = {
	LIST("filesTouched", files_touched),
	LIST("commandsRun", commands_run),
	LIST("testsRun", tests_run),
	LIST("commits", commits),
	LIST("prs", prs),
	LIST("issues", issues),
	LIST("externalRefs", external_refs),
};

const struct schema plan_evidence_schema =
    SCHEMA_OF(struct plan_evidence, fields, .strict = true);

static const struct schema_field override_fields[] = {
	PLAN_MUST(struct plan_override, "actor", actor, .size = PLAN_NAME_MAX),
	PLAN_MUST(
	    struct plan_override, "reason", reason, .size = PLAN_TEXT_MAX),
	SCHEMA_FIELD(struct plan_override, "at", at_ms),
};

const struct schema plan_override_schema =
    SCHEMA_OF(struct plan_override, override_fields, .strict = true,
	.help = "who set the status against the rules, and why");

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

int
plan_evidence_from_json(struct json_object *json, const char *at,
    struct plan_evidence *ret, struct err *err)
{
	struct plan_evidence evidence = { 0 };

	if (schema_read(&plan_evidence_schema, json, at, &evidence, err) < 0) {
		plan_evidence_release(&evidence);
		return -EINVAL;
	}
	plan_evidence_release(ret);
	*ret = evidence;
	return 0;
}

void
plan_evidence_release(struct plan_evidence *evidence)
{
	schema_release(&plan_evidence_schema, evidence);
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

void
plan_override_release(struct plan_override *override)
{
	schema_release(&plan_override_schema, override);
	override->at_ms = 0;
}
