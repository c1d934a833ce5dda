/* SPDX-License-Identifier: ISC */

/*
 * How the agent of a run is started, where that is not a matter of its worker's
 * settings alone: what its spawn asked for, then the card of its agent, then
 * [workers.<name>], then [defaults]. Pure.
 */
#ifndef LAUNCH_CHOICE_H
#define LAUNCH_CHOICE_H

struct buf;
struct settings;
struct task_run;

/* How hard an agent thinks; NULL terminated. */
extern const char *const thinking_words[];

/* Everything is owned; NULL = as the settings of the worker say. */
struct launch_choice {
	char *model;
	char *thinking; /* one of thinking_words but "minimal"; NULL also for a
			 * word that is none of these */
	char *tools; /* the value of --tools: no other built-in ones */
	char **deny; /* tools that it does not have besides */
	char *permission_mode; /* it has none that permits more */
	bool limited; /* in its tools or files: what it can write must not
		       * become its settings */
};

/* run: NULL = a task without one, or no task. A card whose tools have become
 * fewer than the spawn allowed leaves it with none. What the workers above it
 * (confined_by) may not do, it may not do either. */
void launch_choice_make(const struct settings *settings,
    const struct task_run *run, struct launch_choice *ret_choice);
void launch_choice_release(struct launch_choice *choice);
#define cleanup_launch_choice __attribute__((cleanup(launch_choice_release)))

/* The permission mode of a worker with this setting; borrowed. */
const char *
launch_choice_mode(const struct launch_choice *choice, const char *setting);

/* Append it, to compare it with another one. */
void launch_choice_print(const struct launch_choice *choice, struct buf *out);

#endif
