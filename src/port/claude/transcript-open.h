/* SPDX-License-Identifier: ISC */

/*
 * Opens what an agent may have put in the place of a transcript: regular files
 * only, and no links in that part of the path that the agent can change. That
 * is what is below Claude Code's folder `projects`, and in a sandbox that
 * folder itself.
 */
#ifndef TRANSCRIPT_OPEN_H
#define TRANSCRIPT_OPEN_H

/* path: <projects>/<folder>/<id>.jsonl. A descriptor for reading, or negative
 * errno: -ELOOP or -ENOTDIR for a link, -EINVAL for anything but a regular
 * file. */
int transcript_open_file(const char *path);

/* The folder <transcript without .jsonl>/<name>, likewise. */
int transcript_open_folder(const char *path);

#endif
