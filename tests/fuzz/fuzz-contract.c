/* SPDX-License-Identifier: ISC */

/*
 * Contracts on any input, and any file checked against those that are
 * accepted: up to the first NUL is the contract, the rest is the file. A
 * refusal has a message, an accepted path stays in the worktree, and every
 * result is a result.
 */

#include "fuzz.h"
#include "contract.h"

static void
check_path(const char *path)
{
	cleanup_free char *clean = contract_path_clean(path);
	cleanup_free char *again = contract_path_clean(clean);

	check(clean[0] != '\0' && clean[0] != '/');
	check(strcmp(clean, "..") != 0 && strncmp(clean, "../", 3) != 0);
	check(strstr(clean, "/../") == NULL && strstr(clean, "//") == NULL);
	check(strncasecmp(clean, ".git/", 5) != 0);
	check(strcmp(clean, again) == 0);
}

static void
check_file(const struct contract *c, const char *bytes, size_t len)
{
	struct json_object *result = check_result_new();
	cleanup_buf struct buf reasons = BUF_INIT;

	for (size_t i = 0; i < c->count; i++) {
		const struct artifact_found found = { .kind = ARTIFACT_FILE,
			.changed = true,
			.size = (int64_t)len,
			.bytes = bytes,
			.len = len };
		cleanup_buf struct buf reason = BUF_INIT;
		bool good = artifact_check(&c->artifacts[i], &found, &reason);

		check(good == (reason.len == 0));
		check_path(c->artifacts[i].path);
		check_result_artifact(
		    result, c->artifacts[i].path, good ? NULL : reason.data);
	}
	check_result_end(result, 1);
	check(check_result_validate(result, NULL) == 0);
	check_result_reasons(result, &reasons);
	check(check_result_passed(result) == (reasons.len == 0));
	json_object_put(result);
}

int
LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	cleanup_free char *text = xstrndup((const char *)data, size);
	size_t len = strlen(text), rest = len < size ? size - len - 1 : 0;
	cleanup_json struct json_object *json = NULL;
	cleanup_contract struct contract c = { 0 };
	cleanup_buf struct buf words = BUF_INIT;
	struct err err = { 0 };

	if (contract_from_text(text, "at", &json, &err) < 0) {
		check(strncmp(err.msg, "at", 2) == 0 && json == NULL);
		return 0;
	}
	check(contract_parse(json, "", &c, NULL) == 0);
	check(c.count <= 200 && c.timeout_ms > 0);
	contract_print(json, &words);
	check(contract_equal(json, json));
	check_file(&c, (const char *)data + size - rest, rest);
	return 0;
}
