/* SPDX-License-Identifier: ISC */

/* What the planner is told about a repository that it does not see: its top
 * level, the beginning of its README, its languages, and how it is checked.
 * Bounded, whatever the repository is like. */
#ifndef PLAN_SURVEY_H
#define PLAN_SURVEY_H

struct buf;
struct settings;

/* Append it. What cannot be read is left out. */
void
plan_survey(const char *root, const struct settings *settings, struct buf *out);

#endif
