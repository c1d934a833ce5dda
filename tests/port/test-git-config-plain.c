/* SPDX-License-Identifier: ISC */

#include "unit.h"
#include "git-private.h"

TEST(what_git_itself_writes_is_plain)
{
	static const char *const texts[] = { "", "\n\n",
		"# a comment with filter.x.clean\n; another\n",
		"[core]\n\trepositoryformatversion = 0\n\tbare = false\n",
		"[core]\n\tsparseCheckout = true\n[index]\nsparse=true",
		"[CORE]\r\n\tFileMode = true\r\n",
		"[remote \"origin\"]\n\turl = /a b\n\tfetch = +x:y\n"
		"[branch \"main\"]\n\tremote = origin\n\tmerge = "
		"refs/heads/main\n",
		"[core]\n\tworktree = \"../a\\nb\"\n",
		("[core]\n\tuntrackedCache = true\n[push]\n\tdefault = x\n"
		 "[user]\n\tsigningKey = x\n[color \"diff\"]\n\tmeta = x\n"
		 "[merge]\n\tconflictStyle = diff3\n") };

	for (size_t i = 0; i < nitems(texts); i++)
		ck_assert_msg(git_config_is_plain(texts[i]), "%s", texts[i]);
}

TEST(what_could_run_a_program_or_is_unknown_is_not)
{
	static const char *const texts[] = { "[filter \"x\"]\n\tclean = cmd\n",
		"[core]\n\tfsmonitor = cmd\n", "[core]\n\tsshCommand = cmd\n",
		"[core]\n\thooksPath = /x\n", "[include]\n\tpath = /x\n",
		"[includeIf \"gitdir:/\"]\n\tpath = /x\n",
		"[alias]\n\tstatus = !cmd\n", "[core] fsmonitor = cmd\n",
		"[core]bare=false\n", "bare = false\n", "[core\n", "[]\n",
		"[core]\n\tbare = false \\\n\tfsmonitor = cmd\n",
		"\xef\xbb\xbf[core]\n\tbare = false\n",
		"[remote \"o\"]\n\tuploadpack = cmd\n",
		"[extensions]\n\tworktreeConfig = true\n",
		"[core]\n\tbare.x = 1\n", "[diff \"x\"]\n\ttextconv = cmd\n",
		"[merge \"x\"]\n\tdriver = cmd\n", "[gpg]\n\tprogram = x\n",
		"[submodule]\n\trecurse = true\n",
		"[submodule \"x\"]\n\tupdate = !cmd\n",
		"[remote \"o\"]\n\tpromisor = true\n",
		"[lfs \"customtransfer.x\"]\n\tpath = cmd\n" };

	for (size_t i = 0; i < nitems(texts); i++)
		ck_assert_msg(!git_config_is_plain(texts[i]), "%s", texts[i]);
}
