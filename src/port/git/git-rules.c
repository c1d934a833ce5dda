/* SPDX-License-Identifier: ISC */

#include <string.h>
#include <strings.h>

#include "git-records.h"
#include "git-rules.h"
#include "mem.h"
#include "strv.h"

/* An empty one would mean everything. */
void
git_rules_init(struct git_rules *rules, const char *const *forbidden,
    const char *const *protected_paths)
{
	const char *const *p;

	memset(rules, 0, sizeof *rules);
	for (p = forbidden; p != NULL && *p != NULL; p++) {
		size_t len = strlen(*p);

		while (len > 0 && (*p)[len - 1] == '/')
			len--;
		if (len == 0)
			continue;
		strv_take(&rules->forbidden, xstrndup(*p, len));
		strv_take(&rules->pathspecs,
		    xasprintf(":(top,literal,icase)%.*s", (int)len, *p));
	}
	for (p = protected_paths; p != NULL && *p != NULL; p++)
		if ((*p)[0] != '\0')
			strv_take(
			    &rules->pathspecs, xasprintf(":(top,glob)%s", *p));
}

void
git_rules_release(struct git_rules *rules)
{
	strv_clear(&rules->forbidden);
	strv_clear(&rules->pathspecs);
}

/* Where the file system does not know upper and lower case, it is the same. */
static bool
is_forbidden(const struct git_rules *rules, const char *path)
{
	for (size_t i = 0; i < strv_count(rules->forbidden); i++) {
		size_t len = strlen(rules->forbidden[i]);

		if (strncasecmp(path, rules->forbidden[i], len) == 0 &&
		    (path[len] == '\0' || path[len] == '/'))
			return true;
	}
	return false;
}

void
git_rules_sort(const struct git_rules *rules, const char *text, size_t len,
    struct git_list *forbidden, struct git_list *protected_paths)
{
	struct git_records records;
	const char *path;

	git_records_init(&records, text, len);
	while ((path = git_records_next(&records)) != NULL)
		git_list_add(
		    is_forbidden(rules, path) ? forbidden : protected_paths,
		    path);
}
