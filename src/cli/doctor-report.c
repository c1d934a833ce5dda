/* SPDX-License-Identifier: ISC */

/* The report of llmc doctor: a line for each check, and the verdict. */
#include "base.h"
#include "cli-private.h"
#include "preflight.h"

#define NAME_WIDTH 11

static const struct {
	const char *name;
	const char *colour;
} verdicts[VERDICT_COUNT] = {
	[VERDICT_OK] = { "ok", "32" },
	[VERDICT_WARN] = { "warn", "33" },
	[VERDICT_FAIL] = { "fail", "1;31" },
};

void
doctor_note(struct doctor *d, enum verdict verdict, const char *name,
    const char *detail, const char *fix)
{
	struct json_object *check = json_object_new_object();
	struct cli *cli = d->cli;
	cleanup_free char *tag = xasprintf("%-5s", verdicts[verdict].name);
	int width = d->width > 0 ? d->width : NAME_WIDTH;

	d->counts[verdict]++;
	json_set_string(check, "name", name);
	json_set_string(check, "status", verdicts[verdict].name);
	json_set_string(check, "detail", detail);
	json_set_string(check, "fix", fix);
	json_object_array_add(d->checks, check);
	cli_coloured(cli, verdicts[verdict].colour, tag);
	buf_addf(&cli->text, " %-*s ", width, name);
	cli_say(cli, "", detail, "\n");
	if (fix != NULL) {
		buf_addf(&cli->text, "%*s-> ", width + 7, "");
		cli_say(cli, "", fix, "\n");
	}
}

void
doctor_tell(struct doctor *d)
{
	struct cli *cli = d->cli;

	if (d->counts[VERDICT_FAIL] > 0)
		buf_addf(&cli->text, "%d failed, %d warning%s.\n",
		    d->counts[VERDICT_FAIL], d->counts[VERDICT_WARN],
		    d->counts[VERDICT_WARN] == 1 ? "" : "s");
	else
		buf_adds(&cli->text,
		    d->counts[VERDICT_WARN] > 0 ?
			"No check failed, but see the warnings.\n" :
			"All checks passed.\n");
	cli->result = json_object_new_object();
	json_set_bool(cli->result, "ok", d->counts[VERDICT_FAIL] == 0);
	json_set(cli->result, "checks", json_object_get(d->checks));
	json_set(cli->result, "repairs", json_object_get(d->repairs));
}

const struct schema doctor_shape =
    SCHEMA_SHAPE(SCHEMA_IS("ok", BOOL, "no check failed; warnings are fine"),
	SCHEMA_IS("checks", ROWS, NULL, .of = &preflight_check_shape),
	SCHEMA_IS("repairs", LIST, "what --repair and --rebuild did"));
