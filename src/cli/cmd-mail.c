/* SPDX-License-Identifier: ISC */

/* llmc mail: mail between agents and people, read, sent and confirmed. llmc
 * doctor channel: whether messages reach a person. */
#include "base.h"
#include "api-team.h"
#include "attempt.h"
#include "cli-private.h"
#include "channel.h"
#include "courier.h"
#include "id.h"
#include "loop.h"
#include "message.h"
#include "people.h"
#include "mail.h"

#define SUBJECT_BYTES 72 /* of the text, if there is no subject */
#define LIMIT_MAX     1000
#define REQUEST       "request:" /* before the id of a question */

enum {
	FLAG_ALL,
	FLAG_OF,
	FLAG_UNREAD,
	FLAG_LIMIT,
	FLAG_SUBJECT,
	FLAG_KIND,
	FLAG_ACK,
	FLAG_REPLY_TO
};

#define BIT(flag) (1u << (flag))

static const struct cli_flag mail_flags[] = {
	[FLAG_ALL] = { "all", NULL, "for inbox: the mail of everybody" },
	[FLAG_OF] = { "of", "WHO", "for inbox: the mail of this agent" },
	[FLAG_UNREAD] = { "unread", NULL,
	    "for inbox: only what is new or waits to be confirmed" },
	[FLAG_LIMIT] = { "limit", "N",
	    "for inbox: so many, the newest; 50 is the default" },
	[FLAG_SUBJECT] = { "subject", "TEXT",
	    "for send: one line; the first line of the text is the default" },
	[FLAG_KIND] = { "kind", "SORT",
	    "for send: info (the default), instruction or alert" },
	[FLAG_ACK] = { "ack", NULL,
	    "for send: it is given to the agent again until it confirms it" },
	[FLAG_REPLY_TO] = { "reply-to", "MAIL",
	    "for send: the mail that this answers" },
	{ NULL, NULL, NULL },
};

/* --- what is shown ---------------------------------------------------- */

static void
add_time(struct buf *out, struct json_object *mail, const char *key)
{
	moment_add(out, json_int_or(mail, key, 0));
}

/* Who it was then: the worker's name, if it had one. */
static const char *
short_name(struct json_object *mail, const char *actor, const char *worker)
{
	const char *id = json_string_or(mail, actor, "");
	const char *name = json_string_or(mail, worker, NULL);

	return name != NULL                 ? name :
	    strcmp(id, ACTOR_PERSON) == 0   ? "you" :
	    strcmp(id, ACTOR_OVERSEER) == 0 ? "overseer" :
					      id;
}

static const char *
state_word(struct json_object *mail)
{
	const char *status = json_string_or(mail, "status", "");

	if (strcmp(status, mail_state_words[MAIL_OPEN]) != 0)
		return status;
	return json_int_or(mail, "delivered", 0) == 0 ? "new" : "unconfirmed";
}

static void
add_from(struct json_object *mail, struct buf *out)
{
	buf_adds(out, short_name(mail, "sender", "sender_worker"));
}

static void
add_to(struct json_object *mail, struct buf *out)
{
	buf_adds(out, short_name(mail, "to", "to_worker"));
}

static void
add_state_word(struct json_object *mail, struct buf *out)
{
	buf_adds(out, state_word(mail));
}

static const struct view_column columns[] = {
	{ "Id", .key = "id" },
	{ "Time", "ts", .cell = VIEW_MOMENT },
	{ "From", .add = add_from },
	{ "To", .add = add_to },
	{ "Kind", .key = "kind" },
	{ "State", .add = add_state_word },
	{ "Subject", "subject", .flexible = true },
};

static int
mail_inbox(struct cli *cli, const struct cli_args *args)
{
	struct json_object *params;
	int64_t limit = 0;
	int status;

	if (args->flags[FLAG_ALL] != NULL && args->flags[FLAG_OF] != NULL)
		return cli_misuse(
		    cli, &cmd_mail, "give --all or --of, not both");
	if (args->flags[FLAG_LIMIT] != NULL &&
	    !text_parse_int(args->flags[FLAG_LIMIT], 1, LIMIT_MAX, &limit))
		return cli_misuse(cli, &cmd_mail,
		    "--limit %s: give a number from 1 to %d",
		    args->flags[FLAG_LIMIT], LIMIT_MAX);
	params = json_object_new_object();
	flag_text(params, "of", args, FLAG_OF);
	json_set_bool(params, "all", args->flags[FLAG_ALL] != NULL);
	json_set_bool(params, "unread", args->flags[FLAG_UNREAD] != NULL);
	if (limit > 0)
		json_set_int(params, "limit", limit);
	status = remote_call(cli, "mail.inbox", params, 0, &cli->result);
	if (status == CLI_OK)
		CLI_TABLE(cli, columns, cli->result, "No mail.");
	return status;
}

static void
add_who(struct cli *cli, const char *title, struct json_object *mail,
    const char *actor, const char *worker)
{
	const char *id = json_string_or(mail, actor, "");
	const char *name = short_name(mail, actor, worker);

	buf_addf(&cli->text, "%-10s%s", title, name);
	if (strcmp(name, id) != 0)
		buf_addf(&cli->text, " (%s)", id);
	buf_addc(&cli->text, '\n');
}

/* "confirmed 2026-01-31 09:15:30", if it was. */
static void
add_moment(struct cli *cli, struct json_object *mail, const char *key,
    const char *word)
{
	if (json_int_or(mail, key, 0) == 0)
		return;
	buf_addf(&cli->text, ", %s ", word);
	add_time(&cli->text, mail, key);
}

static int
mail_show(struct cli *cli, const struct cli_args *args)
{
	struct json_object *mail;
	const char *subject, *reply;
	int status = remote_call(cli, "mail.show",
	    remote_params("id", args->list[1], NULL), 0, &cli->result);
	int64_t given;
	struct json_object *body = NULL;
	const char *text;

	if (status != CLI_OK)
		return status;
	mail = cli->result;
	subject = json_string_or(mail, "subject", "");
	reply = json_string_or(mail, "reply_to", NULL);
	if (text_begins(subject, REQUEST)) {
		struct json_object *seen = json_object_new_array();

		json_object_array_add(
		    seen, json_object_new_string(subject + strlen(REQUEST)));
		asks_seen(cli, seen);
	}
	buf_addf(&cli->text,
	    "Mail:     %s (%s)\nTime:     ", json_string_or(mail, "id", ""),
	    json_string_or(mail, "kind", ""));
	add_time(&cli->text, mail, "ts");
	buf_addc(&cli->text, '\n');
	add_who(cli, "From:", mail, "sender", "sender_worker");
	add_who(cli, "To:", mail, "to", "to_worker");
	if (reply != NULL)
		buf_addf(&cli->text, "Answers:  %s\n", reply);
	cli_say(cli, "Subject:  ", subject, "\n");
	given = json_int_or(mail, "delivered", 0);
	buf_addf(&cli->text, "State:    %s", state_word(mail));
	add_moment(cli, mail, "delivered_ms", "given");
	if (given > 1)
		buf_addf(&cli->text, " (%" PRId64 " times)", given);
	add_moment(cli, mail, "acked_ms", "confirmed");
	add_moment(cli, mail, "closed_ms", "closed");
	buf_addc(&cli->text, '\n');
	if (json_bool_or(mail, "ack_required", false) &&
	    json_int_or(mail, "acked_ms", 0) == 0)
		buf_adds(&cli->text, "          It asks to be confirmed.\n");
	text = json_string_or(mail, "body", "");
	json_object_object_get_ex(mail, "body", &body);
	buf_addc(&cli->text, '\n');
	if (json_object_is_type(body, json_type_object))
		json_print(body, true, &cli->text);
	else
		text_add_visible(&cli->text, text, strlen(text), true);
	if (cli->text.data[cli->text.len - 1] != '\n')
		buf_addc(&cli->text, '\n');
	return CLI_OK;
}

/* The first line of the text that says something. */
static char *
subject_of(const char *text)
{
	size_t len;

	text += strspn(text, " \t\r\n");
	len = strcspn(text, "\r\n");
	return xstrndup(text, text_cut(text, len, SUBJECT_BYTES));
}

static struct json_object *
send_params(const struct cli_args *args, const char *text)
{
	struct json_object *params = json_object_new_object();
	cleanup_free char *subject = subject_of(text);

	json_set_string(params, "to", args->list[1]);
	json_set_string(params, "body", text);
	json_set_string(params, "subject", subject);
	flag_text(params, "subject", args, FLAG_SUBJECT);
	flag_text(params, "kind", args, FLAG_KIND);
	flag_text(params, "reply_to", args, FLAG_REPLY_TO);
	json_set_bool(params, "ack_required", args->flags[FLAG_ACK] != NULL);
	return params;
}

static int
mail_send(struct cli *cli, const struct cli_args *args)
{
	struct draft draft = DRAFT_INIT;
	const char *kind = args->flags[FLAG_KIND], *note;
	unsigned found;
	int status;

	if (kind != NULL && !word_find(mail_kind_words, kind, &found))
		return cli_misuse(cli, &cmd_mail,
		    "--kind %s: give info, instruction or alert", kind);
	if (args->flags[FLAG_SUBJECT] != NULL &&
	    args->flags[FLAG_SUBJECT][0] == '\0')
		return cli_misuse(cli, &cmd_mail,
		    "--subject is empty; without it, the first line of the "
		    "text is the subject");
	status = draft_fill(
	    cli, args->count > 2 ? args->list[2] : NULL, "mail", NULL, &draft);
	if (status == CLI_OK)
		status = remote_call(cli, "mail.send",
		    send_params(args, draft.text.data), 0, &cli->result);
	if (status == CLI_OK) {
		buf_addf(&cli->text, "Sent to %s as %s.\n", args->list[1],
		    json_string_or(cli->result, "id", ""));
		note = json_string_or(cli->result, "note", NULL);
		if (note != NULL)
			cli_warn(cli, "%s", note);
	}
	return draft_end(cli, &draft, status);
}

static int
mail_ack(struct cli *cli, const struct cli_args *args)
{
	int status = remote_call(cli, "mail.ack",
	    remote_params("id", args->list[1], NULL), 0, &cli->result);

	if (status == CLI_OK)
		buf_addf(&cli->text, "%s is confirmed.\n", args->list[1]);
	return status;
}

static const struct verb mail_verbs[] = {
	{ "inbox", 0, 0,
	    BIT(FLAG_ALL) | BIT(FLAG_OF) | BIT(FLAG_UNREAD) | BIT(FLAG_LIMIT),
	    "inbox [--all | --of WHO] [--unread] [--limit N]", mail_inbox },
	{ "send", 1, 2,
	    BIT(FLAG_SUBJECT) | BIT(FLAG_KIND) | BIT(FLAG_ACK) |
		BIT(FLAG_REPLY_TO),
	    "send WHO [TEXT], with TEXT in quotes", mail_send },
	{ "show", 1, 1, 0, "show MAIL", mail_show },
	{ "ack", 1, 1, 0, "ack MAIL", mail_ack },
	{ NULL, 0, 0, 0, NULL, NULL },
};

static const struct schema mail_forms =
    SCHEMA_SHAPE(SCHEMA_IS("inbox", ROWS, NULL, .of = &mail_schema),
	SCHEMA_IS("send", OBJECT, NULL, .of = &api_mail_sent),
	SCHEMA_IS("show, ack", OBJECT, NULL, .of = &mail_schema));

const struct cli_command cmd_mail = {
	.name = "mail",
	.group = CLI_ANSWER,
	.usage = "inbox | send WHO [TEXT] | show MAIL | ack MAIL",
	.summary = "read and send mail between agents and people",
	.help =
	    "inbox  the mail for you, the newest first; listing marks nothing "
	    "as read\n"
	    "send   mail to an agent, delivered after its next tool call or at "
	    "the end of its turn;\n       if it is idle, as a prompt. TEXT - "
	    "reads standard input; without TEXT, an\n       editor opens\n"
	    "show   a piece of mail with its whole text; yours counts as read\n"
	    "ack    confirm mail that was sent to you\n\n"
	    "WHO is a worker, or an actor id (llmc goal tree shows them); in a "
	    "fleet HOST:WORKER is\none of another host, and mail waits until "
	    "that host is up. MAIL is an id such as inbox\nshows. llmc message types "
	    "into a session now, and nothing keeps it;\nmail is recorded, waits "
	    "until it is read, and with --ack comes again until it is\n"
	    "confirmed. Mail needs goals (plan.enabled). Agents have tools of "
	    "their own for it:\nmail_send, mail_inbox and mail_ack.\n",
	.example = "mail send auto-1 'The API is frozen' --ack",
	.flags = mail_flags,
	.min_args = 1,
	.max_args = 1001,
	.guarded = true,
	.shape = CLI_SHAPE(ONE, mail_forms),
	.verbs = mail_verbs,
};

/* --- a channel ----------------------------------------------------------- */

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
		.text = "llmc doctor channel was run. Nothing is wrong.",
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
channel_run(struct cli *cli, const struct cli_args *args)
{
	struct settings *settings = NULL;
	struct channel_list list = { 0 };
	const struct channel *channel;
	int status = cli_load_settings(cli, &settings);

	if (status != CLI_OK)
		return status;
	people_channels(settings, &list);
	channel = channel_find(&list, args->list[0]);
	status = channel != NULL ?
	    try_channel(cli, channel) :
	    cli_fail(cli, "failed",
		"there is no channel %s; describe it in .llmc/config.toml as "
		"[people.channels.%s] (see llmc.conf(5))",
		args->list[0], args->list[0]);
	channel_list_release(&list);
	settings_free(settings);
	return status;
}

const struct cli_command cmd_channel = {
	.name = "doctor channel",
	.usage = "CHANNEL",
	.summary = "send a test through a channel",
	.help = "Sends a message that nothing is wrong to whom "
		"[people.channels.CHANNEL] of the\nsettings tells, whatever "
		"its levels are, and says whether that worked.\n",
	.example = "doctor channel phone",
	.min_args = 1,
	.max_args = 1,
	.guarded = true,
	.shape = CLI_SHAPE(OBJECT, message_schema),
	.run = channel_run,
};
