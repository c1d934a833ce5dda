/* SPDX-License-Identifier: ISC */

/* Every statement of the shared book, and its rows. */
#include "shared-world.h"

void
unit_begin(void)
{
	postgres_serve();
}

/* Who asks what, and the rows that come back. Host 0 is a, 1 is b, ...; "+"
 * moves the clock. */
#define BAD "\xef\xbf\xbd" /* U+FFFD */

struct line {
	int host;
	const char *statement, *args, *rows;
};

static const struct line life[] = {
	{ 0, "meta", "", "min_writer,1;repository,abc;schema_version,1" },
	{ 0, "beat", "a1|0|main", "" },
	{ 0, "hello", "a1|-|v1|2|me@a|main", "1,0,1300000,0" },
	{ 0, "hello", "a2|-|v1|2|-|main", "" },
	{ 0, "hello", "a2|a1|v1|2|-|main", "1,0,1300000,0" },
	{ 1, "hello", "b1|-|v1|4|-|main", "2,0,1300000,0" },
	{ 2, "hello", "c1|-|v1|1|-|main", "3,0,1300000,0" },
	{ 2, "beat", "c1|0|main", "1300000,0,0" },
	{ 2, "beat", "c0|0|main", "" },
	{ 1, "can_set", "gpu", "gpu" },
	{ 1, "can_set", "gpu", "" },
	{ 1, "can_set", "host:a", "" }, /* it is not */
	{ 1, "can_set", "docker", "docker" },
	{ 1, "can_clear", "", "docker;gpu" },
	{ 1, "can_set", "gpu", "gpu" },
	{ 0, "host_cans", "", "b,gpu" },
	{ 0, "publish", "t1-a|50|x|main|one|{}|60000", "t1-a,queued" },
	{ 0, "publish", "t2-a|40|x|main|two|{}|0", "t2-a,queued" },
	{ 0, "publish", "t3-a|60|-|main|three|{}|5000", "t3-a,queued" },
	{ 0, "publish", "t3-a|30|-|main|drei|{}|5000", "t3-a,queued" },
	{ 1, "publish", "t3-a|1|-|main|forged|{}|0", "" },
	{ 0, "publish_want", "t3-a|gpu", "gpu" },
	{ 0, "publish_want", "t3-a|blue", "blue" },
	{ 0, "wants_clear", "t3-a", "blue;gpu" },
	{ 0, "publish_want", "t3-a|gpu", "gpu" },
	{ 0, "nobody_can", "", "" },
	{ 1, "drain", "1", "b" },
	{ 0, "nobody_can", "", "t3-a,drei" },
	{ 1, "drain", "2", "" },
	{ 1, "drain", "0", "b" },
	/* Tasks are named after their hosts. */
	{ 1, "publish", "t9-a|1|-|main|mine|{}|0", "" },
	{ 1, "publish", "t9-c|1|-|main|mine|{}|0", "" },
	{ 1, "publish", "t9-x-b|1|-|main|mine|{}|0", "t9-x-b,queued" },
	{ 1, "drop_task", "t9-x-b|-", "t9-x-b,1,b,-,dropped" },
	{ 0, "tasks", "",
	    "t3-a,a,30,queued,-,0,0,0,-,main,drei,-,0;t2-a,a,40,queued,-,0,0,0,x,main,two,-,0;t1-a,a,50,queued,-,0,0,0,x,main,one,-,0" },
	{ 0, "task_counts", "", "queued,3" },
	{ 0, "glance", "999999", "3,0,1,0" },
	{ 0, "glance", "1000000", "0,0,1,0" },
	{ 2, "glance", "0", "0,0,1,0" },
	{ 0, "claim", "a1|main", "" },
	{ 0, "claim", "a2|main", "t2-a,1,a,40,x,main,two,{},-,-,1,0,-" },
	{ 0, "attempts_begin", "a2", "t2-a,1" },
	{ 0, "attempts_begin", "a2", "" },
	{ 0, "claim_any", "a2|main", "" },
	{ 1, "claim", "b1|main", "" },
	{ 0, "+", "5000", "" },
	{ 0, "claim", "a2|main", "" },
	{ 2, "claim_one", "c1|t3-a", "" },
	{ 1, "claim", "b1|main", "t3-a,1,a,30,-,main,drei,{},-,-,1,0,-" },
	{ 1, "attempts_begin", "b1", "t3-a,1" },
	{ 0, "hold", "a2", "t2-a,1,claimed,a,-,-,-" },
	{ 1, "submit", "t2-a|1|a2|c0ffee|refs/llmc/queue/t2-a/1|{}|-", "" },
	{ 0, "submit", "t2-a|2|a2|c0ffee|refs/llmc/queue/t2-a/2|{}|-", "" },
	{ 0, "submit", "t2-a|1|a1|c0ffee|refs/llmc/queue/t2-a/1|{}|-", "" },
	{ 0, "submit", "t2-a|1|a2|c0ffee|refs/llmc/queue/t2-a/1|{}|-",
	    "t2-a,1,a,a,ready" },
	{ 0, "submit", "t2-a|1|a2|c0ffee|refs/llmc/queue/t2-a/1|{}|-", "" },
	{ 2, "lander_take", "main|c1", "main,1,-,1305000" },
	{ 1, "lander_take", "main|b1", "" },
	{ 2, "ready", "main",
	    "t2-a,1,a,a2,a,c0ffee,refs/llmc/queue/t2-a/1,two,x,40,2,{}" },
	{ 2, "lander_renew", "main|1|c1|f00", "main,1305000" },
	{ 1, "lander_renew", "main|1|b1|f00", "" },
	{ 1, "land", "t2-a|f00d|main|1|b1|1", "" },
	{ 2, "eject", "t2-a|1|main|1|c1|red", "t2-a,1,a,a,claimed" },
	{ 0, "hold", "a2",
	    "t2-a,1,claimed,a,c0ffee,refs/llmc/queue/t2-a/1,red" },
	{ 0, "submit", "t2-a|1|a2|c0ffe1|refs/llmc/queue/t2-a/1|{}|-",
	    "t2-a,1,a,a,ready" },
	{ 2, "land", "t2-a|f00d|main|2|c1|1", "" },
	{ 2, "land", "t2-a|f00d|main|1|c1|2", "" },
	{ 2, "land", "t3-a|f00d|main|1|c1|1", "" }, /* it runs */
	{ 2, "land", "t2-a|f00d|main|1|c1|1", "t2-a,1,a,a,landed" },
	{ 1, "deny", "t2-a|1", "" },
	{ 0, "deny", "t2-a|1", "t2-a,1,a,a,ready" },
	{ 2, "land", "t2-a|f00d|main|1|c1|1", "t2-a,1,a,a,landed" },
	{ 2, "land", "t2-a|f00d|main|1|c1|1", "" },
	{ 0, "attempts_close", "", "t2-a,1" },
	{ 0, "attempts", "t2-a", "1,a,a2,1000000,1005000,landed" },
	{ 0, "+", "61000", "" },
	{ 2, "lander_leave", "main|1|c1", "main" },
	{ 1, "lander_take", "main|b1", "main,2,f00,1366000" },
	{ 1, "lander_leave", "main|2|b1", "main" },
	{ 1, "finish", "t3-a|1|b1|running|{}|no", "" },
	{ 1, "finish", "t3-a|1|b1|done|{\"a\":1}|well", "t3-a,1,a,b,done" },
	{ 0, "changes", "0",
	    "t1-a,a,-,-,0,queued,-,-,-,-,-,0,0,1000000;t2-a,a,a,a2,1,landed,red,-,f00d,c0ffe1,refs/llmc/queue/t2-a/1,0,1,1005000;t3-a,a,b,b1,1,done,well,{\"a\":1},-,-,-,0,1,1066000" },
	{ 0, "task_read", "t3-a",
	    "t3-a,a,3,30,done,b,b1,1,1,0,-,main,drei,{},-,-,-,well,{\"a\":1},-,1000000,1066000" },
	{ 0, "claim", "a2|main", "t1-a,1,a,50,x,main,one,{},-,-,1,0,-" },
	{ 0, "reprioritise", "t1-a|5", "" },
	{ 0, "give_back", "t1-a|1|a2|not now", "t1-a,2,a,-,queued" },
	{ 0, "reprioritise", "t1-a|5", "t1-a,2,a,-,queued" },
	{ 0, "claim", "a2|main", "" },
	{ 0, "+", "30000", "" },
	{ 1, "claim", "b1|main", "t1-a,3,a,5,x,main,one,{},-,-,2,0,not now" },
	{ 1, "attempts_begin", "b1", "t1-a,3" },
	{ 0, "hosts", "",
	    "a,1,a2,up,0,204000,96000,v1,2,-,-,-,0,0;b,2,b1,up,0,204000,96000,v1,4,-,-,-,1,0;c,3,c1,up,0,204000,96000,v1,1,-,-,-,0,0" },
	{ 0, "+", "300000", "" },
	{ 2, "beat", "c1|0|main", "1696000,0,0" },
	{ 2, "steal_hosts", "", "a,1;b,2" },
	{ 2, "steal_tasks", "", "t1-a,4,a,-,queued,1" },
	{ 2, "attempts_close", "", "t1-a,3;t3-a,1" },
	{ 0, "beat", "a2|0|main", "" },
	{ 1, "finish", "t1-a|3|b1|done|-|-", "" },
	{ 2, "claim", "c1|main",
	    "t1-a,5,a,5,x,main,one,{},-,-,3,1,b was lost" },
	{ 2, "attempts_begin", "c1", "t1-a,5" },
	{ 0, "hello", "a3|a2|v1|2|-|main", "1,0,1696000,0" },
	{ 0, "adopt", "a3|a2", "" },
	{ 1, "hello", "b2|b1|v1|2|-|main", "2,0,1696000,0" },
	{ 2, "adopt", "c2|c1", "" },
	{ 2, "hello", "c2|c1|v1|2|-|main", "3,0,1696000,0" },
	{ 2, "adopt", "c2|c1", "t1-a,5" },
	{ 2, "attempts_begin", "c2", "" },
	{ 2, "attempts", "t1-a",
	    "3,b,b1,1096000,1396000,over;5,c,c1,1396000,-,-" },
	{ 2, "hold", "c2", "t1-a,5,claimed,a,-,-,b was lost" },
	{ 0, "+", "600001", "" },
	{ 0, "hello", "a3|a3|v1|2|-|main", "1,0,2296001,0" },
	{ 0, "steal_hosts", "", "b,2;c,3" },
	{ 0, "steal_tasks", "", "t1-a,6,a,-,queued,2" },
	{ 0, "claim_one", "a3|t1-a",
	    "t1-a,7,a,5,x,main,one,{},-,-,4,2,c was lost" },
	{ 0, "leave", "a3", "" }, /* it has a task */
	{ 0, "hello", "a4|-|v1|2|-|main", "" },
	{ 0, "+", "3000001", "" },
	{ 0, "hello", "a4|-|v1|2|-|main", "1,0,5296002,0" },
	{ 0, "steal_tasks", "", "t1-a,8,a,-,held,3" },
	{ 0, "requeue", "t2-a", "" },
	{ 1, "requeue", "t1-a", "" },
	{ 0, "requeue", "t1-a", "t1-a,9,a,-,queued" },
	{ 1, "reprioritise", "t1-a|1", "" },
	{ 1, "drop_task", "t1-a|not wanted", "" },
	{ 0, "drop_task", "t1-a|not wanted", "t1-a,10,a,-,dropped" },
	{ 0, "leave", "a4", "a" },
	{ 0, "hello", "a4|-|v1|2|-|main", "" },
	{ 0, "letter_post", "l1|b|task.drop|{}", "" },
	{ 0, "letter_post", "l1|b|mail.deliver|{}", "l1,b" },
	{ 0, "letter_post", "l1|b|mail.deliver|{}", "l1,b" },
	{ 1, "letter_post", "l1|a|mail.deliver|{}", "" },
	{ 0, "letter_post", "l0|z|mail.deliver|{}", "" },
	{ 1, "letter_take", "", "l1,a,mail.deliver,{}" },
	{ 0, "letter_done", "l1|done|{}", "" },
	{ 1, "letter_done", "l1|lost|{}", "" },
	{ 1, "letter_done", "l1|done|{\"ok\":1}", "l1,a" },
	{ 0, "letter_read", "l1", "l1,b,mail.deliver,done,{\"ok\":1},1" },
	{ 1, "letter_read", "l1", "" },
	{ 0, "letter_drop", "l1|late", "" },
	{ 0, "letter_post", "l2|b|mail.deliver|{}", "l2,b" },
	{ 1, "letter_drop", "l2|not its own", "" },
	{ 0, "letter_drop", "l2|recalled", "l2" },
	{ 1, "letter_take", "", "" },
	/* Text that is no UTF-8: a byte, half of a pair, a torn letter. */
	{ 0, "letter_post", "l3|b|mail.deliver|\xff\xed\xa0\x80\xc3", "l3,b" },
	{ 1, "letter_take", "", "l3,a,mail.deliver," BAD BAD BAD BAD BAD },
	{ 1, "letter_done", "l3|done|\xfe", "l3,a" },
	{ 0, "letter_read", "l3", "l3,b,mail.deliver,done," BAD ",1" },
	{ 0, "spend_put", "0|me|10|20", "0" },
	{ 1, "spend_put", "0|me|1|2", "0" },
	{ 1, "spend_put", "0|me|3|4", "0" },
	{ 1, "spend_put", "0|me|-3|4", "" },
	{ 0, "spend_sum", "0", "me,13,24,3,4" },
	{ 0, "quota_put", "5h|{}", "a" },
	{ 1, "quota_put", "5h|{\"u\":1}", "b" },
	{ 0, "quota_limit", "me|{}", "me" },
	{ 1, "quota_limit", "me|{\"u\":2}", "me" },
	{ 0, "quota_read", "",
	    "a,5h,a,{},0;b,5h,b,{\"u\":1},0;me,limit,a,{},0;me,limit,b,{\"u\":2},0" },
	{ 0, "event_add", "e1|{}", "1" },
	{ 0, "event_add", "e1|{}", "" },
	{ 0, "event_add", "e2|{\"b\":1}", "3" },
	{ 0, "events", "", "" },
	{ 1, "events", "", "a,{\"b\":1};a,{}" },
	{ 0, "host_view", "a4|{}", "a" },
};

/* What is old goes; what lives, and what its owner (a) or its runner (b) has
 * not read, stays: c has read nothing, and is lost. */
static const struct line old[] = {
	{ 0, "hello", "a1|-|v|1|-|main", "1,0,1300000,0" },
	{ 1, "hello", "b1|-|v|1|-|main", "2,0,1300000,0" },
	{ 2, "hello", "c1|-|v|1|-|main", "3,0,1300000,0" },
	{ 0, "publish", "done-a|1|-|main|x|{}|0", "done-a,queued" },
	{ 0, "claim", "a1|main", "done-a,1,a,1,-,main,x,{},-,-,1,0,-" },
	{ 0, "finish", "done-a|1|a1|done|{}|-", "done-a,1,a,a,done" },
	{ 0, "publish", "ran-a|1|-|main|x|{}|0", "ran-a,queued" },
	{ 1, "claim", "b1|main", "ran-a,1,a,1,-,main,x,{},-,-,1,0,-" },
	{ 1, "finish", "ran-a|1|b1|failed|{}|-", "ran-a,1,a,b,failed" },
	{ 2, "publish", "lost-c|1|-|main|x|{}|0", "lost-c,queued" },
	{ 2, "drop_task", "lost-c|-", "lost-c,1,c,-,dropped" },
	{ 0, "publish", "held-a|1|-|main|x|{}|0", "held-a,queued" },
	{ 0, "claim", "a1|main", "held-a,1,a,1,-,main,x,{},-,-,1,0,-" },
	{ 0, "finish", "held-a|1|a1|held|{}|-", "held-a,1,a,a,held" },
	{ 0, "publish", "out-a|1|-|main|x|{}|0", "out-a,queued" },
	{ 0, "publish", "mine-a|0|-|main|x|{}|0", "mine-a,queued" },
	{ 0, "claim", "a1|main", "mine-a,1,a,0,-,main,x,{},-,-,1,0,-" },
	{ 0, "publish", "ready-a|0|-|main|x|{}|0", "ready-a,queued" },
	{ 0, "claim", "a1|main", "ready-a,1,a,0,-,main,x,{},-,-,1,0,-" },
	{ 0, "submit", "ready-a|1|a1|c|refs/llmc/queue/ready-a/1|{}|-",
	    "ready-a,1,a,a,ready" },
	{ 0, "letter_post", "l1|b|mail.deliver|{}", "l1,b" },
	{ 1, "letter_done", "l1|done|{}", "l1,a" },
	{ 0, "letter_post", "l2|c|mail.deliver|{}", "l2,c" },
	{ 0, "event_add", "e1|{}", "1" },
	{ 0, "spend_put", "0|me|10|20", "0" },
	{ 0, "spend_put", "1|me|10|20", "1" },
	{ 0, "spend_put", "2|me|10|20", "" },
	{ 0, "+", "100", "" },
	{ 0, "beat", "a1|1000001|main", "1300100,0,0" },
	{ 0, "prune_tasks", "", "" },
	{ 0, "prune_letters", "", "" },
	{ 0, "+", "86400000", "" }, /* a day */
	{ 0, "prune_tasks", "", "done-a,a,0" },
	{ 1, "beat", "b1|1000000|main", "87700100,0,0" },
	{ 0, "prune_tasks", "", "" },
	{ 1, "beat", "b1|1000001|main", "87700100,0,0" },
	{ 1, "beat", "b1|5|main", "87700100,0,0" },
	{ 0, "prune_tasks", "", "ran-a,a,0" },
	{ 0, "prune_letters", "", "l1" },
	{ 0, "prune_events", "", "" },
	{ 0, "+", "2505600000", "" }, /* 29 days */
	{ 0, "prune_tasks", "", "lost-c,c,1" },
	{ 0, "prune_tasks", "", "" },
	{ 0, "prune_letters", "", "l2" },
	{ 0, "prune_events", "", "1" },
	{ 0, "prune_spend", "", "" },
	{ 0, "+", "950400000", "" }, /* 11 days */
	{ 0, "prune_spend", "", "0" },
	{ 0, "task_counts", "", "claimed,1;queued,1;ready,1" },
	{ 0, "publish", "own-a|0|-|main|x|{}|0", "own-a,queued" },
	{ 0, "publish_want", "own-a|moon", "moon" },
	{ 1, "claim", "b1|main", "out-a,1,a,1,-,main,x,{},-,-,1,0,-" },
	{ 0, "claim", "a1|main", "" },
	{ 0, "claim_any", "a1|main", "" },
	{ 1, "claim_one", "b1|own-a", "" },
	{ 0, "claim_one", "a1|own-a", "own-a,1,a,0,-,main,x,{},-,-,1,0,-" },
};

/* The server has lost commits: t1 was claimed by a with fence 3, t2 has landed,
 * t4 is not here at all and has landed. */
static const struct line lost[] = {
	{ 0, "hello", "a1|-|v|1|-|main", "1,0,1300000,0" },
	{ 1, "hello", "b1|-|v|1|-|main", "2,0,1300000,0" },
	{ 0, "publish", "t1-a|1|-|main|x|{}|0", "t1-a,queued" },
	{ 0, "publish", "t2-a|2|-|main|x|{}|0", "t2-a,queued" },
	{ 1, "publish", "t3-b|3|-|main|x|{}|0", "t3-b,queued" },
	{ 0, "doubt", "0|main", "" },
	{ 0, "doubted", "main", "" },
	{ 0, "+", "1000", "" },
	{ 0, "doubt", "1|main", "doubt;doubt a" },
	{ 1, "doubt", "1|main", "" },
	{ 1, "beat", "b1|0|main", "1301000,0,1" },
	{ 1, "claim", "b1|main", "" },
	{ 1, "claim_any", "b1|main", "" },
	{ 0, "doubted", "main", "1001000,0,2" }, /* a, and c that is new */
	{ 0, "hello", "a1|a1|v|1|-|main", "1,0,1301000,1" },
	{ 0, "open_tasks", "", "t1-a,a,-,-,0,queued;t2-a,a,-,-,0,queued" },
	{ 0, "restore", "t1-a|3|a0", "" },
	{ 0, "restore", "t1-a|0|a1", "" },
	{ 0, "restore", "t1-a|3|a1", "t1-a,3,a,a,claimed" },
	{ 1, "restore", "t1-a|4|b1", "" },
	{ 0, "found", "t2-a|c2|main|1|a1|a|b|b1|2", "" }, /* it does not land */
	{ 0, "lander_take", "main|a1", "main,1,-,1301000" },
	{ 0, "found", "t2-a|c2|main|1|a1|a|b|b1|2", "t2-a,2,a,b,landed" },
	{ 0, "found", "t2-a|c2|main|1|a1|a|b|b1|2", "" },
	/* What runs for another owner is not touched. */
	{ 1, "publish", "t6-b|9|-|main|x|{}|0", "t6-b,queued" },
	{ 1, "restore", "t6-b|2|b1", "t6-b,2,b,b,claimed" },
	{ 0, "found", "t6-b|c1|main|1|a1|b|b|b1|2", "" },
	{ 1, "drop_task", "t6-b|-", "t6-b,3,b,b,dropped" },
	{ 0, "found", "t4-b|c4|main|1|a1|b|a|a1|5000", "" },
	{ 0, "found", "t4-b|c4|main|1|a1|z|a|a1|1", "" },
	{ 0, "found", "t4-b|c4|main|1|a1|b|a|a1|1", "t4-b,1,b,a,landed" },
	/* The owner of a task looks for itself. */
	{ 1, "deny", "t2-a|2", "" },
	{ 0, "deny", "t2-a|1", "" },
	{ 0, "deny", "t2-a|2", "t2-a,3,a,-,queued" },
	{ 0, "found", "t2-a|c2|main|1|a1|a|b|b1|2", "t2-a,3,a,b,landed" },
	{ 1, "publish", "t4-b|1|-|main|x|{}|0", "" },
	{ 0, "trust", "1001000|main|1|a1", "" }, /* c is missing */
	{ 2, "hello", "c1|-|v|1|-|main", "3,0,1301000,1" },
	{ 0, "trust", "7|main|1|a1", "" },
	{ 1, "trust", "1001000|main|1|b1", "" },
	{ 0, "trust", "1001000|main|1|a1", "trust main" },
	{ 0, "trust", "1001000|main|1|a1", "" },
	/* Another branch was not compared. */
	{ 1, "publish", "t5-b|1|-|dev|x|{}|0", "t5-b,queued" },
	{ 1, "claim", "b1|dev", "" },
	{ 1, "doubted", "dev", "1001000,0,0" },
	{ 1, "doubted", "main", "" },
	{ 1, "claim", "b1|main", "t3-b,1,b,3,-,main,x,{},-,-,1,0,-" },
	{ 1, "lander_take", "dev|b1", "dev,1,-,1301000" },
	{ 1, "trust", "1001000|dev|1|b1", "trust dev" },
	{ 1, "claim", "b1|main", "" },
	{ 1, "claim", "b1|dev", "t5-b,1,b,1,-,dev,x,{},-,-,1,0,-" },
	/* A host may doubt once a day. */
	{ 0, "+", "1", "" },
	{ 0, "doubt", "1|main", "" },
	{ 1, "doubt", "1|main", "doubt;doubt b" },
	{ 0, "+", "299999", "" },
	{ 0, "trust", "1001001|main|1|a1", "" },
	{ 0, "lander_renew", "main|1|a1|-", "main,1601000" },
	{ 0, "+", "1", "" },
	{ 0, "trust", "1001001|main|1|a1", "trust main" },
	/* Who drains lands nothing, but ends a doubt. */
	{ 0, "drain", "1", "a" },
	{ 0, "lander_take", "main|a1", "" },
	{ 2, "doubt", "1|main", "doubt;doubt c" },
	{ 0, "lander_take", "main|a1", "main,2,-,1601001" },
	{ 0, "beat", "a1|0|main", "1601001,1,1" },
	{ 1, "beat", "b1|0|main", "1601001,0,1" },
	{ 2, "beat", "c1|0|main", "1601001,0,1" },
	{ 0, "trust", "1301001|main|2|a1", "trust main" },
	{ 0, "lander_take", "main|a1", "" },
};

/* By itself: the identity of the server is another one. */
TEST(another_server_is_doubted)
{
	ended_by(shared_world_end) struct shared_world world;

	shared_world_begin(&world);
	shared_world_host(&world, 0);
	ck_assert_str_eq(shared_world_ask(&world, 0, "doubt", "0|main"), "");
	ck_assert_str_eq(
	    shared_world_sql(&world, NULL,
		"update llmc.meta set value='1/00000001' where key='identity'"),
	    "");
	ck_assert_str_eq(
	    shared_world_ask(&world, 0, "doubt", "0|main"), "doubt;doubt a");
	ck_assert_str_eq(
	    shared_world_ask(&world, 0, "know_server", ""), "identity");
	ck_assert_str_eq(shared_world_ask(&world, 0, "doubt", "0|main"), "");
}

TEST_ROWS(statements_give_their_rows, 3)
{
	ended_by(shared_world_end) struct shared_world world;
	const struct line *lines = _i == 0 ? life : _i == 1 ? old : lost;
	size_t count = _i == 0 ? nitems(life) :
	    _i == 1            ? nitems(old) :
				 nitems(lost);

	shared_world_begin(&world);
	for (int i = 0; i < 3; i++)
		shared_world_host(&world, i);
	for (size_t i = 0; i < count; i++) {
		const struct line *line = &lines[i];

		if (strcmp(line->statement, "+") == 0)
			shared_world_advance(
			    &world, strtoll(line->args, NULL, 10));
		else
			ck_assert_msg(
			    strcmp(shared_world_ask(&world, line->host,
				       line->statement, line->args),
				line->rows) == 0,
			    "%s %s: %s, not %s", line->statement, line->args,
			    shared_world_ask(&world, line->host,
				line->statement, line->args),
			    line->rows);
	}
}

/* The other hosts hear that something has changed, if it is for them. */
TEST(change_is_told_to_the_other_hosts)
{
	ended_by(shared_world_end) struct shared_world world;

	shared_world_begin(&world);
	for (int i = 0; i < 2; i++)
		shared_world_host(&world, i);
	shared_world_ask(&world, 1, "letter_post", "l1|z|mail.deliver|{}");
	shared_world_ask(&world, 1, "letter_post", "l2|a|mail.deliver|{}");
	while (world.hints == 0)
		shared_world_ask(&world, 0, "host_cans", "");
	ck_assert_str_eq(world.hint, "letter");
}

/* --- claims ------------------------------------------------------- */

#define TASKS 200

struct race {
	struct shared_world *world;
	int claimed[TASKS];
	int running;
};

struct racer {
	struct race *race;
	int n;
};

static void
on_claimed(const struct shared_answer *answer, void *arg)
{
	struct racer *racer = arg;
	struct race *race = racer->race;

	ck_assert_msg(answer->verdict == SHARED_DONE, "%s", answer->words);
	if (answer->of->count == 0) {
		if (--race->running == 0)
			loop_stop(race->world->loop, 0);
		return;
	}
	ck_assert_uint_eq(answer->of->count, 1);
	ck_assert_int_eq(shared_int(answer->of, 0, "fence"), 1);
	race->claimed[strtol(
	    shared_text(answer->of, 0, "task") + 1, NULL, 10)]++;
	shared_ask(race->world->hosts[racer->n],
	    &SHARED_CALL(SHARED_CLAIM, BOOK_T("boot"), BOOK_T("main")), 1,
	    60000, on_claimed, racer);
}

/* On as many connections as there are hosts, all at once. */
TEST(task_is_claimed_once)
{
	ended_by(shared_world_end) struct shared_world world;
	struct race race = { .world = &world };
	struct racer racers[WORLD_HOSTS];

	shared_world_begin(&world);
	for (int i = 0; i < WORLD_HOSTS; i++) {
		shared_world_host(&world, i);
		shared_world_ask(&world, i, "hello", "boot|-|v|1|-|main");
	}
	for (int i = 0; i < TASKS; i++) {
		cleanup_free char *text = xasprintf("t%d-a|1|-|main|x|{}|0", i);

		shared_world_ask(&world, 0, "publish", text);
	}
	for (int i = 0; i < WORLD_HOSTS; i++) {
		racers[i] = (struct racer){ &race, i };
		race.running++;
		shared_ask(world.hosts[i],
		    &SHARED_CALL(SHARED_CLAIM, BOOK_T("boot"), BOOK_T("main")),
		    1, 60000, on_claimed, &racers[i]);
	}
	while (race.running > 0)
		loop_run(world.loop);
	for (int i = 0; i < TASKS; i++)
		ck_assert_int_eq(race.claimed[i], 1);
}

/* A host that was away for longer than its lease, and then goes on as if
 * nothing had happened, under the same name. Returns whether its work was
 * taken. */
static bool
late_submit(struct shared_world *world)
{
	shared_world_host(world, 0);
	shared_world_host(world, 1);
	shared_world_ask(world, 0, "hello", "a1|-|v|1|-|main");
	shared_world_ask(world, 1, "hello", "b1|-|v|1|-|main");
	shared_world_ask(world, 0, "publish", "t1-a|1|-|main|x|{}|0");
	ck_assert_str_ne(shared_world_ask(world, 0, "claim", "a1|main"), "");
	shared_world_advance(world, 300001);
	shared_world_ask(world, 1, "beat", "b1|0|main");
	ck_assert_str_eq(shared_world_ask(world, 1, "steal_hosts", ""), "a,1");
	ck_assert_str_eq(shared_world_ask(world, 1, "steal_tasks", ""),
	    "t1-a,2,a,-,queued,1");
	ck_assert_str_ne(shared_world_ask(world, 1, "claim", "b1|main"), "");
	ck_assert_str_eq(shared_world_ask(world, 0, "submit",
			     "t1-a|1|a1|c|refs/llmc/queue/t1-a/1|{}|-"),
	    "");
	shared_world_ask(world, 0, "hello", "a1|a1|v|1|-|main");
	return *shared_world_ask(world, 0, "submit",
		   "t1-a|1|a1|c|refs/llmc/queue/t1-a/1|{}|-") != '\0';
}

TEST(host_that_lost_its_task_cannot_submit_it)
{
	ended_by(shared_world_end) struct shared_world world;

	shared_world_begin(&world);
	ck_assert(!late_submit(&world));
	ck_assert_str_eq(shared_world_ask(&world, 0, "submit",
			     "t1-a|3|b1|c|refs/llmc/queue/t1-a/3|{}|-"),
	    "");
	ck_assert_str_eq(shared_world_ask(&world, 1, "submit",
			     "t1-a|3|b1|c|refs/llmc/queue/t1-a/3|{}|-"),
	    "t1-a,3,a,b,ready");
}

/* The control: the same statement without what says whose it is. */
TEST(without_the_fence_it_could)
{
	static const char fence[] =
	    "task.fence=$2 and task.host=me() and task.boot=$3 and ";
	ended_by(shared_world_end) struct shared_world world;
	cleanup_buf struct buf text = BUF_INIT, less = BUF_INIT;
	const char *at;

	shared_world_begin(&world);
	shared_function(SHARED_SUBMIT, SHARED_SCHEMA, &text);
	at = strstr(text.data, fence);
	ck_assert_ptr_nonnull(at);
	buf_addf(&less, "set search_path=llmc; %.*s%s", (int)(at - text.data),
	    text.data, at + strlen(fence));
	ck_assert_str_eq(shared_world_sql(&world, NULL, less.data), "");
	ck_assert(late_submit(&world));
}

/* A lease is judged by the clock of the database. The control: by the clock of
 * a host that is an hour ahead, a healthy host is lost. */
TEST_ROWS(clock_of_a_host_does_not_matter, 2)
{
	ended_by(shared_world_end) struct shared_world world;

	shared_world_begin(&world);
	shared_world_host(&world, 0);
	shared_world_host(&world, 1);
	shared_world_ask(&world, 0, "hello", "a1|-|v|1|-|main");
	if (_i == 1)
		ck_assert_str_eq(
		    shared_world_sql(&world, NULL,
			"create or replace function llmc.now_ms() returns "
			"bigint language sql stable as 'select test_clock.now+"
			"case when llmc.me()=''b'' then 3600000 else 0 end "
			"from llmc.test_clock'"),
		    "");
	ck_assert_str_eq(shared_world_ask(&world, 1, "steal_hosts", ""),
	    _i == 1 ? "a,1" : "");
}

/* --- rights ------------------------------------------------------- */

/* What host b tries, and the words of the server. */
static const struct {
	const char *sql, *words;
} forbidden[] = {
	{ "update llmc.task set owner='b'", "permission denied" },
	{ "insert into llmc.meta values('x','y')", "permission denied" },
	{ "delete from llmc.host", "permission denied" },
	{ "truncate llmc.event", "permission denied" },
	{ "drop table llmc.task", "must be owner" },
	{ "drop function llmc.me()", "must be owner" },
	{ "create table llmc.mine(x int)", "permission denied" },
	{ "alter table llmc.task add column x int", "must be owner" },
	{ "set role owner", "permission denied" },
	{ "set session authorization llmc_llmc_a", "permission denied" },
	{ "grant llmc_llmc_a to llmc_llmc_b", "must have admin option" },
	{ "alter role llmc_llmc_b superuser", "must be superuser" },
	{ "copy llmc.task to program 'true'", "must be superuser" },
	{ "select nextval('llmc.task_seq')", "permission denied" },
	{ "create or replace function llmc.me() returns text language sql as "
	  "'select ''a'''",
	    "permission denied" },
	/* Its own tables do not come before those of the functions. */
	{ "create temp table host_role(role text,host text);"
	  "insert into host_role values(session_user,'a');select llmc.me()",
	    "b" },
	{ "create temp table task(task text);"
	  "select count(*)::text from llmc.submit_1('t1-a',1,'a1','c','r','{}','')",
	    "0" },
	{ "set session_replication_role=replica", "permission denied" },
};

TEST(host_can_do_nothing_but_what_the_statements_do)
{
	ended_by(shared_world_end) struct shared_world world;

	shared_world_begin(&world);
	shared_world_host(&world, 0);
	shared_world_host(&world, 1);
	shared_world_ask(&world, 0, "hello", "a1|-|v|1|-|main");
	shared_world_ask(&world, 0, "publish", "t1-a|1|-|main|x|{}|0");
	shared_world_ask(&world, 0, "claim", "a1|main");
	for (size_t i = 0; i < nitems(forbidden); i++)
		ck_assert_msg(
		    strstr(shared_world_sql(&world, "b", forbidden[i].sql),
			forbidden[i].words) != NULL,
		    "%s: %s", forbidden[i].sql,
		    shared_world_sql(&world, "b", forbidden[i].sql));
	ck_assert_str_eq(shared_world_ask(&world, 0, "submit",
			     "t1-a|1|a1|c|refs/llmc/queue/t1-a/1|{}|-"),
	    "t1-a,1,a,a,ready");
	/* Who is no host sees nothing. */
	ck_assert_str_eq(shared_world_sql(&world, NULL,
			     "revoke llmc_llmc_hosts from llmc_llmc_b"),
	    "");
	ck_assert_ptr_nonnull(
	    strstr(shared_world_sql(&world, "b", "select * from llmc.task"),
		"permission denied"));
}

/* --- other versions ----------------------------------------------- */

/* The tables get a column while a host works; then one that it is too old
 * for. */
TEST(tables_change_under_a_host_that_works)
{
	ended_by(shared_world_end) struct shared_world world;
	struct shared_ddl *steps = xcalloc(shared_ddl_count + 2, sizeof *steps);

	shared_world_begin(&world);
	memcpy(steps, shared_ddl_rows, shared_ddl_count * sizeof *steps);
	steps[shared_ddl_count] = (struct shared_ddl){ 2, 1,
		"alter table task add column colour text" };
	steps[shared_ddl_count + 1] = (struct shared_ddl){ 3, 3,
		"alter table task add column taste text" };
	world.owner.steps = steps;
	shared_world_host(&world, 0);
	shared_world_ask(&world, 0, "hello", "a1|-|v|1|-|main");
	shared_world_ask(&world, 0, "publish", "t1-a|1|-|main|x|{}|0");
	world.owner.step_count = shared_ddl_count + 1;
	shared_world_owner_runs(&world, "migrate", -1);
	/* Whatever becomes of a claim meanwhile: what does it hold? */
	do {
		shared_world_ask(&world, 0, "claim", "a1|main");
		shared_world_wait(&world, 0, SHARED_UP);
	} while (strncmp(shared_world_ask(&world, 0, "hold", "a1"), "t1-a,1,",
		     7) != 0);
	world.owner.step_count = shared_ddl_count + 2;
	shared_world_owner_runs(&world, "migrate", -1);
	ck_assert_int_eq(strncmp(shared_world_ask(&world, 0, "submit",
				     "t1-a|1|a1|c|refs/llmc/queue/t1-a/1|{}|-"),
			     "AWAY", 4),
	    0);
	shared_world_wait(&world, 0, SHARED_BARRED);
	ck_assert_ptr_nonnull(strstr(
	    shared_words(world.hosts[0]), "install a newer llmc on this host"));
	free(steps);
	/* A host with a newer llmc goes on, and the old one has no way in. */
	shared_world_sql(&world, NULL,
	    "update llmc.meta set value='1' where "
	    "key='min_writer'");
	shared_world_sql(&world, NULL,
	    "update llmc.task set state='queued' where task='t1-a'");
	ck_assert_ptr_nonnull(
	    strstr(shared_world_sql(
		       &world, "a", "select * from llmc.claim_1('a1','main')"),
		"does not exist"));
	ck_assert_str_eq(shared_world_sql(&world, "a",
			     "select * from llmc.claim_3('a1','main')"),
	    "t1-a");
}
