/* SPDX-License-Identifier: ISC */

#include "base.h"
#include "overseer-table.h"

const struct overseer_row overseer_table[STATE_COUNT][WHEN_COUNT] = {
	[STATE_STARTING] = {
		[WHEN_READY] = { ACT_SAY_READY, STATE_RUNNING },
		[WHEN_ENDED] = { ACT_TAKE, STATE_STARTING },
		[WHEN_DIED] = { ACT_LOOK, STATE_STARTING },
		[WHEN_BEATEN] = { ACT_TAKE_OTHER, STATE_STARTING },
		[WHEN_COMPLETE] = { ACT_COMPLETE, STATE_TERMINATED },
		[WHEN_FAILING] = { ACT_END_DAEMON, STATE_ENDING_DAEMON },
		[WHEN_FAILED] = { ACT_FIND_DEAD, STATE_ENDING_DAEMON },
		[WHEN_RESUMED] = { ACT_RESUME, STATE_ENDING_DAEMON },
		[WHEN_RETRY] = { ACT_NONE, STATE_STARTING },
		[WHEN_RESTART] = { ACT_NONE, STATE_STARTING },
		[WHEN_RESET] = { ACT_NONE, STATE_STARTING },
		[WHEN_REPAIR] = { ACT_NONE, STATE_STARTING },
		[WHEN_OVER] = { ACT_END, STATE_TERMINATED },
		[WHEN_REPAIRED] = { ACT_NONE, STATE_STARTING },
		[WHEN_DUE] = { ACT_TAKE, STATE_STARTING },
		[WHEN_SETTINGS] = { ACT_NONE, STATE_STARTING },
		[WHEN_STOP] = { ACT_STOP, STATE_STOPPING },
		[WHEN_RELOAD] = { ACT_RELOAD, STATE_STARTING },
		[WHEN_UPGRADE] = { ACT_UPGRADE, STATE_STARTING },
	},
	[STATE_RUNNING] = {
		[WHEN_READY] = { ACT_SAY_READY, STATE_RUNNING },
		[WHEN_ENDED] = { ACT_TAKE, STATE_STARTING },
		[WHEN_DIED] = { ACT_LOOK, STATE_RUNNING },
		[WHEN_BEATEN] = { ACT_LOOK, STATE_RUNNING },
		[WHEN_COMPLETE] = { ACT_COMPLETE, STATE_TERMINATED },
		[WHEN_FAILING] = { ACT_END_DAEMON, STATE_ENDING_DAEMON },
		[WHEN_FAILED] = { ACT_FIND_DEAD, STATE_ENDING_DAEMON },
		[WHEN_RESUMED] = { ACT_NONE, STATE_RUNNING },
		[WHEN_RETRY] = { ACT_NONE, STATE_RUNNING },
		[WHEN_RESTART] = { ACT_NONE, STATE_RUNNING },
		[WHEN_RESET] = { ACT_NONE, STATE_RUNNING },
		[WHEN_REPAIR] = { ACT_NONE, STATE_RUNNING },
		[WHEN_OVER] = { ACT_END, STATE_TERMINATED },
		[WHEN_REPAIRED] = { ACT_NONE, STATE_RUNNING },
		[WHEN_DUE] = { ACT_NONE, STATE_RUNNING },
		[WHEN_SETTINGS] = { ACT_LOOK, STATE_RUNNING },
		[WHEN_STOP] = { ACT_STOP, STATE_STOPPING },
		[WHEN_RELOAD] = { ACT_RELOAD, STATE_RUNNING },
		[WHEN_UPGRADE] = { ACT_UPGRADE, STATE_RUNNING },
	},
	[STATE_ENDING_DAEMON] = {
		[WHEN_READY] = { ACT_NONE, STATE_ENDING_DAEMON },
		[WHEN_ENDED] = { ACT_RECORD, STATE_ENDING_DAEMON },
		[WHEN_DIED] = { ACT_RECORD, STATE_ENDING_DAEMON },
		[WHEN_BEATEN] = { ACT_RECORD, STATE_ENDING_DAEMON },
		[WHEN_COMPLETE] = { ACT_NONE, STATE_ENDING_DAEMON },
		[WHEN_FAILING] = { ACT_NONE, STATE_ENDING_DAEMON },
		[WHEN_FAILED] = { ACT_NONE, STATE_ENDING_DAEMON },
		[WHEN_RESUMED] = { ACT_NONE, STATE_ENDING_DAEMON },
		[WHEN_RETRY] = { ACT_RETRY, STATE_STARTING },
		[WHEN_RESTART] = { ACT_PAUSE, STATE_WAITING },
		[WHEN_RESET] = { ACT_RESET, STATE_ENDING_DAEMON },
		[WHEN_REPAIR] = { ACT_REPAIR, STATE_REMEDIATING },
		[WHEN_OVER] = { ACT_END, STATE_TERMINATED },
		[WHEN_REPAIRED] = { ACT_NONE, STATE_ENDING_DAEMON },
		[WHEN_DUE] = { ACT_READ, STATE_ENDING_DAEMON },
		[WHEN_SETTINGS] = { ACT_CHOOSE, STATE_ENDING_DAEMON },
		[WHEN_STOP] = { ACT_STOP, STATE_STOPPING },
		[WHEN_RELOAD] = { ACT_RELOAD, STATE_ENDING_DAEMON },
		[WHEN_UPGRADE] = { ACT_REFUSE, STATE_ENDING_DAEMON },
	},
	[STATE_REMEDIATING] = {
		[WHEN_READY] = { ACT_NONE, STATE_REMEDIATING },
		[WHEN_ENDED] = { ACT_NONE, STATE_REMEDIATING },
		[WHEN_DIED] = { ACT_NONE, STATE_REMEDIATING },
		[WHEN_BEATEN] = { ACT_NONE, STATE_REMEDIATING },
		[WHEN_COMPLETE] = { ACT_NONE, STATE_REMEDIATING },
		[WHEN_FAILING] = { ACT_NONE, STATE_REMEDIATING },
		[WHEN_FAILED] = { ACT_NONE, STATE_REMEDIATING },
		[WHEN_RESUMED] = { ACT_NONE, STATE_REMEDIATING },
		[WHEN_RETRY] = { ACT_NONE, STATE_REMEDIATING },
		[WHEN_RESTART] = { ACT_PAUSE, STATE_WAITING },
		[WHEN_RESET] = { ACT_NONE, STATE_REMEDIATING },
		[WHEN_REPAIR] = { ACT_NONE, STATE_REMEDIATING },
		[WHEN_OVER] = { ACT_END, STATE_TERMINATED },
		[WHEN_REPAIRED] = { ACT_FOLLOW, STATE_REMEDIATING },
		[WHEN_DUE] = { ACT_NONE, STATE_REMEDIATING },
		[WHEN_SETTINGS] = { ACT_NONE, STATE_REMEDIATING },
		[WHEN_STOP] = { ACT_STOP_REPAIR, STATE_STOPPING },
		[WHEN_RELOAD] = { ACT_RELOAD, STATE_REMEDIATING },
		[WHEN_UPGRADE] = { ACT_REFUSE, STATE_REMEDIATING },
	},
	[STATE_WAITING] = {
		[WHEN_READY] = { ACT_NONE, STATE_WAITING },
		[WHEN_ENDED] = { ACT_NONE, STATE_WAITING },
		[WHEN_DIED] = { ACT_NONE, STATE_WAITING },
		[WHEN_BEATEN] = { ACT_NONE, STATE_WAITING },
		[WHEN_COMPLETE] = { ACT_NONE, STATE_WAITING },
		[WHEN_FAILING] = { ACT_NONE, STATE_WAITING },
		[WHEN_FAILED] = { ACT_NONE, STATE_WAITING },
		[WHEN_RESUMED] = { ACT_NONE, STATE_WAITING },
		[WHEN_RETRY] = { ACT_NONE, STATE_WAITING },
		[WHEN_RESTART] = { ACT_NONE, STATE_WAITING },
		[WHEN_RESET] = { ACT_NONE, STATE_WAITING },
		[WHEN_REPAIR] = { ACT_NONE, STATE_WAITING },
		[WHEN_OVER] = { ACT_END, STATE_TERMINATED },
		[WHEN_REPAIRED] = { ACT_NONE, STATE_WAITING },
		[WHEN_DUE] = { ACT_READ, STATE_WAITING },
		[WHEN_SETTINGS] = { ACT_START, STATE_STARTING },
		[WHEN_STOP] = { ACT_STOP, STATE_STOPPING },
		[WHEN_RELOAD] = { ACT_RELOAD, STATE_WAITING },
		[WHEN_UPGRADE] = { ACT_REFUSE, STATE_WAITING },
	},
	[STATE_STOPPING] = {
		[WHEN_READY] = { ACT_NONE, STATE_STOPPING },
		[WHEN_ENDED] = { ACT_STOPPED, STATE_TERMINATED },
		[WHEN_DIED] = { ACT_STOPPED, STATE_TERMINATED },
		[WHEN_BEATEN] = { ACT_STOPPED, STATE_TERMINATED },
		[WHEN_COMPLETE] = { ACT_NONE, STATE_STOPPING },
		[WHEN_FAILING] = { ACT_NONE, STATE_STOPPING },
		[WHEN_FAILED] = { ACT_NONE, STATE_STOPPING },
		[WHEN_RESUMED] = { ACT_NONE, STATE_STOPPING },
		[WHEN_RETRY] = { ACT_NONE, STATE_STOPPING },
		[WHEN_RESTART] = { ACT_NONE, STATE_STOPPING },
		[WHEN_RESET] = { ACT_NONE, STATE_STOPPING },
		[WHEN_REPAIR] = { ACT_NONE, STATE_STOPPING },
		[WHEN_OVER] = { ACT_END, STATE_TERMINATED },
		[WHEN_REPAIRED] = { ACT_INTERRUPTED, STATE_STOPPING },
		[WHEN_DUE] = { ACT_NONE, STATE_STOPPING },
		[WHEN_SETTINGS] = { ACT_NONE, STATE_STOPPING },
		[WHEN_STOP] = { ACT_STOP_NOW, STATE_STOPPING },
		[WHEN_RELOAD] = { ACT_RELOAD, STATE_STOPPING },
		[WHEN_UPGRADE] = { ACT_REFUSE, STATE_STOPPING },
	},
	[STATE_TERMINATED] = {
		[WHEN_READY] = { ACT_NONE, STATE_TERMINATED },
		[WHEN_ENDED] = { ACT_NONE, STATE_TERMINATED },
		[WHEN_DIED] = { ACT_NONE, STATE_TERMINATED },
		[WHEN_BEATEN] = { ACT_NONE, STATE_TERMINATED },
		[WHEN_COMPLETE] = { ACT_NONE, STATE_TERMINATED },
		[WHEN_FAILING] = { ACT_NONE, STATE_TERMINATED },
		[WHEN_FAILED] = { ACT_NONE, STATE_TERMINATED },
		[WHEN_RESUMED] = { ACT_NONE, STATE_TERMINATED },
		[WHEN_RETRY] = { ACT_NONE, STATE_TERMINATED },
		[WHEN_RESTART] = { ACT_NONE, STATE_TERMINATED },
		[WHEN_RESET] = { ACT_NONE, STATE_TERMINATED },
		[WHEN_REPAIR] = { ACT_NONE, STATE_TERMINATED },
		[WHEN_OVER] = { ACT_NONE, STATE_TERMINATED },
		[WHEN_REPAIRED] = { ACT_NONE, STATE_TERMINATED },
		[WHEN_DUE] = { ACT_NONE, STATE_TERMINATED },
		[WHEN_SETTINGS] = { ACT_NONE, STATE_TERMINATED },
		[WHEN_STOP] = { ACT_HURRY, STATE_TERMINATED },
		[WHEN_RELOAD] = { ACT_NONE, STATE_TERMINATED },
		[WHEN_UPGRADE] = { ACT_REFUSE, STATE_TERMINATED },
	},
};

static const char *const state_words[] = {
	[STATE_STARTING] = "Starting",
	[STATE_RUNNING] = "Running",
	[STATE_ENDING_DAEMON] = "Ending the daemon",
	[STATE_REMEDIATING] = "Remediating",
	[STATE_WAITING] = "Waiting",
	[STATE_STOPPING] = "Stopping",
	[STATE_TERMINATED] = "Terminated",
};

static const char *const event_words[] = {
	[WHEN_READY] = "daemon ready",
	[WHEN_ENDED] = "daemon ended as told",
	[WHEN_DIED] = "daemon ended",
	[WHEN_BEATEN] = "another holds the lock",
	[WHEN_COMPLETE] = "run complete",
	[WHEN_FAILING] = "failure, it runs",
	[WHEN_FAILED] = "failure, it has ended",
	[WHEN_RESUMED] = "an earlier failure",
	[WHEN_RETRY] = "chosen: start at once",
	[WHEN_RESTART] = "chosen: start again",
	[WHEN_RESET] = "chosen: reset workers",
	[WHEN_REPAIR] = "chosen: remediation",
	[WHEN_OVER] = "chosen: stop",
	[WHEN_REPAIRED] = "remediation ended",
	[WHEN_DUE] = "pause over",
	[WHEN_SETTINGS] = "settings read",
	[WHEN_STOP] = "SIGINT or SIGTERM",
	[WHEN_RELOAD] = "SIGHUP",
	[WHEN_UPGRADE] = "SIGUSR2",
};

static const char *const act_words[] = {
	[ACT_UNSET] = "?",
	[ACT_NONE] = "-",
	[ACT_TAKE] = "start, or take over",
	[ACT_TAKE_OTHER] = "take over that one",
	[ACT_START] = "check, start",
	[ACT_RETRY] = "start",
	[ACT_SAY_READY] = "say so",
	[ACT_LOOK] = "look what it is",
	[ACT_COMPLETE] = "record, say so",
	[ACT_END_DAEMON] = "end it, keep evidence",
	[ACT_FIND_DEAD] = "keep evidence, record",
	[ACT_RESUME] = "end it, or record",
	[ACT_RECORD] = "record, choose",
	[ACT_READ] = "read the settings",
	[ACT_CHOOSE] = "choose by the history",
	[ACT_PAUSE] = "pause, if it fails often",
	[ACT_RESET] = "reset, then start again",
	[ACT_REPAIR] = "begin a remediation",
	[ACT_FOLLOW] = "choose by its outcome",
	[ACT_STOP] = "end the daemon",
	[ACT_STOP_REPAIR] = "end the remediation",
	[ACT_STOP_NOW] = "end all at once",
	[ACT_STOPPED] = "record, exit",
	[ACT_INTERRUPTED] = "exit",
	[ACT_END] = "say why, exit",
	[ACT_HURRY] = "exit at once",
	[ACT_RELOAD] = "read the settings",
	[ACT_UPGRADE] = "become the new program",
	[ACT_REFUSE] = "refuse",
};

_Static_assert(nitems(state_words) == STATE_COUNT, "a name for each state");
_Static_assert(nitems(event_words) == WHEN_COUNT, "a name for each event");
_Static_assert(nitems(act_words) == ACT_COUNT, "a name for each act");

const char *
overseer_state_name(enum overseer_state state)
{
	return state_words[state];
}

const char *
overseer_event_name(enum overseer_event event)
{
	return event_words[event];
}

const char *
overseer_act_name(enum overseer_act act)
{
	return act_words[act];
}

void
overseer_table_print(struct buf *out)
{
	for (unsigned state = 0; state < STATE_COUNT; state++) {
		buf_addf(
		    out, "%s%s\n", state > 0 ? "\n" : "", state_words[state]);
		for (unsigned event = 0; event < WHEN_COUNT; event++) {
			const struct overseer_row *row =
			    &overseer_table[state][event];

			if (row->act == ACT_NONE)
				continue;
			buf_addf(out, "  %-22s  %s", event_words[event],
			    act_words[row->act]);
			if (row->next != state)
				buf_addf(out, "%*s%s",
				    26 - (int)strlen(act_words[row->act]), "",
				    state_words[row->next]);
			buf_addc(out, '\n');
		}
	}
}
