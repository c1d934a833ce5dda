/* SPDX-License-Identifier: ISC */

/* What can happen to a worker while its turn ends comes in any order: its agent
 * ends, its Stop arrives, its check ends, a person types a command, the branch
 * moves. No order is refused by the table of statuses, and no task is lost. */
#include "auto-world.h"
#include "event.h"
#include "git.h"
#include "operation.h"
#include "state.h"
#include "worker-op.h"

enum fact {
	AGENT_ENDS,
	STOPS,
	CHECK_ENDS,
	PERSON,
	LANDS,
	FACTS
};

/* Waits for its file in the worktree; the first one there fails if there is
 * another. */
#define SETTINGS                                                               \
	"check_command = \"test -z \\\"$LLMC_CHECK_SLOT\\\" || exit 0; until " \
	"test -e ../../go; do test -e ../../config.toml || exit; sleep 0.02; " \
	"done; ! rm ../../red 2>/dev/null\"\n"                                 \
	"max_attempts = 20\nmax_turns = 50\n"

static const struct command {
	const char *method, *more;
} commands[] = {
	{ "worker.pause", "" },
	{ "worker.stop", "" },
	{ "worker.message", ",\"text\":\"go on\"" },
	{ "worker.reset", "" },
	{ "worker.reject", ",\"reason\":\"no\"" },
	{ "worker.pick", "" },
	{ "worker.accept", "" },
	{ "typed", "" },
};

struct scene {
	int refused; /* moves that the table forbids */
	int quiet;
	bool own; /* the branch moves to its own work */
};

static void
on_event(const struct event *event, void *arg)
{
	struct scene *scene = arg;

	if (event->kind != EVENT_MOVE_REFUSED)
		return;
	scene->refused++;
	printf("# %s\n", event->reason);
}

/* --- letting it go on ------------------------------------------------- */

/* Nothing goes on, or only the check, which waits for its file. */
static bool
is_at_rest(void *arg)
{
	struct scene *scene = arg;
	const struct core *core = auto_world.core;
	const struct fleet *fleet = floor_world.fleet;
	bool quiet = persist_is_idle(core) && !git_busy(core->git) &&
	    core->state.landings.to == NULL;

	for (size_t i = 0; i < fleet->count; i++)
		quiet = quiet &&
		    (fleet->agents[i]->op == NULL ||
			strcmp(operation_step_name(&fleet->agents[i]->op->op),
			    "run") == 0);
	scene->quiet = quiet ? scene->quiet + 1 : 0;
	return scene->quiet >= 5;
}

static void
rest(struct scene *scene)
{
	scene->quiet = 0;
	floor_world_wait(is_at_rest, scene);
}

/* The agent ends each of its turns with work; nobody holds the worker. */
static bool
is_over(void *arg)
{
	struct agent *agent = auto_world_agent();
	const struct state *state = &auto_world.core->state;

	(void)arg;
	/* Done, or without a change in the end, and a person is asked. */
	if (agent != NULL && agent->op == NULL &&
	    (state->task_count == 0 || state->tasks[0]->step == TASK_PARKED))
		return true;
	if (agent == NULL || agent->op != NULL)
		return false;
	if (worker_holds(agent->worker) != 0 ||
	    agent->worker->status == WORKER_PAUSED)
		floor_world_call("auto.resume", "auto-1", "");
	else if (turn_end_is_due(agent))
		turn_end_begin(agent, NULL, NULL);
	else if (agent->worker->session.busy &&
	    session_phase(agent->session) == SESSION_UP)
		fake_session_turn_ends(agent->session, "Done.");
	return false;
}

/* --- the facts -------------------------------------------------------- */

static void
happen(struct scene *scene, enum fact fact, const struct command *command)
{
	struct agent *agent = auto_world_agent();

	switch (fact) {
	case AGENT_ENDS:
		fake_session_exits(agent->session);
		break;
	case STOPS: /* of a session that is gone none is heard */
		if (session_phase(agent->session) == SESSION_UP)
			fake_session_turn_ends(agent->session, "Done.");
		break;
	case CHECK_ENDS:
		floor_world_sh("touch .llmc/go");
		break;
	case PERSON:
		if (strcmp(command->method, "typed") == 0) {
			if (session_phase(agent->session) == SESSION_UP)
				fake_session_typed(agent->session, "and so on");
			break;
		}
		floor_world_call(command->method, "auto-1", command->more);
		break;
	case LANDS: /* its own work by hand, or another's */
		floor_world_sh(scene->own ?
			"git merge -q llmc/auto-1" :
			"git commit -q --allow-empty -m other");
		break;
	case FACTS:
		break;
	}
}

static void
name_order(const int *order, const char *command, struct buf *out)
{
	static const char *const names[] = { "agent ends", "stop", "check ends",
		NULL, "branch moves" };

	for (int i = 0; i < FACTS; i++)
		buf_addf(out, "%s%s", i > 0 ? ", " : "",
		    order[i] == PERSON ? command : names[order[i]]);
}

static void
play(const int *order, const struct command *command, unsigned dice)
{
	struct scene scene = { .own = (dice & 1) != 0 };
	cleanup_buf struct buf name = BUF_INIT;

	name_order(order, command->method, &name);
	auto_world_begin(SETTINGS);
	auto_world_task("a.md", "Do it\n");
	emit_subscribe(auto_world.core, on_event, &scene);
	auto_world_live();
	auto_world_turn(1);
	auto_world_work("b.txt");
	if ((dice & 2) != 0)
		floor_world_sh("touch .llmc/red");
	for (int i = 0; i < FACTS; i++) {
		happen(&scene, (enum fact)order[i], command);
		if ((dice & 4) == 0)
			rest(&scene);
	}
	floor_world_wait(is_over, &scene);
	ck_assert_msg(scene.refused == 0, "%s (%u)", name.data, dice);
	ck_assert_msg(!auto_world.core->failing, "%s (%u)", name.data, dice);
	emit_unsubscribe(auto_world.core, on_event, &scene);
	auto_world_end();
}

/* The i-th order of all. */
static void
order_of(int i, int *order)
{
	int left[FACTS] = { 0, 1, 2, 3, 4 };

	for (int n = FACTS; n > 0; i /= n, n--) {
		int at = i % n;

		order[FACTS - n] = left[at];
		memmove(&left[at], &left[at + 1],
		    (size_t)(n - at - 1) * sizeof left[0]);
	}
}

const int unit_timeout = 240; /* seconds, each */

/* make soak plays each with each command. */
TEST_ROWS(no_order_of_facts_is_a_bug, getenv("UNIT_WHOLE") != NULL ? 120 : 30)
{
	bool whole = getenv("UNIT_WHOLE") != NULL;
	unsigned row = (unsigned)_i;
	int order[FACTS];

	order_of(whole ? _i : _i * 4 + _i % 4, order);
	for (unsigned i = 0; i < nitems(commands); i++)
		if (whole || i == row % nitems(commands))
			play(order, &commands[i], (row / 8 + i) % 8);
}
