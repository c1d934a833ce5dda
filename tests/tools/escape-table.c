/* SPDX-License-Identifier: ISC */

#include "base.h"
#include "escape-table.h"

/* Read a file into the worktree, where it can be seen from outside. */
#define LOOT(file) "cat " file " >\"$WORKTREE/loot\""
#define LOOTED     "grep -q \"$WORD\" \"$WORKTREE/loot\""

/* Not yet, on a busy machine, when it was killed; nor need it be reaped. */
#define DEAD "[ -z \"$(tr -d '\\0' <\"/proc/$VICTIM/cmdline\")\" ]"

/* A repository's folder whose config runs a command at `git status`, made of
 * the real one; README must look changed for that. */
#define FILTER                                     \
	"'echo escaped >\"'\"$HOME\"'/escaped\"; " \
	"echo escaped >\"'\"$OUTSIDE\"'/escaped\"; cat'"
#define CHANGED                                              \
	"echo '* filter=evil' >\"$WORKTREE/.gitattributes\"" \
	" && touch -d 2001-01-01 \"$WORKTREE/README\""
#define EVIL_GIT                                       \
	"cp -R \"$GIT\" \"$WORKTREE/evil\" && "        \
	"git config --file \"$WORKTREE/evil/config\" " \
	"filter.evil.clean " FILTER " && " CHANGED
#define GIT_STATUS "git -C \"$WORKTREE\" status"
#define RAN        "[ -e \"$HOME/escaped\" ] || [ -e \"$OUTSIDE/escaped\" ]"

/* The file of the sibling's commit, which is not packed. */
#define OBJECT "\"$GIT/objects/$(echo \"$COMMIT\" | sed 's|^..|&/|')\""

/* A call that the kernel answers, whatever it says. */
#define CALL(name, words)                                                     \
	{                                                                     \
		"call-" name, ESCAPE_KERNEL, ESCAPE_ALL | ESCAPE_KINDS,       \
		    words " (" name ")", "\"$PROBE\" probe call " name, NULL, \
		    "true"                                                    \
	}
#define CALL_I386(name, words)                                          \
	{                                                               \
		"i386-" name, ESCAPE_KERNEL, ESCAPE_ALL | ESCAPE_KINDS, \
		    words " as a 32-bit program (" name ")",            \
		    "\"$PROBE\" probe call " name " i386", NULL, "true" \
	}

/* What follows runs in a box that bwrap makes by itself if there is none. */
#define IN_A_BOX                                                           \
	"set --; [ ! -e \"$BWRAP\" ] || set -- \"$BWRAP\" --unshare-user " \
	"--unshare-pid --die-with-parent --bind / / --dev /dev "           \
	"--proc /proc --; \"$@\" "
#define FIRST_PROCESS(id, words, script)                                \
	{                                                               \
		id, ESCAPE_PROCESSES, ESCAPE_ALL | ESCAPE_KINDS, words, \
		    IN_A_BOX script, NULL, "true"                       \
	}

const struct escape escape_table[] = {
	/* What belongs to the repository and to the others in it. */
	{ "main-ref", ESCAPE_GIT, ESCAPE_ALL, "move the branch main",
	    "git --git-dir=\"$GIT\" update-ref refs/heads/main \"$COMMIT\"",
	    NULL,
	    "[ \"$(git --git-dir=\"$GIT\" rev-parse main)\" = \"$COMMIT\" ]" },
	{ "main-ref-file", ESCAPE_GIT, ESCAPE_ALL,
	    "overwrite the file of the branch main",
	    "echo \"$COMMIT\" >\"$GIT/refs/heads/main\"", NULL,
	    "[ \"$(git --git-dir=\"$GIT\" rev-parse main)\" = \"$COMMIT\" ]" },
	{ "sibling-ref", ESCAPE_GIT, ESCAPE_ALL, "move another worker's branch",
	    "git --git-dir=\"$GIT\" update-ref \"refs/heads/llmc/$OTHER\" main",
	    NULL,
	    "[ \"$(git --git-dir=\"$GIT\" rev-parse \"llmc/$OTHER\")\" != "
	    "\"$COMMIT\" ]" },
	{ "sibling-ref-delete", ESCAPE_GIT, ESCAPE_ALL,
	    "delete another worker's branch",
	    "rm \"$GIT/refs/heads/llmc/$OTHER\"", NULL,
	    "[ ! -e \"$GIT/refs/heads/llmc/$OTHER\" ]" },
	{ "new-ref", ESCAPE_GIT, ESCAPE_ALL, "create a branch",
	    "git --git-dir=\"$GIT\" branch escaped \"$COMMIT\"", NULL,
	    "git --git-dir=\"$GIT\" rev-parse --verify "
	    "refs/heads/escaped" },
	{ "packed-refs", ESCAPE_GIT, ESCAPE_ALL, "add a branch to packed-refs",
	    "echo \"$COMMIT refs/heads/escaped\" >>\"$GIT/packed-refs\"", NULL,
	    "grep -q escaped \"$GIT/packed-refs\"" },
	{ "checkout-head", ESCAPE_GIT, ESCAPE_ALL,
	    "switch the branch of the user's checkout",
	    "echo 'ref: refs/heads/escaped' >\"$GIT/HEAD\"", NULL,
	    "grep -q escaped \"$GIT/HEAD\"" },
	{ "checkout-index", ESCAPE_GIT, ESCAPE_ALL,
	    "damage the index of the user's checkout",
	    "echo escaped >\"$GIT/index\"", NULL,
	    "grep -q escaped \"$GIT/index\"" },
	{ "config", ESCAPE_GIT, ESCAPE_ALL, "write the repository's config",
	    "git config --file \"$GIT/config\" core.escaped true", NULL,
	    "grep -q escaped \"$GIT/config\"" },
	{ "hooks", ESCAPE_GIT, ESCAPE_ALL, "install a git hook",
	    "mkdir -p \"$GIT/hooks\" && echo escaped >\"$GIT/hooks/post-merge\"",
	    NULL, "[ -e \"$GIT/hooks/post-merge\" ]" },
	{ "attributes", ESCAPE_GIT, ESCAPE_ALL,
	    "write the repository's info/attributes",
	    "mkdir -p \"$GIT/info\" && "
	    "echo '* escaped' >\"$GIT/info/attributes\"",
	    NULL, "grep -q escaped \"$GIT/info/attributes\"" },
	{ "alternates", ESCAPE_GIT, ESCAPE_ALL,
	    "have git read objects from elsewhere",
	    "mkdir -p \"$GIT/objects/info\" && "
	    "echo /escaped >\"$GIT/objects/info/alternates\"",
	    NULL, "grep -q escaped \"$GIT/objects/info/alternates\"" },
	{ "reflogs", ESCAPE_GIT, ESCAPE_ALL, "delete the log of main",
	    "rm \"$GIT/logs/refs/heads/main\"", NULL,
	    "[ ! -e \"$GIT/logs/refs/heads/main\" ]" },
	{ "objects", ESCAPE_GIT, ESCAPE_BOTH, "delete objects of others",
	    "[ -e " OBJECT " ] && rm -f " OBJECT, NULL, "[ ! -e " OBJECT " ]" },
	{ "object-rewrite", ESCAPE_GIT, ESCAPE_BOTH,
	    "write other contents into an object",
	    "chmod u+w " OBJECT "; echo escaped >" OBJECT, NULL,
	    "grep -q escaped " OBJECT },
	{ "object-folder", ESCAPE_GIT, ESCAPE_BOTH,
	    "put a link in the place of a folder of objects",
	    "d=\"$GIT/objects/$(echo \"$COMMIT\" | cut -c1-2)\" && "
	    "mv \"$d\" \"$d.old\" && ln -s \"$WORKTREE\" \"$d\"",
	    NULL, "[ -L \"$GIT/objects/$(echo \"$COMMIT\" | cut -c1-2)\" ]" },
	{ "packs", ESCAPE_GIT, ESCAPE_ALL, "delete packed objects",
	    "rm -f \"$GIT/objects/pack/\"*", NULL,
	    "[ -z \"$(ls \"$GIT/objects/pack\")\" ]" },
	{ "git-file", ESCAPE_GIT, ESCAPE_LINKED, "replace the file .git",
	    "rm -f .git && echo 'gitdir: /escaped' >.git", NULL,
	    "grep -q escaped \"$WORKTREE/.git\"" },
	{ "git-file-write", ESCAPE_GIT, ESCAPE_LINKED, "write to the file .git",
	    "echo 'gitdir: /escaped' >.git", NULL,
	    "grep -q escaped \"$WORKTREE/.git\"" },
	{ "commondir", ESCAPE_GIT, ESCAPE_LINKED, "replace commondir",
	    "echo /escaped >\"$GIT/worktrees/$WORKER/commondir\"", NULL,
	    "grep -q escaped \"$GIT/worktrees/$WORKER/commondir\"" },
	{ "commondir-rename", ESCAPE_GIT, ESCAPE_LINKED,
	    "rename another file to commondir",
	    "cd \"$GIT/worktrees/$WORKER\" && echo /escaped >new && "
	    "mv -f new commondir",
	    NULL, "grep -q escaped \"$GIT/worktrees/$WORKER/commondir\"" },
	{ "gitdir", ESCAPE_GIT, ESCAPE_LINKED,
	    "replace gitdir, which names the worktree",
	    "echo /escaped >\"$GIT/worktrees/$WORKER/gitdir\"", NULL,
	    "grep -q escaped \"$GIT/worktrees/$WORKER/gitdir\"" },
	{ "config-worktree", ESCAPE_GIT, ESCAPE_LINKED, "write config.worktree",
	    "echo '[escaped]' >\"$GIT/worktrees/$WORKER/config.worktree\"",
	    NULL,
	    "grep -q escaped \"$GIT/worktrees/$WORKER/config.worktree\"" },
	{ "git-folder-rename", ESCAPE_GIT, ESCAPE_LINKED,
	    "replace its folder in the repository",
	    "mv \"$GIT/worktrees/$WORKER\" \"$GIT/worktrees/escaped\"", NULL,
	    "[ -e \"$GIT/worktrees/escaped\" ]" },
	{ "sibling-git-write", ESCAPE_GIT, ESCAPE_ALL,
	    "move another worker's HEAD",
	    "echo 'ref: refs/heads/escaped' >\"$GIT/worktrees/$OTHER/HEAD\"",
	    NULL, "grep -q escaped \"$GIT/worktrees/$OTHER/HEAD\"" },
	{ "sibling-git-read", ESCAPE_GIT, ESCAPE_ALL,
	    "read another worker's git folder",
	    LOOT("\"$GIT/worktrees/$OTHER/COMMIT_EDITMSG\""), NULL, LOOTED },

	/* Files. */
	{ "sibling-read", ESCAPE_FILES, ESCAPE_ALL,
	    "read another worker's files", LOOT("\"$SIBLING/private\""), NULL,
	    LOOTED },
	{ "sibling-write", ESCAPE_FILES, ESCAPE_ALL,
	    "write another worker's files", "echo escaped >\"$SIBLING/README\"",
	    NULL, "grep -q escaped \"$SIBLING/README\"" },
	{ "checkout-read", ESCAPE_FILES, ESCAPE_ALL, "read the user's checkout",
	    LOOT("\"$ROOT/private\""), NULL, LOOTED },
	{ "checkout-write", ESCAPE_FILES, ESCAPE_ALL,
	    "write to the user's checkout", "echo escaped >\"$ROOT/README\"",
	    NULL, "grep -q escaped \"$ROOT/README\"" },
	{ "checkout-new", ESCAPE_FILES, ESCAPE_ALL,
	    "add a file to the user's checkout",
	    "echo escaped >\"$ROOT/escaped\"", NULL,
	    "[ -e \"$ROOT/escaped\" ]" },
	{ "worktree-new", ESCAPE_FILES, ESCAPE_ALL,
	    "add a folder beside the worktrees",
	    "mkdir \"${WORKTREE%/*}/escaped\"", NULL,
	    "[ -e \"${WORKTREE%/*}/escaped\" ]" },
	{ "state-read", ESCAPE_FILES, ESCAPE_ALL, "read llmc.db",
	    LOOT("\"$ROOT/.llmc/llmc.db\""), NULL, LOOTED },
	{ "state-write", ESCAPE_FILES, ESCAPE_ALL, "write llmc.db",
	    "echo escaped >\"$ROOT/.llmc/llmc.db\"", NULL,
	    "grep -q escaped \"$ROOT/.llmc/llmc.db\"" },
	{ "settings-write", ESCAPE_FILES, ESCAPE_ALL,
	    "change the settings of llmc",
	    "echo escaped >>\"$ROOT/.llmc/config.toml\"", NULL,
	    "grep -q escaped \"$ROOT/.llmc/config.toml\"" },
	{ "llmc-new", ESCAPE_FILES, ESCAPE_ALL, "add a file to .llmc",
	    "echo escaped >\"$ROOT/.llmc/escaped\"", NULL,
	    "[ -e \"$ROOT/.llmc/escaped\" ]" },
	{ "sibling-spool", ESCAPE_FILES, ESCAPE_ALL,
	    "leave an event in another worker's name",
	    "echo escaped >\"$ROOT/.llmc/run/$OTHER/spool/escaped.json\"", NULL,
	    "[ -e \"$ROOT/.llmc/run/$OTHER/spool/escaped.json\" ]" },
	{ "sibling-claude", ESCAPE_FILES, ESCAPE_ALL,
	    "read another worker's conversations",
	    LOOT("\"$ROOT/.llmc/box/$OTHER/claude/private\""), NULL, LOOTED },
	{ "home-secret", ESCAPE_FILES, ESCAPE_ALL, "read a secret in HOME",
	    LOOT("\"$SECRET\""), NULL, LOOTED },
	{ "home-link", ESCAPE_FILES, ESCAPE_ALL,
	    "read a secret in HOME through a link",
	    "ln -s \"$SECRET\" link && " LOOT("link"), NULL, LOOTED },
	{ "home-write", ESCAPE_FILES, ESCAPE_ALL,
	    "write to the user's shell profile",
	    "echo escaped >>\"$HOME/.profile\"", NULL,
	    "grep -q escaped \"$HOME/.profile\"" },
	{ "tmp-read", ESCAPE_FILES, ESCAPE_ALL, "read files below /tmp",
	    LOOT("\"$OUTSIDE/private\""), NULL, LOOTED },
	{ "tmp-write", ESCAPE_FILES, ESCAPE_ALL, "write files below /tmp",
	    "echo escaped >\"$OUTSIDE/escaped\"", NULL,
	    "[ -e \"$OUTSIDE/escaped\" ]" },
	{ "shm-write", ESCAPE_FILES, ESCAPE_ALL,
	    "share memory with other programs",
	    "echo escaped >\"/dev/shm/$ABSTRACT\"", NULL,
	    "[ -e \"/dev/shm/$ABSTRACT\" ] && rm \"/dev/shm/$ABSTRACT\"" },
	{ "elsewhere-read", ESCAPE_FILES, ESCAPE_ALL,
	    "read a file in a place that is nobody's",
	    LOOT("\"$ELSEWHERE/private\""), NULL, LOOTED },
	{ "environment", ESCAPE_FILES, ESCAPE_ALL,
	    "read a secret in the environment",
	    "echo \"$DOCTOR_SECRET\" >loot && " LOOTED, NULL, LOOTED },
	/* Opens it, and writes nothing. */
	{ "system-write", ESCAPE_FILES, ESCAPE_ALL,
	    "write the system's files (needs root)", ": >>/etc/passwd", NULL,
	    "true" },

	/* Sockets. */
	{ "main-socket", ESCAPE_SOCKETS, ESCAPE_ALL,
	    "call the daemon as a person",
	    "\"$PROBE\" probe unix \"$ROOT/.llmc/autod.sock\" \"$WORD\"", NULL,
	    "[ -e \"$ARRIVED/main\" ]" },
	{ "sibling-socket", ESCAPE_SOCKETS, ESCAPE_ALL,
	    "call the daemon as another worker",
	    "\"$PROBE\" probe unix \"$ROOT/.llmc/run/$OTHER/sock\" \"$WORD\"",
	    NULL, "[ -e \"$ARRIVED/other\" ]" },
	{ "own-socket", ESCAPE_SOCKETS, ESCAPE_ALL, "replace its own socket",
	    "rm -f \"$OWN/sock\" && echo escaped >\"$OWN/sock\"", NULL,
	    "[ ! -S \"$OWN/sock\" ]" },
	{ "socket-folder", ESCAPE_SOCKETS, ESCAPE_ALL,
	    "replace the folder of its own socket",
	    "mv \"$OWN\" \"${OWN%/*}/escaped\"", NULL,
	    "[ -e \"${OWN%/*}/escaped\" ]" },
	{ "tmux", ESCAPE_SOCKETS, ESCAPE_ALL, "start a program through tmux",
	    "[ -n \"$TMUX_SOCKET\" ] && tmux -S \"$TMUX_SOCKET\" "
	    "run-shell 'echo escaped >\"'\"$OUTSIDE\"'/escaped\"'",
	    NULL, "[ -e \"$OUTSIDE/escaped\" ]" },
	{ "tmux-elsewhere", ESCAPE_SOCKETS, ESCAPE_ALL,
	    "start a program through a tmux with another TMUX_TMPDIR",
	    "tmux -S \"$ELSEWHERE/tmux\" "
	    "run-shell 'echo escaped >\"'\"$OUTSIDE\"'/escaped\"'",
	    NULL, "[ -e \"$OUTSIDE/escaped\" ]" },
	/* Connects, and sends nothing. */
	{ "tmux-real", ESCAPE_SOCKETS, ESCAPE_ALL,
	    "connect to the tmux server of this repository (needs a worker)",
	    "[ -n \"$TMUX_REAL\" ] && \"$PROBE\" probe unix \"$TMUX_REAL\"",
	    NULL, "true" },
	{ "path-socket", ESCAPE_SOCKETS, ESCAPE_ALL,
	    "connect to another program's socket",
	    "\"$PROBE\" probe unix \"$ELSEWHERE/sock\" \"$WORD\"", NULL,
	    "[ -e \"$ARRIVED/elsewhere\" ]" },
	{ "given-socket", ESCAPE_SOCKETS, ESCAPE_ALL,
	    "connect to a socket in a folder that it may read",
	    "[ -d \"$GIVEN\" ] && "
	    "\"$PROBE\" probe unix \"$GIVEN/sock\" \"$WORD\"",
	    NULL, "[ -e \"$ARRIVED/given\" ]" },
	{ "abstract", ESCAPE_SOCKETS, ESCAPE_ALL | ESCAPE_SCOPED,
	    "connect to an abstract socket",
	    "\"$PROBE\" probe abstract \"$ABSTRACT\" \"$WORD\"", NULL,
	    "[ -e \"$ARRIVED/abstract\" ]" },

	/* Processes. VICTIM stands for the keeper. */
	{ "see-process", ESCAPE_PROCESSES, ESCAPE_ALL,
	    "read the environment of a process outside",
	    "tr '\\0' '\\n' <\"/proc/$VICTIM/environ\" >loot", NULL, LOOTED },
	{ "process-root", ESCAPE_PROCESSES, ESCAPE_ALL,
	    "read files through a process outside",
	    LOOT("\"/proc/$VICTIM/root$SECRET\""), NULL, LOOTED },
	{ "process-folder", ESCAPE_PROCESSES, ESCAPE_ALL,
	    "read files through the folder of a process outside",
	    LOOT("\"/proc/$VICTIM/cwd$SECRET\""), NULL, LOOTED },
	{ "process-file", ESCAPE_PROCESSES, ESCAPE_ALL,
	    "read a file that a process outside has open",
	    LOOT("\"/proc/$VICTIM/fd/7\""), NULL, LOOTED },
	{ "any-root", ESCAPE_PROCESSES, ESCAPE_ALL,
	    "read files through any process that it sees",
	    LOOT("/proc/[0-9]*/root\"$SECRET\"") "; " LOOTED, NULL, LOOTED },
	{ "enter-process", ESCAPE_PROCESSES, ESCAPE_ALL,
	    "enter the namespaces of a process outside (needs root)",
	    "nsenter -t \"$VICTIM\" -m " LOOT("\"$SECRET\""), NULL, LOOTED },
	{ "kill", ESCAPE_PROCESSES, ESCAPE_ALL, "kill a process outside",
	    "kill -KILL \"$VICTIM\" && while ! " DEAD "; do sleep 0.1; done",
	    NULL, DEAD },
	/* The process holds a lock while it lives. */
	{ "stray", ESCAPE_PROCESSES, ESCAPE_ALL,
	    "leave a process behind that goes on working",
	    "setsid sh -c 'echo $$ >stray.new && mv stray.new stray && "
	    "exec flock lock sleep 20' >/dev/null 2>&1 </dev/null & "
	    "while flock -n lock true; do :; done; [ -e stray ]",
	    NULL,
	    "! flock -n \"$WORKTREE/lock\" true && "
	    "kill -KILL \"-$(cat \"$WORKTREE/stray\")\"" },

	/* The first process of the box, and with it the box. */
	FIRST_PROCESS("init-trace", "trace the first process of its box",
	    "\"$PROBE\" probe trace 1"),
	FIRST_PROCESS("init-memory",
	    "write the memory of the first process of its box",
	    "sh -c ': 3<>/proc/1/mem'"),
	FIRST_PROCESS("init-file",
	    "open the file that the first process of its box is",
	    "sh -c ': </proc/1/exe'"),
	FIRST_PROCESS("init-folder",
	    "see the files of the first process of its box",
	    "ls /proc/1/root/"),
	{ "init-escape", ESCAPE_PROCESSES, ESCAPE_ALL | ESCAPE_KINDS,
	    "end its box from inside, and change what makes the next one",
	    IN_A_BOX "\"$PROBE\" probe leave \"$WORD\"", NULL,
	    "for i in $(seq 40); do grep -q \"$WORD\" \"$BWRAP\" && exit; "
	    "sleep 0.2; done; false" },

	/* Network: "worktree" leaves it open. */
	{ "loopback", ESCAPE_NETWORK, ESCAPE_STRICT,
	    "connect to a service of this machine",
	    "\"$PROBE\" probe tcp \"$TCP_PORT\" \"$WORD\"", NULL,
	    "[ -e \"$ARRIVED/tcp\" ]" },
	{ "datagram", ESCAPE_NETWORK, ESCAPE_STRICT,
	    "send a datagram, as a DNS query does",
	    "\"$PROBE\" probe udp \"$UDP_PORT\" \"$WORD\"", NULL,
	    "[ -e \"$ARRIVED/udp\" ]" },
	/* Finds the way there, and sends nothing. */
	{ "direct", ESCAPE_NETWORK, ESCAPE_STRICT,
	    "have a route to other machines",
	    "\"$PROBE\" probe route 192.0.2.1", NULL, "true" },

	/* The kernel. Nothing is written: opening is enough. */
	{ "remount", ESCAPE_KERNEL, ESCAPE_ALL,
	    "make the repository writable in a user namespace",
	    "unshare -Urm sh -c 'mount -o remount,bind,rw \"$GIT\"; "
	    "mount -o remount,bind,rw /; umount -l \"$GIT\"; "
	    "echo escaped >\"$GIT/escaped\"'",
	    NULL, "[ -e \"$GIT/escaped\" ]" },
	{ "unmount", ESCAPE_KERNEL, ESCAPE_ALL,
	    "uncover HOME in a user namespace",
	    "unshare -Urm sh -c 'umount -l \"$HOME\"; umount -l /tmp; "
	    "cat \"$SECRET\" >\"$WORKTREE/loot\"'",
	    NULL, LOOTED },
	{ "core-pattern", ESCAPE_KERNEL, ESCAPE_ALL,
	    "set the kernel's core_pattern (needs root)",
	    ": >>/proc/sys/kernel/core_pattern", NULL, "true" },
	{ "sysrq", ESCAPE_KERNEL, ESCAPE_ALL,
	    "send commands to the kernel (needs root)",
	    ": >>/proc/sysrq-trigger", NULL, "true" },
	{ "kmsg", ESCAPE_KERNEL, ESCAPE_ALL,
	    "write the kernel's log (needs root)",
	    "[ -c /dev/kmsg ] && : >>/dev/kmsg", NULL, "true" },
	{ "disk", ESCAPE_KERNEL, ESCAPE_ALL, "read a raw disk (needs root)",
	    "[ -n \"$DISK\" ] && head -c 1 \"$DISK\" >/dev/null", NULL,
	    "true" },
	{ "mknod", ESCAPE_KERNEL, ESCAPE_ALL, "make a device file (needs root)",
	    "mknod device c 1 11 && : <device", NULL,
	    "[ -c \"$WORKTREE/device\" ]" },
	{ "cgroup", ESCAPE_KERNEL, ESCAPE_ALL,
	    "change the cgroups (needs root)",
	    "mkdir \"/sys/fs/cgroup/$ABSTRACT\"", NULL,
	    "[ -d \"/sys/fs/cgroup/$ABSTRACT\" ] && "
	    "rmdir \"/sys/fs/cgroup/$ABSTRACT\"" },

	{ "session-keyring", ESCAPE_KERNEL, ESCAPE_ALL,
	    "read a secret in the keyring of its session",
	    "\"$PROBE\" probe key \"$SESSION_KEY\" >loot", NULL, LOOTED },
	{ "user-keyring", ESCAPE_KERNEL, ESCAPE_ALL,
	    "read a secret in the user's keyring",
	    "\"$PROBE\" probe key \"$USER_KEY\" \"$USER_RING\" >loot", NULL,
	    LOOTED },

	CALL("ptrace", "trace another process"),
	CALL_I386("ptrace", "trace another process"),
	CALL("process_vm_readv", "read the memory of another process"),
	CALL_I386("process_vm_readv", "read the memory of another process"),
	CALL("process_vm_writev", "write the memory of another process"),
	CALL_I386("process_vm_writev", "write the memory of another process"),
	CALL("pidfd_getfd", "take a descriptor of another process"),
	CALL_I386("pidfd_getfd", "take a descriptor of another process"),
	CALL("kcmp", "compare what two processes hold"),
	CALL_I386("kcmp", "compare what two processes hold"),
	CALL("io_uring_setup", "have the kernel work through io_uring"),
	CALL_I386("io_uring_setup", "have the kernel work through io_uring"),
	CALL("io_uring_enter", "go on with an io_uring"),
	CALL_I386("io_uring_enter", "go on with an io_uring"),
	CALL("io_uring_register", "register with an io_uring"),
	CALL_I386("io_uring_register", "register with an io_uring"),
	CALL("vsock", "make a socket to the hypervisor"),
	CALL_I386("vsock", "make a socket to the hypervisor"),
	CALL_I386("socketcall", "make a socket through socketcall"),
	CALL("userfaultfd", "hold the kernel up at a page"),
	CALL_I386("userfaultfd", "hold the kernel up at a page"),
	CALL("bpf", "load a BPF program"),
	CALL_I386("bpf", "load a BPF program"),
	CALL("perf_event_open", "measure the kernel"),
	CALL_I386("perf_event_open", "measure the kernel"),
	CALL("add_key", "add a key"),
	CALL_I386("add_key", "add a key"),
	CALL("request_key", "ask for a key"),
	CALL_I386("request_key", "ask for a key"),
	CALL("keyctl", "use a key"),
	CALL_I386("keyctl", "use a key"),
	CALL("mount", "mount a file system"),
	CALL_I386("mount", "mount a file system"),
	CALL("umount2", "unmount a file system"),
	CALL_I386("umount2", "unmount a file system"),
	CALL("pivot_root", "change the root"),
	CALL_I386("pivot_root", "change the root"),
	CALL("open_tree", "take a mount"),
	CALL_I386("open_tree", "take a mount"),
	CALL("move_mount", "put a mount elsewhere"),
	CALL_I386("move_mount", "put a mount elsewhere"),
	CALL("fsopen", "begin a mount"),
	CALL_I386("fsopen", "begin a mount"),
	CALL("fsconfig", "describe a mount"),
	CALL_I386("fsconfig", "describe a mount"),
	CALL("fsmount", "make a mount"),
	CALL_I386("fsmount", "make a mount"),
	CALL("fspick", "change a mount"),
	CALL_I386("fspick", "change a mount"),
	CALL("mount_setattr", "change the options of a mount"),
	CALL_I386("mount_setattr", "change the options of a mount"),
	CALL("unshare", "enter a user namespace of its own"),
	CALL_I386("unshare", "enter a user namespace of its own"),
	CALL("setns", "enter a namespace"),
	CALL_I386("setns", "enter a namespace"),
	CALL("clone", "begin a process in a user namespace"),
	CALL_I386("clone", "begin a process in a user namespace"),
	CALL("clone3", "begin a process with flags that are not seen"),
	CALL_I386("clone3", "begin a process with flags that are not seen"),
	{ "call-x32", ESCAPE_KERNEL, ESCAPE_ALL | ESCAPE_KINDS,
	    "make a call of the ABI x32", "\"$PROBE\" probe call getpid x32",
	    NULL, "true" },

	/* The daemon, asked to act for the worker. */
	{ "deputy-git-file", ESCAPE_DEPUTIES, ESCAPE_LINKED,
	    "run a filter at git status, through the file .git",
	    EVIL_GIT " && git config --file evil/config core.worktree "
		     "\"$WORKTREE\" && rm -f .git && "
		     "echo \"gitdir: $WORKTREE/evil\" >.git",
	    GIT_STATUS, RAN },
	{ "deputy-commondir", ESCAPE_DEPUTIES, ESCAPE_LINKED,
	    "run a filter at git status, through commondir",
	    EVIL_GIT " && echo \"$WORKTREE/evil\" "
		     ">\"$GIT/worktrees/$WORKER/commondir\"",
	    GIT_STATUS, RAN },
	{ "deputy-config", ESCAPE_DEPUTIES, ESCAPE_LINKED,
	    "run a filter at git status, through config.worktree",
	    "git config --file \"$GIT/worktrees/$WORKER/config.worktree\" "
	    "filter.evil.clean " FILTER " && " CHANGED,
	    GIT_STATUS, RAN },
	{ "deputy-clone", ESCAPE_DEPUTIES, ESCAPE_BOTH,
	    "run a filter at git status, through the clone's config",
	    "git config filter.evil.clean " FILTER " && " CHANGED, GIT_STATUS,
	    RAN },
	{ "deputy-rebase", ESCAPE_DEPUTIES, ESCAPE_ALL,
	    "run a command at git rebase --continue",
	    "GIT_SEQUENCE_EDITOR=\"sed -i 1ibreak\" git rebase -q -i HEAD~1; "
	    "todo=$(git rev-parse --git-path rebase-merge/git-rebase-todo) && "
	    "echo 'exec echo escaped >\"$HOME/escaped\"' >\"$todo\"",
	    "git -C \"$WORKTREE\" rebase --continue", RAN },
	{ "deputy-head", ESCAPE_DEPUTIES, ESCAPE_LINKED,
	    "have git reset move main",
	    "echo 'ref: refs/heads/main' "
	    ">\"$(git rev-parse --git-path HEAD)\"",
	    "git -C \"$WORKTREE\" reset -q --hard \"$COMMIT\"",
	    "[ \"$(git --git-dir=\"$GIT\" rev-parse main)\" = \"$COMMIT\" ]" },
	{ "deputy-check", ESCAPE_DEPUTIES, ESCAPE_ALL,
	    "run a command of its own as the check",
	    "echo 'echo escaped >\"$HOME/escaped\"' >check.sh",
	    "sh \"$WORKTREE/check.sh\"", RAN },
};

size_t
escape_count(void)
{
	return nitems(escape_table);
}
