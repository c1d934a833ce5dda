/* SPDX-License-Identifier: ISC */

/*
 * A private tmux server for tests: started, driven until an answer is there,
 * and ended with all its processes. A server left by a failed test is ended by
 * the next one, or with the test program.
 */
#ifndef TMUX_WORLD_H
#define TMUX_WORLD_H

#include "unit.h"
#include "procref.h"
#include "tmux.h"

#define FOREVER "exec sleep 1000"

struct loop;

#define WORLD_SOCKET "t"

extern struct world {
	struct loop *loop;
	struct tmux *tmux;
	struct tmux_options options;
} world;

/* The arguments of a callback. */
struct answer {
	int count; /* times it was called */
	struct err err; /* code 0 = success */
	pid_t pid;
	struct buf text; /* of a capture; of a list: one line per session */
};

/* A home in the scratch directory, no server. command: NULL = the real tmux. */
void world_begin(const char *command);
void world_end(void);

/* Run the loop until the answer or the condition, or fail the test. */
void world_wait(struct answer *answer);
typedef bool world_fn(void *arg);
void world_until(world_fn *fn, void *arg);
void world_until_gone(struct procref *ref);
void world_until_dead(const char *pane); /* "=name:" */
void world_until_file(const char *path);

/* Start an answer, and the callbacks that fill one. */
void answer_begin(struct answer *answer);
void answer_end(struct answer *answer);
void answer_done(const struct err *err, void *arg);
void answer_started(pid_t pid, const struct err *err, void *arg);
void answer_text(const char *text, const struct err *err, void *arg);
void answer_list(const struct tmux_info *list, size_t count,
    const struct err *err, void *arg);

/* Ask and wait. Each returns the error's code. */
int world_start(const char *name, const char *shell, pid_t *ret_pid);
int
world_start_session(const struct tmux_session *session, struct answer *answer);
int world_paste(const char *name, const char *text, bool enter);
int world_keys(const char *name, const char *const *keys);
int world_kill(const char *name);
/* "name role worker generation live|dead attached|-" per line, in *out. */
int world_list(struct buf *out);
int world_capture(const char *name, int history, struct buf *out);
pid_t world_server(void);

/* Run tmux itself, as a person would; returns the output without the final
 * newline, to be freed. Words end with NULL. */
char *world_tmux(const char *first, ...) __attribute__((sentinel));

/* An executable shell script in the scratch directory; its path. */
const char *world_script(const char *name, const char *text);

/* The whole file; NULL = it does not exist. The caller frees it. */
char *world_file(const char *path);

/* A program that reads `len` bytes raw from the pane into a file in the scratch
 * directory; it creates "<name>.ready" when it is reading, and "<name>.done"
 * when it has all of them. The caller frees the text. */
char *world_reader(const char *name, size_t len);
void world_start_reader(const char *session, const char *name, size_t len);
/* Wait for "<name>.done" and compare. */
void world_expect_bytes(const char *name, const void *bytes, size_t len);

#endif
