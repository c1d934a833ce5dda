/* SPDX-License-Identifier: ISC */

#include "base.h"
#include "id.h"
#include "loop.h"
#include "procref.h"
#include "tmux-job.h"
#include "tmux.h"

#define FINISH_MS 2000

static struct tmux_job *
queue_ready(struct tmux_queue *queue)
{
	struct tmux_job *job, *earlier;

	TAILQ_FOREACH (job, &queue->jobs, entry) {
		if (job->child != NULL || job->again != NULL)
			continue;
		TAILQ_FOREACH (earlier, &queue->jobs, entry)
			if (earlier == job ||
			    text_is(job->session, earlier->session))
				break;
		if (earlier == job)
			return job;
	}
	return NULL;
}

/* If a job fails to start, its end has requested another call of this. */
static void
queue_pump(void *arg)
{
	struct tmux_queue *queue = arg;
	struct tmux_job *job;

	while ((job = queue_ready(queue)) != NULL)
		if (!tmux_job_run(job))
			return;
}

static void
tmux_queue_add(struct tmux_job *job)
{
	TAILQ_INSERT_TAIL(&job->queue->jobs, job, entry);
	loop_call_request(job->queue->pump);
}

static void
tmux_queue_end(struct tmux_job *job)
{
	struct tmux_queue *queue = job->queue;

	TAILQ_REMOVE(&queue->jobs, job, entry);
	loop_call_request(queue->pump);
	tmux_job_free(job);
	if (queue->finishing && TAILQ_EMPTY(&queue->jobs))
		loop_stop(queue->loop, 0);
}

static void
forgotten(struct tmux_job *job, const struct tmux_reply *reply, void *arg)
{
	(void)reply;
	(void)arg;
	tmux_queue_end(job);
}

static void
on_late(void *arg)
{
	struct tmux_queue *queue = arg;

	loop_stop(queue->loop, 0);
}

#define DEADLINE_MS 10000
#define TAG_LEN     8
#define PASTE_BEGIN "\033[200~"
#define PASTE_END   "\033[201~"

/* The agent's pane is known by its id, kept in a session option: people may
 * open windows and panes of their own beside it. */
#define OUR_PANE  "#{==:#{pane_id},#{@llmc_pane}}"
#define PANE_LIVE "#{?pane_dead,0,#{==:#{session_name},%s}}"
#define SAID_GONE "gone"

/* Size of a screen without a client. */
#define COLUMNS "120"
#define ROWS    "40"

struct tmux {
	struct tmux_queue queue;
	char tag[TAG_LEN + 1]; /* no other process uses it for its buffers */
	uint64_t pastes;
};

/* What a job needs until its end; freed by the queue. */
struct tmux_request {
	struct tmux *tmux;
	void *arg;
	union {
		tmux_done_fn *done;
		tmux_started_fn *started;
		tmux_text_fn *text;
		tmux_list_fn *list;
	} fn;
	bool act; /* the pane is known, the second command runs */
	int history;
};

static int
tmux_write_config(const struct tmux *tmux, struct err *err)
{
	cleanup_buf struct buf text = BUF_INIT;

	buf_adds(&text,
	    "# Written by llmc for its own tmux server; edits are lost.\n"
	    "set -g default-terminal screen-256color\n"
	    "set -s escape-time 10\n"
	    "set -g history-limit 20000\n"
	    "set -g default-size " COLUMNS "x" ROWS "\n"
	    "set -g update-environment ''\n"
	    "set -g remain-on-exit on\n"
	    "set -g allow-rename off\n"
	    "set -g automatic-rename off\n"
	    "set -g bell-action none\n"
	    "set -g status-interval 0\n"
	    "set -g status-left '#{session_name} '\n"
	    "set -g status-left-length 64\n"
	    "set -g status-right ''\n");
	return file_replace(tmux->queue.config, text.data, text.len, 0600, err);
}

int
tmux_new(struct loop *loop, const struct tmux_options *options,
    struct tmux **ret_tmux, struct err *err)
{
	char uuid[ID_UUID_SIZE];
	struct tmux *tmux;
	int r;

	if (options->socket[0] == '\0' || strchr(options->socket, '/') != NULL)
		return err_set(err, -EINVAL,
		    "tmux.socket: \"%s\" is not a valid name for a socket",
		    options->socket);
	tmux = xcalloc(1, sizeof *tmux);
	memset(&tmux->queue, 0, sizeof tmux->queue);
	tmux->queue.loop = loop;
	tmux->queue.pump = loop_call_new(loop, queue_pump, &tmux->queue);
	TAILQ_INIT(&tmux->queue.jobs);
	tmux->queue.command = xstrdup(options->command);
	tmux->queue.socket = xstrdup(options->socket);
	tmux->queue.config = xstrdup(options->config);
	tmux->queue.deadline_ms = options->deadline_ms > 0 ?
	    options->deadline_ms :
	    clock_of_kernel_ms(DEADLINE_MS);
	id_uuid(uuid);
	memcpy(tmux->tag, uuid, TAG_LEN);
	r = tmux_write_config(tmux, err);
	if (r < 0) {
		tmux_free(tmux);
		return r;
	}
	*ret_tmux = tmux;
	return 0;
}

void
tmux_finish(struct tmux *tmux)
{
	if (tmux != NULL) {
		struct tmux_queue *queue = &tmux->queue;
		struct tmux_job *job, *next;
		struct loop_timer *late;

		/* Only finish the jobs that kill; the others are abandoned.
		 * Runs the loop. */
		for (job = TAILQ_FIRST(&queue->jobs); job != NULL; job = next) {
			next = TAILQ_NEXT(job, entry);
			job->done = forgotten;
			if (job->kills)
				continue;
			TAILQ_REMOVE(&queue->jobs, job, entry);
			tmux_job_free(job);
		}
		if (TAILQ_EMPTY(&queue->jobs))
			return;
		queue->finishing = true;
		late = loop_after(queue->loop, FINISH_MS, on_late, queue);
		loop_call_request(queue->pump);
		loop_run(queue->loop);
		loop_timer_free(late);
		queue->finishing = false;
	}
}

void
tmux_free(struct tmux *tmux)
{
	struct tmux_queue *queue;
	struct tmux_job *job;

	if (tmux == NULL)
		return;
	queue = &tmux->queue;
	while ((job = TAILQ_FIRST(&queue->jobs)) != NULL) {
		TAILQ_REMOVE(&queue->jobs, job, entry);
		tmux_job_free(job);
	}
	loop_call_free(queue->pump);
	free(queue->command);
	free(queue->socket);
	free(queue->config);
	free(tmux);
}

/* tmux itself would silently change ':' and '.', and gives others a special
 * meaning. */
static bool
name_valid(const char *name)
{
	size_t len = strspn(name,
	    "abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ0123456789"
	    "_-");

	return len > 0 && len <= 64 && name[len] == '\0';
}

static struct tmux_job *
job_for(struct tmux *tmux, const char *name, tmux_job_fn *done, void *arg,
    struct tmux_request **ret_request)
{
	struct tmux_request *request = xcalloc(1, sizeof *request);
	struct tmux_job *job = tmux_job_new(&tmux->queue, name, done, request);

	request->tmux = tmux;
	request->arg = arg;
	job->who = arg;
	tmux_job_command(job);
	if (name != NULL && !name_valid(name))
		err_set(&job->refused, -EINVAL,
		    "\"%s\" is not a valid name for a session", name);
	*ret_request = request;
	return job;
}

/* Free the job before the callback, which may free everything. */
static void
end_done(struct tmux_job *job, const struct err *err)
{
	struct tmux_request request = *(struct tmux_request *)job->arg;

	tmux_queue_end(job);
	request.fn.done(err->code != 0 ? err : NULL, request.arg);
}

/* The pid that a command printed, 0 with an error if it did not. */
static pid_t
reply_pid(const struct tmux_reply *reply, struct err *err)
{
	cleanup_free char *word =
	    xstrndup(reply->out, strcspn(reply->out, "\n"));
	int64_t pid = 0;

	*err = reply->err;
	if (err->code == 0 && !text_parse_int(word, 1, INT32_MAX, &pid))
		err_set(err, -EIO, "tmux did not report a process id");
	return (pid_t)pid;
}

static void
start_done(struct tmux_job *job, const struct tmux_reply *reply, void *arg)
{
	struct tmux_request request = *(struct tmux_request *)arg;
	struct err err;
	pid_t pid = reply_pid(reply, &err);

	tmux_queue_end(job);
	request.fn.started(pid, err.code != 0 ? &err : NULL, request.arg);
}

static void
start_option(struct tmux_job *job, const char *flags, const char *option,
    const char *value)
{
	tmux_job_then(job);
	tmux_job_words(job, "set-option", flags, NULL);
	tmux_job_wordf(job, "=%s:", job->session);
	tmux_job_words(job, option, value, NULL);
}

void
tmux_start(struct tmux *tmux, const struct tmux_session *session,
    tmux_started_fn *fn, void *arg)
{
	cleanup_free char *generation =
	    xasprintf("%" PRIu64, session->generation);
	struct tmux_request *request;
	struct tmux_job *job;
	const char *worker;

	job = job_for(tmux, session->name, start_done, arg, &request);
	/* The marks are parsed by their separators (tmux.c). */
	worker = session->worker;
	if (!name_valid(session->role) ||
	    (worker != NULL && !name_valid(worker)))
		err_set(&job->refused, -EINVAL,
		    "session %s: not a valid name for a role or a worker",
		    session->name);
	request->fn.started = fn;
	job->starts = true;
	job->cwd = xstrdup(session->cwd);
	/* Only this command may start a server. */
	if (job->refused.code == 0 && !file_exists(tmux->queue.config))
		tmux_write_config(tmux, &job->refused);
	tmux_job_command(job);
	tmux_job_words(job, "new-session", "-d", "-P", "-F", "#{pane_pid}",
	    "-n", "agent", "-s", session->name, NULL);
	tmux_job_word(job, "-x");
	tmux_job_word(job, COLUMNS);
	tmux_job_word(job, "-y");
	tmux_job_word(job, ROWS);
	for (size_t i = 0; session->env != NULL && session->env[i]; i++)
		tmux_job_words(job, "-e", session->env[i], NULL);
	tmux_job_word(job, "--");
	/* tmux would give a single word to a shell. */
	if (session->argv[1] == NULL)
		tmux_job_words(job, "/bin/sh", "-c", "exec \"$0\"", NULL);
	for (size_t i = 0; session->argv[i] != NULL; i++)
		tmux_job_word(job, session->argv[i]);
	/* In the same command, so that nothing can happen in between: a session
	 * without its marks would have no owner. */
	start_option(job, "-wt", "remain-on-exit", "on");
	start_option(job, "-Ft", "@llmc_pane", "#{pane_id}");
	start_option(job, "-t", "@llmc_role", session->role);
	start_option(job, "-t", "@llmc_generation", generation);
	if (session->worker != NULL)
		start_option(job, "-t", "@llmc_worker", session->worker);
	tmux_queue_add(job);
}

/* The first command of those that need the agent's pane. */
static void
pane_command(struct tmux_job *job)
{
	tmux_job_words(job, "list-panes", "-s", "-f", OUR_PANE, "-F",
	    "#{pane_id} #{pane_dead}", "-t", NULL);
	tmux_job_wordf(job, "=%s:", job->session);
}

/* Its answer: the pane's id, or NULL with an error. */
static char *
pane_found(struct tmux_job *job, const struct tmux_reply *reply, bool dead_too,
    struct err *err)
{
	const char *out = reply->out;
	size_t len = strcspn(out, " \n");

	*err = reply->err;
	if (err->code != 0)
		return NULL;
	if (out[0] != '%' || out[len] != ' ') {
		err_set(err, -ESRCH, "session %s has no pane that llmc started",
		    job->session);
		return NULL;
	}
	if (out[len + 1] != '0' && !dead_too) {
		err_set(err, -EPIPE, "the program in session %s has exited",
		    job->session);
		return NULL;
	}
	return xstrndup(out, len);
}

/* Second command: `then`, only while the pane is the one that was found and
 * lives. A paste into a dead pane crashes the server of tmux 3.3a, and the
 * program can end at any moment; within one command of tmux it cannot. */
static void
guarded_command(struct tmux_job *job, const char *pane, const char *then,
    const char *otherwise)
{
	tmux_job_words(job, "if-shell", "-F", "-t", pane, NULL);
	tmux_job_wordf(job, PANE_LIVE, job->session);
	tmux_job_word(job, then);
	tmux_job_wordf(job, "%sdisplay-message -p " SAID_GONE, otherwise);
}

/* The guarded command has ended. */
static void
guarded_done(struct tmux_job *job, const struct tmux_reply *reply)
{
	struct err err = reply->err;

	if (err.code == 0 && strncmp(reply->out, SAID_GONE, 4) == 0)
		err_set(&err, -EPIPE, "the program in session %s has exited",
		    job->session);
	end_done(job, &err);
}

/* From tmux 3.7 on a paste is stripped of escapes by default. */
static bool
paste_is_literal(const char *answer)
{
	const char *flags = strstr(answer, "[-");

	return flags == NULL || memchr(flags, 'S', strcspn(flags, "]")) == NULL;
}

static void
paste_done(struct tmux_job *job, const struct tmux_reply *reply, void *arg)
{
	struct tmux_request *request = arg;
	struct tmux *tmux = request->tmux;
	cleanup_free char *pane = NULL, *buffer = NULL, *then = NULL,
			  *otherwise = NULL;
	struct err err;

	if (request->act) {
		guarded_done(job, reply);
		return;
	}
	pane = pane_found(job, reply, false, &err);
	if (pane == NULL) {
		end_done(job, &err);
		return;
	}
	request->act = true;
	buffer = xasprintf("llmc-%s-%" PRIu64, tmux->tag, tmux->pastes++);
	then = xasprintf("copy-mode -q -t %s ; paste-buffer -%srd -b %s -t %s",
	    pane, paste_is_literal(reply->out) ? "" : "S", buffer, pane);
	otherwise = xasprintf("delete-buffer -b %s ; ", buffer);
	buf_add(&job->input, job->text.data, job->text.len);
	tmux_job_command(job);
	tmux_job_words(job, "load-buffer", "-b", buffer, "-", NULL);
	tmux_job_then(job);
	guarded_command(job, pane, then, otherwise);
	tmux_job_run(job);
}

void
tmux_paste(struct tmux *tmux, const char *name, const char *text, bool enter,
    tmux_done_fn *fn, void *arg)
{
	struct tmux_request *request;
	struct tmux_job *job = job_for(tmux, name, paste_done, arg, &request);

	request->fn.done = fn;
	buf_adds(&job->text, PASTE_BEGIN);
	buf_adds(&job->text, text);
	buf_adds(&job->text, enter ? PASTE_END "\r" : PASTE_END);
	pane_command(job);
	tmux_job_then(job);
	tmux_job_words(job, "list-commands", "-F", "#{command_list_usage}",
	    "paste-buffer", NULL);
	tmux_queue_add(job);
}

static void
keys_done(struct tmux_job *job, const struct tmux_reply *reply, void *arg)
{
	struct tmux_request *request = arg;
	cleanup_free char *pane = NULL, *then = NULL;
	struct err err;

	if (request->act) {
		guarded_done(job, reply);
		return;
	}
	pane = pane_found(job, reply, false, &err);
	if (pane == NULL) {
		end_done(job, &err);
		return;
	}
	request->act = true;
	then = xasprintf("copy-mode -q -t %s ; send-keys -t %s --%s", pane,
	    pane, job->text.data);
	tmux_job_command(job);
	guarded_command(job, pane, then, "");
	tmux_job_run(job);
}

void
tmux_keys(struct tmux *tmux, const char *name, const char *const *keys,
    tmux_done_fn *fn, void *arg)
{
	struct tmux_request *request;
	struct tmux_job *job = job_for(tmux, name, keys_done, arg, &request);

	request->fn.done = fn;
	for (; *keys != NULL; keys++) {
		buf_addc(&job->text, ' ');
		/* tmux reads these quotes as the shell does. */
		text_add_shell(&job->text, *keys);
	}
	pane_command(job);
	tmux_queue_add(job);
}

/* To remove something: it is no error if it does not exist. */
static void
gone_done(struct tmux_job *job, const struct tmux_reply *reply, void *arg)
{
	struct err err = reply->err;

	(void)arg;
	if (err.code == -ESRCH)
		err.code = 0;
	end_done(job, &err);
}

void
tmux_kill(struct tmux *tmux, const char *name, tmux_done_fn *fn, void *arg)
{
	struct tmux_request *request;
	struct tmux_job *job = job_for(tmux, name, gone_done, arg, &request);

	request->fn.done = fn;
	job->kills = true;
	tmux_job_words(job, "kill-session", "-t", NULL);
	tmux_job_wordf(job, "=%s", name);
	tmux_queue_add(job);
}

/* Without blanks at the end of each line, nor blank lines at the end. */
static void
text_trim(struct buf *out, const char *text)
{
	size_t kept = 0;

	while (*text != '\0') {
		size_t len = strcspn(text, "\n"), end = len;

		while (end > 0 && text[end - 1] == ' ')
			end--;
		buf_add(out, text, end);
		if (end > 0)
			kept = out->len;
		buf_addc(out, '\n');
		text += len + (text[len] == '\n');
	}
	buf_truncate(out, kept);
	if (kept > 0)
		buf_addc(out, '\n');
}

static void
end_text(struct tmux_job *job, const char *text, const struct err *err)
{
	struct tmux_request request = *(struct tmux_request *)job->arg;
	cleanup_buf struct buf trimmed = BUF_INIT;

	tmux_queue_end(job);
	text_trim(&trimmed, text);
	if (err->code != 0)
		request.fn.text(NULL, err, request.arg);
	else
		request.fn.text(trimmed.data, NULL, request.arg);
}

static void
capture_done(struct tmux_job *job, const struct tmux_reply *reply, void *arg)
{
	struct tmux_request *request = arg;
	cleanup_free char *pane = NULL;
	struct err err;

	if (request->act) {
		end_text(job, reply->out, &reply->err);
		return;
	}
	pane = pane_found(job, reply, true, &err);
	if (pane == NULL) {
		end_text(job, "", &err);
		return;
	}
	request->act = true;
	tmux_job_command(job);
	tmux_job_words(job, "capture-pane", "-p", "-t", pane, NULL);
	if (request->history > 0) {
		tmux_job_word(job, "-S");
		tmux_job_wordf(job, "-%d", request->history);
	}
	tmux_job_run(job);
}

void
tmux_capture(struct tmux *tmux, const char *name, int history, tmux_text_fn *fn,
    void *arg)
{
	struct tmux_request *request;
	struct tmux_job *job = job_for(tmux, name, capture_done, arg, &request);

	request->fn.text = fn;
	request->history = history;
	pane_command(job);
	tmux_queue_add(job);
}

static void
list_done(struct tmux_job *job, const struct tmux_reply *reply, void *arg)
{
	struct tmux_request request = *(struct tmux_request *)arg;
	cleanup_free char *text = xstrdup(reply->out);
	cleanup_free struct tmux_info *list = NULL;
	struct err err = reply->err;
	size_t count = 0;

	tmux_queue_end(job);
	if (err.code == 0)
		count = tmux_list_parse(text, &list);
	if (err.code == -ESRCH)
		err.code = 0;
	request.fn.list(list, count, err.code != 0 ? &err : NULL, request.arg);
}

void
tmux_list(struct tmux *tmux, tmux_list_fn *fn, void *arg)
{
	/* As list_split() reads it. */
	static const char format[] =
	    "#{pane_id}:#{pane_dead}:#{pane_pid}:"
	    "#{&&:#{window_active},#{pane_active}}:#{@llmc_pane}:"
	    "#{@llmc_generation}:#{@llmc_role}:#{@llmc_worker}:"
	    "#{session_name}";
	struct tmux_request *request;
	struct tmux_job *job = job_for(tmux, NULL, list_done, arg, &request);

	request->fn.list = fn;
	tmux_job_words(job, "list-panes", "-a", "-F", format, NULL);
	tmux_queue_add(job);
}

void
tmux_forget(struct tmux *tmux, const void *arg)
{
	struct tmux_queue *queue = &tmux->queue;
	struct tmux_job *job;

	/* The jobs of `who` end with their present run, without a callback. */
	TAILQ_FOREACH (job, &queue->jobs, entry)
		if (job->who == arg)
			job->done = forgotten;
}

char *
tmux_session_name(const char *worker)
{
	return xasprintf("llmc-%s", worker);
}

char *
tmux_socket_path(const char *socket)
{
	const char *dir = getenv("TMUX_TMPDIR");

	return xasprintf("%s/tmux-%u/%s",
	    dir != NULL && dir[0] != '\0' ? dir : "/tmp", (unsigned)geteuid(),
	    socket);
}

void
tmux_attach_words(const struct tmux_options *options, const char *name,
    bool switch_client, const char *argv[8], char **ret_target)
{
	*ret_target = xasprintf("=%s", name);
	argv[0] = options->command;
	argv[1] = "-L";
	argv[2] = options->socket;
	argv[3] = switch_client ? "switch-client" : "attach";
	argv[4] = "-t";
	argv[5] = *ret_target;
	argv[6] = NULL;
}

/* One line for each pane of each session. A session's name contains no ':' and
 * comes last; one in our options makes the line unreadable.
 */
enum list_field {
	LIST_PANE,
	LIST_DEAD,
	LIST_PID,
	LIST_ACTIVE,
	LIST_OURS,
	LIST_GENERATION,
	LIST_ROLE,
	LIST_WORKER,
	LIST_NAME,
	LIST_FIELDS
};

static void
list_split(char *line, const char *fields[LIST_FIELDS])
{
	size_t count = 0;
	char *rest = line, *word;

	for (size_t i = 0; i < LIST_FIELDS; i++)
		fields[i] = "";
	while ((word = strsep(&rest, ":")) != NULL) {
		if (count < LIST_NAME)
			fields[count] = word;
		fields[LIST_NAME] = word;
		count++;
	}
	if (count == LIST_FIELDS)
		return;
	for (size_t i = LIST_OURS; i < LIST_NAME; i++)
		fields[i] = "";
}

/* Has it ended? tmux 3.3a may never notice, but the kernel knows. */
static bool
pane_process_gone(pid_t pid)
{
	struct procref ref = PROCREF_INIT;
	int r = procref_set(&ref, pid);

	procref_release(&ref);
	return r == -ESRCH;
}

static void
list_take_pane(struct tmux_info *info, const char *const fields[LIST_FIELDS])
{
	int64_t pid;

	if (strcmp(fields[LIST_DEAD], "0") != 0 ||
	    !text_parse_int(fields[LIST_PID], 1, INT32_MAX, &pid) ||
	    pane_process_gone((pid_t)pid))
		return;
	info->pane_pid = (pid_t)pid;
	info->dead = false;
}

size_t
tmux_list_parse(char *text, struct tmux_info **ret_list)
{
	struct tmux_info *list = NULL;
	const char *fields[LIST_FIELDS];
	char *rest = text, *line;
	size_t count = 0;

	while ((line = strsep(&rest, "\n")) != NULL) {
		if (*line == '\0')
			continue;
		list_split(line, fields);
		/* The panes of one session follow each other. */
		if (count == 0 ||
		    strcmp(list[count - 1].name, fields[LIST_NAME]) != 0) {
			struct tmux_info *info;
			int64_t generation = 0;

			list = xreallocarray(list, count + 1, sizeof *list);
			info = &list[count++];
			text_parse_int(
			    fields[LIST_GENERATION], 0, INT64_MAX, &generation);
			*info = (struct tmux_info){ .name = fields[LIST_NAME],
				.role = fields[LIST_ROLE],
				.worker = fields[LIST_WORKER],
				.generation = (uint64_t)generation,
				.dead = true };
		}
		if (*fields[LIST_OURS] == '\0' ?
			strcmp(fields[LIST_ACTIVE], "1") == 0 :
			strcmp(fields[LIST_OURS], fields[LIST_PANE]) == 0)
			list_take_pane(&list[count - 1], fields);
	}
	*ret_list = list;
	return count;
}
