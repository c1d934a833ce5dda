/* SPDX-License-Identifier: ISC */

#include <sys/socket.h>

#include "browser.h"

#define WAIT_MS     40000
#define LOOK_MS     20
#define MESSAGE_MAX ((size_t)64 * 1024 * 1024)
#define SHOWN_MAX   2000 /* bytes of an answer in a message */

/* A program, for one test or for all. */
struct program {
	pid_t owner; /* who has started it */
	pid_t pid; /* 0 = there is none */
	int fd; /* both ways; messages end with a NUL */
};

static struct program shared;

struct browser {
	struct program own;
	int fd; /* of it, or of the shared one */
	char *context; /* in the shared one: what it keeps of this page alone */
	struct buf in;
	int64_t id; /* of the last command */
	char *session;
	struct buf console, requests;
	int status;
	int loads; /* pages that were loaded */
	char **texts; /* handed out */
};

/* --- the program ----------------------------------------------------- */

const char *
browser_program(void)
{
	static const char *const paths[] = { "/usr/bin/chromium",
		"/usr/bin/chromium-browser", "/snap/bin/chromium" };
	const char *named = getenv("UNIT_CHROMIUM");

	if (named != NULL && named[0] != '\0')
		return named;
	for (size_t i = 0; i < nitems(paths); i++)
		if (access(paths[i], X_OK) == 0)
			return paths[i];
	return NULL;
}

static void
run_program(int fd, const char *home)
{
	cleanup_free char *profile = xasprintf("--user-data-dir=%s/p", home);
	const char *const argv[] = { browser_program(), "--headless",
		"--remote-debugging-pipe", "--no-sandbox", "--disable-gpu",
		"--in-process-gpu", "--disable-default-apps",
		"--disable-dev-shm-usage", "--no-first-run",
		"--no-default-browser-check", "--no-proxy-server",
		"--disable-background-networking", "--disable-component-update",
		"--disable-extensions", "--disable-sync", "--disable-breakpad",
		"--hide-scrollbars",
		("--host-resolver-rules=MAP " BROWSER_FOREIGN_HOST
		 " 127.0.0.1, MAP * ~NOTFOUND, EXCLUDE 127.0.0.1"),
		profile, "about:blank", NULL };
	cleanup_free char *log = xasprintf("%s/log", home);

	setsid();
	setenv("HOME", home, 1);
	unsetenv("XDG_CONFIG_HOME");
	unsetenv("XDG_CACHE_HOME");
	unsetenv("DBUS_SESSION_BUS_ADDRESS");
	/* Above 4 first: it may be one of them. */
	fd = dup2(fd, 9);
	if (fd < 0 || freopen("/dev/null", "r", stdin) == NULL ||
	    freopen(log, "w", stdout) == NULL || dup2(1, 2) < 0 ||
	    dup2(fd, 3) < 0 || dup2(fd, 4) < 0)
		_exit(126);
	for (int other = 5; other < 256; other++)
		close(other);
	execv(argv[0], (char *const *)(uintptr_t)argv);
	_exit(127);
}

/* --- messages -------------------------------------------------------- */

static void
send_bytes(struct browser *b, const char *bytes, size_t len)
{
	while (len > 0) {
		ssize_t n = send(b->fd, bytes, len, MSG_NOSIGNAL);

		ck_assert_msg(n > 0, "the browser has ended");
		bytes += n;
		len -= (size_t)n;
	}
}

static void
note(struct buf *list, const char *line)
{
	buf_adds(list, line != NULL ? line : "?");
	buf_addc(list, '\n');
}

/* What a console message consists of, as text. */
static void
note_console(struct browser *b, struct json_object *params)
{
	struct json_object *args = json_object_object_get(params, "args");

	note(&b->console,
	    args != NULL ? json_object_to_json_string(args) :
			   json_object_to_json_string(params));
}

static void
on_response(struct browser *b, struct json_object *params)
{
	if (strcmp(json_string_or(params, "type", ""), "Document") == 0)
		b->status = (int)json_int_or(
		    json_object_object_get(params, "response"), "status", 0);
}

static void
on_event(struct browser *b, const char *method, struct json_object *params)
{
	if (strcmp(method, "Runtime.consoleAPICalled") == 0 ||
	    strcmp(method, "Runtime.exceptionThrown") == 0 ||
	    strcmp(method, "Log.entryAdded") == 0)
		note_console(b, params);
	else if (strcmp(method, "Network.requestWillBeSent") == 0)
		note(&b->requests,
		    json_string_or(json_object_object_get(params, "request"),
			"url", NULL));
	else if (strcmp(method, "Network.responseReceived") == 0)
		on_response(b, params);
	else if (strcmp(method, "Page.loadEventFired") == 0)
		b->loads++;
}

/* One message that is here; NULL = none. */
static struct json_object *
take_message(struct browser *b)
{
	struct json_object *message = NULL;
	const char *end =
	    b->in.len > 0 ? memchr(b->in.data, '\0', b->in.len) : NULL;
	size_t len;

	if (end == NULL)
		return NULL;
	len = (size_t)(end - b->in.data);
	/* A test that failed may have read a part of the first. */
	ck_assert(
	    json_parse(b->in.data, len, MESSAGE_MAX, &message, NULL) == 0 ||
	    (shared.pid != 0 && b->session == NULL));
	buf_consume(&b->in, len + 1);
	return message != NULL ? message : json_object_new_object();
}

static struct json_object *
read_message(struct browser *b, int64_t end, const char *what)
{
	char bytes[65536];
	struct json_object *message;

	while ((message = take_message(b)) == NULL) {
		struct pollfd p = { .fd = b->fd, .events = POLLIN };
		int64_t left = end - clock_mono_ms();
		ssize_t n;

		ck_assert_msg(left > 0, "the browser did not answer: %s", what);
		if (poll(&p, 1, (int)left) <= 0)
			continue;
		n = read(b->fd, bytes, sizeof bytes);
		ck_assert_msg(n > 0, "the browser has ended at: %s", what);
		buf_add(&b->in, bytes, (size_t)n);
	}
	return message;
}

/* Read one message; the answer to the last command, if that is it, which the
 * caller puts. */
static struct json_object *
next_message(struct browser *b, int64_t end, const char *what)
{
	struct json_object *message = read_message(b, end, what);
	const char *method = json_string_or(message, "method", NULL);

	/* There may be pages of other tests. */
	if (method != NULL && b->session != NULL &&
	    strcmp(json_string_or(message, "sessionId", ""), b->session) == 0)
		on_event(b, method, json_object_object_get(message, "params"));
	else if (method == NULL && json_int_or(message, "id", 0) == b->id)
		return message;
	json_object_put(message);
	return NULL;
}

/* Takes the parameters (NULL = none). The result belongs to the caller. */
static struct json_object *
command(struct browser *b, const char *method, struct json_object *params)
{
	cleanup_json struct json_object *request = json_object_new_object();
	cleanup_json struct json_object *answer = NULL;
	int64_t end = clock_mono_ms() + WAIT_MS;
	const char *text;

	json_set_int(request, "id", ++b->id);
	json_set_string(request, "method", method);
	if (b->session != NULL)
		json_set_string(request, "sessionId", b->session);
	json_set(request, "params",
	    params != NULL ? params : json_object_new_object());
	text = json_object_to_json_string(request);
	send_bytes(b, text, strlen(text) + 1);
	while (answer == NULL)
		answer = next_message(b, end, method);
	/* Where the page is left meanwhile, the value is null. */
	text = json_object_to_json_string(answer);
	ck_assert_msg(json_object_object_get(answer, "error") == NULL ||
		strstr(text, "navigated or closed") != NULL,
	    "%s: %.*s", method, SHOWN_MAX, text);
	return json_object_get(json_object_object_get(answer, "result"));
}

static void
do_command(struct browser *b, const char *method, struct json_object *params)
{
	json_object_put(command(b, method, params));
}

/* One member as parameters. */
static struct json_object *
with(const char *key, const char *value)
{
	struct json_object *params = json_object_new_object();

	json_set_string(params, key, value);
	return params;
}

/* --- its life -------------------------------------------------------- */

static void
attach(struct browser *b)
{
	static const char *const domains[] = { "Page.enable", "Network.enable",
		"Runtime.enable", "Log.enable" };
	struct json_object *params = with("url", "about:blank");
	struct json_object *made, *attached;

	if (b->own.pid == 0) {
		made = command(b, "Target.createBrowserContext", NULL);
		b->context =
		    xstrdup(json_string_or(made, "browserContextId", ""));
		json_object_put(made);
		json_set_string(params, "browserContextId", b->context);
	}
	made = command(b, "Target.createTarget", params);
	params = with("targetId", json_string_or(made, "targetId", ""));
	json_set_bool(params, "flatten", true);
	attached = command(b, "Target.attachToTarget", params);
	b->session = xstrdup(json_string_or(attached, "sessionId", ""));
	json_object_put(attached);
	json_object_put(made);
	for (size_t i = 0; i < nitems(domains); i++)
		do_command(b, domains[i], NULL);
}

static void
start_program(struct program *program)
{
	const char *home = unit_path("browser");
	int ends[2];

	if (file_mkdirs(home, 0700, NULL) < 0 ||
	    socketpair(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC, 0, ends) == -1 ||
	    (program->pid = fork()) == -1) {
		perror("browser");
		exit(99);
	}
	if (program->pid == 0)
		run_program(ends[1], home);
	close(ends[1]);
	program->owner = getpid();
	program->fd = ends[0];
}

/* Asked to end, it removes its files. False if it does not. */
static bool
end_program(struct program *program)
{
	static const char request[] = "{\"id\":0,\"method\":\"Browser.close\"}";
	int64_t end = clock_mono_ms() + WAIT_MS;
	bool ended = true;

	if (send(program->fd, request, sizeof request, MSG_NOSIGNAL) < 0)
		kill(program->pid, SIGKILL);
	while (ended && waitpid(program->pid, NULL, WNOHANG) == 0) {
		ended = clock_mono_ms() < end;
		poll(NULL, 0, LOOK_MS); /* waits for another program */
	}
	close(program->fd);
	kill(-program->pid, SIGKILL); /* those that it has left */
	return ended;
}

static void
end_shared(void)
{
	if (shared.owner == getpid())
		end_program(&shared);
}

void
browser_share(void)
{
	start_program(&shared);
	atexit(end_shared);
}

struct browser *
browser_new(void)
{
	struct browser *b = xcalloc(1, sizeof *b);

	if (shared.pid == 0)
		start_program(&b->own);
	b->fd = shared.pid == 0 ? b->own.fd : shared.fd;
	b->id = getpid() % 100000 * 10000; /* no answer to another test */
	attach(b);
	return b;
}

void
browser_free(struct browser *b)
{
	if (b == NULL)
		return;
	if (b->own.pid != 0) {
		ck_assert_msg(end_program(&b->own), "the browser does not end");
	} else {
		free(take_ptr(&b->session)); /* which has no contexts */
		do_command(b, "Target.disposeBrowserContext",
		    with("browserContextId", b->context));
	}
	buf_release(&b->in);
	buf_release(&b->console);
	buf_release(&b->requests);
	strv_free(b->texts);
	free(b->context);
	free(b->session);
	free(b);
}

/* --- what it does ---------------------------------------------------- */

void
browser_set_size(struct browser *b, int width, int height)
{
	struct json_object *params = json_object_new_object();

	json_set_int(params, "width", width);
	json_set_int(params, "height", height);
	json_set_int(params, "deviceScaleFactor", 1);
	json_set_bool(params, "mobile", false);
	do_command(b, "Emulation.setDeviceMetricsOverride", params);
}

void
browser_set_dark(struct browser *b, bool dark)
{
	struct json_object *params = json_object_new_object();
	struct json_object *features = json_object_new_array();
	struct json_object *feature = with("name", "prefers-color-scheme");

	json_set_string(feature, "value", dark ? "dark" : "light");
	json_object_array_add(features, feature);
	json_set(params, "features", features);
	do_command(b, "Emulation.setEmulatedMedia", params);
}

void
browser_set_print(struct browser *b, bool print)
{
	do_command(b, "Emulation.setEmulatedMedia",
	    with("media", print ? "print" : ""));
}

void
browser_prepare(struct browser *b, const char *script)
{
	do_command(
	    b, "Page.addScriptToEvaluateOnNewDocument", with("source", script));
}

void
browser_allow_clipboard(struct browser *b)
{
	struct json_object *params = json_object_new_object();
	struct json_object *list = json_object_new_array();

	json_object_array_add(
	    list, json_object_new_string("clipboardReadWrite"));
	json_object_array_add(
	    list, json_object_new_string("clipboardSanitizedWrite"));
	json_set(params, "permissions", list);
	if (b->context != NULL)
		json_set_string(params, "browserContextId", b->context);
	do_command(b, "Browser.grantPermissions", params);
}

void
browser_open(struct browser *b, const char *url)
{
	int64_t end = clock_mono_ms() + WAIT_MS;
	int loads = b->loads;

	do_command(b, "Page.navigate", with("url", url));
	while (b->loads == loads)
		json_object_put(next_message(b, end, url));
}

static const char *
hand_out(struct browser *b, const char *text)
{
	strv_add(&b->texts, text);
	return b->texts[strv_count(b->texts) - 1];
}

const char *
browser_value(struct browser *b, const char *expression)
{
	struct json_object *params = with("expression", expression);
	cleanup_json struct json_object *answer = NULL;
	struct json_object *result, *value = NULL;

	json_set_bool(params, "returnByValue", true);
	json_set_bool(params, "awaitPromise", true);
	answer = command(b, "Runtime.evaluate", params);
	result = json_object_object_get(answer, "result");
	ck_assert_msg(
	    json_object_object_get(answer, "exceptionDetails") == NULL,
	    "%s: %.*s", expression, SHOWN_MAX,
	    json_object_to_json_string(answer));
	json_object_object_get_ex(result, "value", &value);
	return hand_out(b,
	    json_object_is_type(value, json_type_string) ?
		json_object_get_string(value) :
		json_object_to_json_string(value));
}

void
browser_wait(struct browser *b, const char *expression)
{
	int64_t end = clock_mono_ms() + WAIT_MS;

	while (strcmp(browser_value(b, expression), "true") != 0) {
		ck_assert_msg(clock_mono_ms() < end,
		    "waited in vain for %s; the page: %.*s", expression,
		    SHOWN_MAX, browser_value(b, "document.body.innerText"));
		poll(NULL, 0, LOOK_MS); /* waits for another program */
	}
}

void
browser_press(struct browser *b, const char *key)
{
	static const char *const types[] = { "rawKeyDown", "keyUp" };
	bool enter = strcmp(key, "Enter") == 0;

	for (size_t i = 0; i < nitems(types); i++) {
		struct json_object *params = with("type", types[i]);

		if (i == 0 && enter) {
			json_set_string(params, "type", "keyDown");
			json_set_string(params, "text", "\r");
		}
		json_set_string(params, "key", key);
		json_set_string(params, "code", key);
		json_set_int(params, "windowsVirtualKeyCode", enter ? 13 : 9);
		do_command(b, "Input.dispatchKeyEvent", params);
	}
}

const char *
browser_console(struct browser *b)
{
	return b->console.len > 0 ? b->console.data : "";
}

const char *
browser_requests(struct browser *b)
{
	return b->requests.len > 0 ? b->requests.data : "";
}

int
browser_status(struct browser *b)
{
	return b->status;
}

/* --- for those who do not see ---------------------------------------- */

static const char *
value_of(struct json_object *node, const char *member)
{
	return json_string_or(
	    json_object_object_get(node, member), "value", "");
}

static int
level_of(struct json_object *node)
{
	struct json_object *list = json_object_object_get(node, "properties");

	for (size_t i = 0; list != NULL && i < json_object_array_length(list);
	     i++) {
		struct json_object *row = json_object_array_get_idx(list, i);

		if (strcmp(json_string_or(row, "name", ""), "level") == 0)
			return (int)json_int_or(
			    json_object_object_get(row, "value"), "value", 0);
	}
	return 0;
}

const char *
browser_read_aloud(struct browser *b)
{
	cleanup_json struct json_object *tree =
	    command(b, "Accessibility.getFullAXTree", NULL);
	struct json_object *nodes = json_object_object_get(tree, "nodes");
	cleanup_buf struct buf out = BUF_INIT;

	for (size_t i = 0; i < json_object_array_length(nodes); i++) {
		struct json_object *node = json_object_array_get_idx(nodes, i);

		if (!json_bool_or(node, "ignored", false))
			buf_addf(&out, "%s %d %s\n", value_of(node, "role"),
			    level_of(node), value_of(node, "name"));
	}
	return hand_out(b, out.data);
}

/* --- pictures and paper ---------------------------------------------- */

static int
sextet(char c)
{
	static const char digits[] = "ABCDEFGHIJKLMNOPQRSTUVWXYZ"
				     "abcdefghijklmnopqrstuvwxyz0123456789+/";
	const char *found = c != '\0' ? strchr(digits, c) : NULL;

	return found != NULL ? (int)(found - digits) : -1;
}

static void
add_decoded(struct buf *out, const char *text)
{
	unsigned bits = 0;
	int count = 0;

	for (; sextet(*text) >= 0; text++) {
		bits = (bits << 6) | (unsigned)sextet(*text);
		count += 6;
		if (count < 8)
			continue;
		count -= 8;
		buf_addc(out, (char)((bits >> count) & 0xff));
	}
}

void
browser_save(struct browser *b, const char *path)
{
	cleanup_json struct json_object *shot =
	    command(b, "Page.captureScreenshot", with("format", "png"));
	cleanup_buf struct buf bytes = BUF_INIT;
	FILE *file = fopen(path, "we");

	ck_assert_ptr_nonnull(file);
	add_decoded(&bytes, json_string_or(shot, "data", ""));
	ck_assert_uint_gt(bytes.len, 0);
	ck_assert_uint_eq(fwrite(bytes.data, 1, bytes.len, file), bytes.len);
	ck_assert_int_eq(fclose(file), 0);
}

double
browser_used_ms(struct browser *b)
{
	cleanup_json struct json_object *answer = NULL;
	struct json_object *list = NULL;
	double used = -1;

	do_command(b, "Performance.enable", with("timeDomain", "threadTicks"));
	answer = command(b, "Performance.getMetrics", NULL);
	json_get_array(answer, "", "metrics", &list, NULL);
	for (size_t i = 0; list != NULL && i < json_object_array_length(list);
	     i++) {
		struct json_object *row = json_object_array_get_idx(list, i);

		if (strcmp(json_string_or(row, "name", ""), "TaskDuration") ==
		    0)
			used = 1000 *
			    json_object_get_double(
				json_object_object_get(row, "value"));
	}
	ck_assert(used >= 0);
	return used;
}

int
browser_sheets(struct browser *b)
{
	static const char mark[] = "/Type /Page\n";
	cleanup_json struct json_object *pdf =
	    command(b, "Page.printToPDF", NULL);
	cleanup_buf struct buf bytes = BUF_INIT;
	const char *at, *end;
	int sheets = 0;

	add_decoded(&bytes, json_string_or(pdf, "data", ""));
	at = bytes.data;
	end = at + bytes.len;
	while (
	    (at = memmem(at, (size_t)(end - at), mark, strlen(mark))) != NULL) {
		sheets++;
		at += strlen(mark);
	}
	return sheets;
}

/* --- of a test that has one ---------------------------------------------- */

struct browser *browser;

const char *
page_value(const char *expression)
{
	return browser_value(browser, expression);
}

void
page_expect(const char *expression, const char *wanted)
{
	const char *found = page_value(expression);

	ck_assert_msg(strcmp(found, wanted) == 0, "%s is %.*s, expected %s",
	    expression, SHOWN_MAX, found, wanted);
}

void
page_wait(const char *expression)
{
	browser_wait(browser, expression);
}

void
page_wait_text(const char *id, const char *words)
{
	cleanup_free char *expression = xasprintf(
	    "document.getElementById('%s').textContent.includes(\"%s\")", id,
	    words);

	page_wait(expression);
}

void
page_expect_unhurt(void)
{
	page_expect(
	    "document.images.length + String(window.hurt)", "0undefined");
	ck_assert_str_eq(browser_console(browser), "");
}

void
page_save(const char *name)
{
	const char *folder = getenv("UNIT_SHOTS");
	cleanup_free char *path =
	    xasprintf("%s/%s.png", folder != NULL ? folder : "", name);

	if (folder != NULL)
		browser_save(browser, path);
}
