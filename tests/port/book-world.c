/* SPDX-License-Identifier: ISC */

#include <endian.h>

#include "book-world.h"
#include "book-private.h"

void
book_world_open(struct book_world *world, const char *path)
{
	memset(world, 0, sizeof *world);
	buf_init(&world->text);
	book_open(path, &world->book, &world->err);
}

void
book_world_close(struct book_world *world)
{
	book_close(world->book);
	buf_release(&world->text);
}

int
book_world_commit(struct book_world *world, const struct book_record *records,
    size_t record_count, const struct book_event *events, size_t event_count)
{
	int r = 0;

	world->err = (struct err){ 0 };
	for (size_t i = 0; r == 0 && i < record_count; i++)
		r = book_put_body(world->book, records[i].kind,
		    records[i].goal_id, records[i].id, records[i].body,
		    &world->err);
	for (size_t i = 0; r == 0 && i < event_count; i++)
		r = book_add_event(world->book, &events[i], &world->err);
	return r == 0 ? book_commit(world->book, &world->err) : r;
}

int
book_world_put(struct book_world *world, enum book_kind kind, const char *goal,
    const char *id, const char *body)
{
	struct book_record record = { kind, goal, id, body };

	return book_world_commit(world, &record, 1, NULL, 0);
}

int
book_world_event(struct book_world *world, struct book_event event)
{
	return book_world_commit(world, NULL, 0, &event, 1);
}

static bool
on_record(const struct book_record *record, void *arg)
{
	struct book_world *world = arg;

	buf_addf(&world->text, "%s %s/%s %s\n", book_kind_name(record->kind),
	    record->goal_id, record->id,
	    record->body != NULL ? record->body : "-");
	world->records++;
	return true;
}

static bool
on_event(const struct book_event *event, void *arg)
{
	struct book_world *world = arg;

	if (world->events++ == 0)
		world->first_seq = event->seq;
	world->last_seq = event->seq;
	buf_addf(&world->text, "%s %s\n", event->type,
	    event->data != NULL ? event->data : "-");
	return true;
}

static void
forget(struct book_world *world)
{
	buf_clear(&world->text);
	world->records = world->events = 0;
	world->first_seq = world->last_seq = 0;
	world->err = (struct err){ 0 };
}

int
book_world_load(struct book_world *world)
{
	forget(world);
	return book_load_open(world->book, on_record, world, &world->err);
}

int
book_world_read(struct book_world *world, enum book_kind kind, const char *goal,
    const char *id)
{
	forget(world);
	return book_read_bodies(
	    world->book, kind, goal, id, on_record, world, &world->err);
}

int
book_world_find(struct book_world *world, const char *commit)
{
	forget(world);
	return book_find_nodes(
	    world->book, commit, on_record, world, &world->err);
}

int
book_world_events(struct book_world *world, struct book_filter filter)
{
	forget(world);
	return book_query_events(
	    world->book, &filter, on_event, world, &world->err);
}

void
book_world_fill(struct book_world *world)
{
	static const struct book_record changes[] = {
		{ BOOK_GOAL, NULL, "G",
		    "{\"goalId\":\"G\",\"title\":\"Test\","
		    "\"status\":\"active\"}" },
		{ BOOK_NODE, "G", "P1",
		    "{\"phaseId\":\"P1\",\"goalId\":\"G\","
		    "\"name\":\"Phase\",\"status\":\"in_progress\"}" },
		{ BOOK_NODE, "G", "T1.1",
		    "{\"taskId\":\"T1.1\",\"goalId\":\"G\","
		    "\"parentId\":\"P1\",\"name\":\"Task\","
		    "\"status\":\"in_progress\"}" },
		{ BOOK_ASSIGNMENT, "G", "A_1",
		    "{\"assignmentId\":\"A_1\",\"goalId\":\"G\","
		    "\"workNodeId\":\"T1.1\",\"status\":\"active\"}" },
		{ BOOK_CRYSTAL, "G", "C_1",
		    "{\"crystallizationId\":\"C_1\",\"goalId\":\"G\","
		    "\"workNodeId\":\"T1.1\",\"summary\":\"half\"}" },
	};
	static const struct book_event events[] = {
		{ .ts_ms = 1000, .type = "goal.created", .goal_id = "G" },
		{ .ts_ms = 2000,
		    .type = "assignment.dispatched",
		    .goal_id = "G",
		    .assignment_id = "A_1",
		    .node_id = "T1.1",
		    .worker = "adam",
		    .task = "01J",
		    .data = "{\"dispatchId\":\"D_1\"}",
		    .key = "D_1/sent" },
		{ .ts_ms = 3000,
		    .type = "assignment.stalled",
		    .goal_id = "G",
		    .assignment_id = "A_1",
		    .node_id = "T1.1",
		    .worker = "adam" },
	};

	ck_assert_int_eq(book_world_commit(world, changes, nitems(changes),
			     events, nitems(events)),
	    0);
}

int
book_world_step(struct book_world *world, int n)
{
	char id[16], count[64], key[32];
	const struct book_record records[] = {
		{ BOOK_GOAL, NULL, "G", count },
		{ BOOK_NODE, "G", id, "{\"status\":\"todo\"}" },
	};
	const struct book_event event = {
		.type = "a", .goal_id = id, .key = key
	};

	snprintf(id, sizeof id, "T%07d", n);
	snprintf(key, sizeof key, "%d", n);
	snprintf(count, sizeof count, "{\"status\":\"active\",\"n\":%d}", n);
	return book_world_commit(world, records, nitems(records), &event, 1);
}

int
book_world_whole(const char *path, const char *when)
{
	struct book_world world;
	size_t nodes;
	int n = -1;

	book_world_open(&world, path);
	ck_assert_msg(world.err.code == 0, "%s: %s", when, world.err.msg);
	ck_assert_int_eq(book_world_read(&world, BOOK_NODE, "G", NULL), 0);
	nodes = world.records;
	ck_assert_int_eq(book_world_read(&world, BOOK_GOAL, "G", NULL), 0);
	if (world.records > 0)
		ck_assert_int_eq(
		    sscanf(strstr(world.text.data, "\"n\":"), "\"n\":%d", &n),
		    1);
	ck_assert_msg(
	    (int)nodes == n + 1, "%s: %zu nodes, goal has %d", when, nodes, n);
	book_world_events(&world, (struct book_filter){ .newest_first = true });
	ck_assert_msg((int)world.first_seq == n + 1,
	    "%s: event %d, goal has %d", when, (int)world.first_seq, n);
	book_world_close(&world);
	return n;
}

void
book_world_file(const char *path, struct buf *out)
{
	buf_clear(out);
	ck_assert_int_eq(file_read(path, 1 << 28, out, NULL), 0);
}

void
book_world_header(struct buf *bytes, size_t at, uint32_t number)
{
	number = htobe32(number);
	memcpy(bytes->data + at, &number, sizeof number);
	book_page_put_stamp((unsigned char *)bytes->data, 1);
}
