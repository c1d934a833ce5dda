/* SPDX-License-Identifier: ISC */

/*
 * What a tool call costs: bench-mcp LLMC SOCKET OUT, run by bench-fleet in the
 * session of a worker, because only that may call. Starts an llmc mcp of its
 * own, speaks to it as Claude Code does, and writes into OUT its memory in kB
 * (all, and what it shares with nobody), whether the call was refused, the
 * bytes of the tools that every request to the model carries, and how many
 * microseconds each call took, a number a line.
 */
#include "base.h"

#include <signal.h>
#include <spawn.h>
#include <sys/socket.h>
#include <sys/wait.h>

#include "bench.h"

#define CALLS 300

struct talk {
	pid_t pid;
	FILE *in, *out;
	char *line;
	size_t size;
};

static void
talk_begin(struct talk *talk, char *llmc, char *socket)
{
	char mcp[] = "mcp", option[] = "--socket";
	char *argv[] = { llmc, mcp, option, socket, NULL };
	posix_spawn_file_actions_t actions;
	struct err err = { 0 };
	int ends[2];

	bench_must(
	    socketpair(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC, 0, ends) == -1 ?
		-errno :
		0,
	    "socketpair", &err);
	posix_spawn_file_actions_init(&actions);
	posix_spawn_file_actions_adddup2(&actions, ends[1], STDIN_FILENO);
	posix_spawn_file_actions_adddup2(&actions, ends[1], STDOUT_FILENO);
	bench_must(
	    -posix_spawn(&talk->pid, llmc, &actions, NULL, argv, environ), llmc,
	    &err);
	posix_spawn_file_actions_destroy(&actions);
	close(ends[1]);
	talk->in = fdopen(dup(ends[0]), "r");
	talk->out = fdopen(ends[0], "w");
}

static const char *
ask(struct talk *talk, const char *request)
{
	struct err err = { 0 };

	fprintf(talk->out, "%s\n", request);
	fflush(talk->out);
	bench_must(
	    getline(&talk->line, &talk->size, talk->in) <= 0 ? -EPIPE : 0,
	    "llmc mcp", &err);
	return talk->line;
}

static void
talk_end(struct talk *talk)
{
	fclose(talk->out);
	fclose(talk->in);
	kill(talk->pid, SIGTERM);
	waitpid(talk->pid, NULL, 0);
	free(talk->line);
}

static long
kilobytes(const struct talk *talk, const char *key)
{
	cleanup_free char *path = xasprintf("/proc/%d/status", (int)talk->pid);
	cleanup_buf struct buf text = BUF_INIT;
	const char *at;

	file_read(path, 65536, &text, NULL);
	at = strstr(text.data, key);
	return at != NULL ? strtol(at + strlen(key), NULL, 10) : 0;
}

/* Those that are always loaded, of a list. */
static size_t
always_bytes(const char *line)
{
	struct json_object *tools = NULL, *answer = json_tokener_parse(line);
	size_t bytes = 0;

	json_object_object_get_ex(
	    json_object_object_get(answer, "result"), "tools", &tools);
	for (size_t i = 0; tools != NULL && i < json_object_array_length(tools);
	     i++) {
		struct json_object *tool = json_object_array_get_idx(tools, i);

		if (json_object_object_get(tool, "_meta") != NULL)
			bytes += strlen(json_object_to_json_string_ext(
			    tool, JSON_C_TO_STRING_PLAIN));
	}
	json_object_put(answer);
	return bytes;
}

int
main(int argc, char **argv)
{
	static const char call[] =
	    "{\"jsonrpc\":\"2.0\",\"id\":3,\"method\":\"tools/call\","
	    "\"params\":{\"name\":\"mail_send\",\"arguments\":{"
	    "\"to\":\"person\",\"subject\":\"info:bench\","
	    "\"body\":\"measured\"}}}";
	cleanup_buf struct buf out = BUF_INIT;
	struct talk talk = { 0 };
	struct err err = { 0 };
	size_t always;

	if (argc != 4) {
		fputs("usage: bench-mcp LLMC SOCKET OUT\n", stderr);
		return 2;
	}
	talk_begin(&talk, argv[1], argv[2]);
	ask(&talk,
	    "{\"jsonrpc\":\"2.0\",\"id\":1,\"method\":\"initialize\","
	    "\"params\":{\"protocolVersion\":\"2025-11-25\"}}");
	always = always_bytes(ask(
	    &talk, "{\"jsonrpc\":\"2.0\",\"id\":2,\"method\":\"tools/list\"}"));
	ask(&talk, call);
	buf_addf(&out, "%ld %ld %d %zu\n", kilobytes(&talk, "VmRSS:"),
	    kilobytes(&talk, "RssAnon:"),
	    strstr(talk.line, "\"isError\":true") != NULL, always);
	for (int i = 0; i < CALLS; i++) {
		int64_t start = clock_mono_us();

		ask(&talk, call);
		buf_addf(&out, "%lld\n", (long long)(clock_mono_us() - start));
	}
	talk_end(&talk);
	bench_must(file_replace(argv[3], out.data, out.len, 0600, &err),
	    argv[3], &err);
	return 0;
}
