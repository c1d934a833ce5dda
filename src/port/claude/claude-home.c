/* SPDX-License-Identifier: ISC */

#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "claude-home.h"
#include "errtext.h"
#include "file.h"
#include "json.h"
#include "mem.h"

#define FILE_MAX (64 * 1024 * 1024)
#define KEY_TAIL 20 /* the program keeps only that many bytes of a key */

char *
claude_home_file(void)
{
	const char *home = getenv("HOME"), *set = getenv("CLAUDE_CONFIG_DIR");
	bool moved = set != NULL && set[0] != '\0';
	cleanup_free char *dir = NULL, *old = NULL;

	if (!moved && (home == NULL || home[0] == '\0'))
		return NULL;
	dir = moved ? xstrdup(set) : file_join(home, ".claude");
	old = file_join(dir, ".config.json");
	if (file_exists(old))
		return take_ptr(&old);
	return file_join(moved ? set : home, ".claude.json");
}

char *
claude_home_projects(const char *dir)
{
	const char *home = getenv("HOME"), *set = getenv("CLAUDE_CONFIG_DIR");
	bool below_home = false;

	if (dir == NULL && set != NULL && set[0] != '\0')
		dir = set;
	if (dir == NULL && home != NULL && home[0] != '\0') {
		dir = home;
		below_home = true;
	}
	if (dir == NULL || dir[0] != '/' || strstr(dir, "/..") != NULL)
		return NULL;
	return file_join(dir, below_home ? ".claude/projects" : "projects");
}

static int
load(const char *file, struct json_object **ret_json, struct err *err)
{
	cleanup_json struct json_object *json = NULL;
	int r = json_load(file, FILE_MAX, &json, err);

	if (r < 0)
		return r;
	if (!json_object_is_type(json, json_type_object))
		return err_set(err, -EINVAL, "%s: expected an object, found %s",
		    file, json_type_words(json));
	*ret_json = take_ptr(&json);
	return 0;
}

static const char *
key_tail(const char *key)
{
	size_t len = strlen(key);

	return len > KEY_TAIL ? key + len - KEY_TAIL : key;
}

/* The object in this member; created if it is missing or not an object. */
static struct json_object *
object_member(struct json_object *object, const char *key)
{
	struct json_object *member = NULL;

	if (json_object_object_get_ex(object, key, &member) &&
	    json_object_is_type(member, json_type_object))
		return member;
	member = json_object_new_object();
	json_set(object, key, member);
	return member;
}

static struct json_object *
find_member(struct json_object *object, const char *key)
{
	struct json_object *member = NULL;

	if (!json_object_is_type(object, json_type_object) ||
	    !json_object_object_get_ex(object, key, &member))
		return NULL;
	return member;
}

static bool
list_has(struct json_object *list, const char *word)
{
	if (!json_object_is_type(list, json_type_array))
		return false;
	for (size_t i = 0; i < json_object_array_length(list); i++) {
		struct json_object *item = json_object_array_get_idx(list, i);

		if (json_object_is_type(item, json_type_string) &&
		    strcmp(json_object_get_string(item), word) == 0)
			return true;
	}
	return false;
}

/* Has the user said yes or no to this key? If no, the program does not use it,
 * and asks no more. */
static bool
key_is_answered(struct json_object *json, const char *api_key)
{
	struct json_object *responses =
	    find_member(json, "customApiKeyResponses");

	return list_has(
		   find_member(responses, "approved"), key_tail(api_key)) ||
	    list_has(find_member(responses, "rejected"), key_tail(api_key));
}

unsigned
claude_home_check(
    const char *file, const char *root, const char *api_key, struct err *err)
{
	cleanup_json struct json_object *json = NULL;
	struct json_object *project;
	unsigned problems = 0;
	int r = load(file, &json, err);

	if (r < 0 && r != -ENOENT)
		return CLAUDE_FILE_BROKEN;
	if (!json_bool_or(json, "hasCompletedOnboarding", false))
		problems |= CLAUDE_NOT_ONBOARDED;
	project = find_member(find_member(json, "projects"), root);
	if (!json_bool_or(project, "hasTrustDialogAccepted", false))
		problems |= CLAUDE_NOT_TRUSTED;
	if (api_key != NULL && api_key[0] != '\0' &&
	    !key_is_answered(json, api_key))
		problems |= CLAUDE_KEY_UNKNOWN;
	return problems;
}

static void
approve_key(struct json_object *json, const char *api_key)
{
	struct json_object *responses, *approved = NULL;

	if (api_key == NULL || api_key[0] == '\0' ||
	    key_is_answered(json, api_key))
		return;
	responses = object_member(json, "customApiKeyResponses");
	approved = find_member(responses, "approved");
	if (!json_object_is_type(approved, json_type_array)) {
		approved = json_object_new_array();
		json_set(responses, "approved", approved);
	}
	json_object_array_add(
	    approved, json_object_new_string(key_tail(api_key)));
}

int
claude_home_trust(const char *file, const char *root, const char *api_key,
    bool onboarding, struct err *err)
{
	cleanup_json struct json_object *json = NULL;
	int r = load(file, &json, err);

	if (r == -ENOENT)
		json = json_object_new_object();
	else if (r < 0)
		return r;
	json_set_bool(object_member(object_member(json, "projects"), root),
	    "hasTrustDialogAccepted", true);
	approve_key(json, api_key);
	if (onboarding)
		json_set_bool(json, "hasCompletedOnboarding", true);
	return json_save(file, json, 0600, err);
}
