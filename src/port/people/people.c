/* SPDX-License-Identifier: ISC */

#include "base.h"

#include <sys/queue.h>
#include <sys/socket.h>
#include <sys/un.h>

#include "channel.h"
#include "courier.h"
#include "notice.h"
#include "loop.h"
#include "message.h"
#include "people.h"
#include "settings.h"

#define DESKTOP "desktop" /* the channel that exists without settings */

struct people {
	struct loop *loop;
	struct courier *courier;
	struct message_spool *spool; /* NULL: the store is another one */
	bool ending;
};

#define NAME      "overseer-messages.json"
#define TAKEN     "overseer-messages.taken"
#define BROKEN    "overseer-messages.broken"
#define LOCK      "overseer-messages.lock"
#define SPOOL_MAX ((size_t)64 * 1024 * 1024)
#define AGAIN_MS  1000 /* the daemon has the lock, or the disk is full */

struct effect {
	TAILQ_ENTRY(effect) link;
	const void *owner;
	void (*fn)(void *arg);
	void *arg;
};

struct message_spool {
	struct loop *loop;
	char *root;
	struct json_object *list; /* of messages, the oldest first */
	char **written; /* the ids in the file */
	char **changed; /* since then */
	struct loop_call *write;
	struct loop_timer *again;
	TAILQ_HEAD(effects, effect) effects;
	void (*taken)(const char *id, void *arg);
	void *taken_arg;
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

void
people_channels(const struct settings *settings, struct channel_list *ret)
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

	people_channels(settings, &list);
	for (size_t i = 0; i < list.count; i++)
		reaches = reaches || list.rows[i].enabled;
	channel_list_release(&list);
	return reaches;
}

void
people_settings(struct people *people, const struct settings *settings)
{
	struct channel_list list = { 0 };

	people_channels(settings, &list);
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

static char *
path_of(const char *root, const char *name)
{
	return xasprintf("%s/.llmc/%s", root, name);
}

static const char *
id_of(struct json_object *message)
{
	return json_string_or(message, "id", "");
}

/* NULL = there is none, or it is none: then it is put aside. */
static struct json_object *
load(const char *root, const char *name)
{
	cleanup_free char *path = path_of(root, name);
	cleanup_free char *broken = path_of(root, BROKEN);
	struct json_object *list = NULL;
	struct err err = { 0 };
	int r = json_load(path, SPOOL_MAX, &list, &err);

	if (r == 0 && json_object_is_type(list, json_type_array))
		return list;
	json_object_put(list);
	if (r == 0 || r == -EINVAL || r == -EFBIG || r == -E2BIG) {
		log_info(
		    "%s holds no messages; it is kept as %s", path, broken);
		rename(path, broken);
	} else if (r != -ENOENT) {
		log_info("%s", err.msg);
	}
	return NULL;
}

static void
give(struct json_object *list, bool waiting, message_spool_fn *fn, void *arg)
{
	for (size_t i = 0; list != NULL && i < json_object_array_length(list);
	     i++) {
		struct message *message = NULL;
		struct err err = { 0 };

		if (message_from_json(
			json_object_array_get_idx(list, i), &message, &err) < 0)
			log_info("a message cannot be read: %s", err.msg);
		else if (waiting && message_is_done(message))
			message_free(message);
		else
			fn(message, arg);
	}
}

/* --- the daemon ------------------------------------------------------- */

bool
message_spool_take(const char *root, message_spool_fn *fn, void *arg)
{
	cleanup_free char *from = path_of(root, NAME);
	cleanup_free char *to = path_of(root, TAKEN);
	cleanup_free char *lock = path_of(root, LOCK);
	cleanup_json struct json_object *list = NULL;

	/* What a daemon has left that was killed comes first. */
	if (!file_exists(to)) {
		cleanup_fd int fd = -1;

		if (!file_exists(from))
			return false;
		fd = lock_try(lock, NULL);
		if (fd < 0 || rename(from, to) < 0)
			return false;
	}
	list = load(root, TAKEN);
	give(list, false, fn, arg);
	return list != NULL;
}

void
message_spool_taken(const char *root)
{
	cleanup_free char *path = path_of(root, TAKEN);

	if (unlink(path) < 0 && errno != ENOENT)
		log_info("%s: %s", path, strerror(errno));
}

void
message_spool_read(const char *root, message_spool_fn *fn, void *arg)
{
	static const char *const names[] = { TAKEN, NAME };

	for (size_t i = 0; i < nitems(names); i++) {
		cleanup_free char *path = path_of(root, names[i]);
		cleanup_json struct json_object *list = NULL;

		if (json_load(path, SPOOL_MAX, &list, NULL) == 0 &&
		    json_object_is_type(list, json_type_array))
			give(list, false, fn, arg);
	}
}

/* --- the overseer ----------------------------------------------------- */

static void
run_effects(struct message_spool *s)
{
	struct effects now = TAILQ_HEAD_INITIALIZER(now);
	struct effect *effect;

	TAILQ_CONCAT(&now, &s->effects, link);
	while ((effect = TAILQ_FIRST(&now)) != NULL) {
		void (*fn)(void *arg) = effect->fn;
		void *arg = effect->arg;

		TAILQ_REMOVE(&now, effect, link);
		free(effect);
		fn(arg);
	}
}

static int
write_list(struct message_spool *s)
{
	cleanup_free char *path = path_of(s->root, NAME);
	cleanup_free char *lock = path_of(s->root, LOCK);
	cleanup_fd int fd = lock_try(lock, NULL);
	struct err err = { 0 };
	size_t done = 0;
	int r = 0;

	if (fd < 0)
		return fd;
	if (strv_count(s->written) > 0 && !file_exists(path)) {
		/* What was in the file is the daemon's now; what has changed
		 * since goes into the next one: the daemon takes from it
		 * what has become of a message. */
		for (size_t i = json_object_array_length(s->list); i-- > 0;) {
			struct json_object *one =
			    json_object_array_get_idx(s->list, i);

			if (strv_has(strv_const(s->written), id_of(one)) &&
			    !strv_has(strv_const(s->changed), id_of(one)))
				json_object_array_del_idx(s->list, i, 1);
		}
		for (char **id = s->written;
		     s->taken != NULL && id != NULL && *id != NULL; id++)
			s->taken(*id, s->taken_arg);
		strv_clear(&s->written);
	}
	for (size_t i = json_object_array_length(s->list); i-- > 0;)
		if (json_bool_or(
			json_object_array_get_idx(s->list, i), "done", false) &&
		    ++done > MESSAGE_SPOOL_DONE_MAX)
			json_object_array_del_idx(s->list, i, 1);
	if (strv_count(s->changed) > 0)
		r = json_save(path, s->list, 0600, &err);
	if (r < 0) {
		log_info("a message to people is not saved: %s", err.msg);
		return r;
	}
	if (strv_count(s->changed) > 0) {
		strv_clear(&s->written);
		for (size_t i = 0; i < json_object_array_length(s->list); i++)
			strv_add(&s->written,
			    id_of(json_object_array_get_idx(s->list, i)));
	}
	strv_clear(&s->changed);
	return 0;
}

static void
on_write(void *arg)
{
	struct message_spool *s = arg;

	loop_timer_free(take_ptr(&s->again));
	if (write_list(s) < 0)
		s->again = loop_after(s->loop, AGAIN_MS, on_write, s);
	else
		run_effects(s);
}

struct message_spool *
message_spool_new(struct loop *loop, const char *root)
{
	struct message_spool *s = xcalloc(1, sizeof *s);

	s->loop = loop;
	s->root = xstrdup(root);
	s->list = load(root, NAME);
	if (s->list == NULL)
		s->list = json_object_new_array();
	for (size_t i = 0; i < json_object_array_length(s->list); i++)
		strv_add(
		    &s->written, id_of(json_object_array_get_idx(s->list, i)));
	TAILQ_INIT(&s->effects);
	s->write = loop_call_new(loop, on_write, s);
	return s;
}

void
message_spool_free(struct message_spool *s)
{
	struct effect *effect;

	if (s == NULL)
		return;
	if (strv_count(s->changed) > 0)
		write_list(s);
	while ((effect = TAILQ_FIRST(&s->effects)) != NULL) {
		TAILQ_REMOVE(&s->effects, effect, link);
		free(effect);
	}
	loop_call_free(s->write);
	loop_timer_free(s->again);
	json_object_put(s->list);
	strv_free(s->written);
	strv_free(s->changed);
	free(s->root);
	free(s);
}

void
message_spool_waiting(
    const struct message_spool *s, message_spool_fn *fn, void *arg)
{
	give(s->list, true, fn, arg);
}

void
message_spool_on_taken(
    struct message_spool *s, void (*fn)(const char *id, void *arg), void *arg)
{
	s->taken = fn;
	s->taken_arg = arg;
}

static void
save(const struct message *message, void *arg)
{
	struct message_spool *s = arg;
	struct json_object *json = message_to_json(message);
	size_t i = json_object_array_length(s->list);

	while (i > 0 &&
	    strcmp(id_of(json_object_array_get_idx(s->list, i - 1)),
		message->id) != 0)
		i--;
	if (i > 0)
		json_object_array_put_idx(s->list, i - 1, json);
	else
		json_object_array_add(s->list, json);
	if (!strv_has(strv_const(s->changed), message->id))
		strv_add(&s->changed, message->id);
	if (s->again == NULL)
		loop_call_request(s->write);
}

static void
then(void *owner, void (*fn)(void *arg), void *fn_arg, void *arg)
{
	struct message_spool *s = arg;
	struct effect *effect = xcalloc(1, sizeof *effect);

	*effect = (struct effect){ .owner = owner, .fn = fn, .arg = fn_arg };
	TAILQ_INSERT_TAIL(&s->effects, effect, link);
	if (s->again == NULL)
		loop_call_request(s->write);
}

static void
forget(const void *owner, void *arg)
{
	struct message_spool *s = arg;
	struct effect *effect, *next;

	for (effect = TAILQ_FIRST(&s->effects); effect != NULL; effect = next) {
		next = TAILQ_NEXT(effect, link);
		if (effect->owner != owner)
			continue;
		TAILQ_REMOVE(&s->effects, effect, link);
		free(effect);
	}
}

static bool
knows(const char *event, void *arg)
{
	const struct message_spool *s = arg;

	for (size_t i = 0; i < json_object_array_length(s->list); i++)
		if (strcmp(json_string_or(json_object_array_get_idx(s->list, i),
			       "event", ""),
			event) == 0)
			return true;
	return false;
}

struct courier_store
message_spool_store(struct message_spool *spool)
{
	return (struct courier_store){ .save = save,
		.then = then,
		.forget = forget,
		.knows = knows,
		.arg = spool };
}

/* The length of the address, 0 if it is not valid. */
static socklen_t
notify_address(const char *name, struct sockaddr_un *address)
{
	size_t len = strlen(name);

	if ((name[0] != '/' && name[0] != '@') || len < 2 ||
	    len >= sizeof address->sun_path)
		return 0;
	memset(address, 0, sizeof *address);
	address->sun_family = AF_UNIX;
	memcpy(address->sun_path, name, len);
	if (name[0] == '@') /* abstract: without a NUL at its end */
		address->sun_path[0] = '\0';
	else
		len++;
	return (socklen_t)(offsetof(struct sockaddr_un, sun_path) + len);
}

void
notify_service(const char *state)
{
	const char *name = getenv("NOTIFY_SOCKET");
	cleanup_fd int fd = -1;
	struct sockaddr_un address;
	socklen_t len;

	if (name == NULL)
		return;
	len = notify_address(name, &address);
	if (len == 0) {
		log_debug("NOTIFY_SOCKET is not an address: %s", name);
		return;
	}
	fd = socket(AF_UNIX, SOCK_DGRAM | SOCK_CLOEXEC, 0);
	if (fd == -1 ||
	    sendto(fd, state, strlen(state), MSG_DONTWAIT | MSG_NOSIGNAL,
		(const struct sockaddr *)&address, len) == -1)
		log_debug("cannot notify the service manager");
}

int64_t
notify_watchdog_ms(void)
{
	const char *usec = getenv("WATCHDOG_USEC");
	const char *pid = getenv("WATCHDOG_PID");
	int64_t us, whose;

	if (usec == NULL || !text_parse_int(usec, 1, INT64_MAX, &us))
		return 0;
	if (pid != NULL &&
	    (!text_parse_int(pid, 1, INT64_MAX, &whose) || whose != getpid()))
		return 0;
	return us < 2000 ? 1 : us / 2000;
}
