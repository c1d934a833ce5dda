/* SPDX-License-Identifier: ISC */

#include "base.h"
#include "command-guard.h"
#include "guard.h"
#include "id.h"
#include "schema.h"
#include "work-record.h"

/* --- guards ---------------------------------------------------------- */

#define VERSION   1
#define SHOWN_MAX 10 /* places that a sentence lists */
#define ENTRY_MAX 4096 /* bytes */
#define COUNT_MAX 10000

const char *const guard_kind_words[GUARD_KIND_COUNT + 1] = {
	[GUARD_PASS] = "",
	[GUARD_TOOL] = "tools",
	[GUARD_SCOPE] = "task_guard",
	[GUARD_RESERVED] = "file_guard",
	[GUARD_COMMAND] = "commands",
	[GUARD_UNKNOWN] = "policy",
};

/* --- the policy -------------------------------------------------------- */

static const struct schema_field reserved_fields[] = {
	SCHEMA_FIELD(struct guard_reserved, "path", path,
	    .flags = SCHEMA_REQUIRED, .size = ENTRY_MAX),
	SCHEMA_FIELD(struct guard_reserved, "owner", owner,
	    .flags = SCHEMA_REQUIRED, .size = ENTRY_MAX),
	SCHEMA_FIELD(struct guard_reserved, "until", until_ms,
	    .flags = SCHEMA_REQUIRED, .min = INT64_MIN),
};
static const struct schema reserved_schema =
    SCHEMA_OF(struct guard_reserved, reserved_fields, .open = true);

static const struct schema strings = {
	SCHEMA_FIELDS{ { .type = SCHEMA_STRING, .max = ENTRY_MAX } },
};

/* Of these an empty list is another thing than none. */
#define LIST_OR_NONE(key)                                            \
	{                                                            \
		.name = (key), .type = SCHEMA_ARRAY, .of = &strings, \
		.max = COUNT_MAX, .flags = SCHEMA_OPTIONAL           \
	}
#define LIST(key, member)                              \
	SCHEMA_FIELD(struct guard_policy, key, member, \
	    .flags = SCHEMA_OPTIONAL, .size = ENTRY_MAX, .max = COUNT_MAX)

static const struct schema_field policy_fields[] = {
	SCHEMA_IS("version", INT, NULL, .min = VERSION, .max = VERSION),
	SCHEMA_FIELD(struct guard_policy, "tree", tree,
	    .flags = SCHEMA_OMIT_UNSET, .size = ENTRY_MAX),
	SCHEMA_IS("tools", ANY, NULL),
	LIST_OR_NONE("scope_paths"),
	SCHEMA_PARTS(struct guard_policy, "reserved", ROWS, reserved,
	    reserved_count, reserved_schema, .flags = SCHEMA_OPTIONAL,
	    .max = COUNT_MAX),
	LIST_OR_NONE("llmc_tools"),
	LIST("refuse_commands", refuse_commands),
	LIST("protected_paths", protected_paths),
};
static const struct schema policy_schema =
    SCHEMA_OF(struct guard_policy, policy_fields, .open = true);

void
guard_policy_release(struct guard_policy *policy)
{
	schema_release(&policy_schema, policy);
	tool_scope_release(&policy->tools);
	strv_free(policy->scope_paths);
	strv_free(policy->llmc_tools);
	*policy = (struct guard_policy){ 0 };
}

void
guard_policy_reserve(struct guard_policy *policy, const char *path,
    const char *owner, int64_t until_ms)
{
	size_t count = policy->reserved_count++;

	policy->reserved = xreallocarray(
	    policy->reserved, policy->reserved_count, sizeof *policy->reserved);
	policy->reserved[count] = (struct guard_reserved){
		.path = xstrdup(path),
		.owner = xstrdup(owner),
		.until_ms = until_ms,
	};
}

struct json_object *
guard_policy_to_json(const struct guard_policy *policy)
{
	struct json_object *json = schema_json(&policy_schema, policy);

	json_set_int(json, "version", VERSION);
	json_set(json, "tools", tool_scope_to_json(&policy->tools));
	if (policy->scope_paths != NULL)
		json_set(
		    json, "scope_paths", strv_to_json(policy->scope_paths));
	if (policy->llmc_scoped)
		json_set(json, "llmc_tools", strv_to_json(policy->llmc_tools));
	schema_order(&policy_schema, json);
	return json;
}

int
guard_policy_from_json(
    struct json_object *json, struct guard_policy *ret_policy, struct err *err)
{
	const struct schema_field whole = { .type = SCHEMA_OBJECT,
		.of = &policy_schema };
	struct guard_policy p = { 0 };
	struct json_object *list;
	int r = schema_check(&whole, json, "policy", err);

	*ret_policy = p;
	if (r == 0)
		r = tool_scope_from_json(
		    json_member(json, "tools"), "policy.tools", &p.tools, err);
	if (r == 0)
		r = schema_read(&policy_schema, json, "policy", &p, err);
	if (r < 0) {
		guard_policy_release(&p);
		return r;
	}
	if ((list = json_member(json, "scope_paths")) != NULL)
		p.scope_paths = strv_from_json(list);
	if ((list = json_member(json, "llmc_tools")) != NULL) {
		p.llmc_scoped = true;
		p.llmc_tools = strv_from_json(list);
	}
	*ret_policy = p;
	return 0;
}

/* --- tools ------------------------------------------------------------- */

static void
add_list(struct buf *out, char *const *list)
{
	text_add_names(out, strv_const(list), strv_count(list), SHOWN_MAX);
}

enum guard_kind
guard_tool(const struct guard_policy *policy, const char *tool, struct buf *why)
{
	const struct tool_scope *tools = &policy->tools;

	if (tool_scope_permits(tools, tool))
		return GUARD_PASS;
	buf_adds(why, "You do not have the tool ");
	text_add_visible(why, tool, strlen(tool), false);
	buf_adds(why, " for this task");
	if (!tools->all) {
		buf_adds(why, ": you were given ");
		if (strv_count(tools->allow) > 0)
			add_list(why, tools->allow);
		else
			buf_adds(why, "none");
	}
	buf_adds(why,
	    ". Do the work without it; if that is impossible, say so in your "
	    "report.");
	return GUARD_TOOL;
}

bool
guard_offers(const struct guard_policy *policy, const char *tool)
{
	cleanup_buf struct buf why = BUF_INIT;
	cleanup_free char *name = xasprintf(GUARD_LLMC_TOOLS "%s", tool);

	if (guard_tool(policy, name, &why) != GUARD_PASS)
		return false;
	if (!policy->llmc_scoped)
		return true;
	for (char **t = policy->llmc_tools; t != NULL && *t != NULL; t++)
		if (strcmp(*t, tool) == 0)
			return true;
	return false;
}

/* --- files ------------------------------------------------------------- */

static enum guard_kind
deny_scope(const struct guard_policy *policy, const char *file, struct buf *why)
{
	if (file != NULL) {
		text_add_visible(why, file, strlen(file), false);
		buf_adds(why, " is outside the scope of your task");
	} else {
		buf_adds(why, "The file is outside your worktree");
	}
	if (policy->scope_paths == NULL) {
		buf_adds(why, ", and you may change files in it only");
	} else if (*policy->scope_paths != NULL) {
		buf_adds(why, ". You may change: ");
		add_list(why, policy->scope_paths);
	} else {
		buf_adds(why, ", which has no files to change");
	}
	buf_adds(why,
	    ". Do the task within its scope; if it cannot be done there, call "
	    "plan_review_needed and say why.");
	return GUARD_SCOPE;
}

static enum guard_kind
deny_reserved(const struct guard_policy *policy,
    const struct guard_reserved *reserved, const char *file, int64_t now_ms,
    struct buf *why)
{
	text_add_visible(why, file, strlen(file), false);
	buf_adds(why, " is reserved by ");
	text_add_visible(why, reserved->owner, strlen(reserved->owner), false);
	buf_adds(why, " for another ");
	text_add_duration(why, reserved->until_ms - now_ms);
	buf_addf(why, ". Go on with something else and try again later, or %s.",
	    guard_offers(policy, "mail_send") ? "send its owner mail" :
						"ask your parent");
	return GUARD_RESERVED;
}

bool
guard_is_limited(const struct guard_policy *policy)
{
	return tool_scope_is_limited(&policy->tools) ||
	    policy->scope_paths != NULL;
}

/* What a session with limited tools could get others by: settings of Claude
 * Code with hooks and servers, and hooks of git. */
static bool
is_setting(const char *file)
{
	static char claude[] = ".claude", servers[] = ".mcp.json",
		    git[] = ".git";
	char *const places[] = { claude, servers, git, NULL };

	return scope_path_in(places, file);
}

enum guard_kind
guard_write(const struct guard_policy *policy, const char *file, int64_t now_ms,
    struct buf *why)
{
	if ((file == NULL && guard_is_limited(policy)) ||
	    (policy->scope_paths != NULL &&
		!scope_path_in(policy->scope_paths, file)))
		return deny_scope(policy, file, why);
	if (file != NULL && tool_scope_is_limited(&policy->tools) &&
	    is_setting(file)) {
		text_add_visible(why, file, strlen(file), false);
		buf_adds(why,
		    " is a setting that gives tools, and yours are limited. Do "
		    "the task without it; if that is impossible, say so in "
		    "your report.");
		return GUARD_SCOPE;
	}
	if (file != NULL &&
	    command_guard_protects(policy->protected_paths, file)) {
		command_guard_refuse_write(file, why);
		return GUARD_COMMAND;
	}
	for (size_t i = 0; file != NULL && i < policy->reserved_count; i++)
		if (policy->reserved[i].until_ms > now_ms &&
		    scope_path_meets(policy->reserved[i].path, file))
			return deny_reserved(
			    policy, &policy->reserved[i], file, now_ms, why);
	return GUARD_PASS;
}

/* --- commits ----------------------------------------------------------- */

enum guard_kind
guard_commits(char *const *scope_paths, const char *const *files, size_t count,
    struct buf *why)
{
	cleanup_buf struct buf names = BUF_INIT;
	size_t found = 0;

	for (size_t i = 0; i < count; i++) {
		if (scope_path_in(scope_paths, files[i]) ||
		    found++ >= SHOWN_MAX)
			continue;
		buf_adds(&names, found > 1 ? ", " : "");
		text_add_visible(&names, files[i], strlen(files[i]), false);
	}
	if (found == 0)
		return GUARD_PASS;
	buf_addf(why,
	    "Your commits change %zu file%s outside the scope of your task: %s",
	    found, found == 1 ? "" : "s", names.data);
	if (found > SHOWN_MAX)
		buf_addf(why, " and %zu more", found - SHOWN_MAX);
	if (strv_count(scope_paths) > 0) {
		buf_adds(why, ". You may change: ");
		add_list(why, scope_paths);
	}
	buf_adds(why,
	    ". Move what the task needs into its scope, make the other files "
	    "as they were where your branch began (remove those that were not "
	    "there), and commit. If the task cannot be done within its scope, "
	    "call plan_review_needed and say why.");
	return GUARD_SCOPE;
}

/* --- reservations ---------------------------------------------------- */

#define HASH_LEN 16

#define FIELD(key, member) \
	SCHEMA_FIELD(      \
	    struct reservation, key, member, .flags = SCHEMA_OMIT_UNSET)
#define MUST(key, member) \
	SCHEMA_FIELD(struct reservation, key, member, .flags = SCHEMA_REQUIRED)

static const struct schema_field fields[] = {
	MUST("id", id),
	MUST("actor", actor),
	FIELD("worker", worker),
	FIELD("task", task),
	FIELD("run", run),
	MUST("path", path),
	FIELD("reason", reason),
	MUST("ts", created_ms),
	MUST("until", until_ms),
};
static const struct schema schema = { .fields = fields,
	.count = nitems(fields) };

struct reservation *
reservation_new(void)
{
	return xcalloc(1, sizeof(struct reservation));
}

void
reservation_free(struct reservation *reservation)
{
	if (reservation == NULL)
		return;
	schema_release(&schema, reservation);
	free(reservation);
}

char *
reservation_id(const char *actor, const char *path)
{
	cleanup_free char *both = xasprintf("%s\n%s", actor, path);
	char hash[HASH_LEN + 1];

	id_hash(both, hash, HASH_LEN);
	return xasprintf("V_%s", hash);
}

struct json_object *
reservation_to_json(const struct reservation *reservation)
{
	struct json_object *json = json_object_new_object();

	json_set_string(json, "status", reservation->ended ? "ended" : "open");
	schema_add(&schema, reservation, json);
	return json;
}

int
reservation_from_json(struct json_object *json, const char *at,
    struct reservation **ret_reservation, struct err *err)
{
	struct reservation *reservation;
	int r;

	if (!json_object_is_type(json, json_type_object))
		return err_set(err, -EINVAL, "%s: expected an object", at);
	reservation = reservation_new();
	r = schema_read(&schema, json, at, reservation, err);
	if (r < 0) {
		reservation_free(reservation);
		return r;
	}
	reservation->ended =
	    strcmp(json_string_or(json, "status", ""), "open") != 0;
	*ret_reservation = reservation;
	return 0;
}

bool
reservation_holds(const struct reservation *reservation, int64_t now_ms)
{
	return !reservation->ended && reservation->until_ms > now_ms;
}

bool
reservation_blocks(const struct reservation *reservation, const char *actor,
    const char *path, int64_t now_ms)
{
	return reservation_holds(reservation, now_ms) &&
	    strcmp(reservation->actor, actor) != 0 &&
	    scope_path_meets(reservation->path, path);
}

char *
reservation_owner(const struct reservation *reservation)
{
	return reservation->worker != NULL ?
	    xasprintf("%s (%s)", reservation->worker, reservation->actor) :
	    xstrdup(reservation->actor);
}

static bool
is_covered(char *const *paths, const char *path)
{
	for (; paths != NULL && *paths != NULL; paths++)
		if (scope_path_meets(*paths, path) &&
		    strlen(*paths) <= strlen(path))
			return true;
	return false;
}

int
reservation_paths(struct json_object *paths, char ***ret_paths, struct err *err)
{
	cleanup_strv char **list = NULL, **shortest = NULL;

	for (size_t i = 0; i < json_object_array_length(paths); i++) {
		const char *given =
		    json_object_get_string(json_object_array_get_idx(paths, i));
		char *normal = scope_path_normal(given);

		if (normal == NULL)
			return err_set(err, -EINVAL,
			    "%.200s: paths are relative to the top of your "
			    "worktree, and inside it",
			    given);
		strv_take(&list, normal);
	}
	/* What one of those before it covers, then those after it. */
	for (char **path = list; path != NULL && *path != NULL; path++)
		if (!is_covered(shortest, *path))
			strv_add(&shortest, *path);
	strv_clear(&list);
	if (shortest != NULL)
		for (size_t i = strv_count(shortest); i > 0; i--)
			if (!is_covered(list, shortest[i - 1]))
				strv_add(&list, shortest[i - 1]);
	*ret_paths = take_ptr(&list);
	return 0;
}
