/* SPDX-License-Identifier: ISC */

#include <dirent.h>
#include <sched.h>

#include "source-world.h"

struct source_world *
source_world_new(enum source_type type, const char *where, const char *owner)
{
	struct source_world *world = xcalloc(1, sizeof *world);

	world->loop = loop_new();
	world->options = (struct source_options){
		.loop = world->loop,
		.type = type,
		.where = where,
		.owner = owner,
	};
	return world;
}

static void
forget(struct source_world *world)
{
	char **const strings[] = { &world->key, &world->title, &world->text,
		&world->label, &world->landed_before, &world->class,
		&world->words };

	for (size_t i = 0; i < nitems(strings); i++) {
		free(*strings[i]);
		*strings[i] = NULL;
	}
}

void
source_world_free(struct source_world *world)
{
	forget(world);
	source_free(world->source);
	loop_free(world->loop);
	free(world);
}

void
source_world_cleanup(struct source_world **world)
{
	source_world_free(*world);
}

void
source_world_reopen(struct source_world *world)
{
	struct err err = { 0, "" };

	source_free(world->source);
	world->source = NULL;
	ck_assert_msg(source_new(&world->options, &world->source, &err) == 0,
	    "%s", err.msg);
	ck_assert_str_eq(
	    source_kind(world->source), source_type_name(world->options.type));
}

static char *
copy(const char *s)
{
	return s == NULL ? NULL : xstrdup(s);
}

static void
hear(enum source_answer answer, const struct source_offer *offer,
    const struct source_failure *failure, void *arg)
{
	struct source_world *world = arg;

	forget(world);
	world->answers++;
	world->answer = answer;
	ck_assert(!source_asking(world->source));
	ck_assert((offer != NULL) == (answer == SOURCE_OFFER));
	ck_assert((failure != NULL) == (answer == SOURCE_FAILED));
	if (offer != NULL) {
		world->key = xstrdup(offer->key);
		world->title = copy(offer->title);
		world->text = xstrdup(offer->text);
		world->label = copy(offer->label);
		world->priority = offer->priority;
		world->landed_before = copy(offer->landed_before);
	}
	if (failure != NULL) {
		world->class = xstrdup(failure->class);
		world->words = xstrdup(failure->words);
		world->status = failure->status;
	}
	loop_stop(world->loop, 0);
}

static void
give_up(void *arg)
{
	(void)arg;
	ck_abort_msg("nothing happened for ten seconds");
}

void
source_world_wait_answer(struct source_world *world)
{
	struct loop_timer *guard =
	    loop_after(world->loop, unit_guard_ms(), give_up, NULL);

	while (source_asking(world->source))
		loop_run(world->loop);
	loop_timer_free(guard);
}

void
source_world_begin(struct source_world *world)
{
	source_ask(world->source, NULL, NULL, hear, world);
	ck_assert(source_asking(world->source));
}

enum source_answer
source_world_ask(struct source_world *world, const char *const *labels,
    const char *const *keys)
{
	int before = world->answers;

	source_ask(world->source, labels, keys, hear, world);
	ck_assert_int_eq(world->answers, before);
	source_world_wait_answer(world);
	ck_assert_int_eq(world->answers, before + 1);
	return world->answer;
}

void
source_world_expect(struct source_world *world, const char *key)
{
	enum source_answer answer = source_world_ask(world, NULL, NULL);

	ck_assert_msg(answer == (key == NULL ? SOURCE_EMPTY : SOURCE_OFFER),
	    "answer %d: %s", answer,
	    world->key != NULL       ? world->key :
		world->words != NULL ? world->words :
				       "");
	ck_assert_pstr_eq(world->key, key);
}

static void
watched(void *arg)
{
	struct source_world *world = arg;

	world->watched++;
	loop_stop(world->loop, 0);
}

void
source_world_watch(struct source_world *world)
{
	struct err err = { 0, "" };

	ck_assert_msg(source_watch(world->source, watched, world, &err) == 0,
	    "%s", err.msg);
}

void
source_world_wait_watch(struct source_world *world, int count)
{
	struct loop_timer *guard =
	    loop_after(world->loop, unit_guard_ms(), give_up, NULL);

	while (world->watched < count)
		loop_run(world->loop);
	loop_timer_free(guard);
}

void
source_world_put_bytes(
    const char *path, const void *bytes, size_t len, int64_t age_ms)
{
	int64_t at = clock_wall_ms() - age_ms;
	struct timespec times[2];
	int fd = open(path, O_WRONLY | O_CREAT | O_TRUNC | O_CLOEXEC, 0644);

	ck_assert_msg(fd >= 0, "%s", path);
	ck_assert_int_eq(file_write_all(fd, bytes, len), 0);
	times[0].tv_sec = times[1].tv_sec = (time_t)(at / 1000);
	times[0].tv_nsec = times[1].tv_nsec = (long)(at % 1000) * 1000000;
	ck_assert_int_eq(futimens(fd, times), 0);
	fd_close(fd);
}

void
source_world_put(const char *path, const char *text, int64_t age_ms)
{
	source_world_put_bytes(path, text, strlen(text), age_ms);
}

char *
source_world_read(const char *path)
{
	struct buf text = BUF_INIT;
	struct err err = { 0, "" };

	ck_assert_msg(
	    file_read(path, (size_t)1 << 24, &text, &err) == 0, "%s", err.msg);
	return buf_take(&text);
}

static int
is_visible(const struct dirent *entry)
{
	return entry->d_name[0] != '.';
}

char *
source_world_names(const char *folder)
{
	struct dirent **entries = NULL;
	struct buf names = BUF_INIT;
	int count = scandir(folder, &entries, is_visible, alphasort);

	ck_assert_msg(count >= 0, "%s", folder);
	for (int i = 0; i < count; i++) {
		buf_addf(&names, "%s%s", i == 0 ? "" : " ", entries[i]->d_name);
		free(entries[i]);
	}
	free(entries);
	return buf_take(&names);
}

bool
source_world_quarantined(struct source_world *world, const char *head)
{
	const char *const *at = source_quarantined(world->source);

	for (; *at != NULL; at++) {
		if (strncmp(*at, head, strlen(head)) == 0)
			return true;
	}
	return false;
}

size_t
source_world_quarantine_count(struct source_world *world)
{
	const char *const *list = source_quarantined(world->source);
	size_t count = 0;

	while (list[count] != NULL)
		count++;
	return count;
}

void
source_world_take(struct source_world *world, const char *key)
{
	struct err err = { 0, "" };

	ck_assert_msg(source_take(world->source, key, "auto-1", &err) == 0,
	    "%s", err.msg);
}

void
source_world_settle(struct source_world *world, const char *key,
    enum task_outcome outcome, const char *note)
{
	struct err err = { 0, "" };

	ck_assert_msg(
	    source_settle(world->source, key, outcome, note, &err) == 0, "%s",
	    err.msg);
}

void
source_world_expect_row(struct json_object *list, size_t at, const char *wanted)
{
	struct json_object *row = json_object_array_get_idx(list, at);
	cleanup_buf struct buf text = BUF_INIT;

	json_print(row, false, &text);
	ck_assert_str_eq(text.data, wanted);
}

/* Takes what it is offered until there is nothing, and records what it got.
 * Never returns. */
static void
compete(
    const struct source_options *options, const char *owner, const char *notes)
{
	struct source_world *world =
	    source_world_new(options->type, options->where, owner);
	int r;

	source_world_reopen(world);
	while (source_world_ask(world, NULL, NULL) == SOURCE_OFFER) {
		while ((r = source_take(
			    world->source, world->key, owner, NULL)) == -EAGAIN)
			;
		if (r == -ESTALE)
			continue;
		if (r < 0)
			_exit(1);
		file_append(
		    notes, world->key, strlen(world->key), 0600, false, NULL);
		file_append(notes, "\n", 1, 0600, false, NULL);
	}
	_exit(0);
}

void
source_world_expect_shared(struct source_world *world, const char *prefix)
{
	static const char *const owners[] = { "one", "two", "three" };
	const char *notes = unit_path("shared.notes");
	cleanup_free char *text = NULL;
	int status;

	for (size_t i = 0; i < nitems(owners); i++) {
		pid_t pid = fork();

		ck_assert_int_ge(pid, 0);
		if (pid == 0)
			compete(&world->options, owners[i], notes);
	}
	for (size_t i = 0; i < nitems(owners); i++) {
		ck_assert_int_gt(wait(&status), 0);
		ck_assert_int_eq(status, 0);
	}
	text = source_world_read(notes);
	for (int i = 0; i < SOURCE_WORLD_SHARED; i++) {
		cleanup_free char *line = xasprintf("%s%d\n", prefix, i);
		const char *first = strstr(text, line);

		ck_assert_msg(first != NULL, "%s", line);
		ck_assert_msg(strstr(first + 1, line) == NULL, "%s", line);
	}
	source_world_expect(world, NULL);
}

void
source_world_kill_rival(
    struct source_world *world, const char *key, int64_t after_us)
{
	int64_t until;
	pid_t pid = fork();
	int status;

	ck_assert_int_ge(pid, 0);
	while (pid == 0) {
		source_take(world->source, key, "w", NULL);
		source_settle(world->source, key, OUTCOME_NONE, NULL, NULL);
	}
	until = clock_mono_us() + after_us;
	while (clock_mono_us() < until)
		sched_yield();
	ck_assert_int_eq(kill(pid, SIGKILL), 0);
	ck_assert_int_eq(waitpid(pid, &status, 0), pid);
}
