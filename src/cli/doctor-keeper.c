/* SPDX-License-Identifier: ISC */

#include <errno.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "child.h"
#include "doctor-keeper.h"
#include "doctor.h"
#include "errtext.h"
#include "json.h"
#include "kept.h"
#include "mem.h"
#include "settings.h"
#include "sibling.h"

#define NAME        "keeper"
#define DEADLINE_MS 10000
#define RECORD_MAX  (64 * 1024)
#define SETTING     "defaults.user_namespace"
#define BUT         "; if agents need that: llmc config set " SETTING " false"
#define NO_SUDO     "; sudo does not work in a session" BUT
#define NO_SSH                                                               \
	", in a user namespace: sudo, and ssh with settings that root owns," \
	" do not work in a session" BUT

static const struct {
	const char *mode;
	enum verdict verdict;
	const char *root, *user; /* what it means for them */
	const char *fix;
} modes[] = {
	{ "namespace", VERDICT_OK,
	    "a pid namespace: everything that an agent started ends with it",
	    "a pid namespace: everything that an agent started ends with "
	    "it" NO_SSH,
	    NULL },
	{ "cgroup", VERDICT_OK,
	    "a control group: everything that an agent started ends with it",
	    "a control group: everything that an agent started ends with it",
	    NULL },
	{ "scope", VERDICT_OK,
	    "a subreaper that agents cannot signal: everything that an agent "
	    "started ends with it",
	    "a subreaper that agents cannot signal: everything that an agent "
	    "started ends with it" NO_SUDO,
	    NULL },
	{ "reaper", VERDICT_WARN,
	    "a subreaper: an agent that kills it can leave processes behind",
	    "a subreaper: an agent that kills it can leave processes behind",
	    "allow user namespaces, as root: sysctl -w "
	    "user.max_user_namespaces=15000 (on Ubuntu also "
	    "kernel.apparmor_restrict_unprivileged_userns=0)" },
};

/* Let it keep a program that is always there; its record says the mode. The
 * modes to try are those of the keeper's --mode. */
static int
probe(const char *program, const char *tried, const char *record,
    struct buf *ret_mode, struct err *err)
{
	cleanup_free char *self = sibling_find("llmc");
	const char *const argv[] = { program, "--mode", tried, "--record",
		record, "--", self != NULL ? self : "true", "version", NULL };
	struct child_spec spec = { .argv = argv, .deadline_ms = DEADLINE_MS };
	cleanup_child_result struct child_result result;
	cleanup_json struct json_object *json = NULL;
	cleanup_buf struct buf why = BUF_INIT;
	int r = child_run(&spec, &result, err);

	if (r < 0)
		return r;
	if (!child_succeeded(&result)) {
		child_result_describe(&result, &why);
		return err_set(err, -EIO, "%s: %s", program, why.data);
	}
	r = json_load(record, RECORD_MAX, &json, err);
	if (r == 0)
		buf_adds(ret_mode, json_string_or(json, "mode", ""));
	return r;
}

static void
tell(struct doctor *d, const char *mode, bool plain)
{
	for (size_t i = 0; i < nitems(modes); i++) {
		cleanup_free char *detail = NULL;

		if (strcmp(modes[i].mode, mode) != 0)
			continue;
		detail = xasprintf("%s%s",
		    geteuid() == 0 ? modes[i].root : modes[i].user,
		    plain ? "; without a user namespace (" SETTING ")" : "");
		doctor_note(d, modes[i].verdict, NAME, detail,
		    plain && modes[i].fix != NULL ?
			"let llmc have a control group (man llmc.conf, "
			"LIMITS), or: llmc config unset " SETTING :
			modes[i].fix);
	}
}

/* What workers without a sandbox get; each may have its own setting. */
void
doctor_keeper_check(struct doctor *d)
{
	cleanup_free char *program = sibling_find(NAME);
	const char *tmp = getenv("TMPDIR");
	cleanup_free char *record =
	    xasprintf("%s/llmc-keeper-XXXXXX", tmp != NULL ? tmp : "/tmp");
	bool plain = geteuid() != 0 && d->settings != NULL &&
	    !settings_bool(d->settings, SETTING);
	const char *tried = getenv("LLMC_KEEPER_MODE"); /* for tests */
	cleanup_buf struct buf mode = BUF_INIT;
	struct err err = { 0 };
	int fd, r;

	if (program == NULL) {
		doctor_note(d, VERDICT_FAIL, NAME,
		    "not found next to llmc, in libexec or on PATH",
		    "install all of llmc: make install");
		return;
	}
	if (tried == NULL || tried[0] == '\0')
		tried = "auto";
	fd = mkstemp(record);
	if (fd == -1)
		r = err_errno(&err, -errno, "%s", record);
	else
		r = probe(
		    program, plain ? kept_modes() : tried, record, &mode, &err);
	if (fd != -1) {
		close(fd);
		unlink(record);
	}
	if (r < 0)
		doctor_note(d, VERDICT_FAIL, NAME, err.msg,
		    "no agent can be started; install all of llmc: make "
		    "install");
	else
		tell(d, mode.data, plain);
}
