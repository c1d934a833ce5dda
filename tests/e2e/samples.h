/* SPDX-License-Identifier: ISC */

/*
 * Sample projects, each from `git clone` to landed work: settings that `llmc
 * init --yes` proposes, four workers at once, each with a server of its own on
 * a port or on a socket.
 */
#ifndef SAMPLES_H
#define SAMPLES_H

enum {
	SAMPLE_NODE,
	SAMPLE_PYTHON,
	SAMPLE_MESON,
	SAMPLE_SUBMODULE,
	SAMPLES
};

/* begin() makes a fleet: fleet_begin(), or one with the real program. */
void sample_story(int sample, void (*begin)(void));

#endif
