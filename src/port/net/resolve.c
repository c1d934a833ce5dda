/* SPDX-License-Identifier: ISC */

#include <arpa/inet.h>
#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "child.h"
#include "errtext.h"
#include "mem.h"
#include "resolve.h"
#include "strv.h"

struct resolve {
	struct child *child;
	char *host;
	resolve_fn *fn;
	void *arg;
};

static bool
is_address(const char *text)
{
	unsigned char address[sizeof(struct in6_addr)];

	return inet_pton(AF_INET, text, address) == 1 ||
	    inet_pton(AF_INET6, text, address) == 1;
}

static bool
has(char *const *list, const char *word)
{
	for (; list != NULL && *list != NULL; list++)
		if (strcmp(*list, word) == 0)
			return true;
	return false;
}

char **
resolve_parse(const char *text)
{
	char **list = NULL;
	const char *next;

	for (; *text != '\0'; text = next) {
		size_t len = strcspn(text, "\n"), word = strcspn(text, " \t\n");
		cleanup_free char *line = xstrndup(text, len);
		cleanup_free char *address = xstrndup(text, word);

		next = text + len + (text[len] == '\n' ? 1 : 0);
		if (strstr(line, "STREAM") != NULL && is_address(address) &&
		    !has(list, address) && strv_count(list) < RESOLVE_MAX)
			strv_add(&list, address);
	}
	return list;
}

static void
on_answer(const struct child_result *result, void *arg)
{
	struct resolve *resolve = arg;
	cleanup_strv char **list = NULL;
	struct err err = { 0, "" };

	resolve->child = NULL;
	if (result->start_error < 0)
		err_errno(&err, result->start_error, "getent");
	else if (result->timed_out)
		err_set(&err, -ETIMEDOUT, "%s was not found in time",
		    resolve->host);
	else
		list = resolve_parse(result->out.head.data);
	if (list == NULL && err.code == 0)
		err_set(
		    &err, -EHOSTUNREACH, "%s has no address", resolve->host);
	resolve->fn(strv_const(list), &err, resolve->arg);
	resolve_free(resolve);
}

struct resolve *
resolve_new(struct loop *loop, const char *host, resolve_fn *fn, void *arg,
    struct err *err)
{
	const char *const argv[] = { "getent", "ahosts", host, NULL };
	const struct child_spec spec = { .argv = argv,
		.deadline_ms = RESOLVE_MS };
	struct resolve *resolve = xcalloc(1, sizeof *resolve);

	resolve->fn = fn;
	resolve->arg = arg;
	resolve->host = xstrdup(host);
	if (child_spawn(loop, &spec, on_answer, resolve, &resolve->child, err) <
	    0) {
		resolve->child = NULL;
		resolve_free(resolve);
		return NULL;
	}
	return resolve;
}

void
resolve_free(struct resolve *resolve)
{
	if (resolve == NULL)
		return;
	if (resolve->child != NULL)
		child_abandon(resolve->child);
	free(resolve->host);
	free(resolve);
}
