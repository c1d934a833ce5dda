/* SPDX-License-Identifier: ISC */

#include "unit.h"
#include "box-plan.h"

/* As bubblewrap 0.8.0 prints them, and a shell. */
static const struct {
	const char *text, *cause, *fix;
} rows[] = {
	{ "bwrap: Can't mount proc on /newroot/proc: Operation not permitted",
	    "hides parts of /proc", "unmasked" },
	{ "bwrap: Creating new namespace failed, likely because the kernel does "
	  "not support user namespaces.  bwrap must be installed setuid on such "
	  "systems.: No space left on device",
	    "switched off", "user.max_user_namespaces" },
	{ "bwrap: Creating new namespace failed: Resource temporarily "
	  "unavailable",
	    "does not allow user namespaces", "max_user_namespaces" },
	{ "bwrap: No permissions to create a new namespace, likely because the "
	  "kernel does not allow non-privileged user namespaces.",
	    "ordinary users", "unprivileged_userns_clone" },
	{ "bwrap: setting up uid map: Permission denied", "AppArmor",
	    "profile" },
	{ "bwrap: loopback: Failed RTM_NEWADDR: Operation not permitted",
	    "network", "AppArmor" },
	{ "bwrap: Can't mkdir /repo/.llmc/run: Read-only file system",
	    "missing", "create" },
	{ "bwrap: Can't find source path /opt/x: No such file or directory",
	    "does not exist", "sandbox_read" },
	{ "sh: 1: bwrap: not found", "not installed", "apt-get" },
	{ "bwrap: Unknown option --cap-drop", "too old", "0.5" },
	{ "something new", "failed", "message" },
};

TEST_ROWS(a_message_of_bubblewrap_is_explained, nitems(rows))
{
	const struct box_fault *fault = box_fault_find(rows[_i].text);

	ck_assert_msg(strstr(fault->cause, rows[_i].cause) != NULL, "%s: %s",
	    rows[_i].text, fault->cause);
	ck_assert_msg(strstr(fault->fix, rows[_i].fix) != NULL, "%s: %s",
	    rows[_i].text, fault->fix);
}
