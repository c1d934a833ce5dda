/* SPDX-License-Identifier: ISC */

#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "buf.h"
#include "iteration-words.h"
#include "iteration.h"
#include "mem.h"
#include "strv.h"
#include "text.h"

#define TEXT_MAX 400 /* bytes */
#define LIST_MAX 20
#define HASH_LEN 10

static void
label(struct buf *out, const char *name)
{
	buf_addf(out, "  %-9s ", name);
}

/* On one line. */
static void
add_text(struct buf *out, const char *text)
{
	size_t len = strlen(text), cut = text_cut(text, len, TEXT_MAX);

	for (size_t i = 0, part; i < cut; i += part + 1) {
		part = strcspn(text + i, "\n");
		if (part > cut - i)
			part = cut - i;
		buf_adds(out, i > 0 ? " " : "");
		text_add_visible(out, text + i, part, false);
	}
	if (cut < len)
		buf_adds(out, "...");
}

static void
add_list(struct buf *out, const char *name, char **list)
{
	size_t count = strv_count(list);

	if (count == 0)
		return;
	label(out, name);
	for (size_t i = 0; i < count && i < LIST_MAX; i++) {
		buf_adds(out, i > 0 ? "; " : "");
		add_text(out, list[i]);
	}
	if (count > LIST_MAX)
		buf_addf(out, "; and %zu more", count - LIST_MAX);
	buf_addc(out, '\n');
}

static void
add_files(struct buf *out, const struct iteration *it)
{
	size_t count = it->blob_count;

	if (count == 0) {
		add_list(out, "files", it->files);
		return;
	}
	label(out, "files");
	for (size_t i = 0; i < count && i < LIST_MAX; i++) {
		const char *hash = it->blobs[i].hash;

		buf_adds(out, i > 0 ? "; " : "");
		add_text(out, it->blobs[i].path);
		if (hash[0] == '\0')
			buf_adds(out, " removed");
		else
			buf_addf(out, " %.*s", HASH_LEN, hash);
	}
	if (count > LIST_MAX)
		buf_addf(out, "; and %zu more", count - LIST_MAX);
	buf_addc(out, '\n');
}

static void
add_tests(struct buf *out, const struct iteration *it)
{
	if (it->tests < 0 && isnan(it->coverage))
		return;
	label(out, "tests");
	if (it->tests >= 0)
		buf_adds(out, it->tests > 0 ? "pass" : "fail");
	if (!isnan(it->coverage))
		buf_addf(out, "%scoverage %g%%", it->tests >= 0 ? ", " : "",
		    it->coverage);
	buf_addc(out, '\n');
}

static void
add_spent(struct buf *out, const struct iteration *it)
{
	static const char *const kinds[ITERATION_TOKEN_KINDS] = {
		[ITERATION_INPUT] = "input",
		[ITERATION_OUTPUT] = "output",
		[ITERATION_CACHE_READ] = "read from the cache",
		[ITERATION_CACHE_WRITE] = "written to it",
	};
	const char *comma = "";

	if (isfinite(it->cost)) {
		label(out, "cost");
		buf_addf(out, "$%.4f", it->cost);
		if (isfinite(it->estimated_cost))
			buf_addf(out, "; $%.4f is expected for the task",
			    it->estimated_cost);
		buf_addc(out, '\n');
	}
	if (it->tokens[ITERATION_INPUT] < 0)
		return;
	label(out, "tokens");
	for (int i = 0; i < ITERATION_TOKEN_KINDS; i++) {
		if (it->tokens[i] < 0)
			continue;
		buf_addf(out, "%s%lld %s", comma, (long long)it->tokens[i],
		    kinds[i]);
		comma = ", ";
	}
	buf_addc(out, '\n');
}

static void
add_objective(struct buf *out, const struct iteration *it, char **objective)
{
	if (it->objective == NULL ||
	    (*objective != NULL && strcmp(*objective, it->objective) == 0))
		return;
	xstrset(objective, it->objective);
	label(out, "objective");
	add_text(out, it->objective);
	buf_addc(out, '\n');
}

static void
add_all(struct buf *out, const struct iteration *it, char **objective)
{
	add_objective(out, it, objective);
	add_files(out, it);
	add_list(out, "errors", it->errors);
	add_tests(out, it);
	if (isfinite(it->completion)) {
		label(out, "done");
		buf_addf(out, "%g%%\n", it->completion);
	}
	add_spent(out, it);
	if (it->max_iterations > 0) {
		label(out, "expected");
		buf_addf(
		    out, "%lld iterations\n", (long long)it->max_iterations);
	}
	add_list(out, "scope", it->scope);
	if (it->learnings != NULL) {
		label(out, "learned");
		add_text(out, it->learnings);
		buf_addc(out, '\n');
	}
	add_list(out, "blockers", it->blockers);
	if (it->tree != NULL) {
		label(out, "tree");
		buf_addf(out, "%.*s\n", HASH_LEN, it->tree);
	}
}

void
iteration_words(struct json_object *json, const char *worker, char **objective,
    struct buf *out)
{
	cleanup_iteration struct iteration *it = NULL;

	if (iteration_from_json(json, "", 0, &it, NULL) < 0)
		return;
	buf_addf(out, "\nIteration %lld, %s", (long long)it->number, worker);
	if (it->duration_ms >= 0) {
		buf_adds(out, ", ");
		text_add_duration(out, it->duration_ms);
	}
	buf_adds(out, ":\n");
	add_all(out, it, objective);
}
