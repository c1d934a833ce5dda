/* SPDX-License-Identifier: ISC */

/*
 * A fleet of hosts for tests: clones of one bare origin on this machine, each
 * with its own home, root, tmux server and daemon, and the shared book between
 * them behind a bad network (tcp-proxy). Without PostgreSQL the test is
 * skipped. The agent is the stand-in. Everything ends with the test, also if it
 * is killed.
 *
 * Hosts are numbered from 0. Functions that wait in vain fail the test
 * with what the hosts say.
 */
#ifndef HOSTRUN_H
#define HOSTRUN_H

#include "e2e.h"

#define HOSTS_MAX 3

/* Make the origin, the book and so many hosts, which have joined. The check of
 * the project is red unless each work-*.txt says "good". agent NULL: the
 * stand-in. */
void hosts_begin(int count, const char *agent);
/* The same, and the address names the place of a standby, too. */
void hosts_begin_pair(int count);
void hosts_end(void);

const char *hosts_name(int host);
const char *hosts_root(int host);
/* Addresses of the book: of the hosts, and of its owner. */
const char *hosts_database(void);
const char *hosts_owner(void);
/* "K=V" for the programs of a host from now on. */
void hosts_env(int host, const char *assignment);
void hosts_set(int host, const char *key, const char *value); /* -1 = all */

/* Run a shell script in its root. hosts_do: it must succeed. */
struct e2e_run *hosts_sh(int host, const char *script);
const char *hosts_do(int host, const char *script);

/* Tasks in its folder: each writes work-N.txt, and runs the steps before. */
void hosts_tasks(int host, int first, int count, const char *steps);

void hosts_up(int host); /* with an overseer */
void hosts_down(int host); /* in good order */
void hosts_signal(int host, int signo); /* SIGSTOP, SIGCONT */
void hosts_kill(int host); /* all of it, as if the power went */
void hosts_network(const char *mode); /* of tcp-proxy */
void hosts_server_kill(void); /* and start it again */
/* llmc fleet migrate of an llmc that is so much newer; hosts older than
 * min_writer may not write any more. */
void hosts_migrate(int version, int min_writer);
/* Of a pair. A standby that has all that the server has; from here on it gets
 * nothing; the server is killed, and the standby takes over. */
void hosts_standby(void);
void hosts_standby_cut(void);
void hosts_failover(void);

/* Wait until the script succeeds on that host. */
void hosts_wait(int host, const char *what, const char *script);
/* Wait until origin has so many landed tasks. */
void hosts_wait_landed(int tasks);

/* What must be true of every history: each of the tasks 0 to count - 1 has one
 * commit on the branch; the branch was never set back; each commit of it is
 * green; the trailers of a task have one attempt; what was submitted was
 * accepted once, and fences rose. */
void hosts_oracle(int tasks);
/* All hosts are idle, and nothing is left behind. */
void hosts_idle(void);

#endif
