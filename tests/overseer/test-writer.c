/* SPDX-License-Identifier: ISC */

/* The process that writes for the overseer. */

#include "unit.h"

#include <sys/resource.h>
#include <sys/wait.h>

#include "config.h"
#include "loop.h"
#include "overseer-private.h"
#include "settings.h"

static bool late; /* the reader is slower than the writer */

ssize_t __real_read(int fd, void *bytes, size_t len);
ssize_t __wrap_read(int fd, void *bytes, size_t len);

ssize_t
__wrap_read(int fd, void *bytes, size_t len)
{
	ssize_t n = __real_read(fd, bytes, len);
	siginfo_t info;
	int error = errno;

	if (late && n == -1)
		waitid(P_ALL, 0, &info, WEXITED | WNOWAIT);
	errno = error;
	return n;
}

static struct overseer_options options;

static void
begin(struct overseer *o)
{
	*o = (struct overseer){ .happens = respond_happens,
		.loop = loop_new(),
		.options = &options,
		.lock = -1,
		.failure = OVERSEER_FAILURE_INIT };
	o->workspace.root = xstrdup(unit_scratch());
	o->workspace.dir = xstrdup(unit_path(".llmc"));
	ck_assert_int_eq(file_mkdirs(o->workspace.dir, 0700, NULL), 0);
	ck_assert_int_eq(writer_open(o, NULL), 0);
}

static void
end(struct overseer *o)
{
	loop_timer_free(o->rewrite);
	loop_call_free(o->write);
	history_release(&o->history);
	for (size_t i = 0; i < OVERSEER_EVENTS; i++)
		free(o->run.events[i]);
	free(o->workspace.dir);
	free(o->workspace.root);
	loop_free(o->loop);
}

static void
note(struct overseer *o, enum spiral_kind kind, int64_t at_ms,
    const char *outcome)
{
	struct spiral_event event = {
		.kind = kind, .at_ms = at_ms, .words = xstrdup("repaired")
	};

	xstrset(&event.outcome, outcome);
	history_note(&o->history, &event);
}

TEST(a_writer_that_ends_while_it_is_looked_at_has_written)
{
	struct overseer o;
	cleanup_buf struct buf text = BUF_INIT;
	cleanup_free char *file = NULL;
	size_t lines = 0;

	begin(&o);
	late = true;
	for (int i = 0; i < 3; i++) {
		note(&o, SPIRAL_REMEDY, i + 1, NULL);
		writer_finish(&o);
		ck_assert_uint_eq(o.history.unsaved, 0);
	}
	late = false;
	writer_close(&o);
	file = overseer_path(&o, "failures.jsonl");
	ck_assert_int_eq(file_read(file, 65536, &text, NULL), 0);
	for (size_t i = 0; i < text.len; i++)
		lines += text.data[i] == '\n';
	ck_assert_uint_eq(lines, 3);
	end(&o);
}

/* As a descriptor for each that it may have is open. */
TEST(what_happens_is_written_without_descriptors)
{
	struct rlimit limit, few;
	struct overseer o;

	begin(&o);
	ck_assert_int_eq(getrlimit(RLIMIT_NOFILE, &limit), 0);
	few = limit;
	few.rlim_cur = 8;
	while (dup(STDIN_FILENO) < (int)few.rlim_cur)
		;
	ck_assert_int_eq(setrlimit(RLIMIT_NOFILE, &few), 0);
	note(&o, SPIRAL_FAILURE, 1, NULL);
	writer_finish(&o);
	ck_assert_uint_eq(o.history.unsaved, 0);
	ck_assert_int_eq(setrlimit(RLIMIT_NOFILE, &limit), 0);
	writer_close(&o);
	end(&o);
}

static void
on_config(const struct buf *config, const struct err *err, void *arg)
{
	(void)config;
	(void)err;
	(void)arg;
}

/* What an earlier overseer has repaired is not repaired twice; what it was kept
 * from repairing is decided again. */
TEST_ROWS(an_interrupted_repair_is_done_again, 2)
{
	struct settings_facts facts = {
		.root = "/r", .home = "/h", .default_branch = "main"
	};
	struct settings_problems problems;
	struct overseer o;
	int out = dup(STDOUT_FILENO);

	ck_assert_ptr_nonnull(freopen("/dev/null", "w", stdout));
	begin(&o);
	o.settings = settings_parse("", 0, &facts, &problems);
	settings_problems_release(&problems);
	o.reader = config_read_new(o.loop, &o.workspace, on_config, &o);
	o.state = STATE_ENDING_DAEMON;
	o.failure.verdict = HEALTH_HUNG;
	o.failure.words = xstrdup("it hangs");
	o.failure.signature = xstrdup("hung");
	o.failure.at_ms = 5;
	note(&o, SPIRAL_FAILURE, 5, NULL);
	note(&o, SPIRAL_REMEDY, 6,
	    repair_outcome_name(_i == 0 ? REPAIR_INTERRUPTED : REPAIR_FAILED));
	HAPPENS(&o, WHEN_ENDED);
	ck_assert_str_eq(overseer_state_name(o.state),
	    overseer_state_name(_i == 0 ? STATE_ENDING_DAEMON : STATE_WAITING));
	writer_close(&o);
	config_read_free(o.reader);
	settings_free(o.settings);
	free(o.failure.words);
	free(o.failure.signature);
	end(&o);
	dup2(out, STDOUT_FILENO);
	close(out);
}
