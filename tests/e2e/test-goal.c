/* SPDX-License-Identifier: ISC */

/* llmc goal and llmc goal node, without a daemon and with one, in a folder with
 * a blank in its name. */
#include "e2e.h"

static const char plan[] = "# Parser rewrite\n"
			   "The old one is slow.\n\n"
			   "Acceptance:\n- twice as fast\n\n"
			   "## Base\n"
			   "### Lexer\nAcceptance:\n- all tokens\n\n"
			   "### Parser\nAcceptance: a tree\nDepends: Lexer\n\n"
			   "## Ship\n"
			   "### Release\nAcceptance: out\nDepends: Base\n";

static const char json_plan[] =
    "{\"goal\":{\"title\":\"From JSON\"},\"phases\":[{\"id\":\"P1\",\"name\":"
    "\"Only\",\"tasks\":[{\"id\":\"T1.1\",\"name\":\"One\",\"acceptance\":["
    "\"x\"]}]}]}";

static const char *dir;

/* llmc with its words split at blanks; '~' is a blank in a word. */
static struct e2e_run *
llmc(const char *words)
{
	char *copy = xstrdup(words), *rest = copy, *word;
	const char *args[20] = { NULL };
	size_t count = 0;

	while ((word = strsep(&rest, " ")) != NULL && count < 19) {
		for (char *p = word; *p != '\0'; p++)
			if (*p == '~')
				*p = ' ';
		args[count++] = word;
	}
	return e2e_llmcv(dir, args);
}

void
unit_before(void)
{
	dir = e2e_workspace("a place");
	e2e_guard(dir, "");
	e2e_write(e2e_path("%s/the plan.md", dir), plan);
}

static const char *
create(void)
{
	struct json_object *json =
	    e2e_json(llmc("--json goal create --plan the~plan.md"), 0);

	return json_string_or(json, "goal", "");
}

const int unit_timeout = 120; /* seconds, each */

TEST(a_goal_is_its_text)
{
	const struct e2e_run *run = llmc("goal add Make~tea");
	struct json_object *json;

	e2e_has(run->out, "Created g1");
	e2e_has(run->out,
	    "No daemon is running. The planner makes its plan after: llmc up "
	    "--auto --detach");
	e2e_has(llmc("goal list")->out, "Make tea");
	json = e2e_json(llmc("--json goal add --plan the~plan.md Another"), 0);
	ck_assert_int_gt((int)json_int_or(json, "nodes", 0), 0);
	ck_assert_str_eq(json_string_or(json, "title", ""), "Another");
	e2e_expect(llmc("goal add"), 2, "llmc goal add TEXT");
	e2e_expect(llmc("goal add a --title b"), 2, "not both");
	/* Nothing is kept of it. */
	e2e_has(llmc("goal add --dry-run --plan the~plan.md Third")->out, "##");
	ck_assert_ptr_null(strstr(llmc("goal list")->out, "Third"));
	e2e_expect(
	    llmc("goal add --dry-run Tea"), 1, "llmc up --auto --detach");
}

TEST(goals_can_be_turned_off)
{
	e2e_expect(llmc("config set plan.enabled false"), 0, NULL);
	e2e_expect(llmc("goal list"), 1, "llmc config set plan.enabled true");
	e2e_json_error(
	    llmc("--json goal node list"), 1, "failed", "goals are off");
}

TEST(a_goal_from_a_file_is_listed_and_shown)
{
	const char *goal = create();
	struct e2e_run *run = llmc(e2e_path("goal show %s", goal));

	e2e_expect(run, 0, NULL);
	e2e_has(run->out, "Parser rewrite (g1");
	e2e_has(run->out, "active, 0 of 3 done (0%), 1 ready");
	e2e_has(run->out, "  - twice as fast");
	e2e_has(run->out, "  T1.1 Lexer    queued  ready");
	e2e_has(run->out, "waits for T1.1");
	e2e_lacks(run->out, "\033");
	e2e_has(llmc("goal list")->out, "0/3  Parser rewrite");
	e2e_has(llmc("status")->out, "0/3  1 ready  Parser rewrite");
	e2e_json(llmc("--json status"), 0);
	e2e_json(llmc("--json goal list --all"), 0);
	e2e_json(llmc(e2e_path("--json goal show %s", goal)), 0);
	e2e_json(llmc("--json goal node list --all"), 0);
	e2e_json(llmc("--json goal node show T1.2"), 0);
	e2e_has(llmc("goal node show T1.2")->out, "depends on T1.1");
	e2e_has(llmc("completion goals")->out, goal);
	e2e_has(llmc("completion nodes")->out, "T1.1\n");
}

/* Nobody waits for what will not happen. */
TEST(it_is_said_what_happens_next)
{
	struct e2e_run *run = llmc("goal create --plan the~plan.md");

	e2e_has(run->out,
	    "nodes.\nNo daemon is running. Work on it begins after: llmc up "
	    "--auto --detach\n");
	e2e_has(llmc("why T1.1")->out,
	    "queued: ready; no auto worker is there: llmc up --auto\n");
	e2e_has(llmc("why T1.2")->out, "todo: waits for T1.1 (queued)\n");
	/* By the phase that it is in. */
	e2e_has(llmc("why T2.1")->out, "todo: waits for P1 (");
	e2e_has(llmc("why P1")->out, "waits for T1.1 (queued), T1.2 (todo)\n");
	e2e_has(llmc("goal create --title Another")->out,
	    ".\nNo daemon is running. The planner makes its plan after: llmc "
	    "up --auto --detach\nTo give it a plan yourself: llmc goal plan ");
	e2e_expect(llmc("goal node block T1.1 no~key"), 0, NULL);
	e2e_has(llmc("why T1.1")->out, "blocked: no key\n");
	e2e_has(llmc("why T1.2")->out, "waits for T1.1 (blocked)\n");
}

TEST(a_plan_is_drafted_examined_and_applied)
{
	const char *goal = create();
	struct e2e_run *run;

	e2e_write(e2e_path("%s/next.md", dir),
	    "## Base\n### Lexer\nAcceptance: all tokens\n"
	    "### Printer\nAcceptance: text\nDepends: Lexer\n");
	run = llmc(e2e_path("goal plan draft %s --plan next.md", goal));
	e2e_expect(run, 0, NULL);
	e2e_has(run->out, "Printer");
	e2e_has(run->out,
	    "made for version 1.\nApply it with: llmc goal plan apply");
	e2e_has(llmc(e2e_path("goal show %s", goal))->out, "Release");
	e2e_json(llmc(e2e_path("--json goal plan draft %s", goal)), 0);
	/* The plan is another one by now. */
	e2e_expect(llmc("goal node priority T1.1 high"), 0, NULL);
	e2e_json_error(llmc(e2e_path("--json goal plan apply %s", goal)), 1,
	    "E_CONFLICT", "--version 2");
	e2e_expect(llmc(e2e_path("goal plan apply %s --version x", goal)), 2,
	    "llmc goal show");
	run = llmc(e2e_path("goal plan insights %s", goal));
	e2e_expect(run, 0, NULL);
	e2e_has(run->out, "critical path 36 turns");
	e2e_json(llmc(e2e_path("--json goal plan insights %s", goal)), 0);
	run = llmc(e2e_path("goal plan recommend %s", goal));
	e2e_expect(run, 0, NULL);
	e2e_has(run->out, "  start T1.1\n     - its priority is high\n");
	e2e_has(run->out, "2 nodes wait for it");
	e2e_json(llmc(e2e_path("--json goal plan recommend %s", goal)), 0);
	run =
	    llmc(e2e_path("goal plan apply %s --version 2 --reason why", goal));
	e2e_expect(run, 0, NULL);
	e2e_has(run->out, "version 3.");
	e2e_has(llmc(e2e_path("goal show %s", goal))->out, "Printer");
	run = llmc(e2e_path("--json log --goal %s", goal));
	e2e_expect(run, 0, NULL);
	e2e_has(run->out, "\"plan.created\"");
	e2e_has(run->out, "\"initial_create\"");
	e2e_has(run->out, "\"epic_id\"");
	e2e_json_error(llmc(e2e_path("--json goal plan apply %s", goal)), 1,
	    "E_NOT_FOUND", "llmc goal plan draft");
	e2e_json_error(llmc("--json goal plan apply none"), 1, "E_NOT_FOUND",
	    "no goal none");
	e2e_write(e2e_path("%s/bad.md", dir), "## One\n### A\nDepends: B\n");
	e2e_json_error(
	    llmc(e2e_path("--json goal plan draft %s --plan bad.md", goal)), 1,
	    "E_INVALID_PLAN", "bad.md: line 3");
}

TEST(a_plan_is_json_or_markdown_by_its_content)
{
	struct e2e_run *run;

	e2e_write(e2e_path("%s/p", dir), json_plan);
	run = llmc("goal create --plan p");
	e2e_expect(run, 0, NULL);
	e2e_has(run->out, "with a plan of 2 nodes.");
	run = e2e_sh(dir, "\"$LLMC\" goal create --title Piped --plan - <p");
	e2e_expect(run, 0, NULL);
	e2e_has(llmc("goal list")->out, "From JSON");
	e2e_has(llmc("goal list")->out, "Piped");
}

TEST(a_wrong_file_is_told_by_its_line_or_its_path)
{
	e2e_write(e2e_path("%s/bad.md", dir),
	    "## One\n### A\nAcceptance: x\nDepends: Nothing\n");
	e2e_expect(
	    llmc("goal create --title T --plan bad.md"), 1, "bad.md: line 4: ");
	e2e_write(e2e_path("%s/bad.json", dir),
	    "{\"phases\":[{\"id\":\"P1\",\"name\":\"x\",\"tasks\":[{\"id\":"
	    "\"T1\",\"name\":\"y\"}]}]}");
	e2e_expect(llmc("goal create --title T --plan bad.json"), 1,
	    "bad.json: phases[0].tasks[0].acceptance");
	e2e_json_error(llmc("--json goal create --title T --plan bad.json"), 1,
	    "bad_value", "phases[0]");
	e2e_expect(
	    llmc("goal create --plan none.md"), 1, "none.md: No such file");
	e2e_has(llmc("goal list --all")->out, "There are no goals");
}

TEST(wrong_words_are_answered_with_the_right_ones)
{
	static const struct {
		const char *words;
		int status;
		const char *answer;
	} wrong[] = {
		{ "goal create", 2, "llmc goal add TEXT" },
		{ "goal crate", 2, "did you mean \"create\"?" },
		{ "goal show", 2, "type: llmc goal show GOAL" },
		{ "goal show nothing", 1, "llmc goal list --all" },
		{ "goal edit x", 1, "there is no goal x" },
		{ "goal edit Parser~rewrite --title x --plan y", 2,
		    "not both" },
		{ "goal list --title x", 2, "takes no --title" },
		{ "goal create --title x --priority y", 2, "urgent, high" },
		{ "goal plan", 2, "goal plan needs more arguments" },
		{ "goal cancel 0", 1, "there is no goal 0" },
		{ "goal node done", 2, "type: llmc goal node done NODE" },
		{ "goal node done T9", 1, "llmc goal node list --all" },
		{ "goal node done T1.1", 1,
		    "llmc goal node done T1.1 --reason TEXT" },
		{ "goal node unblock T1.1", 1, "not blocked" },
		{ "goal node block T1.1", 2,
		    "llmc goal node block T1.1 --reason TEXT" },
		{ "goal node priority T1.1 x", 2, "or inherited" },
		{ "goal node move T1.1", 2, "--place N" },
		{ "goal node move T1.1 P2 --place x", 2, "a number from 1" },
		{ "goal node assign T1.1 auto-1", 1, "no worker auto-1" },
		{ "goal node assign T1.1 auto-1 --recovery x", 2,
		    "resend_last" },
		{ "goal node split T1.1 one", 2, "split NODE NAME NAME" },
	};

	e2e_expect(llmc("goal create --title T"), 0, NULL);
	create();
	for (size_t i = 0; i < nitems(wrong); i++)
		e2e_expect(
		    llmc(wrong[i].words), wrong[i].status, wrong[i].answer);
	e2e_json_error(
	    llmc("--json goal node done T1.1"), 1, "E_TRANSITION", "T1.1");
	e2e_json_error(llmc("--json goal node show T9"), 1, "E_UNKNOWN", "T9");
}

/* The editor is a script that gets the name of the file. */
static struct e2e_run *
edit_with(const char *goal, const char *script, bool terminal)
{
	e2e_write(unit_path("edit.sh"), script);
	return e2e_sh(dir,
	    e2e_path(terminal ?
		    "printf '\\n\\n' | VISUAL='sh \"%s\"' TERM=dumb script -qec '\"$LLMC\" goal "
		    "edit %s' /dev/null" :
		    "VISUAL='sh \"%s\"' EDITOR=false \"$LLMC\" goal edit %s "
		    "</dev/null",
		unit_path("edit.sh"), goal));
}

TEST(a_goal_and_its_plan_are_edited_as_text)
{
	const char *goal = create();
	struct e2e_run *run;

	run = edit_with(goal,
	    "sed -i -e 's/^# .*/# New title/' -e 's/: Parser/: Trees/' \"$1\"; "
	    "printf '### More\\nAcceptance: x\\n' >>\"$1\"\n",
	    false);
	e2e_expect(run, 0, NULL);
	e2e_has(run->out, "changed, version 2; its plan has 6 nodes");
	run = llmc(e2e_path("goal show %s", goal));
	e2e_has(run->out, "New title");
	e2e_has(run->out, "T1.2 Trees");
	e2e_has(run->out, "T2.2 More");
	e2e_has(edit_with(goal, "true", false)->out, "nothing was changed");
	e2e_expect(edit_with(goal,
		       "\"$LLMC\" goal node add P1 more --acceptance x; "
		       "sed -i s/Trees/Roots/ \"$1\"",
		       false),
	    1, "was changed while you edited it");
	e2e_expect(e2e_sh(dir, "rm .llmc/drafts/*"), 0, NULL);
	e2e_expect(edit_with(goal, "exit 3", false), 1, "status 3");
	/* Without an editor that needs no terminal. */
	e2e_expect(e2e_sh(dir,
		       e2e_path("unset EDITOR VISUAL; \"$LLMC\" goal edit %s "
				"</dev/null",
			   goal)),
	    1, "--plan FILE");
	e2e_json_error(llmc(e2e_path("--json goal edit %s", goal)), 1,
	    "no_terminal", "--plan FILE");
	/* What was typed is kept, and can be used. */
	e2e_expect(llmc("goal node done T1.1 --reason r"), 0, NULL);
	run = edit_with(
	    goal, "sed -i -e 's/: Lexer/: L/' -e 's/Trees/T/' \"$1\"", false);
	e2e_expect(run, 1, "T1.1: its name cannot be changed any more");
	e2e_has(run->err, "your text is saved in ");
	e2e_has(e2e_sh(dir, "cat .llmc/drafts/goal-*.md")->out, "T1.2: T\n");
	e2e_expect(e2e_sh(dir,
		       e2e_path("sed -i 's/: L$/: Lexer/' .llmc/drafts/*.md; "
				"\"$LLMC\" goal edit %s --plan "
				".llmc/drafts/goal-*.md",
			   goal)),
	    0, NULL);
	e2e_has(llmc("goal node list")->out, "T1.2");
	e2e_expect(e2e_sh(dir,
		       e2e_path("printf '{}' | \"$LLMC\" goal edit %s "
				"--plan -",
			   goal)),
	    1, "llmc goal plan");
	e2e_expect(llmc(e2e_path("goal cancel %s", goal)), 0, NULL);
	e2e_expect(edit_with(goal, "touch edited", false), 1, "cancelled");
	ck_assert(!e2e_exists(e2e_path("%s/edited", dir)));
}

TEST(a_text_that_is_refused_can_be_edited_again)
{
	const char *goal = create();
	struct e2e_run *run;

	if (e2e_sh(dir, "script -qec true /dev/null")->status != 0)
		unit_skip("no script(1) that makes a terminal");
	/* Wrong at first, right when the editor comes again. */
	run = edit_with(goal,
	    "if test -e once; then sed -i s/X9/T1.1/ \"$1\"\n"
	    "else sed -i -e 's/Depends: T1.1/Depends: X9/' -e 's/: Parser/: Q/' "
	    "\"$1\"; fi; touch once\n",
	    true);
	e2e_has(run->out, "depends on \"X9\"");
	e2e_has(run->out, "Edit it again? [Y/n]");
	e2e_has(run->out, "changed, version 2");
	e2e_has(llmc("goal node list")->out, "Q");
}

/* The way of a plan through a person's hands. */
static void
walk_through(void)
{
	const char *goal = create();
	struct e2e_run *run;

	e2e_expect(llmc("goal node done T1.1 --reason by~hand --commit abc"), 1,
	    "there is no commit abc");
	e2e_expect(llmc("goal node done T1.1 --reason by~hand --commit HEAD"),
	    0, NULL);
	e2e_lacks(llmc("goal node show T1.1")->out, "HEAD");
	e2e_has(llmc("status")->out, "1/3  1 ready");
	e2e_expect(llmc("goal node block T1.2 waits for Bob"), 0, NULL);
	e2e_has(llmc("goal node list")->out, "waits for Bob");
	e2e_expect(llmc("goal node unblock T1.2"), 0, NULL);
	e2e_expect(
	    llmc("goal node add P2 Announce it --acceptance told"), 0, NULL);
	e2e_expect(
	    llmc(e2e_path("goal node add %s Afterwards", goal)), 0, NULL);
	e2e_expect(llmc("goal node split T1.2 one two"), 0, NULL);
	e2e_expect(llmc("goal node merge S1.2.1 S1.2.2 --name both"), 0, NULL);
	e2e_expect(llmc("goal node move T2.2 --place 1"), 0, NULL);
	e2e_expect(llmc("goal node priority T2.1 urgent"), 0, NULL);
	e2e_expect(llmc("goal node cancel P3"), 0, NULL);
	e2e_expect(llmc(e2e_path("goal edit %s --title New", goal)), 0, NULL);
	e2e_expect(llmc(e2e_path("goal pause %s", goal)), 0, NULL);
	e2e_expect(llmc(e2e_path("goal resume %s", goal)), 0, NULL);
	run = llmc(e2e_path("goal show %s", goal));
	e2e_has(run->out, "overridden by person: by hand");
	e2e_has(run->out, "replaced by S1.2.1");
	e2e_has(run->out, "plan, version 12");
	e2e_expect(llmc("goal node done S1.2.1 --reason r"), 0, NULL);
	e2e_expect(llmc("goal node done T2.2 --reason r"), 0, NULL);
	run = llmc("goal node done T2.1 --reason r");
	e2e_has(run->out, "has ended: llmc goal show g");
	e2e_has(llmc("goal list")->out, "There are no open goals");
	e2e_has(llmc("goal list --all")->out, "incomplete");
	e2e_json(llmc("--json goal list --all"), 0);
	e2e_expect(llmc(e2e_path("goal archive %s", goal)), 0, NULL);
	e2e_has(llmc(e2e_path("goal show %s", goal))->out, "archived");
}

TEST(a_plan_is_worked_through_without_a_daemon)
{
	walk_through();
}

TEST(a_plan_is_worked_through_with_a_daemon)
{
	struct e2e_run *run;

	e2e_expect(llmc("goal tick --now"), 1, "llmc up --detach");
	e2e_expect(llmc("goal tick"), 2, "llmc goal tick --dry-run");
	e2e_expect(llmc("up --detach"), 0, NULL);
	walk_through();
	run = llmc("goal tick --dry-run");
	e2e_expect(run, 0, NULL);
	e2e_has(run->out, "Nothing needs to be done.");
	e2e_json(llmc("--json goal tick --now"), 0);
	e2e_expect(llmc("down"), 0, NULL);
}
