/* SPDX-License-Identifier: ISC */

#include "unit.h"
#include "transcript.h"

static char *base;

static const char *
at(const char *name)
{
	static char *path;

	free(path);
	path = file_join(base, name);
	return path;
}

/* <base>/projects/p/a.jsonl, and a secret elsewhere. */
static void
begin(const char *name)
{
	free(base);
	base = xstrdup(unit_path(name));
	ck_assert_int_eq(
	    file_mkdirs(at("projects/p/a/subagents"), 0700, NULL), 0);
	ck_assert_int_eq(file_mkdirs(at("secret/p"), 0700, NULL), 0);
	ck_assert_int_eq(
	    file_replace(at("projects/p/a.jsonl"), "{}\n", 3, 0600, NULL), 0);
	ck_assert_int_eq(
	    file_replace(at("secret/p/a.jsonl"), "x\n", 2, 0600, NULL), 0);
}

static int
open_and_close(const char *name)
{
	cleanup_fd int fd = transcript_open_file(at(name));

	return fd < 0 ? fd : 0;
}

static void
link_to(const char *target, const char *name)
{
	cleanup_free char *path = file_join(base, target);

	ck_assert_int_eq(symlink(path, at(name)), 0);
}

TEST(regular_files_are_read)
{
	begin("regular");
	ck_assert_int_eq(open_and_close("projects/p/a.jsonl"), 0);
	ck_assert_int_eq(open_and_close("projects/p/b.jsonl"), -ENOENT);
	ck_assert_int_eq(open_and_close("projects/p/a"), -EINVAL);
	ck_assert_int_eq(mkfifo(at("projects/p/f.jsonl"), 0600), 0);
	ck_assert_int_eq(open_and_close("projects/p/f.jsonl"), -EINVAL);
	ck_assert_int_eq(transcript_open_file("relative.jsonl"), -EINVAL);
}

TEST(links_below_the_folder_are_not_followed)
{
	int fd;

	begin("links");
	link_to("secret/p/a.jsonl", "projects/p/l.jsonl");
	ck_assert_int_eq(open_and_close("projects/p/l.jsonl"), -ELOOP);
	link_to("secret/p", "projects/q");
	ck_assert_int_eq(open_and_close("projects/q/a.jsonl"), -ENOTDIR);
	fd = transcript_open_folder(at("projects/p/a/subagents"));
	ck_assert_int_ge(fd, 0);
	fd_close(fd);
	link_to("secret", "projects/p/b");
	ck_assert_int_eq(
	    transcript_open_folder(at("projects/p/b/p")), -ENOTDIR);
	link_to("secret/p", "projects/p/a/linked");
	ck_assert_int_lt(transcript_open_folder(at("projects/p/a/linked")), 0);
}

/* The user's own link is followed, a worker's is not. */
TEST(the_folder_itself_may_be_a_link_outside_of_a_box)
{
	begin("own");
	link_to("projects", "linked");
	ck_assert_int_eq(open_and_close("linked/p/a.jsonl"), 0);
	begin(".llmc/box/adam/claude");
	ck_assert_int_eq(open_and_close("projects/p/a.jsonl"), 0);
	link_to("secret", "linked");
	ck_assert_int_eq(open_and_close("linked/p/a.jsonl"), -ENOTDIR);
	free(take_ptr(&base));
}
