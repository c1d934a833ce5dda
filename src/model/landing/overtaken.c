/* SPDX-License-Identifier: ISC */

#include "base.h"
#include "check-book.h"
#include "overtaken.h"
#include "settings.h"

enum overtaken_mode
overtaken_mode_of(const struct settings *settings)
{
	return strcmp(settings_string(settings, "auto.overtaken"), "land") ==
		0 ?
	    OVERTAKEN_LAND :
	    OVERTAKEN_WAIT;
}

enum overtaken_verdict
overtaken_judge(const struct overtaken_facts *facts)
{
	if (facts->mode == OVERTAKEN_WAIT)
		return OVERTAKEN_WAITS;
	if (!facts->merges)
		return OVERTAKEN_CONFLICTS;
	if (!facts->forward)
		return OVERTAKEN_LOST;
	if (facts->shared > 0)
		return OVERTAKEN_SHARES;
	if (facts->tree_count > 0 &&
	    !check_book_all_passed(
		facts->book, facts->trees, facts->tree_count, facts->command))
		return OVERTAKEN_UNCHECKED;
	return OVERTAKEN_STANDS;
}

void
overtaken_moved(
    struct overtaken_record *record, int64_t began_ms, int64_t now_ms)
{
	/* The clock was turned back: what was measured means nothing. */
	if (record->moves == 0 || record->since_ms > now_ms) {
		record->moves = 0;
		record->since_ms = began_ms < now_ms ? began_ms : now_ms;
	}
	record->moves++;
	record->moved_ms = now_ms;
}

void
overtaken_in_vain(struct overtaken_record *record, int checks)
{
	record->checks += checks;
}

void
overtaken_over(struct overtaken_record *record)
{
	record->checks = record->moves = 0;
	record->since_ms = record->moved_ms = 0;
}

char *
overtaken_asks(const struct overtaken_record *record, enum overtaken_mode mode,
    const char *branch, int64_t took_ms)
{
	cleanup_buf struct buf text = BUF_INIT;
	int64_t span = record->moved_ms - record->since_ms;

	if (record->checks < OVERTAKEN_ASKS)
		return NULL;
	if (took_ms > 0) {
		buf_adds(&text, "a check takes ");
		text_add_duration(&text, took_ms);
		buf_adds(&text, ", ");
	}
	buf_addf(&text, "%s moves", branch);
	if (record->moves > 0 && span > 0) {
		buf_adds(&text, " every ");
		text_add_duration(&text, span / record->moves);
	}
	buf_addf(&text, "%s; %d checks in a row were in vain, nothing lands. ",
	    took_ms > 0 ? "" : " while it is checked", record->checks);
	buf_adds(&text,
	    mode == OVERTAKEN_WAIT ?
		"To land work on such a result where what came changes none of "
		"its files: llmc config set auto.overtaken land" :
		"With auto.overtaken = land a result only stands where what "
		"came changes no file of the work and merges: commit less "
		"often until it has landed, or make auto.check_command "
		"faster");
	return buf_take(&text);
}
