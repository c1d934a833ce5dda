/* SPDX-License-Identifier: ISC */

#include "buf.h"
#include "clock.h"
#include "core.h"
#include "errand.h"
#include "json.h"
#include "jsonl.h"
#include "landed-tasks.h"
#include "mem.h"
#include "post-log.h"
#include "settings.h"
#include "task.h"
#include "workspace.h"

#define POST_LOG_SIZE (20 * 1024 * 1024)
#define POST_LOG_KEEP 3
#define REASON_LINES  5 /* of its output, in the reason */

void
post_log_write(const struct core *core, const struct landed_tasks *list,
    const char *move, const struct errand_result *result)
{
	const struct task *t = landed_tasks_last(list);
	cleanup_buf struct buf ids = BUF_INIT;
	cleanup_free char *file =
	    workspace_path(core->workspace, "logs/post_accept.log");
	cleanup_json struct json_object *json = json_object_new_object();
	char stamp[CLOCK_STAMP_SIZE];

	landed_tasks_add_ids(list, " ", &ids);
	clock_format_stamp(clock_wall_ms(), stamp);
	json_set_string(json, "timestamp", stamp);
	json_set_string(json, "level", result->status == 0 ? "INFO" : "ERROR");
	json_set_string(json, "worker_name", t->worker);
	json_set_string(json, "task", t->id);
	json_set_string(json, "tasks", ids.data);
	json_set_string(json, "commit_sha", move);
	json_set_string(json, "command",
	    settings_string(core->settings, "auto.post_accept_command"));
	json_set_int(json, "exit_code", result->status);
	json_set_bool(json, "timed_out", result->timed_out);
	json_set_int(json, "duration_ms", result->duration_ms);
	json_set_string(json, "stdout", result->out.data);
	json_set_string(json, "stderr", result->err.data);
	jsonl_append(file, json, POST_LOG_SIZE, POST_LOG_KEEP, NULL);
}

void
post_log_reason(const struct landed_tasks *list, const char *move,
    const struct errand_result *result, const char *said, struct buf *out)
{
	size_t len = 0;

	buf_adds(out, "post_accept_command ");
	if (result->timed_out)
		buf_adds(out, "took too long");
	else if (result->lost)
		buf_adds(out, "was killed");
	else
		buf_addf(out, "exited with status %d", result->status);
	buf_adds(out, " after ");
	landed_tasks_add_ids(list, ", ", out);
	buf_addf(out, " landed as %.12s", move);
	for (int i = 0; i < REASON_LINES && said[len] != '\0'; i++) {
		len += strcspn(said + len, "\n");
		len += said[len] == '\n';
	}
	while (len > 0 && said[len - 1] == '\n')
		len--;
	if (len > 0) {
		buf_adds(out, ":\n");
		buf_add(out, said, len);
	}
}
