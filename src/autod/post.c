/* SPDX-License-Identifier: ISC */

/*
 * post_accept_command: once for each landing, and the next landing waits for
 * it. It outlives a daemon that is killed; one that is told to stop ends it,
 * and it is run again by the next.
 */
#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "buf.h"
#include "clock.h"
#include "errand.h"
#include "errtext.h"
#include "file.h"
#include "git-work.h"
#include "json.h"
#include "jsonl.h"
#include "log.h"
#include "mem.h"
#include "pilot.h"
#include "settings.h"
#include "text.h"
#include "workspace.h"

#define POST_LOG_SIZE (20 * 1024 * 1024)
#define POST_LOG_KEEP 3
#define WORDS_LINES   5 /* of what it said, in the words for people */

static void post_end(struct pilot *p);

static char *
post_dir(const struct daemon *d)
{
	return workspace_path(d->workspace, "post");
}

static const char *
post_command(const struct daemon *d)
{
	return settings_string(d->settings, "auto.post_accept_command");
}

static void
post_log(const struct daemon *d, const struct task *t,
    const struct errand_result *result)
{
	cleanup_free char *file =
	    workspace_path(d->workspace, "logs/post_accept.log");
	cleanup_json struct json_object *json = json_object_new_object();
	char stamp[CLOCK_STAMP_SIZE];

	clock_format_stamp(clock_wall_ms(), stamp);
	json_set_string(json, "timestamp", stamp);
	json_set_string(json, "level", result->status == 0 ? "INFO" : "ERROR");
	json_set_string(json, "worker_name", t->worker);
	json_set_string(json, "task", t->id);
	json_set_string(json, "commit_sha", t->commit);
	json_set_string(json, "command", post_command(d));
	json_set_int(json, "exit_code", result->status);
	json_set_bool(json, "timed_out", result->timed_out);
	json_set_int(json, "duration_ms", result->duration_ms);
	json_set_string(json, "stdout", result->out.data);
	json_set_string(json, "stderr", result->err.data);
	jsonl_append(file, json, POST_LOG_SIZE, POST_LOG_KEEP, NULL);
}

/* "post_accept_command exited with status 1 after t3 landed as abc: ..." */
static void
post_words(
    const struct task *t, const struct errand_result *result, struct buf *out)
{
	const char *said =
	    result->err.len > 0 ? result->err.data : result->out.data;
	size_t len = 0;

	buf_adds(out, "post_accept_command ");
	if (result->timed_out)
		buf_adds(out, "took too long");
	else if (result->lost)
		buf_adds(out, "was killed");
	else
		buf_addf(out, "exited with status %d", result->status);
	buf_addf(out, " after %s landed as %.12s", t->id, t->commit);
	for (int i = 0; i < WORDS_LINES && said[len] != '\0'; i++) {
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

/* --- when it fails --------------------------------------------------- */

static void
post_reverted(const char *id, const struct err *err, void *arg)
{
	struct pilot *p = arg;
	struct daemon *d = p->daemon;
	struct task *t = state_task(&d->state, p->posting);
	int max = (int)settings_int(d->settings, "auto.max_attempts");
	cleanup_free char *words = NULL;

	if (err != NULL) {
		words = xasprintf(
		    "%s, and taking it back failed: %s", t->reason, err->msg);
		settle_task(d, t, OUTCOME_LANDED, words);
		failure_raise(d,
		    &(struct failure){ .class = "revert",
			.task = t->id,
			.status = -1,
			.words = words });
	} else {
		words = xstrdup(t->reason);
		task_note(t, "taken back", id, clock_wall_ms());
		xstrset(&t->commit, NULL);
		if (!task_attempt_failed(t, words, max, clock_wall_ms()))
			settle_counted(d, t);
		daemon_changed(d);
	}
	post_end(p);
}

static void
post_revert(struct pilot *p, struct task *t, const char *words)
{
	struct daemon *d = p->daemon;
	cleanup_free char *message =
	    xasprintf("Take back \"%s\"\n\n%s", t->title, words);

	xstrset(&t->reason, words);
	git_work_revert(d->git, daemon_branch(d), t->commit, message,
	    daemon_lands_over_dirt(d), post_reverted, p);
}

static bool
post_fix(struct pilot *p, const struct task *t, const char *output)
{
	struct daemon *d = p->daemon;
	cleanup_free char *id = NULL;

	if (t->fixes >= settings_int(d->settings, "auto.max_attempts"))
		return false;
	id = state_task_id(&d->state);
	state_add_task(&d->state,
	    task_for_fix(id, t, post_command(d), output, clock_wall_ms()));
	return true;
}

static void
post_failed(struct pilot *p, struct task *t, const struct errand_result *result)
{
	struct daemon *d = p->daemon;
	const char *policy =
	    settings_string(d->settings, "auto.on_post_accept_failure");
	cleanup_buf struct buf words = BUF_INIT;
	const char *output =
	    result->err.len > 0 ? result->err.data : result->out.data;

	post_words(t, result, &words);
	task_note(t, "post_accept_command failed", words.data, clock_wall_ms());
	if (strcmp(policy, "revert") == 0) {
		post_revert(p, t, words.data);
		return;
	}
	if (strcmp(policy, "continue") == 0 ||
	    (strcmp(policy, "fix") == 0 && post_fix(p, t, output)))
		log_info("%s", words.data);
	else
		failure_raise(d,
		    &(struct failure){ .class = "post_accept",
			.worker = t->worker,
			.task = t->id,
			.status = result->status,
			.words = words.data });
	settle_task(d, t, OUTCOME_LANDED, NULL);
	post_end(p);
}

/* --- the run --------------------------------------------------------- */

/* Its landing is over when no worker has it any more. */
static bool
is_held(const struct daemon *d, const struct task *t)
{
	for (size_t i = 0; i < d->state.count; i++) {
		const char *held = d->state.workers[i]->task;

		if (held != NULL && strcmp(held, t->id) == 0)
			return true;
	}
	return false;
}

void
post_due(struct pilot *p)
{
	struct daemon *d = p->daemon;

	for (size_t i = 0; i < d->state.task_count; i++) {
		const struct task *t = d->state.tasks[i];

		if (t->step != TASK_LANDED || is_held(d, t))
			continue;
		xstrset(&p->posting, t->id);
		post_begin(p);
		return;
	}
}

/* What it left is of no use once its outcome is written. */
static void
post_tidy(void *arg)
{
	struct pilot *p = arg;
	cleanup_free char *dir = post_dir(p->daemon);
	char name[64];

	while (p->post == NULL && errand_find(dir, name, sizeof name))
		if (errand_forget(dir, name, NULL) < 0)
			return;
}

static void
post_end(struct pilot *p)
{
	struct daemon *d = p->daemon;

	free(take_ptr(&p->posting));
	daemon_then(d, p, post_tidy, p);
	landing_kick(d);
	harvest_resume(p);
	pilot_look(d);
}

static void
post_ended(struct pilot *p, const struct errand_result *result)
{
	struct daemon *d = p->daemon;
	struct task *t = state_task(&d->state, p->posting);
	cleanup_free char *dir = post_dir(d);
	cleanup_free char *status = xasprintf("%d", result->status);
	cleanup_free char *took =
	    xasprintf("%lld", (long long)result->duration_ms);

	post_log(d, t, result);
	record(d, LOG_LEVEL_INFO, "post_accept", "task", t->id, "commit_sha",
	    t->commit, "exit_code", status, "duration_ms", took, NULL);
	if (result->cancelled) {
		errand_forget(dir, t->id, NULL);
		return; /* we are stopping: the next one runs it again */
	}
	if (result->status == 0) {
		settle_task(d, t, OUTCOME_LANDED, NULL);
		post_end(p);
	} else {
		post_failed(p, t, result);
	}
}

/* The result goes with the errand. */
static void
post_done(const struct errand_result *result, void *arg)
{
	struct pilot *p = arg;
	struct errand *errand = take_ptr(&p->post);

	post_ended(p, result);
	errand_free(errand);
}

static void
post_start(void *arg)
{
	struct pilot *p = arg;
	struct daemon *d = p->daemon;
	const struct task *t = state_task(&d->state, p->posting);
	cleanup_free char *dir = post_dir(d);
	cleanup_free char *task = xasprintf("LLMC_TASK=%s", t->id);
	cleanup_free char *commit = xasprintf("LLMC_COMMIT=%s", t->commit);
	cleanup_free char *worker = xasprintf("LLMC_WORKER=%s", t->worker);
	const char *const env[] = { task, commit, worker, NULL };
	struct errand_spec spec = {
		.dir = dir,
		.name = t->id,
		.command = post_command(d),
		.cwd = d->workspace->root,
		.env = env,
		.deadline_ms =
		    settings_duration(d->settings, "auto.post_accept_timeout"),
	};
	struct err err = { 0 };
	int r = file_mkdirs(dir, 0700, &err);

	if (r == 0)
		r = errand_adopt(d->loop, &spec, post_done, p, &p->post, &err);
	if (r == -ENOENT)
		r = errand_start(d->loop, &spec, post_done, p, &p->post, &err);
	if (r < 0)
		failure_raise(d,
		    &(struct failure){ .class = "post_accept",
			.task = t->id,
			.status = -1,
			.words = err.msg });
}

void
post_begin(struct pilot *p)
{
	struct daemon *d = p->daemon;
	struct task *t = state_task(&d->state, p->posting);

	if (d->stopping)
		return; /* the next daemon's affair */
	if (!p->active || post_command(d)[0] == '\0') {
		settle_task(d, t, OUTCOME_LANDED, NULL);
		post_end(p);
		return;
	}
	daemon_then(d, p, post_start, p);
}

void
post_stop(struct pilot *p)
{
	if (p->post != NULL)
		errand_cancel(p->post);
}
