/* SPDX-License-Identifier: ISC */

#include "base.h"
#include "git-env.h"

/* Without '=': removed, because it would point git at another repository than
 * the directory's own, change what its commands do, or have its messages
 * translated. */
const char *const git_env[] = { "LC_ALL=C", "LANGUAGE", "GIT_TERMINAL_PROMPT=0",
	"GIT_ASKPASS", "SSH_ASKPASS", "GIT_OPTIONAL_LOCKS=0",
	"GIT_EDITOR=:", "GIT_SEQUENCE_EDITOR=:", "GIT_MERGE_AUTOEDIT=no",
	"GIT_ADVICE=0",
	/* What is checked and shown is what the commits have: refs/replace and
	 * info/grafts, which a worker can write, change what git reads. */
	"GIT_NO_REPLACE_OBJECTS=1", "GIT_REPLACE_REF_BASE",
	"GIT_GRAFT_FILE=/dev/null/none", "GIT_DIR", "GIT_WORK_TREE",
	"GIT_INDEX_FILE", "GIT_COMMON_DIR", "GIT_PREFIX",
	"GIT_OBJECT_DIRECTORY", "GIT_ALTERNATE_OBJECT_DIRECTORIES",
	"GIT_QUARANTINE_PATH", "GIT_NAMESPACE", "GIT_CONFIG",
	"GIT_CONFIG_COUNT", "GIT_CONFIG_PARAMETERS", "GIT_SHALLOW_FILE",
	"GIT_ATTR_SOURCE", "GIT_LITERAL_PATHSPECS", "GIT_GLOB_PATHSPECS",
	"GIT_NOGLOB_PATHSPECS", "GIT_ICASE_PATHSPECS", "GIT_EXTERNAL_DIFF",
	"GIT_DIFF_OPTS", "GIT_AUTHOR_DATE", "GIT_COMMITTER_DATE",
	"GIT_REFLOG_ACTION", NULL };
