/* SPDX-License-Identifier: ISC */

/* The real llmc and the real bwrap: a box without a network, and its proxy. */
#include "base.h"
#include "box-net.h"
#include "proxy-world.h"

static const char *const box[] = { "bwrap", "--unshare-user", "--unshare-pid",
	"--unshare-net", "--die-with-parent", "--dev-bind", "/", "/", "--proc",
	"/proc", "--", NULL };

/* Run a shell script in the box; its output is the caller's. */
static char *
run_boxed(const char *script, int *ret_status)
{
	cleanup_strv char **argv = NULL;
	const char *llmc = getenv("LLMC_BIN");
	const char *const before[] = { llmc, "proxy", unit_path("hosts"), "ann",
		"", "--", NULL };
	const char *const after[] = { llmc, "inside", "--", "sh", "-c", script,
		NULL };
	struct child_spec spec = { .merge_stderr = true };
	struct child_result result;
	struct err err = { 0, "" };
	char *out;

	/* Descriptors of whoever starts it. */
	strv_add(&argv, "bash");
	strv_add(&argv, "-c");
	strv_add(&argv, "exec 8</dev/zero 100</dev/zero; exec \"$0\" \"$@\"");
	strv_add_all(&argv, before);
	strv_add_all(&argv, box);
	strv_add_all(&argv, after);
	spec.argv = strv_const(argv);
	ck_assert_msg(child_run(&spec, &result, &err) == 0, "%s", err.msg);
	out = xstrdup(result.out.head.data);
	*ret_status = result.exited ? result.status : -1;
	child_result_release(&result);
	return out;
}

static void
need_boxes(void)
{
	const char *argv[nitems(box) + 1];
	struct child_spec spec = { .argv = argv };
	struct child_result result;
	bool works;

	memcpy(argv, box, sizeof box);
	argv[nitems(box) - 1] = "true";
	argv[nitems(box)] = NULL;
	works = child_run(&spec, &result, NULL) == 0 &&
	    result.start_error == 0 && result.exited && result.status == 0;
	child_result_release(&result);
	if (!works)
		unit_skip("bwrap cannot make a box here");
}

static void
allow(const char *host, unsigned port)
{
	cleanup_free char *rule = xasprintf("%s:%u", host, port);
	const char *const hosts[] = { rule, NULL };

	ck_assert_int_eq(
	    outside_write_hosts(unit_path("hosts"), hosts, NULL), 0);
}

/* A server that may be reached. */
static pid_t
begin(unsigned *ret_port)
{
	pid_t server;

	need_boxes();
	server = net_serve(net_listen(ret_port), 0);
	allow("127.0.0.1", *ret_port);
	return server;
}

/* A request through the proxy, in the words of a shell with /dev/tcp. */
#define REQUEST                                                      \
	"exec bash -c 'exec 5<>/dev/tcp/127.0.0.1/3128 && printf "   \
	"\"GET http://127.0.0.1:%u/x HTTP/1.1\\r\\n\\r\\n\" >&5 && " \
	"cat <&5'"

TEST(an_allowed_host_is_reached_out_of_the_box)
{
	cleanup_free char *script = NULL, *out = NULL;
	unsigned port;
	pid_t server = begin(&port);
	int status;

	script = xasprintf(REQUEST, port);
	out = run_boxed(script, &status);
	ck_assert_msg(strncmp(out, "GET /x HTTP/1.1", 15) == 0, "%s", out);
	net_end(server);
}

TEST(without_the_proxy_nothing_is_reached)
{
	cleanup_free char *script = NULL, *out = NULL;
	unsigned port;
	pid_t server = begin(&port);
	int status;

	script = xasprintf("bash -c 'exec 5<>/dev/tcp/127.0.0.1/%u' 2>&1 && "
			   "echo reached; echo end",
	    port);
	out = run_boxed(script, &status);
	ck_assert_msg(strstr(out, "end") != NULL, "%s", out);
	ck_assert_msg(strstr(out, "reached") == NULL, "%s", out);
	net_end(server);
}

TEST(rules_that_change_count_for_the_next_connection)
{
	cleanup_free char *script = NULL, *out = NULL;
	unsigned port;
	pid_t server = begin(&port);
	int status;

	allow("other.example", 443);
	script = xasprintf("(" REQUEST ") | head -n 1; "
			   "echo 127.0.0.1:%u >'%s'; (" REQUEST ") | head -n 1",
	    port, port, unit_path("hosts"), port);
	out = run_boxed(script, &status);
	ck_assert_msg(strstr(out, "403 Not in sandbox_hosts") != NULL &&
		strstr(out, "GET /x") != NULL,
	    "%s", out);
	net_end(server);
}

TEST(programs_are_told_of_the_proxy_and_keep_their_status)
{
	cleanup_free char *out = NULL;
	int status;

	need_boxes();
	allow("a.example", 443);
	out = run_boxed("echo $HTTPS_PROXY $http_proxy $NO_PROXY; ls -l "
			"/proc/self/fd | grep -e socket -e zero; exit 7",
	    &status);
	ck_assert_int_eq(status, 7);
	ck_assert_str_eq(out,
	    "http://127.0.0.1:3128 http://127.0.0.1:3128 "
	    "localhost,127.0.0.1,::1\n");
}

TEST(a_program_that_cannot_be_started_is_named)
{
	const char *const argv[] = { getenv("LLMC_BIN"), "inside", "--", "x",
		NULL };
	struct child_spec spec = { .argv = argv };
	struct child_result result;

	ck_assert_int_eq(child_run(&spec, &result, NULL), 0);
	ck_assert_int_eq(result.status, 1);
	ck_assert_msg(
	    strstr(result.err.head.data, "proxy is not there") != NULL, "%s",
	    result.err.head.data);
	child_result_release(&result);
}
