/* SPDX-License-Identifier: ISC */

/* Signs of life: hooks, the transcript, CPU time. */
#include "base.h"
#include "proctree.h"
#include "session-inside.h"
#include "session-life.h"
#include "transcript.h"

#define CPU_WORTH_MS 200 /* between two checks: less counts as idle */

/* Did a person press Escape since the last look? Earlier interruptions are
 * those of an earlier process, or of an earlier daemon. */
static bool
is_interrupted(struct session *s, const struct transcript_parser *parser)
{
	int64_t count = transcript_parser_totals(parser)->interrupted;
	bool more = s->interrupted >= 0 && count > s->interrupted;
	bool ours = more && s->own_interrupt;

	s->interrupted = count;
	if (ours)
		s->own_interrupt = false;
	return more && !ours && s->record->busy &&
	    session_phase(s) == SESSION_UP;
}

static void
on_growth(const struct transcript_parser *parser, void *arg)
{
	struct session *s = arg;

	s->grew_ms = clock_mono_ms();
	if (is_interrupted(s, parser)) {
		s->record->busy = false;
		s->record->open_tools = 0;
		s->events.changed(s->arg);
		s->events.interrupted(s->arg);
	}
	s->events.grew(s->arg, parser);
}

void
session_life_leave(struct session *s)
{
	if (s->transcript != NULL)
		s->events.left(s->arg, take_ptr(&s->transcript));
}

void
session_life_follow(struct session *s)
{
	session_life_leave(s);
	s->interrupted = -1;
	s->own_interrupt = false;
	if (s->record->transcript != NULL)
		s->transcript = transcript_new(s->host->loop,
		    s->record->transcript, s->record->history_ms, on_growth, s);
}

static void
look_at_cpu(struct session *s, const struct proctree *tree)
{
	int64_t total = proctree_cpu_ms(tree, &s->pane);

	if (total < 0)
		return;
	if (llabs(total - s->cpu_total_ms) > CPU_WORTH_MS)
		s->cpu_ms = clock_mono_ms();
	s->cpu_total_ms = total;
}

static int64_t
age(int64_t at_ms)
{
	return at_ms < 0 ? INT64_MAX : clock_mono_ms() - at_ms;
}

void
session_life(struct session *s, const struct proctree *tree,
    struct session_life *ret_life)
{
	if (tree != NULL)
		look_at_cpu(s, tree);
	*ret_life = (struct session_life){
		.quiet_ms =
		    age(s->hook_ms > s->grew_ms ? s->hook_ms : s->grew_ms),
		.tool_ms = age(s->tool_ms),
		.cpu_ms = age(s->cpu_ms),
		.process = s->pane.pid != 0 && procref_alive(&s->pane),
		.tool_open = s->record->open_tools > 0,
	};
}

bool
session_is_watched(const struct session *s)
{
	return s->watch != NULL;
}

const struct transcript_parser *
session_transcript(const struct session *s)
{
	return s->transcript != NULL ? transcript_parser_of(s->transcript) :
				       NULL;
}
