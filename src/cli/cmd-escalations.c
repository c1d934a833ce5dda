/* SPDX-License-Identifier: ISC */

/* llmc escalations: an older name of asks and answer; and a channel tried. */
#include "base.h"
#include "ask-record.h"
#include "channel.h"
#include "cli-private.h"
#include "deliver.h"
#include "id.h"
#include "loop.h"
#include "message.h"

enum {
	FLAG_ALL /* as that of asks */
};

static const struct cli_flag escalations_flags[] = {
	[FLAG_ALL] = { "all", NULL, "for list: also what is over" },
	{ NULL, NULL, NULL },
};

/* --- what is asks and answer now ---------------------------------------- */

static int
escalations_list(struct cli *cli, const struct cli_args *args)
{
	cli_warn(cli, "this is llmc asks now");
	return cmd_asks.run(cli, args);
}

/* Without the verb; yes: as with --yes. */
static int
run_answer(struct cli *cli, const struct cli_args *args, bool yes)
{
	struct cli_args shifted = *args;

	memset(shifted.flags, 0, sizeof shifted.flags);
	shifted.flags[0] = yes ? "" : NULL;
	shifted.list++;
	shifted.count--;
	cli_warn(cli, "this is llmc answer%s now", yes ? " --yes" : "");
	return cmd_answer.run(cli, &shifted);
}

static int
escalations_ack(struct cli *cli, const struct cli_args *args)
{
	return run_answer(cli, args, true);
}

static int
escalations_answer(struct cli *cli, const struct cli_args *args)
{
	return run_answer(cli, args, false);
}

/* --- test ------------------------------------------------------------- */

struct attempt {
	struct loop *loop;
	enum delivery_state state;
	char *reason, *ref;
};

static void
on_delivered(const struct deliver_result *result, void *arg)
{
	struct attempt *attempt = arg;

	attempt->state = result->state;
	xstrset(&attempt->reason, result->reason);
	xstrset(&attempt->ref, result->ref);
	loop_stop(attempt->loop, 0);
}

static struct message *
test_record(struct cli *cli, const struct channel *channel)
{
	struct channel always = *channel;
	struct channel_list one = { &always, 1 };
	struct escalation what = { .level = ESCALATION_INFO,
		.class = "test",
		.title = "a test of this channel",
		.text = "llmc escalations test was run. Nothing is wrong.",
		.signature = "test" };
	char id[ID_ULID_SIZE], stamp[CLOCK_STAMP_SIZE];

	always.enabled = always.levels_given = true;
	always.levels = 1u << ESCALATION_INFO;
	id_ulid(clock_wall_ms(), id);
	clock_format_stamp(clock_wall_ms(), stamp);
	return message_new(
	    &what, &one, id, stamp, cli->workspace.root, "llmc", 0);
}

static int
try_channel(struct cli *cli, const struct channel *channel)
{
	struct message *record = test_record(cli, channel);
	struct attempt attempt = { .loop = loop_new() };
	int status = CLI_OK;

	deliver_start(attempt.loop, cli->workspace.dir, cli->workspace.root,
	    channel, record, on_delivered, &attempt);
	loop_run(attempt.loop);
	if (attempt.state != DELIVERY_SENT)
		status =
		    cli_fail(cli, "failed", "%s: not sent: %s", channel->name,
			attempt.reason != NULL ? attempt.reason : "unknown");
	if (status == CLI_OK) {
		delivery_end(
		    &record->deliveries[0], DELIVERY_SENT, NULL, attempt.ref);
		cli->result = message_to_json(record);
		buf_addf(&cli->text, "%s: sent%s%s.\n", channel->name,
		    attempt.ref != NULL ? " as " : "",
		    attempt.ref != NULL ? attempt.ref : "");
	}
	loop_free(attempt.loop);
	message_free(record);
	free(attempt.reason);
	free(attempt.ref);
	return status;
}

static int
escalations_test(struct cli *cli, const struct cli_args *args)
{
	struct settings *settings = NULL;
	const struct channel *channel;
	int status = cli_load_settings(cli, &settings);

	if (status != CLI_OK)
		return status;
	channel = channel_find(settings_channels(settings), args->list[1]);
	status = channel != NULL ?
	    try_channel(cli, channel) :
	    cli_fail(cli, "failed",
		"there is no channel %s; describe it in .llmc/config.toml as "
		"[people.channels.%s] (see llmc.conf(5))",
		args->list[1], args->list[1]);
	settings_free(settings);
	return status;
}

/* --- the command ------------------------------------------------------ */

static const struct verb escalations_verbs[] = {
	{ "list", 0, 0, 1u << FLAG_ALL, "list [--all]", escalations_list },
	{ "ack", 1, 1, 0, "ack ASK", escalations_ack },
	{ "answer", 2, 1000, 0, "answer ASK TEXT", escalations_answer },
	{ "test", 1, 1, 0, "test CHANNEL", escalations_test },
	{ NULL, 0, 0, 0, NULL, NULL },
};

static const struct schema escalations_forms =
    CLI_FIELDS(SCHEMA_IS("list", ROWS, NULL, .of = &ask_schema),
	SCHEMA_IS("ack, answer", OBJECT, NULL, .of = &api_ask_ended),
	SCHEMA_IS("test", OBJECT, NULL, .of = &message_schema));

const struct cli_command cmd_escalations = {
	.name = "escalations",
	.usage = "list | ack ASK | answer ASK TEXT ... | test CHANNEL",
	.summary = "send a test through a channel",
	.help = "test    send a message through a channel of the settings\n"
		"list    the same as llmc asks\n"
		"ack     the same as llmc answer ASK --yes\n"
		"answer  the same as llmc answer ASK TEXT\n",
	.flags = escalations_flags,
	.min_args = 0,
	.max_args = 1001,
	.guarded = true,
	.shape = CLI_SHAPE(ONE, escalations_forms),
	.verbs = escalations_verbs,
};
