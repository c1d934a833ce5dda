/* SPDX-License-Identifier: ISC */

/*
 * Workers with sandbox strict: what they reach through the proxy, and that
 * nothing else is reached; also while daemons come and go.
 */
#include <arpa/inet.h>
#include <netinet/in.h>
#include <sys/prctl.h>
#include <sys/socket.h>

#include "fleet.h"

static unsigned port; /* of the server on this machine */

static void
begin_server(void)
{
	struct sockaddr_in a = { .sin_family = AF_INET,
		.sin_addr.s_addr = htonl(INADDR_LOOPBACK) };
	socklen_t len = sizeof a;
	int fd = socket(AF_INET, SOCK_STREAM | SOCK_CLOEXEC, 0), conn;
	static const char answer[] = "HTTP/1.1 200 OK\r\n\r\nserved\n";
	char bytes[4096];

	ck_assert_int_eq(bind(fd, (struct sockaddr *)&a, sizeof a), 0);
	ck_assert_int_eq(listen(fd, 8), 0);
	ck_assert_int_eq(getsockname(fd, (struct sockaddr *)&a, &len), 0);
	port = ntohs(a.sin_port);
	if (fork() == 0) {
		prctl(PR_SET_PDEATHSIG, SIGKILL);
		while ((conn = accept(fd, NULL, NULL)) >= 0) {
			if (read(conn, bytes, sizeof bytes) > 0)
				send(conn, answer, sizeof answer - 1,
				    MSG_NOSIGNAL);
			close(conn);
		}
		_exit(1);
	}
	close(fd);
}

/* Scripts for the agent's shell, in the scratch folder, which it sees. */
static void
write_scripts(void)
{
	e2e_write(e2e_path("%s/ask", unit_scratch()),
	    "#!/bin/bash\n" /* ask HOST:PORT: through the proxy */
	    "exec 5<>/dev/tcp/127.0.0.1/3128 || exit 1\n"
	    "printf 'GET http://%s/ HTTP/1.1\\r\\n\\r\\n' \"$1\" >&5\n"
	    "tr -d '\\r' <&5\n");
	e2e_write(e2e_path("%s/direct", unit_scratch()),
	    "#!/bin/bash\n" /* direct HOST PORT */
	    "exec 5<>\"/dev/tcp/$1/$2\" && echo reached || echo refused\n");
	e2e_sh(unit_scratch(), "chmod +x ask direct");
}

void
unit_before(void)
{
	fleet_begin();
	e2e_need_boxes("--unshare-net");
	begin_server();
	write_scripts();
	fleet_do("config", "set", "defaults.sandbox", "strict", NULL);
	fleet_do("config", "set", "defaults.sandbox_hosts",
	    e2e_path("[\"127.0.0.1:%u\"]", port), NULL);
	fleet_do("config", "set", "defaults.sandbox_write",
	    e2e_path("[\"%s\"]", unit_scratch()), NULL);
	fleet_do(
	    "config", "set", "defaults.env", "[\"FAKE_CLAUDE_LOG\"]", NULL);
	fleet_up();
	fleet_add("adam");
}

static const char *
result(void)
{
	return e2e_read(e2e_path("%s/result", unit_scratch()));
}

/* Wait until the agent's shell has written to the result. */
static void
wait_for(const char *words)
{
	e2e_expect(
	    e2e_sh(unit_scratch(),
		e2e_path("until grep -qs '%s' result; do :; done", words)),
	    0, NULL);
}

const int unit_timeout = 120; /* seconds, each */

TEST(a_strict_worker_reaches_its_hosts_and_nothing_else)
{
	const char *at = unit_scratch();

	fleet_start("adam",
	    e2e_path("fake: run { '%s/ask' 127.0.0.1:%u; '%s/ask' "
		     "other.example:443; '%s/direct' 127.0.0.1 %u; "
		     "'%s/direct' 192.0.2.1 443; getent hosts example.com || "
		     "echo no names; cat /proc/net/dev; } >'%s/result' 2>&1",
		at, port, at, at, port, at, at));
	fleet_wait("adam", "no_changes,needs_review");
	e2e_has(result(), "served");
	e2e_has(result(), "other.example:443 is not in sandbox_hosts");
	e2e_lacks(result(), "reached");
	e2e_has(result(), "no names");
	e2e_lacks(result(), "eth0");
}

TEST(work_done_in_a_strict_sandbox_lands)
{
	fleet_start("adam", "fake: commit a.txt strict");
	fleet_wait("adam", "needs_review");
	fleet_do("accept", "adam", NULL);
	e2e_has(e2e_read(e2e_path("%s/a.txt", fleet_root())), "strict");
	fleet_wait("adam", "idle");
	e2e_git(fleet_root(), "fsck", "--no-progress", NULL);
}

/* Its configuration and its branches are the worker's. */
TEST(the_clone_of_a_worker_is_its_own)
{
	const char *objects = e2e_path("%s/.git/objects", fleet_root());

	fleet_start("adam",
	    e2e_path("fake: run git switch -q -c mine && echo mine >m.txt && "
		     "git add m.txt && git commit -q -m mine && git config "
		     "core.fsmonitor \"touch '%s/escaped' '%s/ran'; false\"; "
		     "touch '%s/new' && touch '%s/result'",
		fleet_root(), unit_scratch(), objects, unit_scratch()));
	fleet_wait("adam", "needs_review");
	ck_assert(e2e_exists(e2e_path("%s/.git/HEAD", fleet_worktree("adam"))));
	ck_assert(!e2e_exists(e2e_path("%s/result", unit_scratch())));
	fleet_do("accept", "adam", NULL);
	e2e_has(e2e_read(e2e_path("%s/m.txt", fleet_root())), "mine");
	ck_assert(!e2e_exists(e2e_path("%s/escaped", fleet_root())));
	fleet_wait("adam", "idle");
	e2e_git(fleet_root(), "fsck", "--no-progress", NULL);
	fleet_do("nuke", "adam", "--yes", NULL);
	ck_assert(!e2e_exists(fleet_worktree("adam")));
	e2e_lacks(e2e_sh(fleet_root(), "git worktree list")->out, "adam");
}

/* Each change is made while the worker has work that has not landed. */
TEST(work_is_kept_when_the_mode_changes)
{
	static const char *const modes[] = { "off", "strict", "worktree",
		"strict" };

	fleet_start("adam", "fake: commit 0.txt 0\nfake: write dirt.txt x");
	fleet_wait("adam", "needs_review");
	for (int i = 0; i < 4; i++) {
		int pid = fleet_agent_pid("adam");

		fleet_do("config", "set", "defaults.sandbox", modes[i], NULL);
		fleet_kill(pid);
		fleet_next_agent_pid("adam", pid);
		fleet_do("message", "adam",
		    e2e_path("fake: commit %d.txt %d", i + 1, i + 1), NULL);
		fleet_wait_prompt(e2e_path("commit %d.txt", i + 1));
		fleet_wait("adam", "needs_review");
	}
	fleet_do("accept", "adam", NULL);
	for (int i = 0; i < 5; i++)
		e2e_has(e2e_read(e2e_path("%s/%d.txt", fleet_root(), i)),
		    e2e_path("%d", i));
}

TEST(a_strict_worker_keeps_its_hosts_while_daemons_are_killed)
{
	const char *at = unit_scratch();
	int agent;

	fleet_start("adam",
	    e2e_path("fake: run echo begun >'%s/result'; until [ -e '%s/go' ]; "
		     "do :; done; '%s/ask' 127.0.0.1:%u >>'%s/result' 2>&1",
		at, at, at, port, at));
	wait_for("begun");
	agent = fleet_agent_pid("adam");
	for (int i = 0; i < 2; i++) {
		fleet_kill(fleet_daemon_pid());
		fleet_up();
	}
	e2e_write(e2e_path("%s/go", unit_scratch()), "");
	fleet_wait("adam", "no_changes,needs_review");
	e2e_has(result(), "served");
	ck_assert_int_eq(fleet_agent_pid("adam"), agent);
}

TEST(a_refusal_is_told_and_a_host_that_is_added_counts_at_once)
{
	const char *at = unit_scratch();
	const char *hosts = e2e_path("[\"127.0.0.1:%u\"]", port);

	fleet_do(
	    "config", "set", "defaults.sandbox_hosts", "[\"a.example\"]", NULL);
	fleet_start("adam",
	    e2e_path("fake: run until '%s/ask' 127.0.0.1:%u >'%s/result' 2>&1 "
		     "&& grep served '%s/result'; do :; done",
		at, port, at, at));
	wait_for("is not in sandbox_hosts");
	e2e_expect(e2e_sh(fleet_root(),
		       e2e_path("until grep -qs 'host_refused.*127.0.0.1:%u' "
				".llmc/logs/auto.log; do :; done",
			   port)),
	    0, NULL);
	fleet_do("config", "set", "defaults.sandbox_hosts", hosts, NULL);
	fleet_wait("adam", "no_changes,needs_review");
	e2e_has(result(), "served");
}
