/* SPDX-License-Identifier: BSD-3-Clause */
#ifndef SIGHT_CLI_FOLLOWING_H
#define SIGHT_CLI_FOLLOWING_H

#include "cli/command_options.h"
#include "view/server.h"

/* `sight view DIRECTORY` of a program that runs: its recording is read again and again, each time as a trace of its own
   that the page loads when it is there. Reading, without judging, takes a tenth of the time at most, and waits for two
   seconds at least. While nothing happens the page stays as it is; once the program has ended, nothing more is read. */
struct following;

/* Reads the recording of the directory, the options' input, for the first time. NULL and a fault. */
struct following *following_begin(const struct view_options *options, const char *title, struct error *err);

/* A server_function; the context is a struct following. Besides the paths of view_answer it knows "version":
   {"version": a number that grows, "running"}. */
void following_answer(void *context, const struct server_request *request, struct server_answer *answer);

/* Starts to judge it, and to read it again. */
void following_start(struct following *following);

/* Once no more requests are answered: ends it, and removes what it had stored. */
void following_end(struct following *following);

#endif
