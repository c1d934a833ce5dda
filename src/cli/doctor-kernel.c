/* SPDX-License-Identifier: ISC */

#include <errno.h>
#include <stdlib.h>
#include <string.h>
#include <sys/socket.h>
#include <sys/syscall.h>
#include <unistd.h>

#include "box-fault.h"
#include "box-net.h"
#include "box.h"
#include "buf.h"
#include "child.h"
#include "cli.h"
#include "doctor-kernel.h"
#include "doctor.h"
#include "file.h"
#include "git-ask.h"
#include "mem.h"

#ifndef SO_PEERPIDFD
#define SO_PEERPIDFD 77
#endif
#define LANDLOCK_VERSION 1u
#define ASK_DEADLINE_MS  10000

static void
check_bubblewrap(struct doctor *d)
{
	cleanup_free char *bwrap = box_find_bwrap();
	const char *const argv[] = { bwrap, "--version", NULL };
	struct child_spec spec = { .argv = argv,
		.deadline_ms = ASK_DEADLINE_MS };
	cleanup_child_result struct child_result result;
	cleanup_buf struct buf text = BUF_INIT;
	const struct box_fault *fault;

	child_result_init(&result);
	if (bwrap == NULL) {
		fault = box_fault_find("bwrap: not found");
		doctor_note(
		    d, VERDICT_FAIL, "bubblewrap", fault->cause, fault->fix);
		return;
	}
	if (child_run(&spec, &result, NULL) == 0)
		child_output_text(&result.out, &text);
	buf_truncate(&text, strcspn(text.data, "\n"));
	if (text.len == 0)
		buf_addf(&text, "%s, which tells no version", bwrap);
	doctor_note(d, VERDICT_OK, "bubblewrap", text.data, NULL);
}

/* A number of the kernel; otherwise if there is no such file. */
static long
kernel_number(const char *file, long otherwise)
{
	cleanup_buf struct buf text = BUF_INIT;

	/* Files of /proc have no size, but these are short. */
	if (file_read(file, 64, &text, NULL) < 0)
		return otherwise;
	return strtol(text.data, NULL, 10);
}

static void
check_namespaces(struct doctor *d)
{
	const struct box_fault *fault = NULL;

	if (kernel_number("/proc/sys/user/max_user_namespaces", 1) == 0)
		fault = box_fault_find("Creating new namespace failed: "
				       "No space left on device");
	else if (geteuid() != 0 &&
	    kernel_number("/proc/sys/kernel/unprivileged_userns_clone", 1) == 0)
		fault = box_fault_find("No permissions to create new "
				       "namespace");
	if (fault != NULL)
		doctor_note(
		    d, VERDICT_FAIL, "namespaces", fault->cause, fault->fix);
	else
		doctor_note(d, VERDICT_OK, "namespaces",
		    kernel_number("/proc/sys/kernel/apparmor_restrict_"
				  "unprivileged_userns",
			0) == 1 ?
			"user namespaces are there, as far as AppArmor allows" :
			"user namespaces are there",
		    NULL);
}

static void
check_user(struct doctor *d)
{
	cleanup_free char *detail = xasprintf("uid %u", (unsigned)geteuid());

	if (geteuid() == 0)
		doctor_note(d, VERDICT_OK, "user",
		    "uid 0: a hole in the sandbox would be a hole in "
		    "everything; an ordinary user is safer",
		    NULL);
	else
		doctor_note(d, VERDICT_OK, "user", detail, NULL);
}

/* Without bwrap there is no sandbox to ask about. */
static bool
check_landlock(struct doctor *d)
{
	cleanup_free char *bwrap = box_find_bwrap();
	long abi = syscall(
	    SYS_landlock_create_ruleset, NULL, (size_t)0, LANDLOCK_VERSION);
	bool scoped = box_net_can_scope(bwrap != NULL ? bwrap : "");
	cleanup_free char *has =
	    abi > 0 ? xasprintf("ABI %ld", abi) : xstrdup("not in this kernel");
	cleanup_free char *detail = xasprintf("%s%s", has,
	    scoped ? "" :
		     "; sandbox worktree leaves abstract unix sockets of this "
		     "machine open (it takes ABI 6, Linux 6.12, and a bwrap "
		     "without the set-user-ID bit); strict closes them");

	doctor_note(d, VERDICT_OK, "landlock", detail, NULL);
	return scoped;
}

static void
check_peers(struct doctor *d)
{
	int pair[2], pidfd = -1;
	socklen_t len = sizeof pidfd;
	bool can;

	if (socketpair(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC, 0, pair) == -1)
		return;
	can = getsockopt(pair[0], SOL_SOCKET, SO_PEERPIDFD, &pidfd, &len) == 0;
	fd_close(pair[0]);
	fd_close(pair[1]);
	if (can)
		fd_close(pidfd);
	doctor_note(d, VERDICT_OK, "peers",
	    can ? "SO_PEERPIDFD: a caller cannot be confused with another" :
		  "no SO_PEERPIDFD (Linux 6.5): callers are known by pid",
	    NULL);
}

static void
check_git(struct doctor *d)
{
	const char *const worktree[] = { "config", "--bool",
		"extensions.worktreeConfig", NULL };
	const char *const storage[] = { "config", "extensions.refStorage",
		NULL };
	cleanup_buf struct buf text = BUF_INIT;

	if (d->cli->workspace.root == NULL)
		return;
	git_ask(d->cli->workspace.root, worktree, &text, NULL);
	doctor_note(d, VERDICT_OK, "git config",
	    strncmp(text.data, "true", 4) == 0 ?
		"extensions.worktreeConfig is on: a sandbox protects "
		"config.worktree" :
		"extensions.worktreeConfig is off",
	    NULL);
	buf_clear(&text);
	git_ask(d->cli->workspace.root, storage, &text, NULL);
	if (strncmp(text.data, "reftable", 8) == 0)
		doctor_note(d, VERDICT_WARN, "refs",
		    "this repository uses reftable, with which a sandbox has "
		    "not been tested",
		    "git refs migrate --ref-format=files");
	else
		doctor_note(d, VERDICT_OK, "refs", "branches are files", NULL);
}

bool
doctor_kernel_check(struct doctor *d)
{
	bool scoped;

	check_bubblewrap(d);
	check_namespaces(d);
	check_user(d);
	scoped = check_landlock(d);
	check_peers(d);
	check_git(d);
	return scoped;
}
