/* SPDX-License-Identifier: BSD-3-Clause */
#include "record/request_table.h"

#include "record/own_file.h"

#include <errno.h>
#include <unistd.h>

/* Pages of the file are mapped one by one, as requests are needed: `sight status` reads them while the program runs. */
enum { PAGE_SIZE = RECORD_REQUESTS_BLOCK * sizeof(struct record_request), PAGES_MAX = 1 << 14 };

static struct own_file file = {.descriptor = -1};
static bool tried;

static bool table_open(void)
{
    char path[4096];
    if (!tried && recorder_path(path, sizeof path, RECORD_REQUESTS_SUFFIX))
        own_file_create(&file, path);
    tried = true;
    /* A run that cannot have the file has the requests in ordinary memory: then others do not see them. */
    return file.path != NULL;
}

struct record_request *request_table_page(uint32_t number)
{
    uint64_t at = (uint64_t)number * PAGE_SIZE;
    int before = errno, cancel = cancel_hold();
    struct record_request *page = NULL;
    if (number < PAGES_MAX && table_open() && own_file_extend(&file, at, PAGE_SIZE))
        page = own_file_map(&file, at, PAGE_SIZE);
    cancel_let(cancel);
    errno = before;
    return page;
}

void request_table_remove(void)
{
    /* After MPI_Finalize nothing is pending, and the file has no use. */
    if (file.path)
        unlink(file.path);
    own_file_close(&file);
}

void request_table_abandon(void)
{
    own_file_close(&file);
}
