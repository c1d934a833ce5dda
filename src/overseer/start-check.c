/* SPDX-License-Identifier: ISC */

#include <errno.h>
#include <stdio.h>

#include "buf.h"
#include "console.h"
#include "errtext.h"
#include "json.h"
#include "lock.h"
#include "mem.h"
#include "overseer.h"
#include "preflight.h"
#include "start-check.h"
#include "start-facts.h"

int
start_check(const struct overseer *o, struct err *err)
{
	cleanup_free char *lock = overseer_path(o, "state.lock");
	cleanup_buf struct buf text = BUF_INIT;
	struct preflight preflight;
	int failed, r = start_facts_check(&o->workspace, &preflight, err);

	if (r < 0)
		return r;
	failed = preflight.counts[PREFLIGHT_FAIL];
	preflight_print(&preflight, &text);
	preflight_release(&preflight);
	if (!o->options->json)
		console_error(text.data);
	/* A daemon that runs must not be left alone. */
	if (failed == 0 || lock_is_held(lock) == 1)
		return 0;
	return err_set(err, -EBUSY,
	    "not started: %d check%s failed; try again with: llmc overseer "
	    "--check",
	    failed, failed == 1 ? "" : "s");
}

static void
print(const struct preflight *preflight, const struct err *err)
{
	cleanup_buf struct buf text = BUF_INIT;

	preflight_print(preflight, &text);
	if (err->code < 0)
		buf_addf(&text, "fail  history: %s\n", err->msg);
	buf_adds(&text,
	    preflight->counts[PREFLIGHT_FAIL] == 0 && err->code == 0 ?
		"The overseer can start.\n" :
		"The overseer cannot start.\n");
	fputs(text.data, stdout);
}

static void
print_json(const struct preflight *preflight, const struct err *err)
{
	cleanup_json struct json_object *json = preflight_json(preflight);
	cleanup_buf struct buf text = BUF_INIT;
	struct json_object *checks, *check;

	if (err->code < 0) {
		check = json_object_new_object();
		json_set_string(check, "name", "history");
		json_set_string(
		    check, "status", preflight_level_name(PREFLIGHT_FAIL));
		json_set_string(check, "detail", err->msg);
		json_set_string(check, "fix", NULL);
		json_object_object_get_ex(json, "checks", &checks);
		json_object_array_add(checks, check);
		json_set_bool(json, "ok", false);
	}
	json_print(json, true, &text);
	fputs(text.data, stdout);
}

int
start_check_only(struct overseer *o)
{
	struct preflight preflight = { 0 };
	struct err err = { 0 };
	int status;

	if (start_facts_check(&o->workspace, &preflight, &err) < 0) {
		console_fail(o, err.msg);
		return OVERSEER_ERROR;
	}
	overseer_check_history(o, &err);
	if (o->options->json)
		print_json(&preflight, &err);
	else
		print(&preflight, &err);
	status = preflight.counts[PREFLIGHT_FAIL] > 0 ? OVERSEER_REFUSED :
							overseer_exit_of(&err);
	preflight_release(&preflight);
	return status;
}
