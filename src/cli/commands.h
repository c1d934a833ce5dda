/* SPDX-License-Identifier: ISC */

/* One per cmd-<name>.c. */
#ifndef COMMANDS_H
#define COMMANDS_H

#include "cli.h"

extern const struct cli_command cmd_abort;
extern const struct cli_command cmd_accept;
extern const struct cli_command cmd_add;
extern const struct cli_command cmd_agents;
extern const struct cli_command cmd_answer;
extern const struct cli_command cmd_asks;
extern const struct cli_command cmd_attach;
extern const struct cli_command cmd_completion;
extern const struct cli_command cmd_config;
extern const struct cli_command cmd_console;
extern const struct cli_command cmd_doctor;
extern const struct cli_command cmd_down;
extern const struct cli_command cmd_errand;
extern const struct cli_command cmd_escalations;
extern const struct cli_command cmd_events;
extern const struct cli_command cmd_failures;
extern const struct cli_command cmd_goal;
extern const struct cli_command cmd_help;
extern const struct cli_command cmd_hook;
extern const struct cli_command cmd_init;
extern const struct cli_command cmd_inside;
extern const struct cli_command cmd_iterations;
extern const struct cli_command cmd_landing;
extern const struct cli_command cmd_logs;
extern const struct cli_command cmd_mail;
extern const struct cli_command cmd_mcp;
extern const struct cli_command cmd_message;
extern const struct cli_command cmd_metrics;
extern const struct cli_command cmd_nuke;
extern const struct cli_command cmd_overseer;
extern const struct cli_command cmd_oversight;
extern const struct cli_command cmd_pane;
extern const struct cli_command cmd_pause;
extern const struct cli_command cmd_peek;
extern const struct cli_command cmd_pick;
extern const struct cli_command cmd_plan;
extern const struct cli_command cmd_probe;
extern const struct cli_command cmd_proxy;
extern const struct cli_command cmd_rebase;
extern const struct cli_command cmd_reject;
extern const struct cli_command cmd_report;
extern const struct cli_command cmd_reset;
extern const struct cli_command cmd_resume;
extern const struct cli_command cmd_revert;
extern const struct cli_command cmd_review;
extern const struct cli_command cmd_salvage;
extern const struct cli_command cmd_schema;
extern const struct cli_command cmd_start;
extern const struct cli_command cmd_stats;
extern const struct cli_command cmd_status;
extern const struct cli_command cmd_stop;
extern const struct cli_command cmd_store;
extern const struct cli_command cmd_task;
extern const struct cli_command cmd_tick;
extern const struct cli_command cmd_top;
extern const struct cli_command cmd_tree;
extern const struct cli_command cmd_trust;
extern const struct cli_command cmd_up;
extern const struct cli_command cmd_verify;
extern const struct cli_command cmd_version;
extern const struct cli_command cmd_wait;
extern const struct cli_command cmd_web;
extern const struct cli_command cmd_why;
extern const struct cli_command cmd_work;

#endif
