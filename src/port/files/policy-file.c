/* SPDX-License-Identifier: ISC */

#include "base.h"
#include "guard.h"
#include "policy-file.h"
#include "run-dir.h"

#define LINKS_MAX 40 /* as the kernel */

static void
go_up(struct buf *out)
{
	const char *slash = out->len > 0 ? strrchr(out->data, '/') : NULL;

	buf_truncate(out, slash != NULL ? (size_t)(slash - out->data) : 0);
}

/* If it is a link, return what is left of the way behind it. */
static char *
follow(struct buf *out, const char *rest)
{
	char target[PATH_MAX];
	ssize_t n = readlink(out->data, target, sizeof target - 1);

	if (n <= 0)
		return NULL;
	target[n] = '\0';
	if (target[0] == '/')
		buf_truncate(out, 0);
	else
		go_up(out);
	return xasprintf("%s/%s", target, rest);
}

/* An absolute path without ".", ".." and, if wanted, links; "" is the root.
 * NULL = too many links. */
static char *
resolve(const char *path, bool links)
{
	cleanup_buf struct buf out = BUF_INIT;
	cleanup_free char *way = xstrdup(path);
	const char *name = way;
	int followed = 0;

	while (*name != '\0') {
		size_t len = strcspn(name, "/");
		const char *rest = name + len + (name[len] == '/');
		char *next = NULL;

		if (len == 2 && memcmp(name, "..", 2) == 0) {
			go_up(&out);
		} else if (len > 0 && !(len == 1 && *name == '.')) {
			buf_addc(&out, '/');
			buf_add(&out, name, len);
			next = links ? follow(&out, rest) : NULL;
		}
		name = rest;
		if (next == NULL)
			continue;
		free(way);
		name = way = next;
		if (++followed > LINKS_MAX)
			return NULL;
	}
	return xstrdup(out.len > 0 ? out.data : "");
}

char *
tree_path(const char *tree, const char *cwd, const char *path, bool plain)
{
	cleanup_free char *whole = *path == '/' ?
	    xstrdup(path) :
	    xasprintf("%s/%s", cwd != NULL ? cwd : tree, path);
	cleanup_free char *given =
	    plain ? resolve(whole, false) : xstrdup(whole);
	cleanup_free char *real = resolve(given, true);
	size_t len = strlen(tree);

	if (real == NULL || strncmp(real, tree, len) != 0)
		return NULL;
	if (real[len] == '\0')
		return xstrdup("");
	return real[len] == '/' ? xstrdup(real + len + 1) : NULL;
}

#define FILE_MAX (4 * 1024 * 1024)

char *
policy_file_path(const struct workspace *workspace, const char *worker)
{
	cleanup_free char *dir = run_dir_path(workspace, worker);

	return file_join(dir, "policy.json");
}

int
policy_file_save(const struct workspace *workspace, const char *worker,
    const struct guard_policy *policy, struct err *err)
{
	cleanup_free char *path = policy_file_path(workspace, worker);
	cleanup_json struct json_object *json = guard_policy_to_json(policy);
	cleanup_buf struct buf now = BUF_INIT, old = BUF_INIT;

	json_print(json, true, &now);
	if (file_read(path, FILE_MAX, &old, NULL) == 0 && old.len == now.len &&
	    memcmp(old.data, now.data, now.len) == 0)
		return 0;
	return file_replace_soon(path, now.data, now.len, 0600, err);
}

int
policy_file_load(
    const char *path, struct guard_policy *ret_policy, struct err *err)
{
	cleanup_json struct json_object *json = NULL;
	int r = json_load(path, FILE_MAX, &json, err);

	*ret_policy = (struct guard_policy){ 0 };
	return r < 0 ? r : guard_policy_from_json(json, ret_policy, err);
}
