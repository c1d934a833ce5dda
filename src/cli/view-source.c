/* SPDX-License-Identifier: ISC */

#include "base.h"
#include "cli-private.h"
#include "loop.h"
#include "view.h"
#include "watch.h"

#define ANSWER_MS 5000 /* for the whole view */
#define SOON_MS   300 /* for a part of it */
#define AGAIN_MS  1000 /* between attempts, if the socket cannot be watched */
#define FILES_MS  200 /* between views from the files */

/* --- once ------------------------------------------------------------ */

static struct json_object *
list_of(const char *const *sections)
{
	struct json_object *list =
	    sections != NULL ? json_object_new_array() : NULL;

	for (; sections != NULL && *sections != NULL; sections++)
		json_object_array_add(list, json_object_new_string(*sections));
	return list;
}

/* From the book and the files, by autod (autod/look.c). */
static int
from_files(
    struct cli *cli, const char *const *sections, struct json_object **ret_view)
{
	cleanup_json struct json_object *daemon = roster_daemon(cli);
	struct json_object *params = json_object_new_object(), *view = NULL;
	struct err err = { 0 };

	json_set_bool(params, "alive", daemon != NULL);
	if (sections != NULL)
		json_set(params, "sections", list_of(sections));
	if (remote_look(cli, "view", params, &view, &err) < 0)
		return cli_fail_err(cli, "bad_state", &err);
	*ret_view = view_complete(view);
	return CLI_OK;
}

bool
view_source_ask(
    struct cli *cli, const char *const *sections, struct json_object **ret_view)
{
	cleanup_free char *socket = remote_socket(cli);
	cleanup_json struct json_object *params = json_object_new_object();
	struct json_object *view = NULL;

	if (sections != NULL)
		json_set(params, "sections", list_of(sections));
	if (client_call(socket, "view.get", params,
		sections != NULL ? SOON_MS : ANSWER_MS, true, &view, NULL,
		NULL) != 0)
		return false;
	*ret_view = view_complete(view);
	if (cli->here)
		view_hosts_here(*ret_view);
	return true;
}

int
view_source_once(struct cli *cli, const char *const *sections,
    struct json_object **ret_view, bool *ret_live)
{
	*ret_live = view_source_ask(cli, sections, ret_view);
	return *ret_live ? CLI_OK : from_files(cli, sections, ret_view);
}

/* --- as it changes --------------------------------------------------- */

struct view_source {
	struct cli *cli;
	struct loop *loop;
	char *socket;
	void (*fn)(void *arg);
	void *arg;
	struct json_object *view;
	int64_t seq; /* of the last change */
	bool live;
	struct client_stream *stream; /* NULL = no daemon answers */
	struct watch *watch; /* of the socket; NULL = it cannot be watched */
	struct loop_timer *timer; /* the next attempt */
	struct watch *state; /* of the book, until a daemon was live */
	struct loop_timer *changed; /* since it has */
};

static void dial_later(struct view_source *source);

/* --- while there is no daemon, or one that is too old ----------------- */

static void
on_files(void *arg)
{
	struct view_source *s = arg;
	struct json_object *view = NULL;

	loop_timer_free(take_ptr(&s->changed));
	if (from_files(s->cli, NULL, &view) != CLI_OK)
		return;
	json_object_put(s->view);
	s->view = view;
	s->fn(s->arg);
}

static void
on_state(void *arg)
{
	struct view_source *s = arg;

	if (s->changed == NULL)
		s->changed = loop_after(s->loop, FILES_MS, on_files, s);
}

static void
forget_files(struct view_source *s)
{
	watch_free(take_ptr(&s->state));
	loop_timer_free(take_ptr(&s->changed));
}

/* --- from a daemon ---------------------------------------------------- */

static void
lose(struct view_source *s)
{
	client_stream_free(take_ptr(&s->stream));
	if (s->live) {
		s->live = false;
		s->fn(s->arg);
	}
}

/* False: it does not fit to what we have. */
static bool
take(struct view_source *s, const char *method, struct json_object *params)
{
	int64_t seq = json_int_or(params, "seq", 0);
	struct json_object *body;

	if (strcmp(method, "snapshot") == 0) {
		if (json_get_object(params, "", "view", &body, NULL) < 0)
			return false;
		json_object_put(s->view);
		s->view = view_complete(json_object_get(body));
		s->live = true;
		forget_files(s);
	} else if (strcmp(method, "change") == 0) {
		if (!s->live || seq != s->seq + 1 ||
		    json_get_object(params, "", "change", &body, NULL) < 0 ||
		    view_apply(s->view, body) < 0)
			return false;
	} else {
		return true; /* of a later version */
	}
	s->seq = seq;
	if (s->cli->here)
		view_hosts_here(s->view);
	return true;
}

static void
on_notification(const char *method, struct json_object *params, void *arg)
{
	struct view_source *s = arg;

	if (take(s, method, params)) {
		s->fn(s->arg);
		return;
	}
	lose(s);
	dial_later(s); /* begins with a snapshot */
}

/* The daemon has gone, or has cut us off. */
static void
on_end(int status, struct json_object *result, const struct err *err, void *arg)
{
	struct view_source *s = arg;

	(void)status;
	(void)result;
	(void)err;
	lose(s);
	dial_later(s);
}

static void
on_dial(void *arg)
{
	static const struct client_stream_fns fns = { on_notification, on_end };
	cleanup_json struct json_object *params = json_object_new_object();
	struct view_source *s = arg;
	int r;

	loop_timer_free(take_ptr(&s->timer));
	if (s->stream != NULL)
		return;
	r = client_stream_new(s->loop, s->socket, "view.follow", params, &fns,
	    s, &s->stream, NULL);
	/* Without a daemon, the watch tells when one starts. */
	if (r < 0 && (s->watch == NULL || (r != -ENOENT && r != -ECONNREFUSED)))
		dial_later(s);
}

static void
dial_later(struct view_source *s)
{
	loop_timer_set(&s->timer, s->loop, AGAIN_MS, on_dial, s);
}

int
view_source_new(struct cli *cli, struct loop *loop, void (*fn)(void *arg),
    void *arg, struct view_source **ret_source)
{
	cleanup_free char *state =
	    workspace_path(&cli->workspace, WORKSPACE_BOOK);
	struct json_object *view = NULL;
	struct view_source *s;
	int status = from_files(cli, NULL, &view);

	if (status != CLI_OK)
		return status;
	s = xcalloc(1, sizeof *s);
	s->cli = cli;
	s->loop = loop;
	s->socket = client_socket_path(&cli->workspace);
	s->fn = fn;
	s->arg = arg;
	s->view = view;
	watch_new(loop, s->socket, on_dial, s, &s->watch, NULL);
	watch_new(loop, state, on_state, s, &s->state, NULL);
	on_dial(s);
	*ret_source = s;
	return CLI_OK;
}

void
view_source_free(struct view_source *s)
{
	if (s == NULL)
		return;
	client_stream_free(s->stream);
	watch_free(s->watch);
	forget_files(s);
	loop_timer_free(s->timer);
	json_object_put(s->view);
	free(s->socket);
	free(s);
}

struct json_object *
view_source_view(const struct view_source *s)
{
	return s->view;
}

bool
view_source_live(const struct view_source *s)
{
	return s->live;
}
