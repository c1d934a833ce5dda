/* SPDX-License-Identifier: ISC */

#include "base.h"

#include <dirent.h>

#include "asks.h"
#include "book-history.h"
#include "book.h"
#include "core.h"
#include "messages.h"
#include "moment.h"
#include "people.h"
#include "persist.h"
#include "request.h"
#include "message-spool.h"
#include "state-upgrade.h"
#include "workspace.h"

/* --- the book ----------------------------------------------------------- */

static bool
is_same(const char *a, const char *b)
{
	return a != NULL && b != NULL && strcmp(a, b) == 0;
}

static void
save(const struct message *message, void *arg)
{
	struct core *core = arg;
	const char *by = message_sent_by(message);

	if (core->book == NULL)
		return;
	book_put_message(core->book, message);
	if (by != NULL) {
		/* A channel has taken it: the asks that it is about were
		 * told. */
		for (size_t i = 0; i < core->state.ask_count; i++) {
			struct ask *ask = core->state.asks[i];

			if (ask->created_ms > message->at_ms ||
			    !(is_same(ask->key, message->event) ||
				is_same(ask->task, message->task) ||
				(ask->task == NULL &&
				    is_same(ask->worker, message->worker)) ||
				(ask->node != NULL &&
				    is_same(ask->node, message->node) &&
				    is_same(ask->goal, message->goal))))
				continue;
			if (ask_told(ask, by, clock_wall_ms()))
				book_put_ask(core->book, ask);
		}
	}
}

/* Without a book it is sent all the same. */
static void
then(void *owner, void (*fn)(void *arg), void *fn_arg, void *arg)
{
	struct core *core = arg;

	if (core->book == NULL)
		fn(fn_arg);
	else
		persist_then(core, owner, fn, fn_arg);
}

static void
forget(const void *owner, void *arg)
{
	persist_forget(arg, owner);
}

static bool
knows(const char *event, void *arg)
{
	const struct core *core = arg;

	return core->book != NULL && book_knows_event(core->book, event);
}

struct courier_store
messages_store(struct core *core)
{
	return (struct courier_store){ .save = save,
		.then = then,
		.forget = forget,
		.knows = knows,
		.arg = core };
}

/* --- what others have left ---------------------------------------------- */

static void
on_waiting(struct message *message, void *arg)
{
	const struct core *core = arg;

	people_take(core->people, core->settings, message);
}

/* Questions that agents asked are questions; the rest is told. */
static void
open_ask(struct core *core, const struct message *m)
{
	size_t len = strlen(REQUEST_EVENT);
	const char *question =
	    m->event != NULL && strncmp(m->event, REQUEST_EVENT, len) == 0 ?
	    m->event + len :
	    NULL;
	cleanup_free char *key = question != NULL ?
	    xasprintf("question/%s", question) :
	    xasprintf("message/%s", m->id);
	struct ask *ask;

	asks_open(core,
	    &(struct ask_draft){
		.kind = question != NULL ? ASK_QUESTION : ASK_TOLD,
		.level = m->level,
		.key = key,
		.title = m->title,
		.words = m->text,
		.worker = m->worker,
		.task = m->task,
		.goal = m->goal,
		.node = m->node,
		.question = question,
		.options = strv_const(m->options),
		.stays = question == NULL });
	ask = state_ask(&core->state, key);
	if (ask == NULL)
		return;
	ask->created_ms = ask->said_ms = m->at_ms;
	if (message_sent_by(m) != NULL)
		ask_told(ask, message_sent_by(m), m->at_ms);
	book_put_ask(core->book, ask);
}

/* One that is known may have been sent since. */
static void
on_spooled(struct message *message, void *arg)
{
	struct core *core = arg;
	struct message *known = book_find_message(core->book, message->id);

	if (known == NULL) {
		open_ask(core, message);
		known = take_ptr(&message);
	} else {
		message_learn(known, message);
	}
	known->done = message_is_done(known);
	book_put_message(core->book, known);
	message_free(message);
	people_take(core->people, core->settings, known);
}

static void
on_filed(void *arg)
{
	const struct core *core = arg;

	message_spool_taken(core->workspace->root);
}

void
messages_file(struct core *core)
{
	if (core->people != NULL && core->book != NULL &&
	    core->settings != NULL && persist_ready(core, NULL) == 0 &&
	    message_spool_take(core->workspace->root, on_spooled, core))
		persist_then(core, core, on_filed, core);
}

void
messages_begin(struct core *core)
{
	struct err err = { 0 };

	if (core->people == NULL || core->book == NULL ||
	    core->settings == NULL)
		return;
	if (book_load_messages(core->book, on_waiting, core, &err) < 0)
		log_info("messages to people cannot be read: %s", err.msg);
	messages_file(core);
}

/* --- the version before --------------------------------------------------- */

/* Members that messages had then. */
static const char *const gone[] = { "acked_ms", "answer", "question" };

static void
import(struct core *core, const char *path)
{
	cleanup_json struct json_object *json = NULL;
	struct message *message = NULL, *known = NULL;
	struct err err = { 0 };
	bool seen;
	int r = json_load(path, MESSAGE_FILE_MAX, &json, &err);

	if (r < 0 || !json_object_is_type(json, json_type_object)) {
		log_info("%s cannot be read: %s", path, err.msg);
		return;
	}
	seen = json_int_or(json, "acked_ms", 0) > 0;
	for (size_t i = 0; i < nitems(gone); i++)
		json_object_object_del(json, gone[i]);
	if (message_from_json(json, &message, &err) < 0) {
		log_info("%s cannot be read: %s", path, err.msg);
		return;
	}
	known = book_find_message(core->book, message->id);
	if (known == NULL) {
		moment_parse(message->timestamp, &message->at_ms);
		message->done = message_is_done(message);
		book_put_message(core->book, message);
		if (!seen && message->level >= ESCALATION_CRITICAL)
			open_ask(core, message);
	}
	message_free(known);
	message_free(message);
}

static int
is_message(const struct dirent *entry)
{
	size_t len = strlen(entry->d_name);

	return len > 5 && strcmp(entry->d_name + len - 5, ".json") == 0;
}

/* The oldest first. */
static void
import_folder(struct core *core, const char *path)
{
	struct dirent **list = NULL;
	int count = scandir(path, &list, is_message, alphasort);

	for (int i = 0; i < count; i++) {
		cleanup_free char *file =
		    xasprintf("%s/%s", path, list[i]->d_name);

		import(core, file);
		free(list[i]);
	}
	free(list);
}

void
messages_import(struct core *core)
{
	cleanup_free char *waiting = workspace_path(core->workspace, "outbox");
	cleanup_free char *done =
	    workspace_path(core->workspace, "outbox/done");

	import_folder(core, done);
	import_folder(core, waiting);
}

void
messages_imported(const struct core *core)
{
	cleanup_free char *from = workspace_path(core->workspace, "outbox");
	cleanup_free char *to = NULL;
	struct err err = { 0 };

	if (!file_exists(from))
		return;
	to = state_upgrade_place(core->workspace->dir, "outbox", &err);
	if (to == NULL)
		log_info("%s", err.msg);
	else if (rename(from, to) == -1)
		log_info("%s cannot be moved: %s", from, strerror(errno));
}
