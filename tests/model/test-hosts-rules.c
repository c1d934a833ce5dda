/* SPDX-License-Identifier: ISC */

/* What a host makes of what the shared book says. */
#include "unit.h"
#include "base.h"
#include "hosts-rules.h"
#include "task.h"

#define ME   "a"
#define BOOT "now"

enum {
	NONE = SHARE_STEP_COUNT
}; /* this host does not know of it */

/* A row of the owner a or b, and what this host, a, knows of it with fence 5.
 */
static const struct {
	const char *words;
	int step;
	const char *owner;
	enum row_state state;
	const char *host, *boot;
	int64_t fence;
	enum share_news news;
} rows[] = {
	/* Healthy ones: nothing is ever stopped. */
	{ "waits", SHARE_OUT, "a", ROW_QUEUED, NULL, NULL, 5, SHARE_SAME },
	{ "runs here", SHARE_HELD, "a", ROW_CLAIMED, ME, BOOT, 5, SHARE_SAME },
	{ "of b, here", SHARE_HELD, "b", ROW_CLAIMED, ME, BOOT, 5, SHARE_SAME },
	{ "submitted", SHARE_READY, "b", ROW_READY, ME, BOOT, 5, SHARE_SAME },
	{ "an old answer", SHARE_HELD, "a", ROW_QUEUED, NULL, NULL, 4,
	    SHARE_SAME },
	{ "an old claim of b", SHARE_HELD, "a", ROW_CLAIMED, "b", "x", 4,
	    SHARE_SAME },
	{ "b's business", NONE, "b", ROW_CLAIMED, "b", "x", 1, SHARE_SAME },
	{ "ended long ago", NONE, "a", ROW_ENDED, "b", "x", 1, SHARE_SAME },
	{ "to be told", SHARE_FINISH, "a", ROW_QUEUED, NULL, NULL, 6,
	    SHARE_SAME },
	{ "to be dropped", SHARE_DROP, "a", ROW_CLAIMED, "b", "x", 6,
	    SHARE_SAME },
	{ "being stopped", SHARE_LOST, "a", ROW_CLAIMED, "b", "x", 6,
	    SHARE_SAME },
	/* Its way to another host and back. */
	{ "claimed by b", SHARE_OUT, "a", ROW_CLAIMED, "b", "x", 6,
	    SHARE_IS_AWAY },
	{ "given back", SHARE_AWAY, "a", ROW_QUEUED, NULL, NULL, 7,
	    SHARE_IS_OUT },
	{ "b's work lands", SHARE_AWAY, "a", ROW_READY, "b", "x", 6,
	    SHARE_IS_AWAY },
	{ "b has done it", SHARE_AWAY, "a", ROW_ENDED, "b", "x", 6,
	    SHARE_HAS_ENDED },
	{ "b has failed", SHARE_AWAY, "a", ROW_FAILED, "b", "x", 6,
	    SHARE_HAS_ENDED },
	{ "b's has landed", SHARE_AWAY, "a", ROW_LANDED, "b", "x", 6,
	    SHARE_HAS_ENDED },
	{ "lost too often", SHARE_AWAY, "a", ROW_HELD, NULL, NULL, 8,
	    SHARE_IS_HELD },
	/* A claim whose answer was lost. */
	{ "ours, unknown", NONE, "b", ROW_CLAIMED, ME, BOOT, 3, SHARE_IS_OURS },
	{ "ours, own", SHARE_OUT, "a", ROW_CLAIMED, ME, BOOT, 6,
	    SHARE_IS_OURS },
	{ "of our last boot", NONE, "b", ROW_CLAIMED, ME, "old", 3,
	    SHARE_SAME },
	/* It is not ours any more. */
	{ "stolen", SHARE_HELD, "a", ROW_QUEUED, NULL, NULL, 6, SHARE_IS_LOST },
	{ "b has it", SHARE_HELD, "b", ROW_CLAIMED, "b", "x", 7,
	    SHARE_IS_LOST },
	{ "the same fence twice", SHARE_HELD, "b", ROW_CLAIMED, "b", "x", 5,
	    SHARE_IS_LOST },
	{ "dropped", SHARE_HELD, "b", ROW_DROPPED, ME, BOOT, 6, SHARE_IS_LOST },
	{ "held", SHARE_HELD, "b", ROW_HELD, NULL, NULL, 6, SHARE_IS_LOST },
	{ "b's has landed, own", SHARE_HELD, "a", ROW_LANDED, "b", "x", 7,
	    SHARE_IS_LOST },
	{ "an earlier one has landed", SHARE_READY, "a", ROW_LANDED, "b", "x",
	    3, SHARE_IS_LOST },
	/* Its work comes back. */
	{ "ejected", SHARE_READY, "a", ROW_CLAIMED, ME, BOOT, 5,
	    SHARE_EJECTED },
	{ "an older claim", SHARE_READY, "a", ROW_CLAIMED, ME, BOOT, 4,
	    SHARE_SAME },
	{ "landed", SHARE_READY, "b", ROW_LANDED, ME, BOOT, 5,
	    SHARE_HAS_ENDED },
	{ "landed, our last boot", SHARE_HELD, "a", ROW_LANDED, ME, "old", 5,
	    SHARE_HAS_ENDED },
};

TEST_ROWS(a_row_means_what_was_agreed, nitems(rows))
{
	char id[] = "t1-a", owner[2];
	struct share share = { .id = id, .fence = 5 };
	const struct share_row row = { .id = id,
		.owner = rows[_i].owner,
		.host = rows[_i].host,
		.boot = rows[_i].boot,
		.state = rows[_i].state,
		.fence = rows[_i].fence };

	strlcpy(owner, rows[_i].owner, sizeof owner);
	share.owner = owner;
	if (rows[_i].step != NONE)
		share.step = (enum share_step)rows[_i].step;
	ck_assert_msg(share_judge(rows[_i].step == NONE ? NULL : &share, &row,
			  ME, BOOT) == rows[_i].news,
	    "%s", rows[_i].words);
}

/* The server may have lost commits; state ROW_STATE_COUNT: it has no row. */
static const struct {
	const char *words;
	enum share_step step;
	char owner[2];
	enum row_state state;
	const char *host, *boot;
	int64_t fence;
	enum share_repair repair;
} repairs[] = {
	/* Healthy ones. */
	{ "waits", SHARE_OUT, "a", ROW_QUEUED, NULL, NULL, 5, SHARE_FITS },
	{ "runs here", SHARE_HELD, "b", ROW_CLAIMED, ME, BOOT, 5, SHARE_FITS },
	{ "at b", SHARE_AWAY, "a", ROW_CLAIMED, "b", "x", 5, SHARE_FITS },
	{ "submitted", SHARE_READY, "a", ROW_READY, ME, BOOT, 5, SHARE_FITS },
	{ "landed", SHARE_READY, "a", ROW_LANDED, NULL, NULL, 0, SHARE_FITS },
	{ "not told yet", SHARE_NEW, "a", ROW_STATE_COUNT, NULL, NULL, 0,
	    SHARE_FITS },
	{ "b has it by now", SHARE_HELD, "a", ROW_CLAIMED, "b", "x", 6,
	    SHARE_FITS },
	/* What was lost. */
	{ "published", SHARE_OUT, "a", ROW_STATE_COUNT, NULL, NULL, 0,
	    SHARE_REPUBLISH },
	{ "claimed elsewhere", SHARE_AWAY, "a", ROW_STATE_COUNT, NULL, NULL, 0,
	    SHARE_REPUBLISH },
	{ "all of it", SHARE_READY, "a", ROW_STATE_COUNT, NULL, NULL, 0,
	    SHARE_REPUBLISH },
	{ "b's, all of it", SHARE_HELD, "b", ROW_STATE_COUNT, NULL, NULL, 0,
	    SHARE_RESTORE },
	{ "the claim", SHARE_HELD, "b", ROW_QUEUED, NULL, NULL, 4,
	    SHARE_RESTORE },
	{ "the claim of the end", SHARE_FINISH, "b", ROW_QUEUED, NULL, NULL, 4,
	    SHARE_RESTORE },
	{ "what was submitted", SHARE_READY, "b", ROW_CLAIMED, ME, BOOT, 5,
	    SHARE_RESUBMIT },
	{ "what is over", SHARE_FINISH, "a", ROW_STATE_COUNT, NULL, NULL, 0,
	    SHARE_FORGET },
	{ "what is not wanted", SHARE_DROP, "a", ROW_STATE_COUNT, NULL, NULL, 0,
	    SHARE_FORGET },
};

TEST_ROWS(what_a_server_has_lost_is_repaired, nitems(repairs))
{
	char id[] = "t1-a", owner[2];
	struct share share = { .id = id, .fence = 5, .step = repairs[_i].step };
	const struct share_row row = { .id = id,
		.owner = repairs[_i].owner,
		.host = repairs[_i].host,
		.boot = repairs[_i].boot,
		.state = repairs[_i].state,
		.fence = repairs[_i].fence };

	strlcpy(owner, repairs[_i].owner, sizeof owner);
	share.owner = owner;
	ck_assert_msg(
	    share_compare(&share, row.state == ROW_STATE_COUNT ? NULL : &row,
		ME, BOOT) == repairs[_i].repair,
	    "%s", repairs[_i].words);
}

TEST(a_lease_is_ours_for_less_than_it_lasts)
{
	ck_assert(!hosts_lease_sure(0, 1000));
	ck_assert(hosts_lease_sure(1000, 1000));
	ck_assert(hosts_lease_sure(1000, 1000 + HOSTS_LEASE_MS / 2));
	ck_assert(!hosts_lease_sure(1000, 1000 + HOSTS_LEASE_MS - 1000));
	ck_assert(!hosts_lease_sure(1000, 999)); /* another boot's clock */
	ck_assert_int_eq(hosts_beat_wait_ms(0, 1000), 0);
	ck_assert_int_eq(hosts_beat_wait_ms(1000, 1000), HOSTS_BEAT_MS);
	ck_assert_int_eq(hosts_beat_wait_ms(1000, 1000 + HOSTS_BEAT_MS), 0);
	/* Several beats may be lost before the lease is. */
	ck_assert_int_ge(HOSTS_LEASE_MS / HOSTS_BEAT_MS, 10);
	for (int tries = 0; tries < 100; tries++) {
		ck_assert_int_ge(hosts_away_ms(tries, 0), 250);
		for (uint32_t dice = 0; dice <= 16000; dice += 500)
			ck_assert_int_le(hosts_away_ms(tries, dice), 30000);
		ck_assert_int_le(hosts_away_ms(tries, UINT32_MAX), 30000);
	}
}

TEST(words_of_a_host_and_of_a_task)
{
	const char *const boxes[] = { "off", "worktree", NULL };
	const char *const more[] = { "gpu", "docker", "gpu", "Bad Word", "",
		NULL };
	cleanup_strv char **words =
	    hosts_words(&(struct hosts_facts){ .host = "big-one",
		.boxes = boxes,
		.memory = (int64_t)5 << 30,
		.more = more });
	cleanup_buf struct buf text = BUF_INIT;
	struct task *t = task_new("t1", "folder", "a", "A", "Do", 1);
	cleanup_strv char **wants = NULL;
	cleanup_free char *old = share_id("a", "t17");
	cleanup_free char *same = share_id("a", "t17-b");

	for (size_t i = 0; words[i] != NULL; i++)
		buf_addf(&text, "%s ", words[i]);
	ck_assert_str_eq(text.data,
	    "docker gpu host:big-one memory:1 memory:2 memory:4 sandbox:off "
	    "sandbox:worktree ");
	strv_add(&t->launch.wants, "gpu");
	xstrset(&t->sandbox, "worktree");
	wants = share_wants(t);
	ck_assert_uint_eq(strv_count(wants), 2);
	for (size_t i = 0; wants[i] != NULL; i++)
		ck_assert(strv_has(strv_const(words), wants[i]));
	ck_assert_str_eq(old, "t17-a");
	ck_assert_str_eq(same, "t17-b");
	task_free(t);
}

/* Another host would have neither its conversation nor its commits. */
TEST(what_has_begun_here_stays_here)
{
	struct task *t = task_new("t1", "files", "k", "T", "text", 1);

	t->step = TASK_WAITING;
	ck_assert(!share_stays(t));
	xstrset(&t->conversation, "c");
	ck_assert(share_stays(t));
	xstrset(&t->conversation, NULL);
	xstrset(&t->from, "f");
	ck_assert(share_stays(t));
	xstrset(&t->from, NULL);
	/* One that was spawned, until it has spawned others. */
	xstrset(&t->launch.parent, "t0");
	ck_assert(!share_stays(t));
	t->attempt.has_spawned = true;
	ck_assert(share_stays(t));
	xstrset(&t->launch.parent, NULL);
	ck_assert(!share_stays(t));
	t->step = TASK_ASSIGNED;
	ck_assert(share_stays(t));
	task_free(t);
}
