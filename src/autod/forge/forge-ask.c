/* SPDX-License-Identifier: ISC */

#include "base.h"
#include "asks.h"
#include "emit.h"
#include "forge-private.h"
#include "loop.h"
#include "persist.h"

void
forge_send(struct forge_floor *floor, const struct forge_request *request,
    const char *known, forge_fn *fn)
{
	floor->busy = true;
	forge_http_send(floor->http, request, known, fn, floor);
}

static void
on_saved(void *arg)
{
	struct forge_floor *floor = arg;

	floor->busy = false;
	loop_call_request(floor->look);
}

void
forge_done(struct forge_floor *floor)
{
	persist_then(floor->core, floor, on_saved, floor);
}

void
forge_away(struct forge_floor *floor, enum event_kind kind, const char *words)
{
	if (!floor->away) {
		emit(floor->core,
		    &(struct event){ .kind = kind, .reason = words });
		floor->away_ms = clock_mono_ms();
	}
	if (kind == EVENT_FORGE_REFUSES && !(floor->away && floor->refused) &&
	    state_ask(&floor->core->state, FORGE_ASK) == NULL)
		asks_open(floor->core,
		    &(struct ask_draft){ .kind = ASK_BLOCKED,
			.level = ESCALATION_WARNING,
			.key = FORGE_ASK,
			.title = "the forge cannot be used",
			.words = words,
			.command = "llmc doctor",
			.stays = true });
	floor->away = true;
	floor->refused = kind == EVENT_FORGE_REFUSES;
}

static void
rest(struct forge_floor *floor, int64_t ms)
{
	floor->rest_ms = clock_mono_ms() + ms;
}

bool
forge_answered(struct forge_floor *floor, const struct forge_answer *answer)
{
	if (answer->verdict == FORGE_GOOD || answer->verdict == FORGE_SAME) {
		if (floor->away) {
			EMIT(floor->core, EVENT_FORGE_BACK,
			    .text = floor->place.repo);
			asks_resolve(floor->core, FORGE_ASK);
		}
		floor->away = false;
		return true;
	}
	forge_away(floor,
	    answer->verdict == FORGE_AGAIN ? EVENT_FORGE_AWAY :
					     EVENT_FORGE_REFUSES,
	    answer->words);
	rest(floor,
	    answer->verdict == FORGE_AGAIN ? answer->wait_ms : FORGE_POLL_MS);
	return false;
}

bool
forge_refused(const struct forge_answer *answer)
{
	return answer->verdict == FORGE_GONE ||
	    answer->verdict == FORGE_REFUSED;
}

bool
forge_settled(struct forge_floor *floor, const struct forge_answer *answer)
{
	return forge_refused(answer) || forge_answered(floor, answer);
}

void
forge_label_send(struct forge_floor *floor, struct forge_request *request,
    const struct forge_label *label, const char *name, forge_fn *on_set,
    forge_fn *on_listed, forge_fn *on_made)
{
	bool known = floor->dialect == FORGE_GITHUB || label->id > 0;

	request->text = name;
	request->id = label->id > 0 ? label->id : 0;
	request->page = label->page + 1;
	request->what = known ? FORGE_ADD_LABEL :
	    label->id == 0    ? FORGE_ASK_LABELS :
				FORGE_MAKE_LABEL;
	forge_send(floor, request, NULL,
	    known              ? on_set :
		label->id == 0 ? on_listed :
				 on_made);
}

void
forge_label_listed(
    struct forge_label *label, const char *name, struct json_object *json)
{
	bool more = false;

	label->id = forge_label_find(json, name, &more);
	label->page++;
	if (label->id <= 0 && (!more || label->page >= FORGE_PAGES_MAX))
		label->id = -1;
	else if (label->id < 0)
		label->id = 0;
}

void
forge_rest(struct forge_floor *floor, const char *words)
{
	forge_away(floor, EVENT_FORGE_AWAY, words);
	rest(floor, forge_wait_ms(floor->git_tries++, -1, 0, clock_wall_ms()));
	floor->git_rest_ms = floor->rest_ms;
}
