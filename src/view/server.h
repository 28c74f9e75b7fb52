/* SPDX-License-Identifier: BSD-3-Clause */
#ifndef SIGHT_VIEW_SERVER_H
#define SIGHT_VIEW_SERVER_H

#include "core/error.h"

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

/* A small HTTP server for one person: read-only, on an address of this machine, behind a random token. It is
   independent of traces: a function answers each path, called from one thread per connection, hence concurrently. The
   number of connections, their memory and their idle time are bounded. */

/* A request. */
struct server_request;

/* The path after the token: "" or "tile". */
const char *server_path(const struct server_request *request);

/* The value of a parameter of the query, decoded; NULL if there is none. */
const char *server_parameter(const struct server_request *request, const char *name);

/* An answer. Filled by the function; `body` becomes the server's, or stays its owner's (borrowed) for as long as
   the server runs. */
struct server_answer {
    unsigned status; /* 200 */
    const char *type;
    char *body;
    size_t length;
    bool borrowed;
};

typedef void server_function(void *context, const struct server_request *request, struct server_answer *answer);

/* A text as an answer, e.g. what is wrong with the request. `format` as of printf. */
void server_say(struct server_answer *answer, unsigned status, const char *format, ...) PRINTF_LIKE(3, 4);

struct server_options {
    const char *address; /* numeric, IPv4 or IPv6; NULL: 127.0.0.1 */
    uint16_t port;       /* 0: any that is free */
};

struct server;

/* A fault where the address is not numeric, or where other machines can reach it and are not permitted to. */
enum status server_check_address(const char *host, bool allow_remote, struct error *err) MUST_CHECK;

/* Listens and answers from now on. NULL and a fault of kind ERROR_USAGE (address or port) or ERROR_OUTPUT. */
struct server *server_start(struct server_options options, server_function *function, void *context, struct error *err);

/* "http://127.0.0.1:43210/TOKEN/" */
const char *server_url(const struct server *server);

/* Ends all connections, waits for the thread. */
void server_stop(struct server *server);

#endif
