/* SPDX-License-Identifier: ISC */

/* What is in the world: entries, their builds, which content is good. */

#include "base.h"
#include "landing-world-inside.h"

bool
world_has(const struct set *set, int bit)
{
	return set->words[bit / 64] >> (bit % 64) & 1;
}

void
world_put(struct set *set, int bit)
{
	set->words[bit / 64] |= UINT64_C(1) << (bit % 64);
}

bool
world_meets(const struct set *a, const struct set *b)
{
	for (int i = 0; i < WORDS; i++)
		if ((a->words[i] & b->words[i]) != 0)
			return true;
	return false;
}

void
world_name_hash(struct name *name, const uint64_t *words, size_t count)
{
	uint64_t hash = UINT64_C(0xcbf29ce484222325);

	for (size_t i = 0; i < count; i++) {
		hash ^= words[i];
		hash *= UINT64_C(0x100000001b3);
		hash ^= hash >> 29;
	}
	snprintf(name->text, sizeof name->text, "%016" PRIx64, hash);
}

bool
world_chance(struct world *w, int permille)
{
	return permille > 0 && dice_below(&w->dice, 1000) < (unsigned)permille;
}

void
world_broken(struct world *w, const char *rule)
{
	if (w->result->broken == NULL)
		w->result->broken = rule;
}

void
world_must(struct world *w, bool holds, const char *rule)
{
	if (!holds)
		world_broken(w, rule);
}

bool
world_is_good(const struct world *w, const struct set *content)
{
	if (world_has(content, BROKEN) &&
	    !world_has(content, w->options->entries - 1))
		return false;
	for (int i = 0; i < w->options->entries; i++)
		if (world_has(content, i) &&
		    (w->members[i].bad ||
			world_meets(&w->members[i].breaks, content)))
			return false;
	return true;
}

static void
make_members(struct world *w)
{
	const struct world_options *o = w->options;

	for (int i = 0; i < o->entries; i++) {
		struct member *member = &w->members[i];

		*member = (struct member){ .bad = world_chance(w, o->bad),
			.twin = -1 };
		if (o->red && i == o->entries - 1)
			member->bad = false;
		snprintf(member->task.text, sizeof member->task.text, "t%d", i);
		member->entry.task = member->task.text;
		member->entry.seq = (uint64_t)i + 1;
		member->entry.priority = o->priorities ?
		    (enum priority)dice_below(&w->dice, PRIORITY_COUNT) :
		    PRIORITY_NORMAL;
		for (int k = 0; k < i && (o->conflicts > 0 || o->pairs > 0);
		     k++) {
			if (world_chance(w, o->conflicts)) {
				world_put(&member->conflicts, k);
				world_put(&w->members[k].conflicts, i);
			}
			if (world_chance(w, o->pairs))
				world_put(&member->breaks, k);
		}
		if (i > 0 && world_chance(w, o->same))
			member->twin = (int)dice_below(&w->dice, (unsigned)i);
		member->arrives_ms = o->arrivals ?
		    (i > 0 ? w->members[i - 1].arrives_ms : 0) +
			(int64_t)dice_below(&w->dice, 900) :
		    0;
	}
}

void
world_make(struct world *w, const struct world_options *options,
    struct world_result *result)
{
	memset(w, 0, sizeof *w);
	memset(result, 0, sizeof *result);
	w->options = options;
	w->result = result;
	w->dice.state = options->seed * 2654435761u + 1;
	for (int i = 0; i < 8; i++)
		dice_next(&w->dice);
	make_members(w);
	if (options->red && !options->late)
		world_put(&w->content, BROKEN);
	world_name_hash(&w->base_tree, w->content.words, WORDS);
	snprintf(w->base.text, sizeof w->base.text, "base");
	w->now_ms = 1000000;
	for (int i = 0; i < options->entries; i++)
		w->members[i].arrives_ms += w->now_ms;
}

void
world_build(struct world *w, struct member *member, const struct set *content,
    const char *parent)
{
	int self = (int)(member - w->members);

	snprintf(member->parent.text, sizeof member->parent.text, "%s", parent);
	member->entry.parent = member->parent.text;
	member->entry.commit = member->entry.tree = NULL;
	member->content = *content;
	if (world_meets(&member->conflicts, content)) {
		member->entry.build = LANDING_CONFLICT;
		return;
	}
	if (member->twin >= 0 && world_has(content, member->twin)) {
		member->entry.build = LANDING_SAME;
		return;
	}
	world_put(&member->content, self);
	world_name_hash(&member->tree, member->content.words, WORDS);
	world_name_hash(&member->commit,
	    (uint64_t[]){ strtoull(member->tree.text, NULL, 16), (uint64_t)self,
		strtoull(member->parent.text, NULL, 16) },
	    3);
	member->entry.build = LANDING_BUILT;
	member->entry.commit = member->commit.text;
	member->entry.tree = member->tree.text;
}

void
world_serial(
    const struct world_options *options, char ret_landed[WORLD_ENTRIES_MAX])
{
	static struct world w;
	struct world_result unused;

	world_make(&w, options, &unused);
	memset(ret_landed, 0, WORLD_ENTRIES_MAX);
	for (int priority = 0; priority < PRIORITY_COUNT; priority++) {
		for (int i = 0; i < options->entries; i++) {
			struct member *member = &w.members[i];

			if ((int)member->entry.priority != priority)
				continue;
			world_build(&w, member, &w.content, "base");
			if (member->entry.build != LANDING_BUILT ||
			    !world_is_good(&w, &member->content))
				continue;
			w.content = member->content;
			ret_landed[i] = 1;
		}
	}
}
