/* SPDX-License-Identifier: ISC */

/*
 * Reports of agents about their own work: how far it is (report_progress) and
 * how it ended (report_completion, or the agent's last message). They are kept
 * in the record of the run; all reports of progress are events in the book.
 */
#ifndef TEAM_REPORT_H
#define TEAM_REPORT_H

struct agent;
struct buf;
struct task;
struct team_floor;
struct team_report;

/* Registers its methods. */
struct team_report *team_report_new(struct team_floor *floor);
void team_report_free(struct team_report *report);

/* Parts of struct auto_team: which tool it uses, and what its prompt says about
 * reports. */
void team_report_tool_used(
    struct team_report *report, struct agent *agent, const char *tool);
void team_report_task_text(const struct task *task, struct buf *out);

#endif
