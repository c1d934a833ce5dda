/* SPDX-License-Identifier: ISC */

#include "base.h"
#include "box.h"
#include "child.h"
#include "loop.h"
#include "tmux-job.h"
#include "tmux.h"

#define GRACE_MS   500
#define OUTPUT_MAX (4 * 1024 * 1024)

/* A server that is ending accepts new clients until the last moment and then
 * drops them. */
#define RETRY_MS  20
#define RETRY_MAX 100 /* a busy machine: 2 seconds */

/* Messages of tmux on standard error, and what they mean. */
static const struct {
	const char *words;
	const char *and; /* must also be in the text; NULL = nothing more */
	int code;
} tmux_complaints[] = {
	{ "duplicate session", NULL, -EEXIST },
	{ "can't find session", NULL, -ESRCH },
	{ "can't find window", NULL, -ESRCH },
	{ "can't find pane", NULL, -ESRCH },
	{ "no such session", NULL, -ESRCH },
	{ "no server running on", NULL, -ESRCH },
	{ "error connecting to", "No such file or directory", -ESRCH },
	{ "server exited", NULL, -ECONNRESET },
	{ "lost server", NULL, -ECONNRESET },
	{ "command too long", NULL, -E2BIG },
};

static int
complaint_code(const char *text)
{
	for (size_t i = 0; i < nitems(tmux_complaints); i++) {
		const char *and = tmux_complaints[i].and;

		if (strstr(text, tmux_complaints[i].words) != NULL &&
		    (and == NULL || strstr(text, and) != NULL))
			return tmux_complaints[i].code;
	}
	return -EIO;
}

void
tmux_job_free(struct tmux_job *job)
{
	if (job->child != NULL)
		child_abandon(job->child);
	loop_timer_free(job->again);
	strv_clear(&job->words);
	buf_release(&job->input);
	buf_release(&job->text);
	free(job->session);
	free(job->cwd);
	free(job->arg);
	free(job);
}

struct tmux_job *
tmux_job_new(
    struct tmux_queue *queue, const char *session, tmux_job_fn *done, void *arg)
{
	struct tmux_job *job = xcalloc(1, sizeof *job);

	job->queue = queue;
	job->session = session != NULL ? xstrdup(session) : NULL;
	job->done = done;
	job->arg = arg;
	buf_init(&job->input);
	buf_init(&job->text);
	return job;
}

void
tmux_job_command(struct tmux_job *job)
{
	struct tmux_queue *queue = job->queue;
	/* -u: text comes back as UTF-8 whatever our locale is. -N: some
	 * commands would start a server only to ask it something. */
	const char *const words[] = { queue->command,
		job->starts ? "-u" : "-Nu", "-L", queue->socket, "-f",
		queue->config };

	strv_clear(&job->words);
	for (size_t i = 0; i < nitems(words); i++)
		strv_add(&job->words, words[i]);
}

/* A word that ends in ';' would end tmux's command. */
void
tmux_job_word(struct tmux_job *job, const char *word)
{
	size_t len = strlen(word);

	if (len > 0 && word[len - 1] == ';')
		strv_take(
		    &job->words, xasprintf("%.*s\\;", (int)len - 1, word));
	else
		strv_add(&job->words, word);
}

void
tmux_job_wordf(struct tmux_job *job, const char *fmt, ...)
{
	cleanup_free char *word = NULL;
	va_list ap;

	va_start(ap, fmt);
	word = xvasprintf(fmt, ap);
	va_end(ap);
	tmux_job_word(job, word);
}

void
tmux_job_words(struct tmux_job *job, const char *first, ...)
{
	va_list ap;

	va_start(ap, first);
	for (const char *w = first; w != NULL; w = va_arg(ap, const char *))
		tmux_job_word(job, w);
	va_end(ap);
}

void
tmux_job_then(struct tmux_job *job)
{
	strv_add(&job->words, ";");
}

/* The first line of the message, safe for a terminal. */
static void
reply_complaint(struct tmux_job *job, const struct child_result *result,
    struct tmux_reply *reply)
{
	cleanup_buf struct buf all = BUF_INIT, line = BUF_INIT;

	child_output_text(&result->err, &all);
	text_add_visible(&line, all.data, strcspn(all.data, "\n"), false);
	if (line.len > 0) {
		err_set(&reply->err, complaint_code(line.data), "tmux: %s",
		    line.data);
		return;
	}
	child_result_describe(result, &line);
	err_set(&reply->err, -EIO, "%s %s", job->queue->command, line.data);
}

static void
reply_set(struct tmux_job *job, const struct child_result *result,
    struct buf *out, struct tmux_reply *reply)
{
	const char *what;

	if (result->start_error != 0) {
		what = strcmp(result->start_step, "chdir") == 0 ?
		    job->cwd :
		    job->queue->command;
		err_errno(&reply->err, result->start_error, "%s cannot be %s",
		    what, what == job->cwd ? "entered" : "started");
	} else if (result->timed_out) {
		err_set(&reply->err, -ETIMEDOUT,
		    "%s did not answer within %lld ms", job->queue->command,
		    (long long)job->queue->deadline_ms);
	} else if (!child_succeeded(result)) {
		reply_complaint(job, result, reply);
	}
	child_output_text(&result->out, out);
	reply->out = out->data;
}

static void
job_retry(void *arg)
{
	struct tmux_job *job = arg;

	loop_timer_free(take_ptr(&job->again));
	tmux_job_run(job);
}

static void
job_child_done(const struct child_result *result, void *arg)
{
	struct tmux_job *job = arg;
	cleanup_buf struct buf out = BUF_INIT;
	struct tmux_reply reply = { .err = { 0, "" } };

	job->child = NULL;
	reply_set(job, result, &out, &reply);
	if (reply.err.code == -ECONNRESET && job->starts &&
	    job->tries++ < RETRY_MAX) {
		job->again =
		    loop_after(job->queue->loop, RETRY_MS, job_retry, job);
		return;
	}
	/* Its sessions ended with it. */
	if (reply.err.code == -ECONNRESET && !job->starts)
		reply.err.code = -ESRCH;
	job->done(job, &reply, job->arg);
}

bool
tmux_job_run(struct tmux_job *job)
{
	cleanup_free char *pwd =
	    job->cwd != NULL ? xasprintf("PWD=%s", job->cwd) : NULL;
	/* If we were started inside the user's own tmux server, our children
	 * must not use it. PWD makes tmux keep the path as given. */
	const char *const own[] = { "TMUX", "TMUX_PANE", pwd, NULL };
	cleanup_strv char **env = NULL;
	struct child_spec spec = { .argv = strv_const(job->words),
		.cwd = job->cwd,
		.input = job->input.len > 0 ? job->input.data : NULL,
		.input_len = job->input.len,
		.output_max = OUTPUT_MAX,
		.deadline_ms = job->queue->deadline_ms,
		.grace_ms = GRACE_MS };
	struct tmux_reply reply = { .err = job->refused, .out = "" };

	/* Every pane can ask the server for the environment that it was
	 * started with, and a session for that of the client that made it. */
	if (job->starts)
		box_hide_env(NULL, NULL, &env);
	strv_add_all(&env, own);
	spec.env = strv_const(env);
	if (reply.err.code == 0)
		child_spawn(job->queue->loop, &spec, job_child_done, job,
		    &job->child, &reply.err);
	if (job->child != NULL)
		return true;
	job->done(job, &reply, job->arg);
	return false;
}
