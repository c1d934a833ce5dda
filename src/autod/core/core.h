/* SPDX-License-Identifier: ISC */

/*
 * The lowest floor of the daemon, used by all others. The core holds the loop,
 * the settings, the state and the ports. It saves the state and then runs
 * effects (persist.h), emits events (emit.h), answers calls (serve.h), keeps
 * asks (asks.h), raises failures (failure.h) and writes the heartbeat.
 *
 * The floors above register themselves (struct core_floor) from the bottom up;
 * life.h calls them in that order. The core knows nothing else about them.
 */
#ifndef CORE_H
#define CORE_H

#include "sibling.h"
#include "state.h"

struct book;
struct emitter;
struct err;
struct event_stream;
struct git;
struct heartbeat;
struct life;
struct loop;
struct loop_timer;
struct people;
struct persist;
struct reload;
struct serve;
struct settings;
struct state_book;
struct tmux;
struct watch;
struct worker;
struct workspace;

/* Command-line options; NULL = use the settings. */
struct core_options {
	bool oneshot; /* one request, no sessions */
	bool auto_mode;
	bool until_empty;
	const char *concurrency;
	const char *task_pool_command;
	const char *post_accept_command;
	int overseer; /* the channel to it (client.h), 0 = none */
	struct restart restart; /* from the program before; all 0 = none */
};

/* Callbacks of a floor; each may be NULL. */
struct core_floor {
	void *self;
	/* The floors below have begun. Must call life_floor_begun() when
	 * done. */
	void (*begin)(void *self);
	/* The safety net: compare what is known with what is there. all: check
	 * everything, not only what is due. */
	void (*patrol)(void *self, bool all);
	/* Begin to stop; is_quiet says when everything has stopped. */
	void (*stop)(void *self);
	bool (*is_quiet)(const void *self);
	/* Make the last changes before the state is saved for the last time.
	 * now: nothing was waited for. */
	void (*close)(void *self, bool now);
	/* The program is replaced (sibling.h): put what the next one gets
	 * into the channel. */
	void (*hand_on)(void *self, int channel);
	/* What the daemon is doing, as a word for the heartbeat; the highest
	 * floor that returns one is used. */
	const char *(*phase)(const void *self);
	/* When there was a last sign that work on tasks goes on, for the
	 * heartbeat: monotonic, 0 = none. The latest one is used. */
	int64_t (*sign_ms)(const void *self);
};

#define CORE_FLOORS_MAX 9

/* A question, or news, to a floor above: `who` is a policy, "who"_arg its
 * argument. A member that is NULL answers 0, and hears nothing. */
#define POLICY_ASK(of, who, question, ...) \
	((of)->who->question == NULL ?     \
		0 :                        \
		(of)->who->question((of)->who##_arg, ##__VA_ARGS__))
#define POLICY_TELL(of, who, what, ...)                                  \
	do                                                               \
		if ((of)->who->what != NULL)                             \
			(of)->who->what((of)->who##_arg, ##__VA_ARGS__); \
	while (0)

struct core {
	const struct core_options *options;
	struct loop *loop;
	const struct workspace *workspace;
	struct settings *settings;
	struct state state;
	struct book *book; /* .llmc/llmc.db; persist.h commits it */
	struct state_book *rows; /* the rows of the state in it */
	struct git *git;
	struct tmux *tmux;
	char *llmc; /* path of the command line program */
	char *socket; /* path */
	char *instance; /* uuid of this run */
	char *branch; /* see core_branch(); "" = none */
	int lock; /* descriptor of state.lock */
	bool evicted; /* .llmc is not ours any more */
	bool replaced; /* ... and another daemon owns the root */
	bool book_lost; /* it is not at its place: put back at the end */
	bool failing; /* a hard failure has been raised */
	void (*on_failure)(struct core *core); /* when all have heard of it */
	bool stopping;
	bool restarts; /* this process goes on with the program on disk */
	int exit_status;
	struct watch *root_watch;
	struct loop_timer *root_pause, *rest;
	struct people *people; /* person.h */
	/* Each belongs to the file of its name. */
	struct emitter *emitter;
	struct persist *persist;
	struct serve *serve;
	struct heartbeat *heartbeat; /* auto mode only */
	struct event_stream *stream;
	struct life *life;
	struct reload *reload;
	const struct core_floor *floors[CORE_FLOORS_MAX]; /* bottom first */
	size_t floor_count;
};

/* Open lock, settings, ports, book, state. On negative errno nothing is
 * held. */
int core_new(struct loop *loop, const struct workspace *workspace,
    const struct core_options *options, struct core **ret_core,
    struct err *err);
/* Free the floors above first. */
void core_free(struct core *core);

/* Borrowed until core_free(). */
void core_add_floor(struct core *core, const struct core_floor *floor);

/* The branch that work lands on; "" = none. It does not change: it was chosen
 * once, by the setting repo.default_branch, which `llmc init` writes. Where it
 * is not set, the first daemon writes it, so that no later one follows what is
 * checked out then. */
const char *core_branch(const struct core *core);
/* Does a landing ignore uncommitted changes to files that it does not touch? */
bool core_lands_when_dirty(const struct core *core);

/* Is its tree a clone of its own (git-clone.h)? Only that of a worker that was
 * given one, and only while its .git is a folder: until then, and if it is
 * gone, it is a worktree like others. */
bool worker_tree_is_clone(const struct worker *worker);

/* For git_options; arg is the core: the box that git runs in in a tree. A tree
 * is a worker's if the state says so, wherever repo.worktree_dir is by now. A
 * worker whose HEAD is not detached yet has no box: it gets one with its next
 * session. The tree of a check has one, and a clone always. */
int worker_tree_box(
    void *arg, const char *dir, char ***ret_prefix, struct err *err);

#endif
