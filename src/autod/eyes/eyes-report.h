/* SPDX-License-Identifier: ISC */

/*
 * Runs people.report_command with the report (llmc report) of each run when it
 * has ended, and of the last day at people.report_at. Each report is sent once:
 * what is owed is in .llmc/report.json until an errand (errand.h) for it is on
 * disk. The report of a run that was killed is sent by the next daemon.
 *
 * The errand makes the report and runs the command. The daemon does not wait
 * for it: it goes on when the daemon ends, and the next one looks at its
 * result. If it failed, a person is told once. The files are in .llmc/reports.
 */
#ifndef EYES_REPORT_H
#define EYES_REPORT_H

struct eyes_floor;
struct eyes_report;

#define EYES_REPORT_DEADLINE_MS (5 * 60 * 1000)
#define EYES_REPORT_KEEP_DAYS   31

struct eyes_report *eyes_report_new(struct eyes_floor *eyes);
/* Commands that are still running go on. */
void eyes_report_free(struct eyes_report *report);

/* The floor begins; the patrol; the end of the daemon. */
void eyes_report_begin(struct eyes_report *report);
void eyes_report_patrol(struct eyes_report *report);
void eyes_report_close(struct eyes_report *report);

#endif
