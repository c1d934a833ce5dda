/* SPDX-License-Identifier: ISC */

#include "base.h"
#include "id.h"
#include "reservation.h"
#include "schema.h"
#include "scope-path.h"

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
