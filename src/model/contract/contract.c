/* SPDX-License-Identifier: ISC */

#include <errno.h>
#include <inttypes.h>
#include <stdlib.h>
#include <string.h>
#include <strings.h>

#include "api-team.h"
#include "buf.h"
#include "contract.h"
#include "errtext.h"
#include "json.h"
#include "mem.h"
#include "schema.h"
#include "strv.h"
#include "text.h"
#include "word.h"

const char *const contract_failure_words[CONTRACT_FAILURE_COUNT + 1] = {
	[CONTRACT_RETRY_ONCE] = "retry_once",
	[CONTRACT_ESCALATE] = "escalate",
	[CONTRACT_FAIL] = "fail",
};

/* --- paths ------------------------------------------------------------- */

/* The next part of a path, without slashes; its length, 0 = there is none. */
static size_t
next_part(const char **at)
{
	*at += strspn(*at, "/");
	return strcspn(*at, "/");
}

static bool
is_part(const char *part, size_t len, const char *name)
{
	return len == strlen(name) && strncasecmp(part, name, len) == 0;
}

const char *
contract_path_fault(const char *path)
{
	const char *at = path;
	size_t len, count = 0;

	if (path[strspn(path, " \t\r\n")] == '\0')
		return "a path must not be empty";
	if (*path == '/')
		return "the path must be relative to the top of the worktree";
	for (const char *c = path; *c != '\0'; c++)
		if ((unsigned char)*c < 0x20 || *c == 0x7f)
			return "the path has a control character";
	while ((len = next_part(&at)) > 0) {
		if (is_part(at, len, ".."))
			return "the path must not contain \"..\"";
		if (is_part(at, len, ".git"))
			return "what is in .git is no artifact";
		if (count == 0 && is_part(at, len, ".llmc"))
			return "what is in .llmc is no artifact";
		if (!is_part(at, len, "."))
			count++;
		at += len;
	}
	return count == 0 ? "the path names no file" : NULL;
}

char *
contract_path_clean(const char *path)
{
	cleanup_buf struct buf out = BUF_INIT;
	const char *at = path;
	size_t len;

	while ((len = next_part(&at)) > 0) {
		if (!is_part(at, len, ".")) {
			if (out.len > 0)
				buf_addc(&out, '/');
			buf_add(&out, at, len);
		}
		at += len;
	}
	return buf_take(&out);
}

/* --- reading ----------------------------------------------------------- */

static const struct schema_field whole = {
	.type = SCHEMA_OBJECT,
	.of = &api_contract,
};

static struct json_object *
member(struct json_object *json, const char *key)
{
	struct json_object *value = NULL;

	json_object_object_get_ex(json, key, &value);
	return value;
}

/* Its shape was checked. */
static void
read_artifact(struct json_object *json, struct contract_artifact *a)
{
	struct json_object *keys = member(json, "requiredKeys");

	a->path = xstrdup(json_string_or(json, "path", ""));
	a->min_items = json_int_or(json, "minItems", 0);
	a->min_bytes = json_int_or(json, "minBytes", 0);
	if (keys != NULL && json_object_array_length(keys) > 0)
		a->required_keys = strv_from_json(keys);
	a->array = member(json, "minItems") != NULL || a->required_keys != NULL;
	a->json = a->array || json_bool_or(json, "json", false);
}

int
contract_read(struct json_object *json, const char *at,
    struct contract *ret_contract, struct err *err)
{
	struct contract c = { .on_failure = CONTRACT_FAIL };
	struct json_object *list;
	unsigned word;
	int r = schema_check(&whole, json, at, err);

	if (r < 0)
		return r;
	list = member(json, "artifacts");
	c.count = list != NULL ? json_object_array_length(list) : 0;
	c.artifacts = xcalloc(c.count + 1, sizeof *c.artifacts);
	for (size_t i = 0; i < c.count; i++)
		read_artifact(
		    json_object_array_get_idx(list, i), &c.artifacts[i]);
	c.report = json_bool_or(json, "requireCompletionReport", false);
	if (word_find(contract_failure_words,
		json_string_or(json, "onFailure", ""), &word))
		c.on_failure = (enum contract_failure)word;
	c.timeout_ms =
	    json_int_or(json, "verificationTimeoutMs", CONTRACT_TIMEOUT_MS);
	*ret_contract = c;
	return 0;
}

/* It is a part of the state, which is written often. */
static int
check_size(struct json_object *json, const char *at, struct err *err)
{
	cleanup_buf struct buf text = BUF_INIT;

	json_print(json, false, &text);
	return text.len <= CONTRACT_TEXT_MAX ?
	    0 :
	    err_set(err, -EINVAL, "%s: longer than %d bytes",
		*at != '\0' ? at : "the contract", CONTRACT_TEXT_MAX);
}

static int
check_paths(const struct contract *c, const char *at, struct err *err)
{
	for (size_t i = 0; i < c->count; i++) {
		const char *fault = contract_path_fault(c->artifacts[i].path);

		if (fault != NULL)
			return err_set(err, -EINVAL,
			    "%s%sartifacts[%zu].path: %s", at,
			    *at != '\0' ? "." : "", i, fault);
	}
	return 0;
}

int
contract_parse(struct json_object *json, const char *at,
    struct contract *ret_contract, struct err *err)
{
	struct contract c;
	int r = contract_read(json, at, &c, err);

	if (r < 0)
		return r;
	r = check_paths(&c, at, err);
	if (r == 0)
		r = check_size(json, at, err);
	if (r < 0)
		contract_release(&c);
	else
		*ret_contract = c;
	return r;
}

void
contract_release(struct contract *c)
{
	for (size_t i = 0; i < c->count; i++) {
		free(c->artifacts[i].path);
		strv_free(c->artifacts[i].required_keys);
	}
	free(c->artifacts);
	*c = (struct contract){ 0 };
}

int
contract_validate(struct json_object *json, const char *at, struct err *err)
{
	cleanup_contract struct contract c = { 0 };

	return contract_parse(json, at, &c, err);
}

int
contract_from_text(const char *text, const char *at,
    struct json_object **ret_json, struct err *err)
{
	cleanup_json struct json_object *json = NULL;
	int r = json_parse(text, strlen(text), CONTRACT_TEXT_MAX, &json, err);

	if (r < 0) {
		err_prefix(err, "%s", at);
		return -EINVAL;
	}
	r = contract_validate(json, at, err);
	if (r == 0)
		*ret_json = take_ptr(&json);
	return r;
}

/* --- for people -------------------------------------------------------- */

static void
print_artifact(const struct contract_artifact *a, struct buf *out)
{
	text_add_visible(out, a->path, strlen(a->path), false);
	if (a->array)
		buf_addf(out, ", a JSON array of at least %" PRId64 " items",
		    a->min_items);
	else if (a->json)
		buf_adds(out, ", valid JSON");
	for (size_t i = 0; i < strv_count(a->required_keys); i++) {
		buf_adds(out, i == 0 ? ", each with " : ", ");
		text_add_visible(out, a->required_keys[i],
		    strlen(a->required_keys[i]), false);
	}
	if (a->min_bytes > 0)
		buf_addf(out, ", at least %" PRId64 " bytes", a->min_bytes);
}

void
contract_print(struct json_object *json, const char *indent, struct buf *out)
{
	static const char *const words[] = {
		[CONTRACT_RETRY_ONCE] = "it is tried once more",
		[CONTRACT_ESCALATE] = "it fails, and people are told",
		[CONTRACT_FAIL] = "it fails",
	};
	cleanup_contract struct contract c = { 0 };

	if (contract_read(json, "", &c, NULL) < 0)
		return;
	for (size_t i = 0; i < c.count; i++) {
		buf_adds(out, indent);
		print_artifact(&c.artifacts[i], out);
		buf_addc(out, '\n');
	}
	if (c.report)
		buf_addf(out, "%sa completion report as its last tool call\n",
		    indent);
	buf_addf(out, "%sotherwise: %s\n", indent, words[c.on_failure]);
}

bool
contract_equal(struct json_object *a, struct json_object *b)
{
	return a == NULL || b == NULL ? a == b : json_object_equal(a, b) == 1;
}
