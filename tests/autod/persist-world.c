/* SPDX-License-Identifier: ISC */

#include "persist-world.h"
#include "book-history.h"
#include "book.h"
#include "emit.h"
#include "persist.h"
#include "state-book.h"

struct persist_world persist_world;

/* --- commits ----------------------------------------------------------- */

/* As another program finds it. */
static uint64_t
read_written(void)
{
	cleanup_free char *file =
	    workspace_path(&persist_world.workspace, "llmc.db");
	struct book *book = NULL;
	int64_t number = 0;
	struct err err = { 0 };

	ck_assert_msg(book_look(file, &book, &err) == 0, "%s", err.msg);
	book_get_int(book,
	    "SELECT host.value FROM host WHERE host.key = 'receipts'", NULL, 0,
	    &number, NULL);
	book_close(book);
	return (uint64_t)number;
}

static int
on_gate(bool after, struct err *err, void *arg)
{
	(void)arg;
	if (after) {
		persist_world.commits++;
		persist_world.written = read_written();
		return 0;
	}
	if (persist_world.failing)
		return err_set(err, -ENOSPC, "no space left");
	if (persist_world.busy)
		return err_set(err, -EAGAIN, "another program writes");
	return persist_world.held ? -EINPROGRESS : 0;
}

void
persist_world_answer(void)
{
	persist_world.held = false;
	persist_changed(&persist_world.core);
	persist_world_run(10);
}

/* --- the world -------------------------------------------------------- */

static void
on_event(const struct event *event, void *arg)
{
	(void)arg;
	if (event->kind == EVENT_STATE_UNWRITTEN) {
		ck_assert_str_eq(event->reason,
		    persist_world.busy ? "another program writes" :
					 "no space left");
		persist_world.unwritten++;
	}
}

void
persist_world_begin(void)
{
	cleanup_free char *file = NULL;
	struct core *core = &persist_world.core;
	struct err err = { 0 };

	memset(&persist_world, 0, sizeof persist_world);
	clock_virtual_begin(1000000, 1700000000000);
	buf_init(&persist_world.trace);
	persist_world.workspace.dir =
	    xasprintf("%s/%d", unit_scratch(), (int)getpid());
	persist_world.workspace.root = xstrdup(unit_scratch());
	ck_assert_int_eq(
	    file_mkdirs(persist_world.workspace.dir, 0700, NULL), 0);
	core->lock = -1;
	core->options = &persist_world.options;
	core->workspace = &persist_world.workspace;
	core->loop = loop_new();
	core->emitter = emitter_new();
	state_init(&core->state);
	core->persist = persist_new(core);
	file = workspace_path(core->workspace, "llmc.db");
	ck_assert_msg(book_open(file, &core->book, &err) == 0 &&
		state_book_new(core->book, &core->rows, &err) == 0 &&
		book_history_open(core->book, &err) == 0,
	    "%s", err.msg);
	persist_begin(core);
	persist_set_gate(core, on_gate, &persist_world);
	emit_subscribe(core, on_event, &persist_world);
	unit_at_end(persist_world_end);
}

void
persist_world_end(void)
{
	persist_free(persist_world.core.persist);
	state_book_free(persist_world.core.rows);
	book_close(persist_world.core.book);
	emitter_free(persist_world.core.emitter);
	state_release(&persist_world.core.state);
	loop_free(persist_world.core.loop);
	workspace_release(&persist_world.workspace);
	buf_release(&persist_world.trace);
	clock_virtual_end();
}

static void
on_time(void *arg)
{
	loop_stop(arg, 0);
}

void
persist_world_run(int64_t ms)
{
	struct loop *loop = persist_world.core.loop;
	struct loop_timer *timer = loop_after(loop, ms, on_time, loop);

	loop_run(loop);
	loop_timer_free(timer);
}

void
persist_world_change(struct persist_world *world, uint64_t number)
{
	world->core.state.receipts = number;
	persist_changed(&world->core);
}

/* An effect that adds a letter to the trace, and checks what was saved when it
 * ran. */
struct effect {
	struct persist_world *world;
	char letter;
	uint64_t number; /* must be saved by then */
};

static void
leave_letter(void *arg)
{
	struct effect *effect = arg;

	ck_assert_uint_ge(effect->world->written, effect->number);
	buf_addf(&effect->world->trace, "%c", effect->letter);
	free(effect);
}

void
persist_world_after(void *owner, char letter)
{
	struct effect *effect = xcalloc(1, sizeof *effect);

	effect->world = &persist_world;
	effect->letter = letter;
	effect->number = persist_world.core.state.receipts;
	persist_then(&persist_world.core, owner, leave_letter, effect);
}

void
persist_world_expect(const char *trace)
{
	ck_assert_str_eq(persist_world.trace.data, trace);
}
