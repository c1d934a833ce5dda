/* SPDX-License-Identifier: ISC */

#include "base.h"

#include <fnmatch.h>

#include "scope-path.h"

/* Remove the last name; false if there is none. */
static bool
go_up(struct buf *out)
{
	const char *slash;

	if (out->len == 0)
		return false;
	slash = strrchr(out->data, '/');
	buf_truncate(out, slash != NULL ? (size_t)(slash - out->data) : 0);
	return true;
}

char *
scope_path_normal(const char *place)
{
	cleanup_buf struct buf out = BUF_INIT;
	const char *name = place;

	if (*place == '/')
		return NULL;
	while (*name != '\0') {
		size_t len = strcspn(name, "/");

		if (len == 2 && memcmp(name, "..", 2) == 0) {
			if (!go_up(&out))
				return NULL;
		} else if (len > 0 && !(len == 1 && *name == '.')) {
			if (out.len > 0)
				buf_addc(&out, '/');
			buf_add(&out, name, len);
		}
		name += len + (name[len] == '/');
	}
	return xstrdup(out.len > 0 ? out.data : "");
}

/* Both in their shortest form. */
static bool
is_at(const char *place, const char *file)
{
	size_t len = strlen(place);

	return len == 0 ||
	    (strncmp(place, file, len) == 0 &&
		(file[len] == '\0' || file[len] == '/'));
}

static bool
is_pattern(const char *place)
{
	return strpbrk(place, "*?[") != NULL;
}

bool
scope_path_covers(const char *place, const char *file)
{
	cleanup_free char *normal = scope_path_normal(place);

	return normal != NULL &&
	    (is_at(normal, file) ||
		(is_pattern(normal) && fnmatch(normal, file, 0) == 0));
}

bool
scope_path_in(char *const *places, const char *file)
{
	for (; places != NULL && *places != NULL; places++)
		if (scope_path_covers(*places, file))
			return true;
	return false;
}

bool
scope_path_within(char *const *places, const char *place)
{
	if (place == NULL)
		return false;
	if (!is_pattern(place))
		return scope_path_in(places, place);
	for (; places != NULL && *places != NULL; places++) {
		cleanup_free char *normal = scope_path_normal(*places);

		if (normal != NULL &&
		    (is_pattern(normal) ? strcmp(normal, place) == 0 :
					  is_at(normal, place)))
			return true;
	}
	return false;
}

bool
scope_path_meets(const char *a, const char *b)
{
	return is_at(a, b) || is_at(b, a);
}
