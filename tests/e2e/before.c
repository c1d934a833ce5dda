/* SPDX-License-Identifier: ISC */

#include <ctype.h>
#include <sqlite3.h>
#include <time.h>

#include "before.h"

#define DAY 86400

static struct {
	const char *folder; /* in the source tree */
	const char *kept; /* .llmc as it was */
	long long then; /* when it was made, in seconds */
	const char *agent;
	long long shift; /* seconds since then */
} before;

/* --- times and places --------------------------------------------------- */

/* Times of that run begin alike; what has letters beside it is an id. */
static bool
is_number(const char *text, const char *at, size_t len)
{
	char head[8];

	snprintf(head, sizeof head, "%.4s", e2e_path("%lld", before.then));
	return (len == 10 || len == 13) && strncmp(at, head, 4) == 0 &&
	    (at == text || strchr(" :,(", at[-1]) != NULL);
}

/* "2026-11-17T13:21:58" */
static size_t
shift_moment(const char *at, struct buf *out)
{
	struct tm tm = { 0 };
	const char *end = strptime(at, "%Y-%m-%dT%H:%M:%S", &tm);
	time_t moment;
	char text[32];

	if (end == NULL)
		return 0;
	moment = timegm(&tm) + (time_t)before.shift;
	strftime(
	    text, sizeof text, "%Y-%m-%dT%H:%M:%S", gmtime_r(&moment, &tm));
	buf_adds(out, text);
	return (size_t)(end - at);
}

/* "day": 20774 */
static size_t
shift_day(const char *at, struct buf *out)
{
	long long now = before.then + before.shift;
	char *end;
	long day;

	if (strncmp(at, "\"day\":", 6) != 0)
		return 0;
	day = strtol(at + 6, &end, 10);
	buf_addf(out, "\"day\": %lld", day + now / DAY - before.then / DAY);
	return (size_t)(end - at);
}

static size_t
shift_number(const char *text, const char *at, struct buf *out)
{
	size_t len = strspn(at, "0123456789");

	if (len == 0)
		return 0;
	if (is_number(text, at, len))
		buf_addf(out, "%lld",
		    strtoll(at, NULL, 10) +
			before.shift * (len == 13 ? 1000 : 1));
	else
		buf_add(out, at, len);
	return len;
}

static size_t
put_place(const char *at, struct buf *out)
{
	cleanup_free char *coded = xstrdup(fleet_root());
	const struct {
		const char *mark, *path;
	} places[] = {
		{ "@ROOT@", fleet_root() },
		{ "@CODED@", coded },
		{ "@HOME@", getenv("HOME") },
		{ "@AGENT@", before.agent },
	};

	if (at[0] != '@')
		return 0;
	for (char *c = coded; *c != '\0'; c++)
		if (!isalnum((unsigned char)*c))
			*c = '-';
	for (size_t i = 0; i < nitems(places); i++)
		if (strncmp(at, places[i].mark, strlen(places[i].mark)) == 0) {
			buf_adds(out, places[i].path);
			return strlen(places[i].mark);
		}
	return 0;
}

static const char *
as_of_now(const char *text)
{
	struct buf out = BUF_INIT;
	const char *kept;

	for (const char *at = text; *at != '\0';) {
		size_t len = put_place(at, &out);

		if (len == 0)
			len = shift_moment(at, &out);
		if (len == 0)
			len = shift_day(at, &out);
		if (len == 0)
			len = shift_number(text, at, &out);
		if (len == 0) {
			buf_addc(&out, *at);
			len = 1;
		}
		at += len;
	}
	kept = e2e_path("%s", out.data != NULL ? out.data : "");
	buf_release(&out);
	return kept;
}

/* --- the folders --------------------------------------------------------- */

static void
make_store(const char *path)
{
	const char *sql =
	    as_of_now(e2e_read(e2e_path("%s/store.sql", before.folder)));
	sqlite3 *db = NULL;
	char *words = NULL;

	ck_assert_int_eq(sqlite3_open(path, &db), SQLITE_OK);
	ck_assert_msg(sqlite3_exec(db, sql, NULL, NULL, &words) == SQLITE_OK,
	    "%s", words);
	ck_assert_int_eq(
	    sqlite3_exec(db, "PRAGMA journal_mode = WAL", NULL, NULL, NULL),
	    SQLITE_OK);
	sqlite3_close(db);
}

static void
patch_files(const char *folder)
{
	char *list =
	    xstrdup(e2e_sh(folder, "find . -type f ! -name '*.db'")->out);

	for (char *at = list, *line; (line = strsep(&at, "\n")) != NULL;) {
		const char *file = e2e_path("%s/%s", folder, line);

		if (line[0] != '\0')
			e2e_write(file, as_of_now(e2e_read(file)));
	}
	free(list);
}

static void
make_repository(void)
{
	e2e_expect(
	    e2e_sh(fleet_root(),
		e2e_path("set -e; folder='%s'\n"
			 "git fast-import --quiet --force <\"$folder/repo\"\n"
			 "git reset -q --hard main\n"
			 "while read -r name branch head; do git worktree add "
			 "-q .worktrees/$name $branch 2>&1; "
			 "[ $(git rev-parse $branch) = $head ]; "
			 "done <\"$folder/worktrees\"",
		    before.folder)),
	    0, NULL);
}

/* Where the state says that they are. */
static void
put_conversations(void)
{
	e2e_expect(
	    e2e_sh(fleet_root(),
		e2e_path("set -e; sed -n 's|.*\"transcript\": "
			 "*\"\\([^\"]*\\)\".*|\\1|p' .llmc/state.json | "
			 "while read -r file; do "
			 "from=\"%s/conversations/${file##*/}\"; "
			 "[ -e \"$from\" ] || continue; "
			 "mkdir -p \"${file%%/*}\"; cp \"$from\" \"$file\"; "
			 "done",
		    before.folder)),
	    0, NULL);
	patch_files(e2e_path("%s/.claude", getenv("HOME")));
}

void
before_again(void)
{
	e2e_expect(
	    e2e_sh(fleet_root(),
		e2e_path("rm -rf .llmc && cp -a '%s' .llmc && mkdir .llmc/logs",
		    before.kept)),
	    0, NULL);
}

const char *
before_file(const char *name)
{
	return e2e_path("%s/%s", before.kept, name);
}

const char *
before_begin(const char *name)
{
	const char *agent;

	fleet_begin();
	agent = fleet_do("config", "get", "defaults.agent_command", NULL)->out;
	before.agent = e2e_path("%.*s", (int)strcspn(agent, "\n"), agent);
	before.folder = e2e_source(e2e_path("tests/e2e/before/%s", name));
	before.kept = unit_path("before");
	before.then =
	    strtoll(e2e_read(e2e_path("%s/when", before.folder)), NULL, 10);
	/* Nothing of it is in the future: `then` has no milliseconds. */
	before.shift = clock_wall_ms() / 1000 - 1 - before.then;
	make_repository();
	e2e_expect(
	    e2e_sh(NULL,
		e2e_path("cp -r '%s/llmc' '%s'", before.folder, before.kept)),
	    0, NULL);
	patch_files(before.kept);
	/* The older of the two copies that it kept. */
	e2e_write(
	    before_file("state.json.bak"), e2e_read(before_file("state.json")));
	make_store(before_file("store.db"));
	before_again();
	put_conversations();
	return fleet_root();
}
