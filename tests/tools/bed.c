/* SPDX-License-Identifier: ISC */

#include "bed.h"
#include "bed-private.h"

#define PIECE_MAX 500 /* bytes of a paste */
#define TICK_MS   5
#define AGAIN_MS  500 /* before a key is pressed again */

/* ---- children */

/* Standard output, without the last newline; NULL on failure. */
char *
bed_run(struct bed *bed, const char *const *argv, const char *shell,
    const struct buf *input)
{
	cleanup_child_result struct child_result result;
	cleanup_buf struct buf text = BUF_INIT;
	struct err err = { 0 };
	struct child_spec spec = {
		.argv = argv,
		.shell = shell,
		.cwd = bed->repo,
		.env = (const char *const *)bed->env,
		.input = input != NULL ? input->data : NULL,
		.input_len = input != NULL ? input->len : 0,
		.output_max = BED_FILE_MAX,
		.deadline_ms = BED_WAIT_MS,
	};

	child_result_init(&result);
	if (child_run(&spec, &result, &err) < 0)
		ck_abort_msg("%s", err.msg);
	if (!child_succeeded(&result))
		return NULL;
	child_output_text(&result.out, &text);
	while (text.len > 0 && text.data[text.len - 1] == '\n')
		buf_truncate(&text, text.len - 1);
	return buf_take(&text);
}

char *
bed_shell(struct bed *bed, const char *command)
{
	char *output = bed_run(bed, NULL, command, NULL);

	ck_assert_msg(output != NULL, "failed: %s", command);
	return output;
}

/* tmux with up to ten words. */
static char *
bed_tmux(struct bed *bed, const struct buf *input, const char *const *words)
{
	const char *argv[16] = { "tmux", "-L", "bed", "-f", "/dev/null" };

	for (size_t i = 0; words[i] != NULL; i++)
		argv[5 + i] = words[i];
	return bed_run(bed, argv, NULL, input);
}

static char *
bed_screen(struct bed *bed)
{
	const char *const words[] = { "capture-pane", "-p", "-t",
		"=agent:", NULL };
	char *text = bed_tmux(bed, NULL, words);

	return text != NULL ? text : xstrdup("(no screen)");
}

/* ---- waiting */

/* Lines after a result are comments in TAP. */
static void
bed_comment(struct buf *out, const char *text)
{
	for (; *text != '\0'; text++) {
		buf_addc(out, *text);
		if (*text == '\n')
			buf_adds(out, "# ");
	}
}

void
bed_until(
    struct bed *bed, bed_check_fn *check, const void *arg, const char *what)
{
	int64_t end = clock_mono_ms() + BED_WAIT_MS;
	cleanup_free char *names = NULL, *screen = NULL;
	cleanup_buf struct buf shown = BUF_INIT;

	while (!check(bed, arg)) {
		if (clock_mono_ms() > end) {
			names = bed_event_names(bed);
			screen = bed_screen(bed);
			bed_comment(&shown, screen);
			ck_abort_msg("%s did not happen with %s\n# %s\n# %s",
			    what, bed->agent, names, shown.data);
		}
		poll(NULL, 0, TICK_MS);
	}
}

struct json_object *
bed_lines(const char *path)
{
	cleanup_buf struct buf text = BUF_INIT;
	struct json_object *list = json_object_new_array(), *json;
	char *line, *end;

	if (file_read(path, BED_FILE_MAX, &text, NULL) < 0)
		return list;
	for (line = text.data; (end = strchr(line, '\n')) != NULL;
	     line = end + 1)
		if (json_parse(line, (size_t)(end - line), BED_FILE_MAX, &json,
			NULL) == 0)
			json_object_array_add(list, json);
	return list;
}

static void
bed_read_events(struct bed *bed)
{
	struct json_object *events = bed_lines(bed_path(bed, "events"));
	size_t have = json_object_array_length(bed->events);

	/* Keep the known ones, which tests still use. */
	for (size_t i = have; i < json_object_array_length(events); i++)
		json_object_array_add(bed->events,
		    json_object_get(json_object_array_get_idx(events, i)));
	json_object_put(events);
}

static const char *
bed_name(struct bed *bed, size_t index)
{
	return json_string_or(json_object_array_get_idx(bed->events, index),
	    "hook_event_name", "?");
}

static bool
bed_has_event(struct bed *bed, const void *arg)
{
	bed_read_events(bed);
	for (; bed->cursor < json_object_array_length(bed->events);
	     bed->cursor++)
		if (strcmp(bed_name(bed, bed->cursor), arg) == 0)
			return true;
	return false;
}

struct json_object *
bed_wait(struct bed *bed, const char *event)
{
	bed_until(bed, bed_has_event, event, event);
	return json_object_array_get_idx(bed->events, bed->cursor++);
}

void
bed_wait_session(struct bed *bed)
{
	bed_wait(bed, "SessionStart");
	bed->cursor--;
}

static bool
bed_has_status(struct bed *bed, const void *arg)
{
	cleanup_free char *path = xasprintf(
	    "%s/.claude/sessions/%d.json", bed->home, (int)bed->pane.pid);
	cleanup_json struct json_object *json = NULL;

	/* Rewritten in place: it may be incomplete. */
	return json_load(path, BED_FILE_MAX, &json, NULL) == 0 &&
	    strcmp(json_string_or(json, "status", ""), arg) == 0;
}

void
bed_wait_status(struct bed *bed, const char *status)
{
	bed_until(bed, bed_has_status, status, status);
}

static bool
bed_has_file(struct bed *bed, const void *arg)
{
	(void)bed;
	return file_exists(arg);
}

void
bed_wait_file(struct bed *bed, const char *name)
{
	cleanup_free char *path = file_join(bed->record, name);

	bed_until(bed, bed_has_file, path, path);
}

static bool
bed_shows(struct bed *bed, const void *arg)
{
	cleanup_free char *screen = bed_screen(bed);

	return strstr(screen, arg) != NULL;
}

void
bed_wait_screen(struct bed *bed, const char *text)
{
	bed_until(bed, bed_shows, text, text);
}

bool
bed_alive(const struct bed *bed)
{
	return procref_alive(&bed->pane);
}

bool
bed_is_gone(struct bed *bed, const void *arg)
{
	(void)arg;
	return !bed_alive(bed);
}

/* tmux 3.3a may need the exit of another child to notice this one. */
static bool
bed_knows_status(struct bed *bed, const void *arg)
{
	const char *const nudge[] = { "run-shell", "-b", "true", NULL };
	const char *const ask[] = { "display-message", "-p", "-t", "=agent:",
		"#{?pane_dead,#{pane_dead_status}+#{pane_dead_signal},}",
		NULL };

	(void)arg;
	free(bed_tmux(bed, NULL, nudge));
	free(bed->ended);
	bed->ended = bed_tmux(bed, NULL, ask);
	return bed->ended != NULL && strlen(bed->ended) > 1;
}

int
bed_wait_gone(struct bed *bed)
{
	const char *signo;

	bed_until(bed, bed_is_gone, NULL, "the end of the process");
	bed_until(bed, bed_knows_status, NULL, "an exit status");
	signo = strchr(bed->ended, '+');
	if (signo[1] != '\0')
		return 128 + (int)strtol(signo + 1, NULL, 10);
	return (int)strtol(bed->ended, NULL, 10);
}

/* ---- recorded events */

size_t
bed_event_count(struct bed *bed)
{
	bed_read_events(bed);
	return json_object_array_length(bed->events);
}

struct json_object *
bed_event(struct bed *bed, size_t index)
{
	return json_object_array_get_idx(bed->events, index);
}

char *
bed_event_names(struct bed *bed)
{
	struct buf names = BUF_INIT;

	for (size_t i = 0; i < bed_event_count(bed); i++)
		buf_addf(&names, "%s%s", i > 0 ? " " : "", bed_name(bed, i));
	return buf_take(&names);
}

/* ---- driving */

static void
bed_send(struct bed *bed, const struct buf *bytes)
{
	const char *const load[] = { "load-buffer", "-b", "bed", "-", NULL };
	const char *const paste[] = { "paste-buffer", "-r", "-d", "-b", "bed",
		"-t", "=agent:", NULL };
	cleanup_free char *loaded = bed_tmux(bed, bytes, load);
	cleanup_free char *pasted = bed_tmux(bed, NULL, paste);

	ck_assert_msg(loaded != NULL && pasted != NULL, "tmux refused a paste");
}

static void
bed_bracket(struct bed *bed, const char *text, const char *end)
{
	cleanup_buf struct buf bytes = BUF_INIT;

	/* As llmc does: prompt_pieces(). */
	for (size_t n; *text != '\0'; text += n) {
		n = strcspn(text, "\n");
		if (n > PIECE_MAX)
			n = text_cut(text, strlen(text), PIECE_MAX);
		else if (text[n] == '\n')
			n += text[n + 1] == '\n' ? 2 : 1;
		buf_addf(&bytes, "\033[200~%.*s\033[201~", (int)n, text);
	}
	buf_adds(&bytes, end);
	bed_send(bed, &bytes);
}

void
bed_paste(struct bed *bed, const char *text)
{
	bed_bracket(bed, text, "\r");
}

void
bed_paste_only(struct bed *bed, const char *text)
{
	bed_bracket(bed, text, "");
}

void
bed_key(struct bed *bed, const char *key)
{
	const char *const words[] = { "send-keys", "-t", "=agent:", key, NULL };
	cleanup_free char *sent = bed_tmux(bed, NULL, words);

	ck_assert_msg(sent != NULL, "tmux refused the key %s", key);
}

void
bed_press_while(struct bed *bed, const char *key, const char *status)
{
	int64_t end = clock_mono_ms() + BED_WAIT_MS, again;

	while (bed_has_status(bed, status)) {
		ck_assert_msg(clock_mono_ms() < end, "%s does not help", key);
		bed_key(bed, key);
		again = clock_mono_ms() + AGAIN_MS;
		while (bed_has_status(bed, status) && clock_mono_ms() < again)
			poll(NULL, 0, TICK_MS);
	}
}

void
bed_signal(struct bed *bed, int signo)
{
	ck_assert_int_eq(procref_signal(&bed->pane, signo), 0);
}

void
bed_answer(struct bed *bed, const char *event, const char *json)
{
	cleanup_free char *name = xasprintf("answer.%s", event);

	ck_assert_int_eq(
	    file_replace(bed_path(bed, name), json, strlen(json), 0600, NULL),
	    0);
}

const char *
bed_session(const struct bed *bed)
{
	return bed->session;
}

const char *
bed_repo(const struct bed *bed)
{
	return bed->repo;
}

const char *
bed_home(const struct bed *bed)
{
	return bed->home;
}

const char *
bed_path(struct bed *bed, const char *name)
{
	free(bed->path);
	bed->path = file_join(bed->record, name);
	return bed->path;
}

static bool
bed_has(const char *const *args, const char *word)
{
	for (; *args != NULL; args++)
		if (strcmp(*args, word) == 0)
			return true;
	return false;
}

static void
bed_add_word(struct buf *command, const char *word)
{
	buf_addc(command, ' ');
	text_add_shell(command, word);
}

void
bed_start(struct bed *bed, const char *const *args)
{
	const char *const words[] = { "new-session", "-d", "-P", "-F",
		"#{pane_pid}", "-x", "120", "-y", "40", "-s", "agent", NULL };
	cleanup_buf struct buf command = BUF_INIT;
	cleanup_free char *pid = NULL;

	buf_adds(&command, "tmux -L bed -f /dev/null");
	for (size_t i = 0; words[i] != NULL; i++)
		bed_add_word(&command, words[i]);
	bed_add_word(&command, bed->agent);
	bed_add_word(&command, "--settings");
	bed_add_word(&command, bed->settings);
	buf_adds(&command, " --setting-sources '' --strict-mcp-config");
	if (!bed_has(args, "--permission-mode"))
		buf_adds(&command, " --dangerously-skip-permissions");
	if (!bed_has(args, "--resume")) {
		id_uuid(bed->session);
		buf_addf(&command, " --session-id %s", bed->session);
	}
	for (; *args != NULL; args++)
		bed_add_word(&command, *args);
	buf_adds(&command, " \\; set-option -w -t =agent: remain-on-exit on");
	if (bed->started)
		free(bed_shell(bed, "tmux -L bed kill-session -t =agent"));
	pid = bed_shell(bed, command.data);
	bed->started = true;
	procref_release(&bed->pane);
	ck_assert_int_eq(
	    procref_set(&bed->pane, (pid_t)strtol(pid, NULL, 10)), 0);
}
