/* SPDX-License-Identifier: ISC */

#include <string.h>

#include "buf.h"
#include "errtext.h"
#include "file.h"
#include "guard.h"
#include "json.h"
#include "mem.h"
#include "policy-file.h"
#include "run-dir.h"

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
