/* SPDX-License-Identifier: ISC */

/* MCP servers: started in the background, asked as the real program asks. */

#include "base.h"

#include <poll.h>
#include <spawn.h>
#include <sys/wait.h>

#include "fake.h"
#include "rpc.h"

#define CONFIG_MAX  (1024 * 1024)
#define PROBE_MS    3000 /* for a server that does not know it */
#define READ_SIZE   65536
#define INT_MS      100 /* from SIGINT to SIGTERM */
#define TERM_MS     400 /* from there to SIGKILL */
#define PROBE_ID    "server-discover-probe-1"
#define VERSION     "2025-11-25"
#define NEW_VERSION "2026-07-28"

struct fake_server {
	TAILQ_ENTRY(fake_server) entry;
	struct fake *fake;
	char *name;
	pid_t pid;
	int to, from;
	struct loop_watch *watch;
	struct loop_timer *probe;
	struct rpc_reader reader;
	struct json_object *tools; /* NULL = not connected yet */
	bool asked; /* initialize was sent */
	bool gone;
	int64_t next; /* id of the next request */
	int64_t list; /* id of the last tools/list */
};

/* ---- requests */

static void
server_write(struct fake_server *server, const struct buf *line)
{
	if (!server->gone &&
	    file_write_all(server->to, line->data, line->len) < 0)
		server->gone = true;
}

/* Takes ownership of params, which may be NULL. */
static int64_t
server_ask(
    struct fake_server *server, const char *method, struct json_object *params)
{
	cleanup_json struct json_object *id =
	    json_object_new_int64(server->next);
	cleanup_buf struct buf line = BUF_INIT;

	rpc_encode_request(&line, id, method, params);
	json_object_put(params);
	server_write(server, &line);
	return server->next++;
}

static void
server_tell(
    struct fake_server *server, const char *method, struct json_object *params)
{
	cleanup_buf struct buf line = BUF_INIT;

	rpc_encode_request(&line, NULL, method, params);
	json_object_put(params);
	server_write(server, &line);
}

static void
server_probe(struct fake_server *server)
{
	cleanup_json struct json_object *id = json_object_new_string(PROBE_ID);
	cleanup_json struct json_object *params = json_object_new_object();
	struct json_object *meta = json_object_new_object();
	cleanup_buf struct buf line = BUF_INIT;

	json_set_string(
	    meta, "io.modelcontextprotocol/protocolVersion", NEW_VERSION);
	json_set(params, "_meta", meta);
	rpc_encode_request(&line, id, "server/discover", params);
	server_write(server, &line);
}

static void
server_initialize(void *arg)
{
	struct fake_server *server = arg;
	struct json_object *params = json_object_new_object();
	struct json_object *info = json_object_new_object();

	loop_timer_free(take_ptr(&server->probe));
	if (server->asked)
		return;
	server->asked = true;
	json_set_string(info, "name", "claude-code");
	json_set_string(info, "version", FAKE_VERSION);
	json_set_string(params, "protocolVersion", VERSION);
	json_set(params, "capabilities", json_object_new_object());
	json_set(params, "clientInfo", info);
	server_ask(server, "initialize", params);
}

/* ---- answers */

static void
server_gone(struct fake_server *server)
{
	loop_watch_free(take_ptr(&server->watch));
	server->gone = true;
	fake_use_ready(server->fake);
}

static void
server_list(struct fake_server *server)
{
	server->list = server_ask(server, "tools/list", NULL);
}

/* 0 is the id of initialize. */
static void
server_answered(struct fake_server *server, const struct rpc_message *m)
{
	struct json_object *tools = NULL;
	int64_t id = json_object_get_int64(m->id);

	if (json_object_is_type(m->id, json_type_string)) {
		server_initialize(server);
	} else if (id == 0) {
		server_tell(server, "notifications/initialized", NULL);
		server_list(server);
	} else if (id == server->list) {
		json_get_array(m->result, "", "tools", &tools, NULL);
		json_object_put(server->tools);
		server->tools = tools != NULL ? json_object_get(tools) :
						json_object_new_array();
		fake_use_ready(server->fake);
	} else {
		fake_use_answered(server->fake, server, id, m->result,
		    m->kind == RPC_ERROR ? m->code : 0, m->message);
	}
}

static void
server_readable(int fd, unsigned what, void *arg)
{
	struct fake_server *server = arg;
	cleanup_buf struct buf line = BUF_INIT;
	char bytes[READ_SIZE];
	struct rpc_message m;
	ssize_t n = read(fd, bytes, sizeof bytes);

	(void)what;
	if (n == -1 && errno == EINTR)
		return;
	if (n <= 0) {
		server_gone(server);
		return;
	}
	rpc_reader_feed(&server->reader, bytes, (size_t)n);
	while (rpc_reader_next(&server->reader, &line) == 1) {
		if (rpc_decode(line.data, line.len, &m, NULL, NULL, NULL) < 0)
			continue;
		if (m.kind == RPC_RESULT || m.kind == RPC_ERROR)
			server_answered(server, &m);
		else if (strcmp(m.method, "notifications/tools/list_changed") ==
		    0)
			server_list(server);
		rpc_message_release(&m);
	}
}

/* ---- the process */

static int
server_spawn(struct fake_server *server, char **argv, int in, int out)
{
	posix_spawn_file_actions_t actions;
	posix_spawnattr_t attributes;
	sigset_t pipes;
	int r;

	sigemptyset(&pipes);
	sigaddset(&pipes, SIGPIPE);
	posix_spawn_file_actions_init(&actions);
	posix_spawn_file_actions_adddup2(&actions, in, STDIN_FILENO);
	posix_spawn_file_actions_adddup2(&actions, out, STDOUT_FILENO);
	posix_spawn_file_actions_addopen(
	    &actions, STDERR_FILENO, "/dev/null", O_WRONLY, 0);
	posix_spawnattr_init(&attributes);
	posix_spawnattr_setsigdefault(&attributes, &pipes);
	posix_spawnattr_setflags(&attributes, POSIX_SPAWN_SETSIGDEF);
	r = posix_spawnp(
	    &server->pid, argv[0], &actions, &attributes, argv, environ);
	posix_spawnattr_destroy(&attributes);
	posix_spawn_file_actions_destroy(&actions);
	return r;
}

static void
server_start(struct fake *fake, const char *name, struct json_object *spec)
{
	struct fake_server *server = xcalloc(1, sizeof(*server));
	struct json_object *args = NULL;
	cleanup_strv char **argv = NULL;
	int in[2], out[2];

	TAILQ_INSERT_TAIL(&fake->servers, server, entry);
	server->fake = fake;
	server->name = xstrdup(name);
	server->to = server->from = -1;
	rpc_reader_init(&server->reader, 0);
	strv_add(&argv, json_string_or(spec, "command", ""));
	if (json_get_array(spec, "", "args", &args, NULL) == 0)
		for (size_t i = 0; i < json_object_array_length(args); i++)
			strv_add(&argv,
			    json_object_get_string(
				json_object_array_get_idx(args, i)));
	if (pipe2(in, O_CLOEXEC) == -1 || pipe2(out, O_CLOEXEC) == -1)
		abort();
	server->to = in[1];
	server->from = out[0];
	if (server_spawn(server, argv, in[0], out[1]) != 0) {
		server->pid = 0;
		server->gone = true;
	}
	close(in[0]);
	close(out[1]);
	if (server->gone)
		return;
	server->watch = loop_watch_new(
	    fake->loop, server->from, LOOP_READ, server_readable, server);
	server->probe =
	    loop_after(fake->loop, PROBE_MS, server_initialize, server);
	server_probe(server);
}

bool
fake_mcp_start(struct fake *fake)
{
	const char *given = fake->options.servers;
	cleanup_json struct json_object *config = NULL;
	struct json_object *servers = NULL;
	struct err err = { 0 };
	int r;

	if (given == NULL)
		return true;
	r = *given == '{' ?
	    json_parse(given, strlen(given), CONFIG_MAX, &config, &err) :
	    json_load(given, CONFIG_MAX, &config, &err);
	if (r == 0)
		r = json_get_object(config, "", "mcpServers", &servers, &err);
	if (r == 0) {
		json_object_object_foreach(servers, name, spec)
		    server_start(fake, name, spec);
	} else {
		fprintf(
		    stderr, "Error: Invalid MCP configuration: %s\n", err.msg);
	}
	return r == 0;
}

/* Wait for the end of a process, for a moment. */
static bool
server_has_ended(struct fake_server *server, int ms)
{
	struct pollfd end = { .fd = server->from, .events = POLLIN };
	char bytes[READ_SIZE];

	/* Its output ends with it. */
	while (waitpid(server->pid, NULL, WNOHANG) == 0) {
		if (poll(&end, 1, ms) <= 0)
			return false;
		if (read(server->from, bytes, sizeof bytes) <= 0) {
			waitpid(server->pid, NULL, 0);
			break;
		}
	}
	return true;
}

static void
server_end(struct fake_server *server)
{
	static const struct {
		int signo, ms;
	} steps[] = { { SIGINT, INT_MS }, { SIGTERM, TERM_MS },
		{ SIGKILL, -1 } };

	if (server->pid <= 0)
		return;
	for (size_t i = 0; i < nitems(steps); i++) {
		kill(server->pid, steps[i].signo);
		if (server_has_ended(server, steps[i].ms))
			return;
	}
}

void
fake_mcp_stop(struct fake *fake)
{
	struct fake_server *server;

	while ((server = TAILQ_FIRST(&fake->servers)) != NULL) {
		TAILQ_REMOVE(&fake->servers, server, entry);
		loop_watch_free(server->watch);
		loop_timer_free(server->probe);
		server_end(server);
		fd_close(server->to);
		fd_close(server->from);
		rpc_reader_release(&server->reader);
		json_object_put(server->tools);
		free(server->name);
		free(server);
	}
}

/* ---- for the users of tools */

static bool
server_has(const struct fake_server *server, const char *tool)
{
	for (size_t i = 0; i < json_object_array_length(server->tools); i++)
		if (strcmp(json_string_or(
			       json_object_array_get_idx(server->tools, i),
			       "name", ""),
			tool) == 0)
			return true;
	return false;
}

/* mcp__SERVER__TOOL */
int
fake_mcp_find(struct fake *fake, const char *name,
    struct fake_server **ret_server, const char **ret_tool)
{
	struct fake_server *server;

	TAILQ_FOREACH (server, &fake->servers, entry) {
		size_t len = strlen(server->name);

		if (strncmp(name, "mcp__", 5) != 0 ||
		    strncmp(name + 5, server->name, len) != 0 ||
		    strncmp(name + 5 + len, "__", 2) != 0)
			continue;
		*ret_server = server;
		*ret_tool = name + len + 7;
		if (server->gone)
			return -EPIPE;
		if (server->tools == NULL)
			return -EAGAIN;
		return server_has(server, *ret_tool) ? 0 : -ENOENT;
	}
	return -ENOENT;
}

int64_t
fake_mcp_call(struct fake_server *server, const char *tool,
    const char *tool_use_id, struct json_object *input)
{
	struct json_object *params = json_object_new_object();
	struct json_object *meta = json_object_new_object();

	json_set_string(params, "name", tool);
	json_set(params, "arguments", json_object_get(input));
	json_set_string(meta, "claudecode/toolUseId", tool_use_id);
	json_set_int(meta, "progressToken", server->next);
	json_set(params, "_meta", meta);
	return server_ask(server, "tools/call", params);
}

void
fake_mcp_cancel(struct fake_server *server, int64_t id)
{
	struct json_object *params = json_object_new_object();

	json_set_int(params, "requestId", id);
	json_set_string(params, "reason",
	    "AbortError: The operation was "
	    "aborted.");
	server_tell(server, "notifications/cancelled", params);
}
