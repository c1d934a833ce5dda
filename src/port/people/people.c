/* SPDX-License-Identifier: ISC */

#include <stdlib.h>
#include <string.h>
#include <sys/queue.h>

#include "buf.h"
#include "child.h"
#include "clock.h"
#include "errtext.h"
#include "json.h"
#include "kept.h"
#include "log.h"
#include "loop.h"
#include "mem.h"
#include "outbox.h"
#include "people.h"
#include "settings.h"
#include "strv.h"

#define OUTPUT_MAX 4096

struct slot {
	struct people *people;
	struct loop_timer *pause; /* NULL: the next notice is told at once */
	struct json_object *waiting; /* until then; NULL = nothing */
	char **ids; /* of what waits */
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
	char *root, *program;
	char *outbox; /* NULL = none */
	struct slot slots[NOTICE_CLASS_COUNT];
	LIST_HEAD(tellings, telling) running;
	bool ending;
};

struct people *
people_new(struct loop *loop, const char *root, const char *program)
{
	struct people *people = xcalloc(1, sizeof *people);

	people->loop = loop;
	people->root = xstrdup(root);
	people->program = xstrdup(program);
	LIST_INIT(&people->running);
	for (size_t i = 0; i < nitems(people->slots); i++)
		people->slots[i].people = people;
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
	if (people->ending && LIST_EMPTY(&people->running))
		loop_stop(people->loop, 0);
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

static void on_pause_over(void *arg);

/* It is told now, and never again. */
static void
note_told(const struct people *people, const char *id)
{
	struct err err = { 0 };

	if (people->outbox != NULL && outbox_told(people->outbox, id, &err) < 0)
		log_info("people.notify_command: %s", err.msg);
}

/* Tell, and begin the pause. */
static void
tell(struct slot *slot, const char *command, struct json_object *message)
{
	struct people *people = slot->people;

	for (size_t i = 0; i < strv_count(slot->ids); i++)
		note_told(people, slot->ids[i]);
	strv_free(take_ptr(&slot->ids));
	run(people, command, message);
	loop_timer_free(slot->pause);
	slot->pause =
	    loop_after(people->loop, PEOPLE_PAUSE_MS, on_pause_over, slot);
}

static void
on_pause_over(void *arg)
{
	struct slot *slot = arg;
	cleanup_json struct json_object *message = take_ptr(&slot->waiting);
	cleanup_free char *command = take_ptr(&slot->command);

	loop_timer_free(take_ptr(&slot->pause));
	if (message != NULL)
		tell(slot, command, message);
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

	if (LIST_EMPTY(&people->running))
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

		if (slot->waiting != NULL)
			tell(slot, slot->command, slot->waiting);
		loop_timer_free(slot->pause);
		json_object_put(slot->waiting);
		free(slot->command);
		strv_free(slot->ids);
	}
	await_commands(people);
	free(people->outbox);
	free(people->root);
	free(people->program);
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
	for (size_t i = 0; i < count; i++)
		if (strcmp(wanted[i], notice_name(class)) == 0)
			return command;
	return "";
}

/* Tell it, or have it wait. Takes the message. */
static void
give(struct slot *slot, const char *command, const char *id,
    struct json_object *message)
{
	const char *outbox = slot->people->outbox;
	struct err err = { 0 };

	if (id != NULL)
		strv_add(&slot->ids, id);
	if (slot->pause == NULL) {
		tell(slot, command, message);
		json_object_put(message);
		return;
	}
	if (id != NULL && outbox != NULL &&
	    outbox_put(outbox, id, message, &err) < 0)
		log_info("people.notify_command: %s", err.msg);
	slot->waiting = slot->waiting != NULL ?
	    notice_merge(slot->waiting, message) :
	    message;
	xstrset(&slot->command, command);
}

void
people_tell(struct people *people, const struct settings *settings,
    const struct notice *notice)
{
	struct slot *slot = &people->slots[notice->class];
	const char *command;
	struct json_object *message;
	char stamp[CLOCK_STAMP_SIZE];

	if (notice->class == NOTICE_NONE)
		return;
	command = command_for(settings, notice->class);
	if (*command == '\0' ||
	    (notice->id != NULL && people->outbox != NULL &&
		outbox_has(people->outbox, notice->id)))
		return;
	clock_format_stamp(clock_wall_ms(), stamp);
	message = notice_json(notice, people->root, people->program, stamp);
	give(slot, command, notice->id, message);
}

/* --- what an earlier daemon could not tell --------------------------- */

struct resume {
	struct people *people;
	const struct settings *settings;
};

static void
on_waiting(const char *id, struct json_object *message, void *arg)
{
	const struct resume *resume = arg;
	const char *name = json_string_or(message, "class", "");
	int class = NOTICE_NONE + 1;
	const char *command;

	while (class < NOTICE_CLASS_COUNT &&
	    strcmp(notice_name((enum notice_class) class), name) != 0)
		class ++;
	if (class == NOTICE_CLASS_COUNT)
		return;
	command = command_for(resume->settings, (enum notice_class) class);
	if (*command != '\0')
		give(&resume->people->slots[class], command, id,
		    json_object_get(message));
}

void
people_use_outbox(
    struct people *people, const struct settings *settings, const char *dir)
{
	struct resume resume = { people, settings };

	xstrset(&people->outbox, dir);
	outbox_each(dir, on_waiting, &resume);
}
