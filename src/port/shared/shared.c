/* SPDX-License-Identifier: ISC */

/* Which shared book: the names of this host and of the repository, and
 * what is asked of the server with each of them. */
#include "base.h"
#include "shared-private.h"
#include "workspace.h"

void
shared_host_name(const char *setting, struct buf *out)
{
	char name[256] = "";

	if (*setting == '\0' && gethostname(name, sizeof name - 1) == 0)
		buf_add(out, name, strcspn(name, "."));
	else
		buf_adds(out, setting);
}

char *
shared_repository(const struct workspace *workspace)
{
	cleanup_free char *path =
	    workspace_path(workspace, SHARED_REPOSITORY_FILE);
	struct buf id = BUF_INIT;

	if (file_read(path, 256, &id, NULL) < 0) {
		buf_release(&id);
		return NULL;
	}
	buf_truncate(&id, strcspn(id.data, "\n"));
	return buf_take(&id);
}

int
shared_new(
    const struct shared_options *options, struct shared **ret, struct err *err)
{
	int r = shared_postgres_new(options, ret, err);

	if (r == 0)
		(*ret)->ops->begin(*ret);
	return r;
}

int
shared_owner_run(const struct shared_owner_task *task, struct json_object **ret,
    struct err *err)
{
	cleanup_json struct json_object *report = json_object_new_object();
	struct shared_owner_task whole = *task;
	int r;

	if (whole.steps == NULL) {
		whole.steps = shared_ddl_rows;
		whole.step_count = shared_ddl_count;
	}
	if (whole.owner == NULL)
		whole.owner = whole.database;
	r = shared_postgres_owner(&whole, report, err);
	if (r == 0)
		*ret = take_ptr(&report);
	return r;
}
