/* SPDX-License-Identifier: ISC */

#include "base.h"

#include <signal.h>
#include <sys/ioctl.h>
#include <sys/queue.h>
#include <sys/stat.h>
#include <time.h>

#include "cli-private.h"
#include "loop.h"
#include "sibling.h"
#include "top.h"
#include "view.h"

struct sent {
	LIST_ENTRY(sent) entry;
	struct top *top;
	enum top_do what;
	char *target;
	struct client_stream *stream;
};

LIST_HEAD(sent_list, sent);

#define ROWS        24 /* of a frame that is printed */
#define COLUMNS     80
#define WAIT_MAX_MS 60000
#define SNAPSHOT_MS 200 /* to wait for the daemon before the first frame */
#define CHARTS_MS   30000 /* charts that are shown are made again after this */
#define SIGNALLED   128 /* plus the signal: exit status of a shell */

static const int ending[] = { SIGINT, SIGTERM, SIGHUP };

struct top {
	struct cli *cli;
	struct loop *loop;
	struct view_source *source;
	struct screen *screen;
	struct sent_list sent; /* requests that wait for their answers */
	struct top_ui ui;
	struct loop_call *draw;
	struct loop_timer *timer; /* the next time that changes what is shown */
	struct loop_signal *signals[nitems(ending)];
	struct client_stream *charts; /* they are asked for; NULL = not now */
	int64_t charts_ms; /* monotonic, when they were asked for; 0 = never */
	char *commit; /* that is asked about */
	int64_t lost_ms; /* the daemon, since then; 0 = never, or not */
	bool was_live, ended;
};

static const struct {
	const char *method;
	const char *doing; /* shown until the answer comes */
} acts[] = {
	[TOP_PAUSE] = { "worker.pause", "Pausing" },
	[TOP_RESUME] = { "auto.resume", "Resuming" },
	[TOP_ACCEPT] = { "worker.accept", "Accepting the work of" },
	[TOP_REJECT] = { "worker.reject", "Rejecting the work of" },
	[TOP_MESSAGE] = { "worker.message", "Sending the message to" },
};

static void
sent_free(struct sent *sent)
{
	LIST_REMOVE(sent, entry);
	client_stream_free(sent->stream);
	free(sent->target);
	free(sent);
}

/* Tell the person something, on the last line. */
static void
say(struct top *top, const char *words)
{
	top_ui_notice(&top->ui, words);
	loop_call_request(top->draw);
}

static void
say_accepted(
    const struct sent *sent, struct json_object *result, struct buf *out)
{
	const char *branch = json_string_or(result, "landing_branch", "");

	if (json_bool_or(result, "needs_conflict_resolution", false))
		buf_addf(out,
		    "The work of %s conflicts with %s; the worker resolves "
		    "that, then it lands.",
		    sent->target, branch);
	else if (json_bool_or(result, "already_incorporated", false))
		buf_addf(out, "The work of %s is already on %s.", sent->target,
		    branch);
	else
		buf_addf(out, "Landed the work of %s on %s as %.7s.",
		    sent->target, branch,
		    json_string_or(result, "commit_sha", ""));
}

static void
on_end(int status, struct json_object *result, const struct err *err, void *arg)
{
	struct sent *sent = arg;
	struct top *top = sent->top;
	cleanup_buf struct buf words = BUF_INIT;

	if (status == 0) {
		const char *message = json_string_or(result, "message", NULL);

		switch (sent->what) {
		case TOP_ACCEPT:
			say_accepted(sent, result, &words);
			break;
		case TOP_REJECT:
			buf_addf(&words, "Rejected; %s is working on it again.",
			    sent->target);
			break;
		case TOP_MESSAGE:
			buf_addf(&words, "Sent to %s.", sent->target);
			break;
		default:
			if (message != NULL)
				buf_adds(&words, message);
			else
				buf_addf(&words, "%s %s: done.",
				    acts[sent->what].doing, sent->target);
		}
	} else if (status == -EPROTO) {
		buf_adds(&words, client_stream_error(sent->stream, NULL));
	} else {
		buf_addf(&words, "%s %s: %s", acts[sent->what].doing,
		    sent->target,
		    err != NULL ? err->msg : "the daemon has gone");
	}
	sent_free(sent);
	for (size_t i = 0; i < words.len; i++)
		if (words.data[i] == '\n')
			words.data[i] = ' ';
	say(top, words.data);
}

static struct json_object *
params_of(const struct top_action *action, const char *commit)
{
	struct json_object *params = remote_worker(action->target);

	if (action->what == TOP_REJECT || action->what == TOP_MESSAGE)
		json_set_string(params, "text", action->text);
	if (commit != NULL &&
	    (action->what == TOP_ACCEPT || action->what == TOP_REJECT))
		json_set_string(params, "commit", commit);
	return params;
}

/* As for the commands of the same name. */
static bool
is_refused(struct top *top, enum top_do what)
{
	if ((api_find(acts[what].method)->callers & API_WORKER) != 0 ||
	    !cli_is_barred(top->cli, false))
		return false;
	say(top,
	    "Nothing was done: agents may not do that, and this is the session "
	    "of one.");
	return true;
}

/* Send TOP_PAUSE, TOP_RESUME, TOP_ACCEPT, TOP_REJECT or TOP_MESSAGE, about the
 * commit that the person was shown. */
static void
send_action(struct top *top, const struct top_action *action)
{
	static const struct client_stream_fns fns = { NULL, on_end };
	cleanup_free char *socket = remote_socket(top->cli);
	cleanup_json struct json_object *params =
	    params_of(action, top->commit);
	cleanup_buf struct buf words = BUF_INIT;
	struct sent *sent;
	struct err err = { 0, "" };
	int r;

	if (is_refused(top, action->what))
		return;
	sent = xcalloc(1, sizeof *sent);
	sent->top = top;
	sent->what = action->what;
	sent->target = xstrdup(action->target);
	LIST_INSERT_HEAD(&top->sent, sent, entry);
	r = client_stream_new(top->loop, socket, acts[action->what].method,
	    params, &fns, sent, &sent->stream, &err);
	if (r < 0) {
		sent_free(sent);
		say(top,
		    r == -ENOENT || r == -ECONNREFUSED ?
			"No daemon is running; start it with: llmc up "
			"--detach" :
			err.msg);
		return;
	}
	buf_addf(&words, "%s %s ...", acts[action->what].doing, action->target);
	say(top, words.data);
}

/* The commit of a worker that accept and reject apply to, as the view shows it:
 * the reviewed one, else the last; NULL = none. Valid as long as the view. */
static const char *
commit_of(struct json_object *view, const char *worker)
{
	struct json_object *row;

	if (worker == NULL ||
	    !json_object_object_get_ex(view_of(view, "workers"), worker, &row))
		return NULL;
	return json_string_or(
	    row, "reviewed", json_string_or(row, "commit", NULL));
}

static void
on_charts(
    int status, struct json_object *result, const struct err *err, void *arg)
{
	struct top *top = arg;
	const char *words = err != NULL ? err->msg : "the daemon has gone";

	json_object_put(take_ptr(&top->ui.charts));
	if (status == 0)
		top->ui.charts = json_object_get(result);
	else
		xstrset(&top->ui.charts_missing,
		    status == -EPROTO ? client_stream_error(top->charts, NULL) :
					words);
	client_stream_free(take_ptr(&top->charts));
	loop_call_request(top->draw);
}

/* While they are shown, now and then. */
static void
ask_charts(struct top *top)
{
	static const struct client_stream_fns fns = { NULL, on_charts };
	cleanup_free char *socket = remote_socket(top->cli);
	cleanup_json struct json_object *params = json_object_new_object();
	int64_t now = clock_mono_ms();

	if (top->ui.page != TOP_PAGE_CHARTS || top->charts != NULL ||
	    (top->charts_ms != 0 && now - top->charts_ms < CHARTS_MS))
		return;
	top->charts_ms = now;
	if (client_stream_new(top->loop, socket, "charts.get", params, &fns,
		top, &top->charts, NULL) < 0 &&
	    top->ui.charts == NULL)
		xstrset(&top->ui.charts_missing,
		    "No daemon answers. Without one, type: llmc report "
		    "--charts");
}

/* --- frames ---------------------------------------------------------- */

static struct top_facts
facts_now(struct cli *cli, bool live, int64_t lost_ms)
{
	struct top_facts facts = { .live = live,
		.lost_ms = lost_ms,
		.now_ms = clock_wall_ms(),
		.utf8 = cli->utf8 };
	cleanup_json struct json_object *daemon =
	    live ? NULL : roster_daemon(cli);
	time_t now = (time_t)(facts.now_ms / 1000);
	struct tm local;

	facts.there = daemon != NULL;
	if (localtime_r(&now, &local) != NULL)
		facts.utc_offset_s = (int)local.tm_gmtoff;
	return facts;
}

/* A daemon that hangs sends nothing, and one where nothing happens neither. */
static int64_t
last_beat_ms(const struct cli *cli)
{
	cleanup_free char *file =
	    workspace_path(&cli->workspace, "auto.heartbeat");
	struct stat st;

	return stat(file, &st) == 0 ? clock_file_ms(&st.st_mtim) : 0;
}

static void
on_due(void *arg)
{
	struct top *top = arg;

	loop_timer_free(take_ptr(&top->timer));
	loop_call_request(top->draw);
}

static void
on_draw(void *arg)
{
	struct top *top = arg;
	struct top_facts facts =
	    facts_now(top->cli, view_source_live(top->source), top->lost_ms);
	struct grid *frame;
	int rows, columns;
	int64_t now_ms;
	int64_t wait;

	ask_charts(top);
	facts.beat_ms = last_beat_ms(top->cli);
	screen_size(top->screen, &rows, &columns);
	frame = grid_new(rows, columns);
	top_frame(view_source_view(top->source), &top->ui, &facts, frame);
	screen_show(top->screen, frame);
	now_ms = facts.now_ms;
	wait = top->ui.next_change_ms - now_ms;
	/* The time of day changes every minute, also when it is set. */
	if (wait > WAIT_MAX_MS)
		wait = WAIT_MAX_MS;
	loop_timer_free(take_ptr(&top->timer));
	if (top->ui.frozen == NULL)
		top->timer = loop_after(top->loop, wait, on_due, top);
}

static void
on_view(void *arg)
{
	struct top *top = arg;

	if (view_source_live(top->source)) {
		top->was_live = true;
		top->lost_ms = 0;
	} else if (top->was_live && top->lost_ms == 0) {
		top->lost_ms = clock_wall_ms();
	}
	loop_call_request(top->draw);
}

/* --- keys ------------------------------------------------------------ */

static void
end(struct top *top, int status)
{
	top->ended = true;
	loop_stop(top->loop, status);
}

/* What a program said before it failed must be seen. */
static void
wait_for_enter(void)
{
	static const char ask[] = "\nPress Enter to go back to llmc top. ";
	char c;

	if (write(STDOUT_FILENO, ask, sizeof ask - 1) < 0)
		return;
	while (read(STDIN_FILENO, &c, 1) == 1 && c != '\n')
		;
}

/* Let another program have the terminal until it ends. */
static void
run_outside(struct top *top, const char *const *argv)
{
	struct err err = { 0, "" };
	int status;

	screen_leave(top->screen);
	status = terminal_run(argv, &err);
	if (status > 0)
		wait_for_enter();
	screen_enter(top->screen);
	if (status < 0)
		top_ui_notice(&top->ui, err.msg);
}

static void
act(struct top *top, const struct top_action *action)
{
	cleanup_free char *llmc = NULL;

	switch (action->what) {
	case TOP_NOTHING:
	case TOP_REDRAW:
		return;
	case TOP_QUIT:
		end(top, CLI_OK);
		return;
	case TOP_ATTACH:
	case TOP_LOGS:
		llmc = sibling_find("llmc");
		if (llmc == NULL) {
			say(top, "cannot find the program llmc");
		} else if (action->what == TOP_ATTACH) {
			const char *const argv[] = { llmc, "--root",
				top->cli->workspace.root, "attach",
				action->target, NULL };

			run_outside(top, argv);
		} else {
			const char *worker = action->target;
			static const char script[] =
			    "if [ -z \"${PAGER:-}\" ]; then PAGER=more; "
			    "command -v less >/dev/null && PAGER='less -+F +G'; fi; "
			    "\"$1\" --root \"$2\" log daemon --lines 1000 --worker \"$3\" 2>&1 | "
			    "eval \"$PAGER\"";
			const char *const argv[] = { "/bin/sh", "-c", script,
				"sh", llmc, top->cli->workspace.root, worker,
				NULL };

			/* In the pager, at the end. */
			run_outside(top, argv);
		}
		return;
	default:
		send_action(top, action);
	}
}

static void
on_key(uint32_t key, bool pasted, void *arg)
{
	struct top *top = arg;
	struct json_object *view = view_source_view(top->source);
	bool asked = top->ui.asked != TOP_NOTHING;
	struct top_action action;
	const char *commit;

	if (top->ended ||
	    (pasted && !top->ui.typing && !top_asks_text(top->ui.asked)))
		return;
	action = top_key(&top->ui, view, key);
	if (!asked && top->ui.asked != TOP_NOTHING) {
		commit = commit_of(top_ui_view(&top->ui, view), top->ui.target);
		free(top->commit);
		top->commit = commit != NULL ? xstrdup(commit) : NULL;
	}
	if (key == TOP_KEY_REDRAW)
		screen_forget(top->screen);
	act(top, &action);
	loop_call_request(top->draw);
}

static void
on_size(void *arg)
{
	on_key(TOP_KEY_RESIZE, false, arg);
}

static void
on_gone(void *arg)
{
	end(arg, SIGNALLED + SIGHUP);
}

static void
on_signal(int signo, void *arg)
{
	end(arg, signo == SIGINT ? CLI_OK : SIGNALLED + signo);
}

static const struct screen_fns screen_fns = { on_key, on_size, on_gone };

static int
take_terminal(struct top *top)
{
	enum grid_colours colours = screen_colours(
	    top->cli->colour, getenv("TERM"), getenv("COLORTERM"));
	struct err err = { 0, "" };
	int status;

	status =
	    view_source_new(top->cli, top->loop, on_view, top, &top->source);
	if (status != CLI_OK)
		return status;
	if (screen_new(
		top->loop, colours, &screen_fns, top, &top->screen, &err) < 0)
		return cli_fail_err(top->cli, "no_terminal", &err);
	for (size_t i = 0; i < nitems(ending); i++)
		top->signals[i] =
		    loop_signal_new(top->loop, ending[i], on_signal, top);
	return CLI_OK;
}

static int
follow(struct cli *cli)
{
	struct top top = { .cli = cli, .loop = loop_new() };
	int status;
	struct sent *sent;

	top_ui_init(&top.ui);
	top.draw = loop_call_new(top.loop, on_draw, &top);
	LIST_INIT(&top.sent);
	status = take_terminal(&top);
	if (status == CLI_OK) {
		top.timer = loop_after(top.loop, SNAPSHOT_MS, on_due, &top);
		status = loop_run(top.loop);
	}
	for (size_t i = 0; i < nitems(ending); i++)
		loop_signal_free(top.signals[i]);
	screen_free(top.screen);
	loop_timer_free(top.timer);
	/* Requests that were sent stay with the daemon. */
	while ((sent = LIST_FIRST(&top.sent)) != NULL)
		sent_free(sent);
	client_stream_free(top.charts);
	view_source_free(top.source);
	loop_call_free(top.draw);
	loop_free(top.loop);
	top_ui_release(&top.ui);
	free(top.commit);
	return status;
}

static int
size_from(const char *variable, unsigned short kernel, int otherwise)
{
	const char *text = getenv(variable);
	int64_t number;

	if (kernel > 0)
		return kernel;
	return text != NULL && text_parse_int(text, 1, GRID_SIZE_MAX, &number) ?
	    (int)number :
	    otherwise;
}

static int
print_once(struct cli *cli)
{
	struct winsize size = { 0 };
	struct top_facts facts;
	struct top_ui ui;
	struct grid *frame;
	bool live;
	int status = view_source_once(cli, NULL, &cli->result, &live);

	if (status != CLI_OK || cli->json)
		return status;
	if (ioctl(STDOUT_FILENO, TIOCGWINSZ, &size) == -1)
		size.ws_row = size.ws_col = 0;
	facts = facts_now(cli, live, 0);
	facts.beat_ms = last_beat_ms(cli);
	frame = grid_new(size_from("LINES", size.ws_row, ROWS),
	    size_from("COLUMNS", size.ws_col, COLUMNS));
	top_ui_init(&ui);
	top_frame(cli->result, &ui, &facts, frame);
	grid_print(frame, &cli->text);
	top_ui_release(&ui);
	grid_free(frame);
	return CLI_OK;
}

static int
top_run(struct cli *cli, const struct cli_args *args)
{
	cli->here = args->flags[0] != NULL;
	return !cli->json && screen_possible(getenv("TERM")) ? follow(cli) :
							       print_once(cli);
}

const struct cli_command cmd_top = {
	.name = "top",
	.group = CLI_WATCH,
	.usage = "[--here]",
	.flags = cli_here_flags,
	.summary = "show everything that goes on, as it changes",
	.help =
	    "What needs you comes first, then workers, tasks, events and "
	    "failures. ? explains\nthe keys; q ends. A key that changes "
	    "something asks first. If the daemon ends,\nwhat was shown last "
	    "stays, marked as lost, until it is back. Without a terminal,\n"
	    "one frame is printed, of the size that COLUMNS and LINES say; "
	    "--json prints what\nis shown as data.\n",
	.example = "top",
	.method = "view.get",
	.repairs = true,
	.run = top_run,
};
