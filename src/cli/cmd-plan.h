/* SPDX-License-Identifier: ISC */

/* Calls that take the text of a plan from a file. */
#ifndef CMD_PLAN_H
#define CMD_PLAN_H

struct cli;
struct json_object;

/* Call the method with the text of the file ("-" is standard input, NULL =
 * none) as params.plan; errors about it name the file. Takes params. CLI_OK
 * with the answer in cli->result, or the failure is reported. */
int plan_send(struct cli *cli, const char *method, struct json_object *params,
    const char *file);

/* What happens now, with the daemon that is there or is not: after a plan was
 * given (nodes), or the planner was asked for one or for a draft of one. */
enum plan_next {
	PLAN_NEXT_WORK,
	PLAN_NEXT_PLAN,
	PLAN_NEXT_DRAFT
};

void plan_tell_next(struct cli *cli, enum plan_next what);

#endif
