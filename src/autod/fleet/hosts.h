/* SPDX-License-Identifier: ISC */

/*
 * What workers with sandbox strict may reach: new settings count for sessions
 * that run, and a host that was refused is told to people (sandbox.refused).
 * The proxy itself is beside the box: port/net/outside.h.
 */
#ifndef HOSTS_H
#define HOSTS_H

struct fleet;
struct hosts;

struct hosts *hosts_new(struct fleet *fleet);
void hosts_free(struct hosts *hosts);

#endif
