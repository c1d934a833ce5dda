/* SPDX-License-Identifier: ISC */

/* llmc status: the part about the overseer. Only reads files. */
#include "base.h"
#include "cli-private.h"
#include "history.h"

#define EVENTS_SHOWN 5

#define LOST       "not running"
#define STARTING   "Starting"
#define RUNNING    "Running"
#define TERMINATED "Terminated"

struct overseer_status {
	struct cli *cli;
	int64_t now; /* milliseconds */
	const struct overseer_files *overseer;
	struct json_object
	    *file; /* overseer.json, where it is to be believed */
	const char *state; /* as it is now */
	struct json_object *json;
};

static void
add_visible(struct cli *cli, const char *text)
{
	text_add_visible(&cli->text, text, strcspn(text, "\n"), false);
}

static int64_t
seconds_since(const struct overseer_status *o, int64_t at_unix)
{
	int64_t now = o->now / 1000;

	return at_unix > 0 && at_unix < now ? now - at_unix : 0;
}

/* --- what it is at --------------------------------------------------- */

static const char *
state_of(const struct overseer_files *overseer)
{
	const char *told = json_string_or(overseer->json, "state", "");

	if (overseer->registered)
		return told;
	if (overseer->active)
		return STARTING;
	return strcmp(told, TERMINATED) == 0 ? TERMINATED : LOST;
}

static bool
is_state(const struct overseer_status *o, const char *state)
{
	return strcmp(o->state, state) == 0;
}

static int64_t
exit_status(const struct overseer_status *o)
{
	return is_state(o, TERMINATED) ?
	    json_int_or(o->file, "exit_status", -1) :
	    -1;
}

static const char *
state_colour(const struct overseer_status *o)
{
	if (is_state(o, RUNNING))
		return "32";
	if (is_state(o, LOST))
		return "1;31";
	if (is_state(o, TERMINATED))
		return exit_status(o) == 0 ? "90" : "1;31";
	return "33";
}

/* Exit statuses as in overseer(8). */
static const struct {
	int status;
	const char *words;
} exits[] = {
	{ 0, "stopped" },
	{ 1, "an error of the overseer itself" },
	{ 3, "a failure spiral" },
	{ 4, "a person is needed" },
	{ 5, "the failure could not be repaired" },
	{ 130, "forced to stop" },
};

static const char *
exit_words(int64_t status)
{
	for (size_t i = 0; i < nitems(exits); i++)
		if (exits[i].status == status)
			return exits[i].words;
	return "unknown reason";
}

static void
show_state(struct overseer_status *o)
{
	struct buf *text = &o->cli->text;
	int64_t status = exit_status(o), pid = overseer_files_pid(o->overseer);
	int64_t up =
	    seconds_since(o, json_int_or(o->file, "start_time_unix", 0));
	int64_t until = json_int_or(o->file, "until_ms", 0);

	cli_coloured(o->cli, state_colour(o), o->state);
	if (is_state(o, TERMINATED)) {
		buf_addf(text, "  exit status %" PRId64 ": %s", status,
		    exit_words(status));
	} else if (pid > 0) {
		buf_addf(text, "  pid %" PRId64 "  up ", pid);
		moment_add_age(text, up * 1000);
		if (until > 0) {
			buf_adds(text, "  until ");
			moment_add(text, until);
		}
	} else if (is_state(o, LOST)) {
		buf_adds(text, " (it crashed or was killed)");
	}
	buf_addc(text, '\n');
	json_set_bool(o->json, "active", o->overseer->active);
	json_set_string(o->json, "state", o->state);
	json_set_string(o->json, "registered_state",
	    json_string_or(o->overseer->json, "state", NULL));
	json_set(o->json, "pid", pid > 0 ? json_object_new_int64(pid) : NULL);
	json_set(
	    o->json, "uptime_secs", pid > 0 ? json_object_new_int64(up) : NULL);
	json_set(o->json, "until_ms",
	    until > 0 ? json_object_new_int64(until) : NULL);
	json_set(o->json, "exit_status",
	    status >= 0 ? json_object_new_int64(status) : NULL);
}

static const struct schema daemon_shape = SCHEMA_SHAPE(
    SCHEMA_IS("pid", INT, NULL), SCHEMA_IS("uptime_secs", INT, NULL),
    SCHEMA_OR_NULL("instance_id", STRING, NULL),
    SCHEMA_IS("adopted", BOOL, "it ran before this overseer"),
    SCHEMA_IS("told_to_end", BOOL, NULL));

/* If another daemon is running, that is shown elsewhere. */
static void
show_daemon(struct overseer_status *o)
{
	struct json_object *daemon = json_member(o->file, "daemon");
	struct json_object *json;
	int64_t pid = json_int_or(daemon, "pid", 0), up;

	if (!o->overseer->registered || pid <= 0) {
		json_set(o->json, "daemon", NULL);
		return;
	}
	up = seconds_since(o, json_int_or(daemon, "started_unix", 0));
	json = cli_members(&daemon_shape, daemon);
	json_set_int(json, "uptime_secs", up);
	json_set(o->json, "daemon", json);
	buf_addf(&o->cli->text, "Daemon: pid %" PRId64 "  up ", pid);
	moment_add_age(&o->cli->text, up * 1000);
	buf_addf(&o->cli->text, "%s%s\n",
	    json_bool_or(daemon, "adopted", false) ? ", taken over" : "",
	    json_bool_or(daemon, "told_to_end", false) ? ", stopping" : "");
}

static void
show_failure(struct overseer_status *o)
{
	int64_t attempt = json_int_or(o->file, "attempt", 0);
	const char *failure = json_string_or(o->file, "failure", NULL);
	bool at_it = o->overseer->registered && !is_state(o, RUNNING);

	if (attempt > 0 && at_it)
		buf_addf(&o->cli->text, "Remediation attempt %" PRId64 "\n",
		    attempt);
	if (failure == NULL || exit_status(o) == 0)
		return;
	buf_adds(&o->cli->text, at_it ? "Failure: " : "Last failure: ");
	add_visible(o->cli, failure);
	buf_addc(&o->cli->text, '\n');
}

static void
show_events(struct overseer_status *o)
{
	struct json_object *events = json_member(o->file, "events");
	struct json_object *list = json_object_new_array();
	size_t count = json_length(events);

	for (size_t i = count > EVENTS_SHOWN ? count - EVENTS_SHOWN : 0;
	     i < count; i++) {
		struct json_object *event =
		    json_object_array_get_idx(events, i);

		if (!json_object_is_type(event, json_type_string))
			continue;
		json_object_array_add(list, json_object_get(event));
		if (is_state(o, TERMINATED))
			continue; /* how it ended says it all */
		buf_adds(&o->cli->text, "  ");
		add_visible(o->cli, json_object_get_string(event));
		buf_addc(&o->cli->text, '\n');
	}
	json_set(o->json, "events", list);
}

/* --- what a person can do -------------------------------------------- */

static char *
fix_of(struct overseer_status *o, const char *manual)
{
	cleanup_buf struct buf words = BUF_INIT;

	if (is_state(o, LOST))
		return xstrdup(
		    "start it again, and it takes over the daemon: llmc "
		    "overseer");
	switch (exit_status(o)) {
	case 3:
		return overseer_files_is_over(o->cli, &words) ?
		    xstrdup(
			"see llmc log failures, fix the cause, then: llmc overseer "
			"--clear \"what was done\" and llmc overseer") :
		    xstrdup("it has been cleared; start with: llmc overseer");
	case 4:
		return manual != NULL ?
		    xasprintf("do what %s says, remove it, then: llmc overseer",
			manual) :
		    xstrdup("the file is gone; start with: llmc overseer");
	case 5:
		return xstrdup(
		    "see llmc log failures, fix the cause, then: llmc overseer");
	default:
		return NULL;
	}
}

static void
show_fix(struct overseer_status *o)
{
	cleanup_free char *manual = history_manual_file(&o->cli->workspace);
	cleanup_free char *fix = fix_of(o, manual);

	json_set_string(o->json, "manual_intervention", manual);
	json_set_string(o->json, "fix", fix);
	if (fix == NULL)
		return;
	buf_adds(&o->cli->text, "-> ");
	add_visible(o->cli, fix);
	buf_addc(&o->cli->text, '\n');
}

void
status_overseer_show(
    struct cli *cli, const struct overseer_files *overseer, int64_t now_ms)
{
	static void (*const parts[])(struct overseer_status *) = { show_state,
		show_daemon, show_failure, show_events, show_fix };
	struct overseer_status o = { .cli = cli,
		.now = now_ms,
		.overseer = overseer,
		.state = state_of(overseer) };

	if (overseer->json == NULL && !overseer->active)
		return;
	/* The file knows nothing about an overseer that has not registered yet.
	 */
	if (overseer->registered || !overseer->active)
		o.file = overseer->json;
	o.json = cli_members(&status_overseer_shape, o.file);
	if (exit_status(&o) == 0)
		buf_adds(&o.cli->text, "\nOverseer: "); /* one line */
	else
		status_section(o.cli, "OVERSEER");
	for (size_t i = 0; i < nitems(parts); i++)
		parts[i](&o);
	json_set(o.cli->result, "overseer", o.json);
}

const struct schema status_overseer_shape = SCHEMA_SHAPE(
    SCHEMA_IS("active", BOOL, NULL),
    SCHEMA_IS("state", STRING,
	"Starting, Running, Remediating, Terminated, ..., or "
	"\"not running\": it crashed or was killed"),
    SCHEMA_OR_NULL("registered_state", STRING, "state that it wrote last"),
    SCHEMA_OR_NULL("pid", INT, NULL), SCHEMA_OR_NULL("uptime_secs", INT, NULL),
    SCHEMA_OR_NULL("instance_id", STRING, NULL),
    SCHEMA_OR_NULL("version", STRING, NULL),
    SCHEMA_OR_NULL("until_ms", INT, "when Waiting: milliseconds since 1970"),
    SCHEMA_OR_NULL("exit_status", INT, "when Terminated; see overseer(8)"),
    SCHEMA_OR_NULL(
	"daemon", OBJECT, "daemon that it watches", .of = &daemon_shape),
    SCHEMA_IS("attempt", INT, "remediations since the last healthy run"),
    SCHEMA_OR_NULL("failure", STRING, "reason of the last failure"),
    SCHEMA_IS("events", LIST, "its last messages"),
    SCHEMA_OR_NULL("manual_intervention", STRING,
	"file of a remediation that asks for a person"),
    SCHEMA_OR_NULL("fix", STRING, "what to do"));
