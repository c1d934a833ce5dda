/* SPDX-License-Identifier: ISC */

#include <errno.h>
#include <stdlib.h>
#include <string.h>
#include <sys/queue.h>

#include "api.h"
#include "buf.h"
#include "cli.h"
#include "client-stream.h"
#include "errtext.h"
#include "json.h"
#include "mem.h"
#include "remote.h"
#include "top-act.h"
#include "view-doc.h"

struct sent {
	LIST_ENTRY(sent) entry;
	struct top_act *act;
	enum top_do what;
	char *target;
	struct client_stream *stream;
};

LIST_HEAD(sent_list, sent);

struct top_act {
	struct cli *cli;
	struct loop *loop;
	void (*on_words)(const char *words, void *arg);
	void *arg;
	struct sent_list sent;
};

static const struct {
	const char *method;
	const char *doing; /* shown until the answer comes */
} acts[] = {
	[TOP_PAUSE] = { "worker.pause", "Pausing" },
	[TOP_RESUME] = { "auto.resume", "Resuming" },
	[TOP_ACCEPT] = { "worker.accept", "Accepting the work of" },
	[TOP_REJECT] = { "worker.reject", "Rejecting the work of" },
	[TOP_MESSAGE] = { "worker.message", "Sending the message to" },
};

struct top_act *
top_act_new(struct cli *cli, struct loop *loop,
    void (*on_words)(const char *words, void *arg), void *arg)
{
	struct top_act *act = xcalloc(1, sizeof *act);

	act->cli = cli;
	act->loop = loop;
	act->on_words = on_words;
	act->arg = arg;
	LIST_INIT(&act->sent);
	return act;
}

static void
sent_free(struct sent *sent)
{
	LIST_REMOVE(sent, entry);
	client_stream_free(sent->stream);
	free(sent->target);
	free(sent);
}

void
top_act_free(struct top_act *act)
{
	struct sent *sent, *next;

	if (act == NULL)
		return;
	for (sent = LIST_FIRST(&act->sent); sent != NULL; sent = next) {
		next = LIST_NEXT(sent, entry);
		sent_free(sent);
	}
	free(act);
}

static void
say_accepted(
    const struct sent *sent, struct json_object *result, struct buf *out)
{
	const char *branch = json_string_or(result, "landing_branch", "");

	if (json_bool_or(result, "needs_conflict_resolution", false))
		buf_addf(out,
		    "The work of %s conflicts with %s; the worker resolves "
		    "that, then it lands.",
		    sent->target, branch);
	else if (json_bool_or(result, "already_incorporated", false))
		buf_addf(out, "The work of %s is already on %s.", sent->target,
		    branch);
	else
		buf_addf(out, "Landed the work of %s on %s as %.7s.",
		    sent->target, branch,
		    json_string_or(result, "commit_sha", ""));
}

static void
say_done(const struct sent *sent, struct json_object *result, struct buf *out)
{
	const char *message = json_string_or(result, "message", NULL);

	switch (sent->what) {
	case TOP_ACCEPT:
		say_accepted(sent, result, out);
		break;
	case TOP_REJECT:
		buf_addf(
		    out, "Rejected; %s is working on it again.", sent->target);
		break;
	case TOP_MESSAGE:
		buf_addf(out, "Sent to %s.", sent->target);
		break;
	default:
		if (message != NULL)
			buf_adds(out, message);
		else
			buf_addf(out, "%s %s: done.", acts[sent->what].doing,
			    sent->target);
	}
}

static void
on_notification(const char *method, struct json_object *params, void *arg)
{
	(void)method;
	(void)params;
	(void)arg;
}

static void
on_end(int status, struct json_object *result, const struct err *err, void *arg)
{
	struct sent *sent = arg;
	struct top_act *act = sent->act;
	cleanup_buf struct buf words = BUF_INIT;

	if (status == 0)
		say_done(sent, result, &words);
	else if (status == -EPROTO)
		buf_adds(&words, client_stream_error(sent->stream, NULL));
	else
		buf_addf(&words, "%s %s: %s", acts[sent->what].doing,
		    sent->target,
		    err != NULL ? err->msg : "the daemon has gone");
	sent_free(sent);
	for (size_t i = 0; i < words.len; i++)
		if (words.data[i] == '\n')
			words.data[i] = ' ';
	act->on_words(words.data, act->arg);
}

static struct json_object *
params_of(const struct top_action *action, const char *commit)
{
	struct json_object *params = remote_worker(action->target);

	if (action->what == TOP_REJECT || action->what == TOP_MESSAGE)
		json_set_string(params, "text", action->text);
	if (commit != NULL &&
	    (action->what == TOP_ACCEPT || action->what == TOP_REJECT))
		json_set_string(params, "commit", commit);
	return params;
}

static void
say_unsent(struct top_act *act, int r, const struct err *err)
{
	if (r == -ENOENT || r == -ECONNREFUSED)
		act->on_words("No daemon is running; start it with: llmc up "
			      "--detach",
		    act->arg);
	else
		act->on_words(err->msg, act->arg);
}

/* As for the commands of the same name. */
static bool
is_refused(struct top_act *act, enum top_do what)
{
	if ((api_find(acts[what].method)->callers & API_WORKER) != 0 ||
	    !cli_is_barred(act->cli, false))
		return false;
	act->on_words("Nothing was done: agents may not do that, and this is "
		      "the session of one.",
	    act->arg);
	return true;
}

void
top_act_send(
    struct top_act *act, const struct top_action *action, const char *commit)
{
	static const struct client_stream_fns fns = { on_notification, on_end };
	cleanup_free char *socket = remote_socket(act->cli);
	cleanup_json struct json_object *params = params_of(action, commit);
	cleanup_buf struct buf words = BUF_INIT;
	struct sent *sent;
	struct err err = { 0, "" };
	int r;

	if (is_refused(act, action->what))
		return;
	sent = xcalloc(1, sizeof *sent);
	sent->act = act;
	sent->what = action->what;
	sent->target = xstrdup(action->target);
	LIST_INSERT_HEAD(&act->sent, sent, entry);
	r = client_stream_new(act->loop, socket, acts[action->what].method,
	    params, &fns, sent, &sent->stream, &err);
	if (r < 0) {
		sent_free(sent);
		say_unsent(act, r, &err);
		return;
	}
	buf_addf(&words, "%s %s ...", acts[action->what].doing, action->target);
	act->on_words(words.data, act->arg);
}

const char *
top_act_commit(struct json_object *view, const char *worker)
{
	struct json_object *row;

	if (worker == NULL ||
	    !json_object_object_get_ex(view_of(view, "workers"), worker, &row))
		return NULL;
	return json_string_or(
	    row, "reviewed", json_string_or(row, "commit", NULL));
}
