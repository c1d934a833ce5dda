/* SPDX-License-Identifier: ISC */

#include <stdlib.h>
#include <string.h>
#include <sys/queue.h>

#include "buf.h"
#include "channel.h"
#include "child.h"
#include "clock.h"
#include "courier.h"
#include "errtext.h"
#include "escalation.h"
#include "json.h"
#include "kept.h"
#include "log.h"
#include "loop.h"
#include "mem.h"
#include "outbox-record.h"
#include "outbox.h"
#include "people.h"
#include "settings.h"
#include "strv.h"

#define OUTPUT_MAX 4096
#define CONTEST_MS 1000 /* another process has a record */

struct slot {
	struct people *people;
	struct loop_timer *pause; /* NULL: the next notice is told at once */
	struct json_object *waiting; /* until then; NULL = nothing */
	char **ids; /* of the records of what waits */
	char *command; /* of what waits */
};

/* A command that runs. */
struct telling {
	LIST_ENTRY(telling) entry;
	struct people *people;
	struct child *child;
};

struct people {
	struct loop *loop;
	char *root, *program, *outbox;
	struct slot slots[NOTICE_CLASS_COUNT];
	LIST_HEAD(tellings, telling) running;
	struct courier *courier; /* the channels */
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

struct people *
people_new(struct loop *loop, const char *root, const char *program)
{
	struct people *people = xcalloc(1, sizeof *people);

	people->loop = loop;
	people->root = xstrdup(root);
	people->program = xstrdup(program);
	people->outbox = xasprintf("%s/.llmc/outbox", root);
	LIST_INIT(&people->running);
	for (size_t i = 0; i < nitems(people->slots); i++)
		people->slots[i].people = people;
	people->courier = courier_new(loop, root, program);
	courier_on_idle(people->courier, check_end, people);
	return people;
}

static void
on_told(const struct child_result *result, void *arg)
{
	struct telling *telling = arg;
	struct people *people = telling->people;
	cleanup_buf struct buf how = BUF_INIT, said = BUF_INIT;

	if (!child_succeeded(result)) {
		child_result_describe(result, &how);
		child_output_text(&result->err, &said);
		log_info("people.notify_command %s: %s", how.data, said.data);
	}
	LIST_REMOVE(telling, entry);
	free(telling);
	check_end(people);
}

static void
run(struct people *people, const char *command, struct json_object *message)
{
	struct telling *telling = xcalloc(1, sizeof *telling);
	cleanup_buf struct buf text = BUF_INIT;
	cleanup_strv char **argv = kept_shell(command, KEPT_ALONE);
	struct child_spec spec = { .argv = strv_const(argv),
		.deadline_ms = PEOPLE_DEADLINE_MS,
		.output_max = OUTPUT_MAX };
	struct err err = { 0 };

	json_print(message, false, &text);
	buf_addc(&text, '\n');
	spec.input = text.data;
	spec.input_len = text.len;
	telling->people = people;
	if (child_spawn(people->loop, &spec, on_told, telling, &telling->child,
		&err) < 0) {
		log_info("people.notify_command: %s", err.msg);
		free(telling);
		return;
	}
	LIST_INSERT_HEAD(&people->running, telling, entry);
}

/* It is told now, and never again: on disk before anybody can see it. False:
 * another process has one of the records. */
static bool
note_told(const struct slot *slot)
{
	char *const *id = slot->ids;

	for (; id != NULL && *id != NULL; id++)
		if (!courier_end_command(
			slot->people->courier, *id, OUTBOX_SENT, NULL))
			return false;
	return true;
}

static void
run_waiting(struct slot *slot)
{
	cleanup_json struct json_object *message = take_ptr(&slot->waiting);
	cleanup_free char *command = take_ptr(&slot->command);

	strv_clear(&slot->ids);
	run(slot->people, command, message);
}

/* Tell what waits, and begin the pause. */
static void
on_pause_over(void *arg)
{
	struct slot *slot = arg;
	int64_t pause = CONTEST_MS;

	loop_timer_free(take_ptr(&slot->pause));
	if (slot->waiting == NULL)
		return;
	if (note_told(slot)) {
		run_waiting(slot);
		pause = PEOPLE_PAUSE_MS;
	}
	slot->pause =
	    loop_after(slot->people->loop, pause, on_pause_over, slot);
}

static void
on_end_over(void *arg)
{
	const struct people *people = arg;

	loop_stop(people->loop, 0);
}

/* Those that are still at work then are left to themselves. */
static void
await_commands(struct people *people)
{
	struct loop_timer *end;
	struct telling *telling;

	courier_hurry(people->courier);
	if (LIST_EMPTY(&people->running) && !courier_is_busy(people->courier))
		return;
	people->ending = true;
	end = loop_after(people->loop, PEOPLE_END_MS, on_end_over, people);
	loop_run(people->loop);
	loop_timer_free(end);
	while ((telling = LIST_FIRST(&people->running)) != NULL) {
		child_release(telling->child);
		LIST_REMOVE(telling, entry);
		free(telling);
	}
}

void
people_free(struct people *people)
{
	if (people == NULL)
		return;
	for (size_t i = 0; i < nitems(people->slots); i++) {
		struct slot *slot = &people->slots[i];

		if (slot->waiting != NULL) {
			note_told(slot);
			run_waiting(slot);
		}
		loop_timer_free(slot->pause);
	}
	await_commands(people);
	courier_free(people->courier);
	free(people->root);
	free(people->program);
	free(people->outbox);
	free(people);
}

/* The command for this class; "" = nobody wants to know. */
static const char *
command_for(const struct settings *settings, enum notice_class class)
{
	const char *const *wanted;
	const char *command =
	    settings_string(settings, "people.notify_command");
	size_t count = settings_list(settings, "people.notify_on", &wanted);

	if (*command == '\0')
		command = settings_string(settings, "overseer.notify_command");
	for (size_t i = 0; class != NOTICE_NONE && i < count; i++)
		if (strcmp(wanted[i], notice_name(class)) == 0)
			return command;
	return "";
}

void
people_settings(struct people *people, const struct settings *settings)
{
	courier_channels(people->courier, settings_channels(settings));
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

/* False: it was told before. id stays empty if it has no record of its own. */
static bool
tell_channels(struct people *people, const struct settings *settings,
    const struct escalation *what, char id[ID_ULID_SIZE])
{
	if (what->event == NULL && settings_channels(settings)->count == 0)
		return true;
	people_settings(people, settings);
	if (what->event != NULL)
		return courier_put_once(people->courier, what, id);
	courier_put(people->courier, what);
	return true;
}

/* notice: the same for the command. */
static void
tell(struct people *people, const struct settings *settings,
    struct escalation *what, const struct notice *notice)
{
	const char *command = command_for(settings, notice->class);
	char stamp[CLOCK_STAMP_SIZE], id[ID_ULID_SIZE] = "";

	what->by_command = what->event != NULL && *command != '\0';
	if (!tell_channels(people, settings, what, id) || *command == '\0')
		return;
	clock_format_stamp(clock_wall_ms(), stamp);
	give(&people->slots[notice->class], command, *id != '\0' ? id : NULL,
	    notice_json(notice, people->root, people->program, stamp));
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
people_tell_command(struct people *people, const struct settings *settings,
    const struct notice *notice)
{
	const char *command = command_for(settings, notice->class);
	char stamp[CLOCK_STAMP_SIZE];

	if (*command == '\0')
		return;
	clock_format_stamp(clock_wall_ms(), stamp);
	give(&people->slots[notice->class], command, NULL,
	    notice_json(notice, people->root, people->program, stamp));
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

static enum notice_class
class_of(const struct outbox_record *record)
{
	for (int i = NOTICE_NONE + 1; i < NOTICE_CLASS_COUNT; i++)
		if (record->class != NULL &&
		    strcmp(notice_names[i - 1], record->class) == 0)
			return (enum notice_class)i;
	return NOTICE_NONE;
}

static void
resume(struct people *people, const struct settings *settings,
    const struct outbox_record *record)
{
	enum notice_class class = class_of(record);
	const char *command =
	    class != NOTICE_NONE ? command_for(settings, class) : "";
	const struct notice notice = { .class = class,
		.what = record->title,
		.why = record->text,
		.worker = record->worker,
		.task = record->task };

	if (*command == '\0')
		courier_end_command(people->courier, record->id, OUTBOX_SKIPPED,
		    "the command is not in the settings any more");
	else
		give(&people->slots[class], command, record->id,
		    notice_json(&notice, people->root, people->program,
			record->timestamp));
}

void
people_resume(struct people *people, const struct settings *settings)
{
	cleanup_strv char **list = outbox_list(people->outbox, false);

	for (size_t i = 0; list[i] != NULL; i++) {
		struct outbox_record *record = NULL;
		const struct outbox_delivery *d;

		if (outbox_load(people->outbox, list[i], &record, NULL) < 0)
			continue;
		d = outbox_record_delivery(record, OUTBOX_COMMAND);
		if (d != NULL && d->state == OUTBOX_WAITING)
			resume(people, settings, record);
		outbox_record_free(record);
	}
}
