/* SPDX-License-Identifier: ISC */

#include "base.h"

#include <sys/queue.h>

#include "channel.h"
#include "child.h"
#include "courier.h"
#include "deliver.h"
#include "escalation.h"
#include "kept.h"
#include "loop.h"
#include "message.h"
#include "people.h"
#include "settings.h"
#include "message-spool.h"

#define OUTPUT_MAX 4096
#define DESKTOP    "desktop" /* the channel that exists without settings */

struct slot {
	struct people *people;
	struct loop_timer *pause; /* NULL: the next notice is sent at once */
	struct json_object *waiting; /* until then; NULL = nothing */
	char **ids; /* of the records of what waits */
	char *command; /* of what waits */
};

/* A command that runs. */
struct telling {
	LIST_ENTRY(telling) entry;
	struct people *people;
	struct child *child;
	char **ids; /* of the messages that it tells */
	char *command;
	struct json_object *message;
};

struct people {
	struct loop *loop;
	char *root, *program;
	struct slot slots[NOTICE_CLASS_COUNT];
	LIST_HEAD(tellings, telling) running;
	struct courier *courier; /* the channels */
	struct courier_store store;
	struct message_spool *spool; /* NULL: the store is another one */
	bool ending;
};

/* The last of what the end waits for has ended. */
static void
check_end(void *arg)
{
	const struct people *people = arg;

	if (people->ending && LIST_EMPTY(&people->running) &&
	    !courier_is_busy(people->courier))
		loop_stop(people->loop, 0);
}

static void
on_taken(const char *id, void *arg)
{
	const struct people *people = arg;

	courier_leave(people->courier, id);
}

static void
on_waiting(struct message *message, void *arg)
{
	const struct people *people = arg;

	courier_take(people->courier, message);
}

struct people *
people_new(struct loop *loop, const char *root, const char *program,
    const struct courier_store *store)
{
	struct people *people = xcalloc(1, sizeof *people);

	people->loop = loop;
	people->root = xstrdup(root);
	people->program = xstrdup(program);
	LIST_INIT(&people->running);
	for (size_t i = 0; i < nitems(people->slots); i++)
		people->slots[i].people = people;
	if (store == NULL)
		people->spool = message_spool_new(loop, root);
	people->store =
	    store != NULL ? *store : message_spool_store(people->spool);
	people->courier = courier_new(loop, root, program, &people->store);
	courier_on_idle(people->courier, check_end, people);
	if (people->spool != NULL) {
		message_spool_on_taken(people->spool, on_taken, people);
		message_spool_waiting(people->spool, on_waiting, people);
	}
	return people;
}

static void
telling_free(struct telling *telling)
{
	LIST_REMOVE(telling, entry);
	strv_free(telling->ids);
	free(telling->command);
	json_object_put(telling->message);
	free(telling);
}

/* It has ended, or was not begun. */
static void
end_telling(
    struct telling *telling, enum delivery_state state, const char *reason)
{
	struct people *people = telling->people;

	for (char **id = telling->ids; id != NULL && *id != NULL; id++)
		courier_end_command(people->courier, *id, state, reason);
	telling_free(telling);
	check_end(people);
}

static void
on_told(const struct child_result *result, void *arg)
{
	struct telling *telling = arg;
	cleanup_buf struct buf how = BUF_INIT, said = BUF_INIT;

	if (child_succeeded(result)) {
		end_telling(telling, DELIVERY_SENT, NULL);
		return;
	}
	child_result_describe(result, &how);
	child_output_text(&result->err, &said);
	log_info("people.notify_command %s: %s", how.data, said.data);
	end_telling(telling, DELIVERY_FAILED, how.data);
}

static void
run(void *arg)
{
	struct telling *telling = arg;
	cleanup_buf struct buf text = BUF_INIT;
	cleanup_strv char **argv = kept_shell(telling->command, KEPT_ALONE);
	struct child_spec spec = { .argv = strv_const(argv),
		.deadline_ms = PEOPLE_DEADLINE_MS,
		.output_max = OUTPUT_MAX };
	struct err err = { 0 };

	json_print(telling->message, false, &text);
	buf_addc(&text, '\n');
	spec.input = text.data;
	spec.input_len = text.len;
	if (child_spawn(telling->people->loop, &spec, on_told, telling,
		&telling->child, &err) < 0) {
		log_info("people.notify_command: %s", err.msg);
		end_telling(telling, DELIVERY_FAILED, err.msg);
	}
}

/* It is sent now, and never again: stored before it can be seen. */
static void
run_waiting(struct slot *slot)
{
	struct people *people = slot->people;
	struct telling *telling = xcalloc(1, sizeof *telling);

	*telling = (struct telling){ .people = people,
		.ids = take_ptr(&slot->ids),
		.command = take_ptr(&slot->command),
		.message = take_ptr(&slot->waiting) };
	LIST_INSERT_HEAD(&people->running, telling, entry);
	for (char **id = telling->ids; id != NULL && *id != NULL; id++)
		courier_begin_command(people->courier, *id);
	if (telling->ids == NULL)
		run(telling);
	else
		people->store.then(people, run, telling, people->store.arg);
}

/* Tell what waits, and begin the pause. */
static void
on_pause_over(void *arg)
{
	struct slot *slot = arg;

	loop_timer_free(take_ptr(&slot->pause));
	if (slot->waiting == NULL)
		return;
	run_waiting(slot);
	slot->pause = loop_after(
	    slot->people->loop, PEOPLE_PAUSE_MS, on_pause_over, slot);
}

static void
on_end_over(void *arg)
{
	const struct people *people = arg;

	loop_stop(people->loop, 0);
}

/* Those that are still at work then are left to themselves. */
static bool
await_commands(struct people *people)
{
	struct loop_timer *end;
	struct telling *telling;

	courier_hurry(people->courier);
	if (LIST_EMPTY(&people->running) && !courier_is_busy(people->courier))
		return false;
	people->ending = true;
	end = loop_after(people->loop, PEOPLE_END_MS, on_end_over, people);
	loop_run(people->loop);
	loop_timer_free(end);
	while ((telling = LIST_FIRST(&people->running)) != NULL) {
		if (telling->child != NULL)
			child_release(telling->child);
		telling_free(telling);
	}
	return true;
}

bool
people_free(struct people *people)
{
	struct telling *telling, *next;
	bool waited;

	if (people == NULL)
		return false;
	people->store.forget(people, people->store.arg);
	for (telling = LIST_FIRST(&people->running); telling != NULL;
	     telling = next) {
		next = LIST_NEXT(telling, entry);
		if (telling->child == NULL)
			people->store.then(
			    people, run, telling, people->store.arg);
	}
	for (size_t i = 0; i < nitems(people->slots); i++) {
		struct slot *slot = &people->slots[i];

		if (slot->waiting != NULL)
			run_waiting(slot);
		loop_timer_free(slot->pause);
	}
	waited = await_commands(people);
	people->store.forget(people, people->store.arg);
	courier_free(people->courier);
	message_spool_free(people->spool);
	free(people->root);
	free(people->program);
	free(people);
	return waited;
}

/* The command for this class; "" = none. */
static const char *
command_for(const struct settings *settings, enum notice_class class)
{
	const char *const *wanted;
	const char *command =
	    settings_string(settings, "people.notify_command");
	size_t count = settings_list(settings, "people.notify_on", &wanted);

	for (size_t i = 0; class != NOTICE_NONE && i < count; i++)
		if (strcmp(wanted[i], notice_name(class)) == 0)
			return command;
	return "";
}

/* Those of the settings; and the desktop where there is one, unless a channel
 * for it is described. The caller releases the list. */
static void
all_channels(const struct settings *settings, struct channel_list *ret)
{
	const struct channel_list *list = settings_channels(settings);

	channel_list_copy(list, ret);
	for (size_t i = 0; i < list->count; i++)
		if (list->rows[i].type == CHANNEL_DESKTOP)
			return;
	if (!deliver_has_desktop() || channel_find(list, DESKTOP) != NULL)
		return;
	ret->rows = xreallocarray(ret->rows, ret->count + 1, sizeof *ret->rows);
	ret->rows[ret->count++] = (struct channel){ .name = xstrdup(DESKTOP),
		.type = CHANNEL_DESKTOP,
		.url = xstrdup(""),
		.repo = xstrdup(""),
		.command = xstrdup(""),
		.token_file = xstrdup(""),
		.token_env = xstrdup(""),
		.levels = channel_default_levels(CHANNEL_DESKTOP),
		.enabled = true };
}

bool
people_reaches(const struct settings *settings)
{
	struct channel_list list = { 0 };
	bool reaches =
	    *settings_string(settings, "people.notify_command") != '\0';

	all_channels(settings, &list);
	for (size_t i = 0; i < list.count; i++)
		reaches = reaches || list.rows[i].enabled;
	channel_list_release(&list);
	return reaches;
}

void
people_settings(struct people *people, const struct settings *settings)
{
	struct channel_list list = { 0 };

	all_channels(settings, &list);
	courier_channels(people->courier, &list);
	channel_list_release(&list);
}

/* Have it wait, or tell it at once; id: of its record, NULL = it has none.
 * Takes the message. */
static void
give(struct slot *slot, const char *command, const char *id,
    struct json_object *message)
{
	if (id != NULL)
		strv_add(&slot->ids, id);
	slot->waiting = slot->waiting != NULL ?
	    notice_merge(slot->waiting, message) :
	    message;
	xstrset(&slot->command, command);
	if (slot->pause == NULL)
		on_pause_over(slot);
}

void
people_tell_command(struct people *people, const struct settings *settings,
    const struct notice *notice, const char *id)
{
	const char *command = command_for(settings, notice->class);
	char stamp[CLOCK_STAMP_SIZE];

	if (*command == '\0')
		return;
	clock_format_stamp(clock_wall_ms(), stamp);
	give(&people->slots[notice->class], command, *id != '\0' ? id : NULL,
	    notice_json(notice, people->root, people->program, stamp));
}

/* notice: the same for the command. */
static void
tell(struct people *people, const struct settings *settings,
    struct escalation *what, const struct notice *notice)
{
	char id[ID_ULID_SIZE] = "";

	what->by_command = what->event != NULL &&
	    *command_for(settings, notice->class) != '\0';
	people_settings(people, settings);
	if (what->event == NULL)
		courier_put(people->courier, what);
	else if (!courier_put_once(people->courier, what, id))
		return; /* it was sent before, or no channel takes it */
	people_tell_command(people, settings, notice, id);
}

void
people_tell(struct people *people, const struct settings *settings,
    const struct notice *notice)
{
	cleanup_buf struct buf signature = BUF_INIT;
	struct escalation what;

	if (notice->class == NOTICE_NONE)
		return;
	escalation_of_notice(notice, &signature, &what);
	tell(people, settings, &what, notice);
}

void
people_escalate(struct people *people, const struct settings *settings,
    const struct escalation *what, enum notice_class class)
{
	struct escalation copy = *what;
	const struct notice notice = { .class = class,
		.what = what->title,
		.why = what->text,
		.worker = what->worker,
		.task = what->task };

	copy.class = notice_name(class);
	tell(people, settings, &copy, &notice);
}

/* --- what an earlier process could not tell --------------------------- */

/* One that it has begun with may have been sent. */
void
people_take(struct people *people, const struct settings *settings,
    struct message *message)
{
	enum notice_class class = NOTICE_CLASS_COUNT;
	const char *command;
	struct delivery *d = message_delivery(message, MESSAGE_COMMAND);
	cleanup_free char *id = xstrdup(message->id);
	struct json_object *words = NULL;

	while (--class > NOTICE_NONE)
		if (message->class != NULL &&
		    strcmp(notice_name(class), message->class) == 0)
			break;
	command = command_for(settings, class);
	if (d != NULL && d->state == DELIVERY_WAITING &&
	    !courier_has(people->courier, id)) {
		if (*command != '\0' && d->attempts == 0)
			words = notice_json(&(struct notice){ .class = class,
						.what = message->title,
						.why = message->text,
						.worker = message->worker,
						.task = message->task },
			    people->root, people->program, message->timestamp);
		else
			delivery_end(d, DELIVERY_FAILED,
			    d->attempts > 0 ?
				"the program that ran it has ended" :
				"the command is not in the settings any more",
			    NULL);
		message->done = message_is_done(message);
		people->store.save(message, people->store.arg);
	}
	courier_take(people->courier, message);
	if (words != NULL)
		give(&people->slots[class], command, id, words);
}
