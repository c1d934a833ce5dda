/* SPDX-License-Identifier: ISC */

#include <check.h>
#include <stdlib.h>
#include <string.h>

#include "loop.h"
#include "mem.h"
#include "store-world.h"

#define PATIENCE_MS 60000

static void
on_patience(void *arg)
{
	(void)arg;
	ck_abort_msg("the store has not answered");
}

void
store_world_wait(struct store_world *world, int answers)
{
	struct loop_timer *patience =
	    loop_after(world->loop, PATIENCE_MS, on_patience, NULL);

	while (world->answers < answers)
		loop_run(world->loop);
	loop_timer_free(patience);
}

void
store_world_done(const struct err *err, void *arg)
{
	struct store_world *world = arg;

	world->err = err != NULL ? *err : (struct err){ 0 };
	world->answers++;
	loop_stop(world->loop, 0);
}

void
store_world_part(const struct store_part *part, void *arg)
{
	struct store_world *world = arg;

	for (size_t i = 0; i < part->record_count; i++)
		buf_addf(&world->text, "%s %s/%s %s\n",
		    store_kind_name(part->records[i].kind),
		    part->records[i].goal_id, part->records[i].id,
		    part->records[i].body != NULL ? part->records[i].body :
						    "-");
	for (size_t i = 0; i < part->event_count; i++) {
		const struct store_event *event = &part->events[i];

		if (world->events + i == 0)
			world->first_seq = event->seq;
		world->last_seq = event->seq;
		buf_addf(&world->text, "%s %s\n", event->type,
		    event->data != NULL ? event->data : "-");
	}
	world->records += part->record_count;
	world->events += part->event_count;
	world->parts++;
	if (part->last)
		store_world_done(part->err, world);
}

static void
forget(struct store_world *world)
{
	buf_clear(&world->text);
	world->records = world->events = world->parts = 0;
	world->first_seq = world->last_seq = 0;
}

void
store_world_open(struct store_world *world, const char *path)
{
	memset(world, 0, sizeof *world);
	buf_init(&world->text);
	world->path = path;
	world->loop = loop_new();
	world->store = store_new(world->loop, path, store_world_done, world);
	store_world_wait(world, 1);
}

void
store_world_close(struct store_world *world)
{
	store_free(world->store);
	loop_free(world->loop);
	buf_release(&world->text);
}

int
store_world_commit(struct store_world *world,
    const struct store_change *changes, size_t change_count,
    const struct store_event *events, size_t event_count)
{
	store_commit(world->store, changes, change_count, events, event_count,
	    store_world_done, world);
	store_world_wait(world, world->answers + 1);
	return world->err.code;
}

int
store_world_put(struct store_world *world, enum store_kind kind,
    const char *goal, const char *id, const char *body)
{
	struct store_change change = { kind, goal, id, body };

	return store_world_commit(world, &change, 1, NULL, 0);
}

int
store_world_event(struct store_world *world, struct store_event event)
{
	return store_world_commit(world, NULL, 0, &event, 1);
}

int
store_world_load(struct store_world *world)
{
	forget(world);
	store_load(world->store, store_world_part, world);
	store_world_wait(world, world->answers + 1);
	return world->err.code;
}

int
store_world_read(struct store_world *world, enum store_kind kind,
    const char *goal, const char *id)
{
	forget(world);
	store_read(world->store, kind, goal, id, store_world_part, world);
	store_world_wait(world, world->answers + 1);
	return world->err.code;
}

int
store_world_find(
    struct store_world *world, enum store_kind kind, const char *text)
{
	forget(world);
	store_find(world->store, kind, text, store_world_part, world);
	store_world_wait(world, world->answers + 1);
	return world->err.code;
}

int
store_world_events(struct store_world *world, struct store_filter filter)
{
	forget(world);
	store_query_events(world->store, &filter, store_world_part, world);
	store_world_wait(world, world->answers + 1);
	return world->err.code;
}

void
store_world_fill(struct store_world *world)
{
	static const struct store_change changes[] = {
		{ STORE_GOAL, NULL, "G",
		    "{\"goalId\":\"G\",\"title\":\"Test\","
		    "\"status\":\"active\"}" },
		{ STORE_NODE, "G", "P1",
		    "{\"phaseId\":\"P1\",\"goalId\":\"G\","
		    "\"name\":\"Phase\",\"status\":\"in_progress\"}" },
		{ STORE_NODE, "G", "T1.1",
		    "{\"taskId\":\"T1.1\",\"goalId\":\"G\","
		    "\"parentId\":\"P1\",\"name\":\"Task\","
		    "\"status\":\"in_progress\"}" },
		{ STORE_ASSIGNMENT, "G", "A_1",
		    "{\"assignmentId\":\"A_1\",\"goalId\":\"G\","
		    "\"workNodeId\":\"T1.1\",\"status\":\"active\"}" },
		{ STORE_DISPATCH, "G", "D_1",
		    "{\"dispatchId\":\"D_1\",\"assignmentId\":\"A_1\","
		    "\"goalId\":\"G\",\"ts\":5,"
		    "\"mode\":\"sessions_send\"}" },
		{ STORE_CRYSTAL, "G", "C_1",
		    "{\"crystallizationId\":\"C_1\",\"goalId\":\"G\","
		    "\"workNodeId\":\"T1.1\",\"summary\":\"half\"}" },
	};
	static const struct store_event events[] = {
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

	ck_assert_int_eq(store_world_commit(world, changes, nitems(changes),
			     events, nitems(events)),
	    0);
}
