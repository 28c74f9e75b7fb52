/* How much each process sends: cc messages.c $(pkg-config --cflags --libs sight) && ./a.out run.clog2 */
#include <sight.h>
#include <stdio.h>
#include <stdlib.h>

int main(int argc, char **argv)
{
    struct sight_error error;
    struct sight_trace *trace = argc > 1 ? sight_open(argv[1], &error) : NULL;
    struct sight_rows *rows = trace ? sight_table(trace, "messages", NULL, &error) : NULL;
    int64_t messages[64] = {0}, bytes[64] = {0}, *source = NULL, *size = NULL;
    int more;
    if (!rows)
        return fprintf(stderr, "%s\n", argc > 1 ? error.text : "a trace is needed"), 1;
    while ((more = sight_next(rows, &error)) > 0) {
        size_t count = sight_count(rows);
        source = realloc(source, count * sizeof *source);
        size = realloc(size, count * sizeof *size);
        sight_integers(rows, sight_column("messages", "source"), -1, source);
        sight_integers(rows, sight_column("messages", "bytes"), 0, size);
        for (size_t i = 0; i < count; i++)
            if (source[i] >= 0 && source[i] < 64)
                messages[source[i]]++, bytes[source[i]] += size[i];
    }
    for (int rank = 0; rank < 64 && more == 0; rank++)
        if (messages[rank])
            printf("%d %lld %lld\n", rank, (long long)messages[rank], (long long)bytes[rank]);
    free(source);
    free(size);
    sight_rows_free(rows);
    sight_close(trace);
    return more < 0 ? fprintf(stderr, "%s\n", error.text), 1 : 0;
}
