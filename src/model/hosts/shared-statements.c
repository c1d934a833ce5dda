/* SPDX-License-Identifier: ISC */

#include "base.h"
#include "hosts-rules.h"
#include "id.h"
#include "shared-statements.h"

#define ROLE_MAX 63

/* Ages and lengths are the server's, in milliseconds; {lease} is another. */
#define DAY         "86400000"
#define MONTH       "2592000000"
#define RETURN      "30000" /* before others may claim what was given back */
#define FENCE_LEAP  "1000" /* attempts that a server may have lost */
#define LETTERS_MAX "300" /* open ones of a host to another */
#define LANDERS_MAX "20" /* branches of a host */

/* Of a host that is up with this boot; $1 is the boot. */
#define UP_WITH(boot)                                         \
	"exists(select 1 from host where host.host=me() and " \
	"host.boot=" boot " and host.state='up'"
#define UP(boot)     UP_WITH(boot) ")"
#define TAKING(boot) UP_WITH(boot) " and host.draining=0)"

/* Does a host that is up with that boot have the row of this table? */
#define HELD(table)                                                     \
	"exists(select 1 from host where host.host=" table ".host and " \
	"host.boot=" table ".boot and host.state='up')"

/* May the server have lost commits that the branch has? Then nothing is claimed
 * for it. */
#define DOUBTED(branch)                                                   \
	"exists(select 1 from meta as doubt where doubt.key='doubt' and " \
	"not exists(select 1 from meta as trust where "                   \
	"trust.key='trust '||" branch " and trust.value=doubt.value))"
#define DOUBTS(branch)             \
	"cast(case when " DOUBTED( \
	    branch) " then 1 else 0 end as bigint) as doubt"
/* Hosts that have not been here since it is doubted. */
#define MISSING                                                    \
	"(select count(*) from host where host.state<>'gone' and " \
	"coalesce(host.seen_at,0)<cast(doubt.value as bigint))"

/* --- claims ---------------------------------------------------------------
 *
 * "in (select ... limit 1 for update skip locked)" would claim many rows, and a
 * LIMIT that is a parameter would scan them all.
 */
#define WAITS "task.state='queued' and task.not_before<=now_ms()"
/* This host has what the task wants. */
#define HAS                                                               \
	"not exists(select 1 from task_want where "                       \
	"task_want.task=task.task and not exists(select 1 from host_can " \
	"where host_can.host=me() and host_can.word=task_want.word))"
#define LABEL_FREE                                                      \
	" and (task.label is null or not exists(select 1 from task as " \
	"other where other.label=task.label and other.state='claimed'))"
/* It is for the branch of this host ($2), which is not doubted. */
#define FOR_US " and task.branch=$2 and " HAS " and not " DOUBTED("$2")
#define CLAIM(which, taking)                                                    \
	"with pick as materialized (select task.task from task where " WAITS    \
	    which                                                               \
	" order by task.prio,task.seq limit 1 for update of task skip locked) " \
	"update task set state='claimed',host=me(),boot=$1,"                    \
	"fence=task.fence+1,attempts=task.attempts+1,changed_at=now_ms() "      \
	"from pick where task.task=pick.task and " taking                       \
	" returning task.task,task.fence,task.owner,task.prio,task.label,"      \
	"task.branch,task.title,task.body,task.head,task.head_ref,"             \
	"task.attempts,task.lost,task.words"
#define CLAIM_GIVES                                                      \
	"task text, fence bigint, owner text, prio bigint, label text, " \
	"branch text, title text, body text, head text, head_ref text, " \
	"attempts bigint, lost bigint, words text"

/* An attempt: task $1, fence $2, boot $3. */
#define MINE                                                           \
	"where task.task=$1 and task.fence=$2 and task.host=me() and " \
	"task.boot=$3 and task.state='claimed'"
#define LANDER(branch, fence, boot)                                         \
	"exists(select 1 from lander where lander.branch=" branch " and "   \
	"lander.fence=" fence " and lander.host=me() and lander.boot=" boot \
	" and lander.lease_until>=now_ms())"
/* Is it the id of a task that this host has made? "t17-HOST": no other host can
 * take it first, also while that one is away. */
#define ENDS_WITH(id, host) \
	"substr(" id ",length(" id ")-length(" host "))='-'||" host
#define NAMED_BY(id, host)                                                 \
	"(" ENDS_WITH(id, host) " and replace(substr(" id ",1,length(" id  \
				")-length(" host ")-1),'-','')=substr(" id \
				",1,length(" id ")-length(" host ")-1))"
#define MAY_NAME(id)                                                   \
	"(" NAMED_BY(                                                  \
	    id, "me()") " or not exists(select 1 from host as "        \
			"namer where namer.host<>me() and " ENDS_WITH( \
			    id, "namer.host") "))"
#define RETURNS_TASK \
	" returning task.task,task.fence,task.owner,task.host,task.state"
#define GIVES_TASK "task text, fence bigint, owner text, host text, state text"
#define CHANGED    ",changed_at=now_ms()"

/* Does a host that has a part in the task not know yet how it ended? */
#define UNREAD                                                      \
	"exists(select 1 from host where (host.host=task.owner or " \
	"host.host=task.host) and host.state<>'gone' and "          \
	"host.read_to<=task.changed_at)"
#define PRUNE(table, key, condition)                                         \
	"delete from " table " where " key " in (select " key " from " table \
	" where " condition " limit 1000) returning " key

/* Name, values, columns of a row, text; what others are told, and which column
 * says whom: shared-statements.h. */
#define WRITES(...)                 \
	{                           \
		.name = __VA_ARGS__ \
	}
#define READS(name_, takes, text)                  \
	{                                          \
		.name = (name_), takes, NULL, text \
	}

const struct shared_row shared_statements[SHARED_STATEMENT_COUNT] = {
	[SHARED_META] = READS("meta", "",
	    "select meta.key,meta.value from meta where "
	    "meta.key<>'identity' order by meta.key"),

	/* --- a server that has lost commits --------------------------------
	 */
	/* A host may say so once a day; another server is always seen. */
	[SHARED_DOUBT] = WRITES("doubt", "seen bigint, branch text", "key text",
	    "insert into meta(key,value) select said.key,"
	    "cast(now_ms() as text) from (select 'doubt' as key union all "
	    "select 'doubt '||me()) as said join meta on "
	    "meta.key='identity' where meta.value<>server_identity() or ($1=1 and "
	    "not " DOUBTED("$2") " and not exists(select 1 from meta as last "
				 "where last.key='doubt '||me() and "
				 "cast(last.value as bigint)>now_ms()-" DAY
				 ")) on conflict(key) do update set "
				 "value=excluded.value returning meta.key",
	    "hosts"),
	[SHARED_KNOW_SERVER] = WRITES("know_server", "", "key text",
	    "update meta set value=server_identity() where meta.key='identity' and "
	    "meta.value<>server_identity() and exists(select 1 from meta as doubt "
	    "where doubt.key='doubt' and "
	    "cast(doubt.value as bigint)>now_ms()-60000) returning meta.key"),
	[SHARED_DOUBTED] = READS("doubted", "branch text",
	    "select doubt.value as since,"
	    "now_ms()-cast(doubt.value as bigint) as age," MISSING
	    " as missing from meta as doubt where doubt.key='doubt' and " DOUBTED(
		"$1")),
	[SHARED_OPEN] = READS("open_tasks", "",
	    "select task.task,task.owner,task.host,task.boot,task.fence,"
	    "task.state from task where (task.owner=me() or "
	    "task.host=me()) and task.state in "
	    "('queued','claimed','ready','held') order by task.task"),
	[SHARED_RESTORE] =
	    WRITES("restore", "task text, fence bigint, boot text", GIVES_TASK,
		"update task set state='claimed',host=me(),boot=$3,fence=$2,"
		"attempts=task.attempts+1" CHANGED " where task.task=$1 and "
		"task.state='queued' and task.fence<$2 and "
		"$2<task.fence+" FENCE_LEAP " and " UP("$3") RETURNS_TASK),
	[SHARED_FOUND] = WRITES("found",
	    "task text, commit_id text, branch text, lander bigint, "
	    "boot text, owner text, host text, host_boot text, "
	    "fence bigint",
	    GIVES_TASK,
	    "insert into task(task,owner,seq,prio,state,fence,attempts,lost,"
	    "not_before,branch,commit_id,host,boot,created_at,changed_at) "
	    "select $1,host.host,nextval('task_seq'),0,'landed',$9,1,0,0,$3,$2,$7,$8,"
	    "now_ms(),now_ms() from host where host.host=$6 and " NAMED_BY("$1",
		"$6") " and $9>0 and $9<" FENCE_LEAP " and " DOUBTED("$3") " and " LANDER("$3",
		"$4",
		"$5") " on conflict(task) do update set state='landed',"
		      "commit_id=excluded.commit_id,"
		      "host=case when task.state='ready' then task.host else "
		      "excluded.host end,"
		      "boot=case when task.state='ready' then task.boot else "
		      "excluded.boot end,"
		      "head=case when task.state='ready' then task.head else null end,"
		      "fence=case when task.state='ready' or excluded.fence<task.fence "
		      "then task.fence else excluded.fence end,"
		      "changed_at=excluded.changed_at where task.state in "
		      "('queued','ready') and task.branch=excluded.branch or "
		      "(task.owner=me() and task.state<>'landed')" RETURNS_TASK,
	    "change"),
	[SHARED_TRUST] = WRITES("trust",
	    "since text, branch text, lander bigint, boot text", "key text",
	    "insert into meta(key,value) select 'trust '||$2,doubt.value from "
	    "meta as doubt where doubt.key='doubt' and doubt.value=$1 and "
	    "(now_ms()-cast(doubt.value as bigint)>={lease} or " MISSING
	    "=0) and " LANDER("$2", "$3",
		"$4") " on conflict(key) do update set value=excluded.value "
		      "where meta.value<>excluded.value returning meta.key",
	    "hosts"),

	/* --- this host ---------------------------------------------------- */
	[SHARED_HELLO] = WRITES("hello",
	    "boot text, old_boot text, version text, slots bigint, "
	    "ssh text, branch text",
	    "nr bigint, draining bigint, lease_until bigint, doubt bigint",
	    "update host set boot=$1,state='up',lease_until=now_ms()+{lease},"
	    "seen_at=now_ms(),version=$3,slots=$4,ssh=$5 "
	    "where host.host=me() and (host.state in ('new','lost') or "
	    "(host.state='up' and (host.boot=$1 or host.boot=$2 or "
	    "host.lease_until<now_ms()))) "
	    "returning host.nr,host.draining,host.lease_until," DOUBTS("$6"),
	    "hosts"),
	[SHARED_ADOPT] = WRITES("adopt", "boot text, old_boot text",
	    "task text, fence bigint",
	    "update task set boot=$1" CHANGED
	    " where task.host=me() and task.boot=$2 and "
	    "task.state in ('claimed','ready') and " UP(
		"$1") " returning task.task,task.fence"),
	[SHARED_HOLD] = READS("hold", "boot text",
	    "select task.task,task.fence,task.state,task.owner,task.head,"
	    "task.head_ref,task.words from task where task.host=me() and "
	    "task.boot=$1 and task.state in ('claimed','ready') "
	    "order by task.seq"),
	[SHARED_BEAT] = WRITES("beat", "boot text, read_to bigint, branch text",
	    "lease_until bigint, draining bigint, doubt bigint",
	    "update host set lease_until=now_ms()+{lease},seen_at=now_ms(),"
	    "read_to=case when $2>host.read_to then $2 else host.read_to end "
	    "where host.host=me() and host.boot=$1 and host.state='up' "
	    "returning host.lease_until,host.draining," DOUBTS("$3")),
	[SHARED_HOST_VIEW] =
	    WRITES("host_view", "boot text, view text", "host text",
		"update host set view=$2,view_at=now_ms() where "
		"host.host=me() and host.boot=$1 returning host.host"),
	[SHARED_CAN_CLEAR] = WRITES("can_clear", "", "word text",
	    "delete from host_can where host_can.host=me() "
	    "returning host_can.word"),
	[SHARED_CAN_SET] = WRITES("can_set", "word text", "word text",
	    "insert into host_can(host,word) select me(),$1 where "
	    "substr($1,1,5)<>'host:' or $1='host:'||me() "
	    "on conflict do nothing returning host_can.word"),
	[SHARED_LEAVE] = WRITES("leave", "boot text", "host text",
	    "update host set state='gone',lease_until=0 where "
	    "host.host=me() and host.boot=$1 and not exists(select 1 from "
	    "task where task.host=me() and task.state='claimed') "
	    "returning host.host",
	    "hosts"),

	/* --- all hosts ---------------------------------------------------- */
	[SHARED_HOSTS] = READS("hosts", "",
	    "select host.host,host.nr,host.boot,host.state,host.draining,"
	    "host.lease_until-now_ms() as lease_left,"
	    "now_ms()-host.seen_at as seen_ago,host.version,host.slots,"
	    "host.ssh,host.view,"
	    "now_ms()-host.view_at as view_ago,"
	    "(select count(*) from task where task.host=host.host and "
	    "task.state='claimed') as claimed,"
	    "(select count(*) from task where task.host=host.host and "
	    "task.state='ready') as ready "
	    "from host where host.state<>'gone' order by host.nr"),
	[SHARED_HOST_CANS] = READS("host_cans", "",
	    "select host_can.host,host_can.word from host_can "
	    "order by host_can.host,host_can.word"),
	[SHARED_DRAIN] = WRITES("drain", "draining bigint", "host text",
	    "update host set draining=$1 where host.host=me() and "
	    "host.state<>'gone' and $1 in (0,1) returning host.host",
	    "hosts", "host"),
	[SHARED_STEAL_HOSTS] = WRITES("steal_hosts", "", "host text, nr bigint",
	    "update host set state='lost' where host.state='up' and "
	    "host.lease_until<now_ms() returning host.host,host.nr",
	    "hosts"),
	[SHARED_STEAL_TASKS] = WRITES("steal_tasks", "",
	    GIVES_TASK ", lost bigint",
	    "update task set state=case when task.lost>=2 then 'held' else "
	    "'queued' end,lost=task.lost+1,fence=task.fence+1,host=null,"
	    "boot=null,not_before=0,words=coalesce(task.host,'a host')||"
	    "' was lost'" CHANGED " where task.state='claimed' and not " HELD(
		"task") RETURNS_TASK ",task.lost",
	    "queue"),

	/* --- tasks: owner, people ----------------------------------------- */
	[SHARED_PUBLISH] = WRITES("publish",
	    "task text, prio bigint, label text, branch text, title text, "
	    "body text, delay bigint",
	    "task text, state text",
	    "insert into task(task,owner,seq,prio,state,fence,attempts,lost,"
	    "not_before,label,branch,title,body,created_at,changed_at) "
	    "select $1,me(),nextval('task_seq'),$2,'queued',0,0,0,now_ms()+$7,$3,$4,$5,"
	    "$6,now_ms(),now_ms() where " MAY_NAME(
		"$1") " on conflict(task) do update set "
		      "prio=excluded.prio,label=excluded.label,branch=excluded.branch,"
		      "title=excluded.title,body=excluded.body,"
		      "not_before=excluded.not_before,changed_at=excluded.changed_at "
		      "where task.owner=me() and task.state in ('queued','held') "
		      "returning task.task,task.state",
	    "queue"),
	[SHARED_WANTS_CLEAR] = WRITES("wants_clear", "task text", "word text",
	    "delete from task_want where task_want.task=$1 and "
	    "exists(select 1 from task where task.task=$1 and "
	    "task.owner=me()) returning task_want.word"),
	[SHARED_PUBLISH_WANT] = WRITES("publish_want", "task text, word text",
	    "word text",
	    "insert into task_want(task,word) select task.task,$2 from task "
	    "where task.task=$1 and task.owner=me() on conflict do nothing "
	    "returning task_want.word"),
	[SHARED_PUBLISH_PARENT] =
	    WRITES("publish_parent", "task text, parent text", "task text",
		"update task set parent=$2 where task.task=$1 and "
		"task.owner=me() and not exists(select 1 from task as parent "
		"where parent.task=$2 and parent.owner<>me() and "
		"coalesce(parent.host,'')<>me()) returning task.task"),
	[SHARED_REPRIORITISE] =
	    WRITES("reprioritise", "task text, prio bigint", GIVES_TASK,
		"update task set prio=$2" CHANGED " where task.task=$1 and "
		"task.owner=me() and "
		"task.state in ('queued','held')" RETURNS_TASK,
		"queue"),
	[SHARED_DROP] = WRITES("drop_task", "task text, words text", GIVES_TASK,
	    "update task set state='dropped',words=$2,fence=task.fence+1" CHANGED
	    " where task.task=$1 and task.owner=me() and task.state in "
	    "('queued','claimed','ready','held')" RETURNS_TASK,
	    "change"),
	[SHARED_INHERIT] = WRITES("inherit", "parent text, boot text",
	    "task text",
	    "update task set owner=me()" CHANGED " where task.parent=$1 and "
	    "task.state in ('queued','claimed','ready','held') and "
	    "task.owner<>me() and not exists(select 1 from host where "
	    "host.host=task.owner and host.state='up') and exists(select 1 "
	    "from task as parent where parent.task=$1 and "
	    "parent.host=me() and parent.boot=$2 and parent.state='claimed') "
	    "returning task.task",
	    "change"),
	[SHARED_REQUEUE] = WRITES("requeue", "task text", GIVES_TASK,
	    "update task set state='queued',host=null,boot=null,lost=0,"
	    "fence=task.fence+1,not_before=0,result=null" CHANGED
	    " where task.task=$1 and task.owner=me() and "
	    "task.state in ('held','failed')" RETURNS_TASK,
	    "queue"),
	[SHARED_DENY] = WRITES("deny", "task text, fence bigint", GIVES_TASK,
	    "update task set state=case when task.head is null then 'queued' "
	    "else 'ready' end,fence=case when task.head is null then "
	    "task.fence+1 else task.fence end,host=case when task.head is "
	    "null then null else task.host end,boot=case when task.head is "
	    "null then null else task.boot end,not_before=0,"
	    "commit_id=null" CHANGED " where task.task=$1 and "
	    "task.fence=$2 and task.owner=me() and "
	    "task.state='landed'" RETURNS_TASK,
	    "ready"),

	/* --- tasks: runner ------------------------------------------------ */
	[SHARED_CLAIM] = WRITES("claim", "boot text, branch text", CLAIM_GIVES,
	    CLAIM(FOR_US LABEL_FREE, TAKING("$1"))),
	[SHARED_CLAIM_ANY] = WRITES("claim_any", "boot text, branch text",
	    CLAIM_GIVES, CLAIM(FOR_US, TAKING("$1"))),
	/* Its own, which another one waits for, also while it is drained, and
	 * whatever it wants. */
	[SHARED_CLAIM_ONE] = WRITES("claim_one", "boot text, task text",
	    CLAIM_GIVES,
	    CLAIM(" and task.task=$2 and (task.owner=me() or " HAS ")",
		UP_WITH("$1") " and (host.draining=0 or task.owner=me()))")),
	[SHARED_ATTEMPTS_BEGIN] =
	    WRITES("attempts_begin", "boot text", "task text, fence bigint",
		"insert into attempt(task,fence,host,boot,started_at) select "
		"task.task,task.fence,task.host,task.boot,now_ms() from task "
		"where task.host=me() and task.boot=$1 and "
		"task.state='claimed' on conflict do nothing "
		"returning attempt.task,attempt.fence"),
	[SHARED_SUBMIT] = WRITES("submit",
	    "task text, fence bigint, boot text, head text, head_ref text, "
	    "item text, result text",
	    GIVES_TASK,
	    "update task set state='ready',head=$4,head_ref=$5,item=$6,"
	    "result=$7" CHANGED " " MINE
	    " and $5='refs/llmc/queue/'||$1||'/'||cast($2 as text) "
	    "and " UP("$3") RETURNS_TASK,
	    "ready"),
	[SHARED_FINISH] = WRITES("finish",
	    "task text, fence bigint, boot text, state text, result text, "
	    "words text",
	    GIVES_TASK,
	    "update task set state=$4,result=$5,words=$6" CHANGED " " MINE
	    " and $4 in ('done','failed','dropped','held')" RETURNS_TASK,
	    "change", "owner"),
	[SHARED_GIVE_BACK] = WRITES("give_back",
	    "task text, fence bigint, boot text, words text", GIVES_TASK,
	    "update task set state='queued',host=null,boot=null,"
	    "fence=task.fence+1,not_before=now_ms()+" RETURN ",words=$4" CHANGED
	    " " MINE RETURNS_TASK,
	    "queue"),
	[SHARED_ATTEMPTS_CLOSE] =
	    WRITES("attempts_close", "", "task text, fence bigint",
		"update attempt set ended_at=now_ms(),ending=coalesce((select "
		"task.state from task where task.task=attempt.task and "
		"task.fence=attempt.fence),'over') where attempt.ended_at is "
		"null and not exists(select 1 from task where "
		"task.task=attempt.task and task.fence=attempt.fence and "
		"task.state in ('claimed','ready')) "
		"returning attempt.task,attempt.fence"),

	/* --- tasks, read -------------------------------------------------- */
	[SHARED_CHANGES] = READS("changes", "since bigint",
	    "select task.task,task.owner,task.host,task.boot,task.fence,"
	    "task.state,task.words,task.result,task.commit_id,task.head,"
	    "task.head_ref,task.lost,task.attempts,task.changed_at from "
	    "task where (task.owner=me() or task.host=me()) and "
	    "task.changed_at>=$1 order by task.changed_at,task.task "
	    "limit 1000"),
	[SHARED_GLANCE] = READS("glance", "since bigint",
	    "select (select count(*) from task where (task.owner=me() or "
	    "task.host=me()) and task.changed_at>$1) as changes,"
	    "(select count(*) from letter where letter.to_host=me() and "
	    "letter.state='open') as letters,"
	    "(select count(*) from (select 1 as one from task where "
	    "task.state='queued' and task.not_before<=now_ms() limit 1) as "
	    "queue) as queued,"
	    "(select count(*) from host where host.state='up' and "
	    "host.lease_until<now_ms())+(select count(*) from task where "
	    "task.state='claimed' and not " HELD("task") ") as stale"),
	[SHARED_TASK_READ] = READS("task_read", "task text",
	    "select task.task,task.owner,task.seq,task.prio,task.state,"
	    "task.host,task.boot,task.fence,task.attempts,task.lost,"
	    "task.label,task.branch,task.title,task.body,task.head,"
	    "task.head_ref,task.item,task.words,task.result,"
	    "task.commit_id,task.created_at,task.changed_at from task "
	    "where task.task=$1"),
	[SHARED_CHILDREN] = READS("children", "parent text",
	    "select task.task,task.title,task.state,task.owner,task.host,"
	    "task.fence,task.body,task.commit_id from task where "
	    "task.parent=$1 and task.state<>'dropped' order by task.seq "
	    "limit 50"),
	[SHARED_TASKS] = READS("tasks", "",
	    "select task.task,task.owner,task.prio,task.state,task.host,"
	    "task.fence,task.attempts,task.lost,task.label,task.branch,"
	    "task.title,task.words,now_ms()-task.changed_at as changed_ago "
	    "from task where task.state in "
	    "('queued','claimed','ready','held') "
	    "order by task.prio,task.seq limit 1000"),
	[SHARED_TASK_COUNTS] = READS("task_counts", "",
	    "select task.state,count(*) as count from task where task.state "
	    "in ('claimed','ready') or (task.state='queued' and "
	    "task.not_before<now_ms()+3600000) group by task.state "
	    "order by task.state"),
	[SHARED_NOBODY_CAN] = READS("nobody_can", "",
	    "select task.task,task.title from task where "
	    "task.state='queued' and task.owner=me() and exists(select 1 "
	    "from task_want where task_want.task=task.task) and not "
	    "exists(select 1 from host where host.state='up' and "
	    "host.draining=0 and not exists(select 1 from task_want where "
	    "task_want.task=task.task and not exists(select 1 from "
	    "host_can where host_can.host=host.host and "
	    "host_can.word=task_want.word))) order by task.seq"),
	[SHARED_ATTEMPTS] = READS("attempts", "task text",
	    "select attempt.fence,attempt.host,attempt.boot,"
	    "attempt.started_at,attempt.ended_at,attempt.ending from "
	    "attempt where attempt.task=$1 order by attempt.fence,"
	    "attempt.started_at"),

	/* --- landing ------------------------------------------------------ */
	[SHARED_LANDER_TAKE] = WRITES("lander_take", "branch text, boot text",
	    "branch text, fence bigint, tip text, lease_until bigint",
	    "insert into lander(branch,fence,host,boot,lease_until) select "
	    "$1,1,host.host,host.boot,now_ms()+{lease} from host where "
	    "(select count(*) from lander as mine where mine.host=me() and "
	    "mine.branch<>$1)<" LANDERS_MAX " and "
	    "host.host=me() and host.boot=$2 and host.state='up' and (host.draining=0 or " DOUBTED(
		"$1") ") on conflict(branch) do update set "
		      "fence=lander.fence+1,host=excluded.host,boot=excluded.boot,"
		      "lease_until=excluded.lease_until where "
		      "lander.lease_until<now_ms() or lander.host=me() or not " HELD(
			  "lander") " returning lander.branch,lander.fence,lander.tip,"
				    "lander.lease_until"),
	[SHARED_LANDER_RENEW] = WRITES("lander_renew",
	    "branch text, fence bigint, boot text, tip text",
	    "branch text, lease_until bigint",
	    "update lander set lease_until=now_ms()+{lease},"
	    "tip=coalesce($4,lander.tip) where lander.branch=$1 and "
	    "lander.fence=$2 and lander.host=me() and lander.boot=$3 and " UP(
		"$3") " returning lander.branch,lander.lease_until"),
	[SHARED_LANDER_LEAVE] = WRITES("lander_leave",
	    "branch text, fence bigint, boot text", "branch text",
	    "update lander set lease_until=0 where lander.branch=$1 and "
	    "lander.fence=$2 and lander.host=me() and lander.boot=$3 "
	    "returning lander.branch",
	    "lander"),
	[SHARED_READY] = READS("ready", "branch text",
	    "select task.task,task.fence,task.host,task.boot,task.owner,"
	    "task.head,task.head_ref,task.title,task.label,task.prio,"
	    "task.seq,task.item from task where task.state='ready' and "
	    "task.branch=$1 order by task.prio,task.seq limit 1000"),
	[SHARED_LAND] = WRITES("land",
	    "task text, commit_id text, branch text, lander bigint, "
	    "boot text, fence bigint",
	    GIVES_TASK,
	    "update task set state='landed',commit_id=$2" CHANGED
	    " where task.task=$1 and task.fence=$6 and task.branch=$3 and "
	    "task.state='ready' and " LANDER("$3", "$4", "$5") RETURNS_TASK,
	    "change"),
	[SHARED_EJECT] = WRITES("eject",
	    "task text, fence bigint, branch text, lander bigint, "
	    "boot text, words text",
	    GIVES_TASK,
	    "update task set state=case when " HELD("task") " then 'claimed' else 'queued' end,fence=case when " HELD(
		"task") " then task.fence else task.fence+1 end,words=$6" CHANGED
			" where task.task=$1 and task.fence=$2 and task.state='ready' "
			"and task.branch=$3 and " LANDER("$3", "$4", "$5")
			    RETURNS_TASK,
	    "change"),

	/* --- letters ------------------------------------------------------ */
	/* No row: there is no such host. */
	[SHARED_LETTER_POST] = WRITES("letter_post",
	    "id text, to_host text, method text, params text",
	    "id text, to_host text",
	    "insert into letter(id,from_host,to_host,method,params,state,"
	    "created_at,changed_at) select $1,me(),host.host,$3,$4,'open',"
	    "now_ms(),now_ms() from host where host.host=$2 and "
	    "host.state<>'gone' and $3='mail.deliver' and (select count(*) "
	    "from letter as open where open.from_host=me() and "
	    "open.to_host=$2 and open.state='open' and open.id<>$1)<" LETTERS_MAX
	    " on conflict(id) do update set "
	    "state=letter.state where letter.from_host=me() "
	    "returning letter.id,letter.to_host",
	    "letter", "to_host"),
	[SHARED_LETTER_TAKE] = READS("letter_take", "",
	    "select letter.id,letter.from_host,letter.method,letter.params "
	    "from letter where letter.to_host=me() and "
	    "letter.state='open' order by letter.created_at,letter.id "
	    "limit 1000"),
	[SHARED_LETTER_DONE] = WRITES("letter_done",
	    "id text, state text, result text", "id text, from_host text",
	    "update letter set state=$2,result=$3" CHANGED
	    " where letter.id=$1 and letter.to_host=me() and "
	    "letter.state='open' and $2 in ('done','failed') "
	    "returning letter.id,letter.from_host",
	    "letter", "from_host"),
	[SHARED_LETTER_READ] = READS("letter_read", "id text",
	    "select letter.id,letter.to_host,letter.method,letter.state,"
	    "letter.result,(select count(*) from host where "
	    "host.host=letter.to_host and host.state<>'gone') as there from "
	    "letter where letter.id=$1 and letter.from_host=me()"),
	[SHARED_LETTER_DROP] =
	    WRITES("letter_drop", "id text, words text", "id text",
		"update letter set state='failed',result=$2" CHANGED
		" where letter.id=$1 and letter.from_host=me() and "
		"letter.state='open' returning letter.id"),

	/* --- shown and shared --------------------------------------------- */
	[SHARED_SPEND_PUT] = WRITES("spend_put",
	    "day bigint, account text, tokens bigint, micros bigint",
	    "day bigint",
	    "insert into spend(host,day,account,tokens,micros) select me(),"
	    "$1,$2,$3,$4 where $1 between now_ms()/" DAY "-1 and "
	    "now_ms()/" DAY
	    "+1 and $3>=0 and $4>=0 on conflict(host,day,account) do update set "
	    "tokens=excluded.tokens,micros=excluded.micros "
	    "returning spend.day"),
	[SHARED_SPEND_SUM] = READS("spend_sum", "day bigint",
	    "select spend.account,sum(spend.tokens) as tokens,"
	    "sum(spend.micros) as micros,"
	    "sum(case when spend.host=me() then 0 else spend.tokens end) "
	    "as others_tokens,"
	    "sum(case when spend.host=me() then 0 else spend.micros end) "
	    "as others_micros from spend where spend.day=$1 "
	    "group by spend.account order by spend.account"),
	[SHARED_QUOTA_PUT] = WRITES("quota_put", "span text, body text",
	    "account text",
	    "insert into quota(account,span,host,body,changed_at) "
	    "values(me(),$1,me(),$2,now_ms()) on conflict(account,span,host) "
	    "do update set body=excluded.body,"
	    "changed_at=excluded.changed_at returning quota.account"),
	/* An account is limited: the others hear of it at once. */
	[SHARED_QUOTA_LIMIT] = WRITES("quota_limit", "account text, body text",
	    "account text",
	    "insert into quota(account,span,host,body,changed_at) values($1,"
	    "'limit',me(),$2,now_ms()) on conflict(account,span,host) do "
	    "update set body=excluded.body,"
	    "changed_at=excluded.changed_at returning quota.account",
	    "quota"),
	[SHARED_QUOTA_READ] = READS("quota_read", "",
	    "select quota.account,quota.span,quota.host,quota.body,"
	    "now_ms()-quota.changed_at as changed_ago from quota "
	    "order by quota.account,quota.span,quota.host"),
	[SHARED_EVENT_ADD] =
	    WRITES("event_add", "key text, record text", "seq bigint",
		"insert into event(key,at,host,record) values($1,now_ms(),me(),"
		"$2) on conflict(key) do nothing returning event.seq"),
	[SHARED_EVENTS] = READS("events", "",
	    "select event.host,event.record from event where "
	    "event.host<>me() order by event.seq desc limit 500"),

	/* --- prune -------------------------------------------------------- */
	[SHARED_PRUNE_TASKS] =
	    WRITES("prune_tasks", "", "task text, owner text, unread bigint",
		PRUNE("task", "task.task",
		    "task.state in ('landed','done','failed','dropped') and "
		    "task.changed_at<now_ms()-" DAY " and (task.changed_at<"
		    "now_ms()-" MONTH " or not " UNREAD
		    ")") ",task.owner,cast(case when " UNREAD
			 " then 1 else 0 end as bigint) as unread"),
	[SHARED_PRUNE_LETTERS] = WRITES("prune_letters", "", "id text",
	    PRUNE("letter", "letter.id",
		"letter.changed_at<now_ms()-" DAY " and "
		"(letter.state<>'open' or "
		"letter.changed_at<now_ms()-" MONTH ")")),
	[SHARED_PRUNE_EVENTS] = WRITES("prune_events", "", "seq bigint",
	    PRUNE("event", "event.seq", "event.at<now_ms()-" MONTH)),
	[SHARED_PRUNE_SPEND] = WRITES("prune_spend", "", "day bigint",
	    "delete from spend where spend.day<now_ms()/" DAY "-40 "
	    "returning spend.day"),
};

const char shared_join_text[] =
    "insert into host(host,nr,state) select $1,coalesce(max(host.nr),0)+1,"
    "'new' from host where true on conflict(host) do update set state=case "
    "when host.state='gone' then 'new' else host.state end,draining=case when "
    "host.state='gone' then 0 else host.draining end returning host.nr";
const char shared_meta_put_text[] =
    "insert into meta(key,value) values($1,$2) on conflict(key) do update set "
    "value=excluded.value";

#define LEASE "{lease}" /* HOSTS_LEASE_MS */

void
shared_text_add(const char *text, struct buf *out)
{
	const char *at;

	while ((at = strstr(text, LEASE)) != NULL) {
		buf_add(out, text, (size_t)(at - text));
		buf_addf(out, "%" PRId64, HOSTS_LEASE_MS);
		text = at + strlen(LEASE);
	}
	buf_adds(out, text);
}

size_t
shared_takes(enum shared_statement id)
{
	const char *takes = shared_statements[id].takes;
	size_t count = *takes != '\0';

	for (; *takes != '\0'; takes++)
		count += *takes == ',';
	return count;
}

bool
shared_takes_number(enum shared_statement id, size_t n)
{
	const char *at = shared_statements[id].takes;

	while (n-- > 0)
		at = strchr(at, ',') + 2;
	at += strcspn(at, " ") + 1;
	return *at == 'b';
}

/* --- tables ------------------------------------------------------------- */

const char *const shared_tables[] = { "meta", "host", "host_role", "host_can",
	"task", "task_want", "attempt", "lander", "letter", "spend", "quota",
	"event", NULL };

#define FIRST(text)        \
	{                  \
		1, 1, text \
	}

const struct shared_ddl shared_ddl_rows[] = {
	FIRST("create table meta(key text primary key, value text not "
	      "null)"),
	FIRST(
	    "create table host(host text primary key, nr bigint not null "
	    "unique, boot text, state text not null, draining bigint not null "
	    "default 0, lease_until bigint not null default 0, seen_at bigint, "
	    "read_to bigint not null default 0, "
	    "version text, slots bigint, ssh text, view "
	    "text, view_at bigint)"),
	FIRST("create table host_role(role text primary key, host text not "
	      "null)"),
	FIRST("create table host_can(host text not null, word text not null, "
	      "primary key(host,word))"),
	FIRST(
	    "create table task(task text primary key, owner text not null, "
	    "seq bigint not null, prio bigint not null, state text not null, "
	    "host text, boot text, fence bigint not null, attempts bigint not "
	    "null, lost bigint not null, not_before bigint not null, label "
	    "text, branch text, title text, body text, head text, head_ref "
	    "text, item text, words text, result text, commit_id text, "
	    "parent text, created_at bigint not null, changed_at bigint not null)"),
	FIRST("create sequence task_seq"),
	/* Claims go over the first, and stop at the first row that fits. */
	FIRST("create index task_queued on task(prio,seq) where "
	      "state='queued'"),
	FIRST("create index task_held on task(host) where state in "
	      "('claimed','ready')"),
	FIRST("create index task_label on task(label) where "
	      "state='claimed'"),
	FIRST("create index task_ready on task(branch,prio,seq) where "
	      "state='ready'"),
	FIRST("create index task_parent on task(parent) where parent is not "
	      "null"),
	FIRST("create index task_owner on task(owner,changed_at)"),
	FIRST("create index task_host on task(host,changed_at)"),
	FIRST("create index task_ended on task(changed_at) where state in "
	      "('landed','done','failed','dropped')"),
	FIRST("create table task_want(task text not null references task(task) "
	      "on delete cascade, word text not null, "
	      "primary key(task,word))"),
	FIRST(
	    "create table attempt(task text not null references task(task) "
	    "on delete cascade, fence bigint not null, host text not null, "
	    "boot text not null, started_at bigint not null, ended_at bigint, "
	    "ending text, primary key(task,fence))"),
	FIRST("create index attempt_open on attempt(task) where ended_at is "
	      "null"),
	FIRST(
	    "create table lander(branch text primary key, fence bigint not "
	    "null, host text not null, boot text not null, lease_until bigint "
	    "not null, tip text)"),
	FIRST("create table letter(id text primary key, from_host text not "
	      "null, to_host text not null, method text not null, params text, "
	      "state text not null, result text, created_at bigint not null, "
	      "changed_at bigint not null)"),
	FIRST("create index letter_open on letter(to_host,created_at) where "
	      "state='open'"),
	FIRST("create index letter_old on letter(changed_at)"),
	FIRST(
	    "create table spend(host text not null, day bigint not null, "
	    "account text not null, tokens bigint not null, micros bigint not "
	    "null, primary key(host,day,account))"),
	FIRST("create index spend_day on spend(day)"),
	FIRST("create table quota(account text not null, span text not null, "
	      "host text not null, body text, changed_at bigint not null, "
	      "primary key(account,span,host))"),
	FIRST(
	    "create table event(seq bigint generated always as identity primary key, key text not null unique, at "
	    "bigint not null, host text not null, record text not "
	    "null)"),
	FIRST("create index event_at on event(at)"),
	/* A statement has one time. Tests have another now_ms(). */
	FIRST("create function now_ms() returns bigint language sql stable "
	      "as 'select (extract(epoch from statement_timestamp())*1000)"
	      "::bigint'"),
	FIRST("create function me() returns text language sql stable "
	      "security definer set search_path=" SHARED_SCHEMA_SQL
	      ",pg_temp as 'select host_role.host from host_role where "
	      "host_role.role=session_user'"),
	/* Another timeline is a standby that took over: what was committed last
	 * may be missing. */
	FIRST(
	    "create function server_identity() returns text language "
	    "plpgsql stable security definer set search_path=" SHARED_SCHEMA_SQL
	    ",pg_temp as 'begin return (select "
	    "system_identifier from pg_control_system())||''/''||"
	    "substr(pg_walfile_name(pg_current_wal_lsn()),1,8); "
	    "exception when others then return ''''; end'"),
	FIRST(
	    "insert into meta(key,value) values('identity',server_identity())"),
};
const size_t shared_ddl_count = nitems(shared_ddl_rows);

void
shared_function(enum shared_statement id, int version, struct buf *out)
{
	const struct shared_row *row = &shared_statements[id];
	size_t count = shared_takes(id);

	buf_addf(out, "create or replace function " SHARED_SCHEMA_SQL ".%s_%d(",
	    row->name, version);
	for (size_t i = 0; i < count; i++)
		buf_addf(out, "%s%s", i > 0 ? "," : "",
		    shared_takes_number(id, i) ? "bigint" : "text");
	buf_addf(out,
	    ") returns table(%s) language plpgsql security definer "
	    "set search_path=" SHARED_SCHEMA_SQL ",pg_temp as $llmc$\n"
	    "#variable_conflict use_column\n"
	    "begin ",
	    row->gives);
	/* What a host writes has a bound. */
	for (size_t i = 0; i < count; i++)
		if (!shared_takes_number(id, i))
			buf_addf(out,
			    "if octet_length($%zu)>%d then raise exception "
			    "'a value is too long'; end if; ",
			    i + 1, SHARED_TEXT_MAX);
	buf_adds(out, "return query ");
	shared_text_add(row->text, out);
	buf_adds(out, "; end $llmc$");
}

void
shared_call_text(enum shared_statement id, struct buf *out)
{
	const struct shared_row *row = &shared_statements[id];
	size_t count = shared_takes(id);

	if (row->gives == NULL) {
		shared_text_add(row->text, out);
		return;
	}
	buf_addf(out, "select * from " SHARED_SCHEMA_SQL ".%s_%d(", row->name,
	    SHARED_SCHEMA);
	for (size_t i = 0; i < count; i++)
		buf_addf(out, "%s$%zu", i > 0 ? "," : "", i + 1);
	buf_addc(out, ')');
}

void
shared_role(const char *database, const char *host, struct buf *out)
{
	cleanup_free char *whole = xasprintf("llmc_%s_%s", database, host);
	char hash[9];

	if (strlen(whole) <= ROLE_MAX) {
		buf_adds(out, whole);
		return;
	}
	id_hash(whole, hash, 8);
	buf_add(out, whole, text_cut(whole, strlen(whole), ROLE_MAX - 9));
	buf_addf(out, "_%s", hash);
}
