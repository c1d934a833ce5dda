/* SPDX-License-Identifier: ISC */

#include "base.h"

#include "channel.h"
#include "courier.h"
#include "deliver.h"
#include "loop.h"
#include "message-spool.h"
#include "message.h"
#include "notice.h"
#include "people.h"
#include "settings.h"

#define DESKTOP "desktop" /* the channel that exists without settings */

struct people {
	struct loop *loop;
	struct courier *courier;
	struct message_spool *spool; /* NULL: the store is another one */
	bool ending;
};

/* The last of what the end waits for has ended. */
static void
on_idle(void *arg)
{
	const struct people *people = arg;

	if (people->ending)
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
	people_take(arg, message);
}

struct people *
people_new(struct loop *loop, const char *root, const char *program,
    const struct courier_store *store)
{
	struct people *people = xcalloc(1, sizeof *people);
	struct courier_store own;

	people->loop = loop;
	if (store == NULL) {
		people->spool = message_spool_new(loop, root);
		own = message_spool_store(people->spool);
		store = &own;
	}
	people->courier = courier_new(loop, root, program, store);
	courier_on_idle(people->courier, on_idle, people);
	if (people->spool != NULL) {
		message_spool_on_taken(people->spool, on_taken, people);
		message_spool_waiting(people->spool, on_waiting, people);
	}
	return people;
}

static void
on_end_over(void *arg)
{
	const struct people *people = arg;

	loop_stop(people->loop, 0);
}

bool
people_free(struct people *people)
{
	bool waited;

	if (people == NULL)
		return false;
	courier_hurry(people->courier);
	waited = courier_is_busy(people->courier);
	if (waited) {
		struct loop_timer *end = loop_after(
		    people->loop, PEOPLE_END_MS, on_end_over, people);

		people->ending = true;
		loop_run(people->loop);
		loop_timer_free(end);
	}
	courier_free(people->courier);
	message_spool_free(people->spool);
	free(people);
	return waited;
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
	bool reaches = false;

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

void
people_tell(struct people *people, const struct settings *settings,
    const struct notice *notice, enum people_saved saved)
{
	cleanup_buf struct buf signature = BUF_INIT;
	struct escalation what;

	if (notice->class == NOTICE_NONE)
		return;
	escalation_of_notice(notice, &signature, &what);
	what.unsaved = saved == PEOPLE_UNSAVED;
	people_escalate(people, settings, &what);
}

void
people_escalate(struct people *people, const struct settings *settings,
    const struct escalation *what)
{
	const char *origin = settings_string(settings, "web.origin");
	const char *about = what->task != NULL ? what->task :
	    what->worker != NULL               ? what->worker :
						 what->node;
	struct escalation linked = *what;
	cleanup_free char *link = NULL;

	/* Elsewhere the page cannot be opened by a link alone. */
	if (settings_bool(settings, "web.enabled") && *origin != '\0')
		link = about != NULL ? xasprintf("%s/#/ask/%s", origin, about) :
				       xasprintf("%s/#needs", origin);
	linked.link = link;
	people_settings(people, settings);
	courier_put(people->courier, &linked);
}

void
people_take(struct people *people, struct message *message)
{
	courier_take(people->courier, message);
}
